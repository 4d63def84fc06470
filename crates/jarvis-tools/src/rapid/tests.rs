//! The client against a server on a real socket.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jarvis_testing::rows;
use jarvis_testing::stub::{Canned, Captured, Stub};

use super::*;
use crate::ToolSource;

const CASES: &str = include_str!("tests.json");
const KEY: &str = "tb-s3cret";

fn config(stub: &Stub) -> RapidConfig {
    RapidConfig {
        retries: Retries { max: 3, first_pause: Duration::ZERO, ..Retries::default() },
        ..RapidConfig::new(Url::parse(&stub.url("/")).unwrap(), Secret::new(KEY))
    }
}

async fn call(server: RapidServer, arguments: &str) -> Result<String, ToolError> {
    let spec = ToolSpec {
        name: "download".into(),
        description: String::new(),
        when: String::new(),
        input_schema: json!({"properties": {"n": {"type": "integer"}}}),
        example: json!({}),
        output_schema: None,
        effect: jarvis_plan::Effect::Reads,
        source: ToolSource::ToolBench,
    };
    let api = RapidApi::new(spec, Arc::new(server), "Video, Images", "YTStream - Download", "ID");
    let input = Literal::parse(arguments).unwrap().to_json();
    api.call(&input, &Scope::default()).await.map(|observation| observation.text)
}

/// What a call gives when the server answers the same each time, and how often it was asked.
async fn ask(canned: Canned) -> (Result<String, ToolError>, usize) {
    let stub = Stub::start(move |_| canned.clone()).await.unwrap();
    let server = RapidServer::new(config(&stub)).unwrap();
    let shown = format!("{server:?}");
    let given = call(server, "{}").await;
    assert!(!format!("{shown} {given:?}").contains(KEY), "the key is shown");
    (given, stub.requests().len())
}

fn reply(error: &str, response: &str) -> Canned {
    Canned::json(&json!({"error": error, "response": response}))
}

#[tokio::test]
async fn a_call_is_sent_as_the_contract_says() {
    let stub = Stub::start(|_| reply("", "fine")).await.unwrap();
    let server = RapidServer::new(config(&stub)).unwrap();
    let exact = r#"{"q": "天", "n": 12345678901234567890123, "x": 5.0}"#;
    assert_eq!(call(server, exact).await.unwrap(), "fine");
    let direct = RapidConfig { direct: true, strip: "filter".into(), ..config(&stub) };
    call(RapidServer::new(direct).unwrap(), "{}").await.unwrap();
    let [first, second] = &stub.requests()[..] else { panic!("two calls") };
    assert_eq!(
        (first.method.as_str(), first.path.as_str(), first.header("toolbench_key")),
        ("POST", "/rapidapi", Some(KEY))
    );
    assert_eq!(
        first.json(),
        json!({"category": "Video_Images", "tool_name": "ytstream_download", "api_name": "is_id",
            "tool_input": "{\"q\":\"天\",\"n\":12345678901234567890123,\"x\":5.0}", "strip": "truncate", "toolbench_key": KEY})
    );
    assert_eq!((&second.json()["tool_input"], &second.json()["strip"]), (&json!(""), &json!("filter")));
    assert_eq!((&second.json()["rapidapi_key"], &second.json()["toolbench_key"]), (&json!(KEY), &Value::Null));
}

#[tokio::test]
async fn every_error_of_the_server_has_its_kind() {
    for (error, kind, calls) in rows::<(String, String, usize)>(CASES, "errors") {
        let (given, asked) = ask(reply(&error, &format!("the key is {KEY}"))).await;
        let failed = given.unwrap_err();
        assert_eq!((format!("{:?}", failed.kind), asked), (kind, calls), "{error}: {failed}");
        assert!(failed.message.contains("[redacted]"), "{failed}");
    }
}

#[tokio::test]
async fn bodies_tell_of_failures_too() {
    for (body, kind, calls) in rows::<(String, String, usize)>(CASES, "bodies") {
        let (given, asked) = ask(reply("", &body)).await;
        assert_eq!((format!("{:?}", given.unwrap_err().kind), asked), (kind, calls), "{body}");
    }
}

#[tokio::test]
async fn answers_come_through() {
    let long = format!("{}{KEY}", "й".repeat(5 << 20));
    for (response, expected) in [
        (json!("[]"), "[]".to_owned()),
        (json!(""), String::new()),
        (json!({"a": [1, "天"]}), "{\"a\":[1,\"天\"]}".to_owned()),
        (Value::Null, String::new()),
        (json!(format!("mine is {KEY}")), "mine is [redacted]".to_owned()),
        (
            json!("<html><body>gone</body></html>"),
            "[The tool answered with an HTML page of 30 bytes, which is not shown.]".to_owned(),
        ),
    ] {
        let (given, asked) = ask(Canned::json(&json!({"error": "", "response": response}))).await;
        assert_eq!((given.unwrap(), asked), (expected, 1));
    }
    let (given, _) = ask(reply("", &long)).await;
    let given = given.unwrap();
    assert_eq!(given.chars().count(), 2_048);
    assert!(
        given.starts_with("ййй") && given.ends_with("… [cut, 5242890 characters in all]"),
        "{}",
        &given[given.len() - 60..]
    );
    let (given, _) = ask(reply("", "\u{89}PNG\r\n\u{1a}\n\0\0\0\rIHDR")).await;
    assert!(given.unwrap().contains("an image (image/png)"));
}

