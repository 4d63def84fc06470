//! Calls over a real socket: what is sent, what comes back, what is tried again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jarvis_catalogue::openapi::ApiDocument;
use jarvis_prompt::literal::Literal;
use jarvis_testing::rows;
use jarvis_testing::stub::{Canned, Captured, Stub};
use serde_json::json;

use super::*;

const CASES: &str = include_str!("tests.json");

fn document() -> Option<Arc<ApiDocument>> {
    let text = include_str!("../../../../examples/easytool/library.yaml");
    Some(Arc::new(ApiDocument::parse(text).unwrap()))
}

async fn call(caller: &OpenApiCaller, api: &str, arguments: &str) -> Result<String, ToolError> {
    let Literal::Map(arguments) = Literal::parse(arguments).unwrap() else { panic!("a map") };
    let effect = api.split_once(' ').map_or(Effect::Reads, |(method, _)| effect_of(method));
    caller.call(api, &Literal::fields_to_json(&arguments), effect).await.map(|observation| observation.text)
}

fn config(stub: &Stub) -> OpenApiConfig {
    let first_wait = Duration::from_millis(1);
    OpenApiConfig { first_wait, key: Secret::new("k3y"), ..OpenApiConfig::new(Url::parse(&stub.url("/v1")).unwrap()) }
}

/// Answers every call with what it was asked.
async fn echo() -> Stub {
    Stub::start(|asked: &Captured| {
        let body = String::from_utf8_lossy(&asked.body).into_owned();
        let kind = asked.header("content-type").unwrap_or_default();
        let target =
            if asked.query.is_empty() { asked.path.clone() } else { format!("{}?{}", asked.path, asked.query) };
        Canned::bytes("text/plain", format!("{} {target} {kind} {body}", asked.method).trim().to_owned())
    })
    .await
    .unwrap()
}

#[tokio::test]
async fn arguments_go_where_they_belong() {
    let stub = echo().await;
    for (described, api, arguments, wanted) in rows::<(bool, String, String, String)>(CASES, "sent") {
        let caller = OpenApiCaller::new(described.then(document).flatten(), config(&stub));
        assert_eq!(call(&caller, &api, &arguments).await, Ok(wanted), "{api}");
    }
    // The key goes where the document says, else into `Authorization`.
    let requests = stub.requests();
    assert_eq!((requests[0].header("x-library-card"), requests[0].header("authorization")), (Some("k3y"), None));
    assert_eq!(requests[5].header("authorization"), Some("Bearer k3y"));
    let place = Some(KeyPlace::Query("api_key".into()));
    let caller = OpenApiCaller::new(document(), OpenApiConfig { key_place: place, ..config(&stub) });
    // Even an answer that shows the key does not give it away.
    assert_eq!(call(&caller, "listLoans", "{}").await.as_deref(), Ok("GET /v1/loans?api_key=[redacted]"));
    assert!(!format!("{caller:?}").contains("k3y"));
}

#[tokio::test]
async fn operations_become_tools_of_a_registry() {
    let stub = echo().await;
    for (document, name, input, wanted) in [
        (document(), "getBook", json!({"book_id": 7}), "GET /v1/book/7"),
        (document(), "GET /book/{book_id}", json!({"book_id": 7}), "GET /v1/book/7"),
        (document(), "GET /book/{id}", json!({"book_id": 7}), "GET /v1/book/7"),
        (None, "GET /book/{id}", json!({"id": 7}), "GET /v1/book/7"),
    ] {
        let mut registry = Registry::new();
        let caller = Arc::new(OpenApiCaller::new(document, config(&stub)));
        caller.add_to(&mut registry, ["GET /book/{id}"], Duration::from_secs(9)).unwrap();
        let known = registry.meant(name).unwrap().name.clone();
        assert_eq!(registry.call(&known, &input, &Scope::default()).await.unwrap().text, wanted, "{name}");
    }
}

#[tokio::test]
async fn what_an_api_does_not_take_is_not_sent() {
    let stub = echo().await;
    for (described, api, arguments, kind, part) in rows::<(bool, String, String, String, String)>(CASES, "refused") {
        let caller = OpenApiCaller::new(described.then(document).flatten(), config(&stub));
        let error = call(&caller, &api, &arguments).await.unwrap_err();
        assert!(format!("{:?}", error.kind) == kind && error.message.contains(&part), "{api}: {error:?}");
    }
    assert_eq!(stub.requests().len(), 0);
}

