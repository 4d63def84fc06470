//! The mock server, called by the client of the real one.

use std::time::Duration;

use jarvis_net::Secret;
use jarvis_net::retry::Retries;
use jarvis_tools::{RapidApi, RapidConfig, RapidServer, Scope, Tool, ToolErrorKind, ToolSource, ToolSpec};

use tokio::net::TcpListener;

use super::*;

fn recorded(lines: &[Value], key: Option<&str>) -> Result<Recorded, String> {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    Recorded::parse(Path::new("answers.jsonl"), &text.join("\n"), key.map(str::to_owned))
        .map_err(|error| error.to_string())
}

async fn calls(
    recorded: Recorded,
    key: Option<&str>,
    timeout: Duration,
    calls: &[(&str, &str, &str, &str)],
) -> Vec<Result<String, (ToolErrorKind, String)>> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let running = tokio::spawn(crate::mock::serve(listener, recorded.router()));
    let retries = Retries { max: 3, first_pause: Duration::ZERO, ..Retries::default() };
    let config = RapidConfig { timeout, retries, ..RapidConfig::new(base, key.and_then(Secret::new)) };
    let client = Arc::new(RapidServer::new(config).unwrap());
    let mut given = Vec::new();
    for (category, tool, api, arguments) in calls {
        let spec = ToolSpec {
            name: "recorded".into(),
            description: String::new(),
            when: String::new(),
            input_schema: json!({}),
            example: json!({}),
            output_schema: None,
            effect: jarvis_plan::Effect::Reads,
            source: ToolSource::ToolBench,
        };
        let api = RapidApi::new(spec, Arc::clone(&client), category, tool, api);
        let done = api.call(&Literal::parse(arguments).unwrap().to_json(), &Scope::default()).await;
        given.push(done.map(|observation| observation.text).map_err(|error| (error.kind, error.message)));
    }
    running.abort();
    given
}

const SOON: Duration = Duration::from_secs(15);

#[tokio::test]
async fn answers_are_found_by_names_and_arguments() {
    let lines = [
        json!({"category": "Weather", "tool_name": "Open Weather", "api_name": "Current", "tool_input": {"city": "Bern", "n": 5},
            "error": "", "response": "sunny"}),
        json!({"category": "Weather", "tool_name": "open_weather_for_Weather", "api_name": "/current", "tool_input": "",
            "response": {"a": 1}}),
        json!({"tool_name": "t", "api_name": "ID", "error": "API not working error...", "response": "no"}),
    ];
    let given = calls(
        recorded(&lines, None).unwrap(),
        None,
        SOON,
        &[
            ("Weather", "Open Weather", "Current", r#"{"n":5,"city":"Bern"}"#),
            ("", "open_weather", "current", r#"{"City":"Bern","n":5}"#),
            ("Weather", "Open Weather", "Current", "{}"),
            ("Sport", "Open Weather", "Current", "{}"),
            ("Weather", "Open Weather", "Current", r#"{"city":"Bern","n":5.0}"#),
            ("Weather", "Open Weather", "Forecast", "{}"),
            ("Any", "T", "id", "{}"),
        ],
    )
    .await;
    let told: Vec<String> = given
        .iter()
        .map(|result| match result {
            Ok(text) => text.clone(),
            Err((kind, message)) => format!("{kind}: {message}"),
        })
        .collect();
    assert_eq!(
        told,
        [
            "sunny",
            "sunny",
            "{\"a\":1}",
            "BadInput: Tool input parse error...: there is no recorded answer for these arguments",
            "BadInput: Tool input parse error...: there is no recorded answer for these arguments",
            "NoSuchApi: No such function name: forecast",
            "NotWorking: API not working error...: no",
        ]
    );
}

#[tokio::test]
async fn what_goes_wrong_can_be_tried() {
    let line = |api: &str, rest: Value| {
        let mut line = json!({"tool_name": "t", "api_name": api});
        line.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        line
    };
    let lines = [
        line("busy", json!({"status": 429})),
        line("busy", json!({"response": "then fine"})),
        line("html", json!({"body": "<html>down</html>"})),
        line("page", json!({"response": "<html>down</html>"})),
        line("big", json!({"response": "x", "pad": 5 << 20})),
        line("hang", json!({"hang": true})),
    ];
    let make = || recorded(&lines, None).unwrap();
    let given = calls(
        make(),
        None,
        SOON,
        &[("", "t", "busy", "{}"), ("", "t", "html", "{}"), ("", "t", "page", "{}"), ("", "t", "big", "{}")],
    )
    .await;
    assert_eq!(given[0].as_deref(), Ok("then fine"));
    assert_eq!(given[1].as_ref().unwrap_err().0, ToolErrorKind::Transport);
    assert!(given[2].as_ref().unwrap().contains("an HTML page of 17 bytes"));
    assert_eq!(given[3].as_ref().unwrap().chars().count(), 2_048);
    let given = calls(make(), None, Duration::from_millis(20), &[("", "t", "hang", "{}")]).await;
    assert_eq!(given[0].as_ref().unwrap_err().0, ToolErrorKind::Timeout);
}

#[tokio::test]
async fn a_key_can_be_asked_for() {
    let lines = [json!({"tool_name": "t", "api_name": "a", "response": "in"})];
    for (key, expected) in [
        (Some("k1"), Ok("in".to_owned())),
        (Some("k2"), Err(ToolErrorKind::Unauthorized)),
        (None, Err(ToolErrorKind::Unauthorized)),
    ] {
        let given = calls(recorded(&lines, Some("k1")).unwrap(), key, SOON, &[("", "t", "a", "{}")]).await;
        assert_eq!(given[0].clone().map_err(|(kind, _)| kind), expected, "{key:?}");
    }
}

#[test]
fn what_is_no_answer_is_refused() {
    for (line, error) in [
        (json!({"api_name": "a"}), "answers.jsonl, line 1: missing field `tool_name`"),
        (
            json!({"tool_name": "t", "api_name": "a", "tool_input": 5}),
            "answers.jsonl, line 1: `tool_input` is neither an object nor the text of one",
        ),
        (
            json!({"tool_name": "t", "api_name": "a", "responce": ""}),
            "answers.jsonl, line 1: unknown field `responce`, expected one of",
        ),
        (
            json!({"tool_name": "t", "api_name": "a", "pad": 1_u64 << 40}),
            "answers.jsonl, line 1: `pad` is more than 67108864",
        ),
    ] {
        let found = recorded(&[line], None).unwrap_err();
        assert!(found.starts_with(error), "{found}");
    }
    assert_eq!(recorded(&[], None).unwrap().len(), 0);
}