#[tokio::test]
async fn what_is_no_answer_is_described() {
    for (canned, kind, words, calls) in [
        (
            Canned::bytes("text/html", format!("<html>{KEY}</html>")),
            ToolErrorKind::Transport,
            "its answer is an HTML page of 22 bytes",
            1,
        ),
        (Canned::bytes("image/png", &b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..]), ToolErrorKind::Transport, "(image/png)", 1),
        (Canned::bytes("application/json", "{\"error\": \"\", \"resp"), ToolErrorKind::Transport, "of 19 bytes", 1),
        (Canned::json(&json!([1])), ToolErrorKind::Transport, "its answer is JSON", 1),
        (Canned::bytes("text/plain", vec![b' '; 17 << 20]), ToolErrorKind::Transport, "more than the limit", 1),
        (Canned::json(&json!({})).status(429), ToolErrorKind::TooManyRequests, "status_code=429", 4),
        (Canned::json(&json!({})).status(502), ToolErrorKind::Transport, "status_code=502", 4),
        (Canned::json(&json!({})).status(401), ToolErrorKind::Unauthorized, "status_code=401", 1),
        (Canned::json(&json!({})).status(422), ToolErrorKind::Transport, "status_code=422", 1),
        (Canned::redirect("http://127.0.0.1:1/"), ToolErrorKind::Transport, "status_code=302", 1),
        (Canned::json(&json!({})).cut(), ToolErrorKind::Transport, "broke off", 4),
    ] {
        let (given, asked) = ask(canned).await;
        let failed = given.unwrap_err();
        assert_eq!((failed.kind, asked), (kind, calls), "{failed}");
        assert!(failed.message.contains(words), "{failed}");
    }
}

#[tokio::test]
async fn a_server_that_hangs_is_left_in_time() {
    let stub = Stub::start(|_| Canned::bytes("application/json", "{").endless()).await.unwrap();
    let config = RapidConfig {
        timeout: Duration::from_millis(20),
        retries: Retries { max: 1, first_pause: Duration::ZERO, ..Retries::default() },
        ..config(&stub)
    };
    let failed = call(RapidServer::new(config).unwrap(), "{}").await.unwrap_err();
    assert_eq!(failed.kind, ToolErrorKind::Timeout);
}

#[tokio::test]
async fn a_failure_that_passes_is_followed_by_another_try() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let answer = move |_: &Captured| match count.fetch_add(1, Ordering::Relaxed) {
        0 => Canned::json(&json!({})).status(429),
        1 => reply("Rate limit per minute error...", ""),
        _ => reply("", "there"),
    };
    let stub = Stub::start(answer).await.unwrap();
    assert_eq!(call(RapidServer::new(config(&stub)).unwrap(), "{}").await.unwrap(), "there");
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn names_of_arguments_are_tried_until_the_tool_takes_them() {
    let takes = |wanted: &'static str| {
        move |request: &Captured| match request.json()["tool_input"].as_str() == Some(wanted) {
            true => reply("", "taken"),
            false => reply("Tool input parse error...\n", "no"),
        }
    };
    for (arguments, wanted, calls) in [
        (r#"{"Page-No":1}"#, r#"{"Page-No":1}"#, 1),
        (r#"{"From":1}"#, r#"{"is_from":1}"#, 2),
        (r#"{"Page-No":1}"#, r#"{"page_no":1}"#, 3),
        (r#"{"Page\\-No":1}"#, r#"{"page_no":1}"#, 4),
        (r#"{"q":1}"#, r#"{"other":1}"#, 1),
    ] {
        let stub = Stub::start(takes(wanted)).await.unwrap();
        let given = call(RapidServer::new(config(&stub)).unwrap(), arguments).await;
        assert_eq!(given.is_ok(), calls > 1 || arguments == wanted, "{arguments} {given:?}");
        assert_eq!(stub.requests().len(), calls, "{arguments}");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_keep_their_distance() {
    let base = Url::parse("http://127.0.0.1:1/").unwrap();
    let config = RapidConfig { per_minute: Some(30), ..RapidConfig::new(base, None) };
    let server = RapidServer::new(config).unwrap();
    let start = Instant::now();
    let turns = futures::future::join_all((0..4).map(|_| async {
        server.turn().await;
        start.elapsed().as_secs()
    }));
    assert_eq!(turns.await, [0, 2, 4, 6]);
}

#[test]
fn what_cannot_be_called_is_refused() {
    let base = |text: &str| Url::parse(text).unwrap();
    let server = |base: Url, key: &str| RapidServer::new(RapidConfig::new(base, Secret::new(key)));
    assert_eq!(server(base("http://h/v1/"), "k").unwrap().url.as_str(), "http://h/v1/rapidapi");
    assert_eq!(server(base("mailto:x@y.z"), "k").unwrap_err().kind, ToolErrorKind::Transport);
    let failed = server(base("http://h"), "k\ney-s3cret").unwrap_err();
    assert!(failed.kind == ToolErrorKind::Unauthorized && !failed.message.contains("s3cret"));
}