#[tokio::test]
async fn answers_are_told_apart() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice();
    for (canned, wanted) in [
        (Canned::json(&json!({"a": [1, {"b": "k3y"}]})), Ok(r#"{"a":[1,{"b":"[redacted]"}]}"#)),
        (Canned::bytes("text/plain", "just words"), Ok("just words")),
        (Canned::bytes("text/plain", "").status(204), Ok("")),
        (Canned::bytes("text/html", "<!doctype html><html>hi</html>"), Ok("[not text: an HTML page, 30 bytes]")),
        (Canned::bytes("image/png", png), Ok("[not text: an image (image/png), 16 bytes]")),
        (
            Canned::json(&json!({"message": "no such book"})).status(404),
            Err((ToolErrorKind::Failed, "(404): no such book")),
        ),
        (Canned::json(&json!({"status_message": "gone"})).status(410), Err((ToolErrorKind::Failed, "gone"))),
        (
            Canned::bytes("text/plain", "bad k3y").status(401),
            Err((ToolErrorKind::Unauthorized, "(401): bad [redacted]")),
        ),
        (Canned::bytes("text/html", "<html>x").status(403), Err((ToolErrorKind::Unauthorized, "(403): Forbidden"))),
        (Canned::json(&json!({"error": {"message": "page"}})).status(400), Err((ToolErrorKind::InvalidInput, "page"))),
        (Canned::redirect("http://evil.test/"), Err((ToolErrorKind::Unavailable, "not followed"))),
        (Canned::bytes("text/plain", "").status(500), Err((ToolErrorKind::Unavailable, "Internal Server Error"))),
        (Canned::bytes("text/plain", "cut").cut(), Err((ToolErrorKind::Transport, "broke off"))),
    ] {
        let stub = Stub::start(move |_| canned.clone()).await.unwrap();
        let caller = OpenApiCaller::new(document(), config(&stub));
        let answer = call(&caller, "listLoans", "{}").await;
        match (&answer, wanted) {
            (Ok(text), Ok(wanted)) => assert_eq!(text, wanted),
            (Err(error), Err((kind, part))) => {
                assert!(error.kind == kind && error.message.contains(part), "{error:?}");
                assert!(!error.message.contains("k3y"), "{error:?}");
            }
            _ => panic!("{answer:?}, not {wanted:?}"),
        }
    }
}

#[tokio::test]
async fn passing_failures_are_tried_again() {
    for (status, method, tries, kind) in [
        (429, "GET", 4, ToolErrorKind::TooManyRequests),
        (429, "POST", 4, ToolErrorKind::TooManyRequests),
        (503, "GET", 4, ToolErrorKind::Unavailable),
        (503, "POST", 1, ToolErrorKind::Unavailable),
        (503, "PUT", 1, ToolErrorKind::Unavailable),
        (502, "GET", 4, ToolErrorKind::Unavailable),
        (502, "POST", 1, ToolErrorKind::Unavailable),
        (500, "GET", 1, ToolErrorKind::Unavailable),
        (404, "GET", 1, ToolErrorKind::Failed),
    ] {
        let stub = Stub::start(move |_| Canned::bytes("text/plain", "").status(status)).await.unwrap();
        let caller = OpenApiCaller::new(None, config(&stub));
        let error = call(&caller, &format!("{method} /a"), "{}").await.unwrap_err();
        assert_eq!((error.kind, stub.requests().len()), (kind, tries), "{status} {method}");
    }
    // What the configuration says of a method counts.
    for (effect, method, tries) in [(Effect::Destroys, "GET", 1), (Effect::Reads, "POST", 4)] {
        let stub = Stub::start(|_| Canned::bytes("text/plain", "").status(503)).await.unwrap();
        let caller = Arc::new(OpenApiCaller::new(None, config(&stub)));
        let spec = ToolSpec { effect, ..described("t", "t", json!({"type": "object"}), json!({})) };
        let tool = OpenApiTool::new(spec, caller, format!("{method} /a"), None);
        tool.call(&json!({}), &Scope::default()).await.unwrap_err();
        assert_eq!(stub.requests().len(), tries, "{effect:?} {method}");
    }
    let count = Arc::new(AtomicUsize::new(0));
    let stub = Stub::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Canned::bytes("text/plain", "").status(429).header("retry-after", "0"),
        1 => Canned::bytes("text/plain", "x").cut(),
        _ => Canned::bytes("text/plain", "at last"),
    });
    let stub = stub.await.unwrap();
    let caller = OpenApiCaller::new(document(), config(&stub));
    assert_eq!(call(&caller, "listLoans", "{}").await.as_deref(), Ok("at last"));
    // Nobody waits for an hour.
    let stub =
        Stub::start(|_| Canned::bytes("text/plain", "").status(429).header("retry-after", "3600")).await.unwrap();
    let caller = OpenApiCaller::new(document(), config(&stub));
    assert_eq!(call(&caller, "listLoans", "{}").await.unwrap_err().kind, ToolErrorKind::TooManyRequests);
}

#[tokio::test]
async fn a_service_that_is_not_there_is_told() {
    let stub = Stub::start(|_| Canned::bytes("text/plain", "x").endless()).await.unwrap();
    let caller = OpenApiCaller::new(None, OpenApiConfig { timeout: Duration::from_millis(20), ..config(&stub) });
    assert_eq!(call(&caller, "POST /a", "{}").await.unwrap_err().kind, ToolErrorKind::Timeout);
    let gone = config(&stub);
    drop(stub);
    let caller = OpenApiCaller::new(None, gone);
    assert_eq!(call(&caller, "POST /a", "{}").await.unwrap_err().kind, ToolErrorKind::Transport);
}
