//! The stand-in for an API, asked over a real socket: by hand, and with every Example that was written for it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jarvis_catalogue::openapi::ApiDocument;
use jarvis_easytool::instruct::{InstructOptions, InstructReport, Memo, Shape, Writer, read_documents, write};
use jarvis_easytool::mock::ApiMock;
use jarvis_net::Secret;
use jarvis_plan::Effect;
use jarvis_tools::openapi::{OpenApiCaller, OpenApiConfig};
use jarvis_tools::{Registry, ToolErrorKind};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::instruct::library;

/// Starts a stand-in, which runs as long as the test, and returns its address.
async fn serve(mock: &ApiMock) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(jarvis_easytool::mock::serve(listener, mock.router()));
    url
}

#[tokio::test]
async fn requests_are_checked_against_the_document() {
    let mock = ApiMock::new(ApiDocument::read(&library()).unwrap()).with_key("card-7");
    let url = serve(&mock).await;
    #[allow(clippy::disallowed_methods, reason = "the caller of the mock is a client of its own")]
    let client = jarvis_net::http::builder().no_proxy().build().unwrap();
    let ask = async |method: &str, path: &str, body: &str| {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let request = client.request(method, format!("{url}{path}")).header("X-Library-Card", "card-7");
        let reply = request.body(body.to_owned()).send().await.unwrap();
        let (status, kind) = (reply.status().as_u16(), reply.headers().get("content-type").cloned());
        let kind = kind.map(|kind| kind.to_str().unwrap().to_owned()).unwrap_or_default();
        (status, kind, reply.text().await.unwrap_or_default())
    };
    // Method, path, body, status and a part of the answer.
    for line in jarvis_testing::lines(include_str!("mock_api_requests.tsv")) {
        let [method, path, body, status, part] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (got, _, text) = ask(method, path, body).await;
        assert!(got.to_string() == status && text.contains(part), "{method} {path}: {got} {text}");
    }
    let (_, kind, _) = ask("GET", "/cover/7", "").await;
    assert_eq!(kind, "image/png");
    let bare = client.get(format!("{url}/loans")).send().await.unwrap();
    assert_eq!(bare.status().as_u16(), 401);
    assert!(client.get(format!("{url}/opening-hours")).send().await.unwrap().status().is_success());
    let requests = mock.requests();
    assert_eq!((requests[1].operation.as_str(), requests[1].status), ("GET /search/book", 200));
    assert_eq!(requests[1].arguments["page"], Value::from("2"));
}

#[tokio::test]
async fn a_caller_and_a_stand_in_understand_each_other() {
    let document = Arc::new(ApiDocument::read(&library()).unwrap());
    let mock = ApiMock::new(ApiDocument::clone(&document)).with_key("card-7");
    let url = serve(&mock).await;
    let base = url::Url::parse(&url).unwrap();
    let config = OpenApiConfig { key: Secret::new("card-7"), ..OpenApiConfig::new(base.clone()) };
    let caller = OpenApiCaller::new(Some(Arc::clone(&document)), config);
    let call = async |caller: &OpenApiCaller, api: &str, arguments: Value| {
        caller.call(api, arguments.as_object().unwrap(), Effect::Reads).await.map(|observation| observation.text)
    };
    let found = call(&caller, "GET /search/author", json!({"query": "Lagerlöf"})).await.unwrap();
    assert_eq!(found, r#"{"page":1,"results":[{"id":31,"name":"Selma Lagerlöf"}]}"#);
    let books = call(&caller, "getBooksOfAuthor", json!({"author_id": 31})).await.unwrap();
    assert!(books.contains("Gösta Berlings saga"), "{books}");
    let cover = call(&caller, "getCover", json!({"book_id": 3})).await.unwrap();
    assert!(cover.starts_with("[not text: an image (image/png)"), "{cover}");
    // Without a key, and without a document: the stand-in is the one that says no.
    let caller = OpenApiCaller::new(None, OpenApiConfig::new(base));
    let refused = call(&caller, "GET /loans", json!({})).await.unwrap_err();
    assert_eq!((refused.kind, refused.message.contains("the key is missing")), (ToolErrorKind::Unauthorized, true));
    assert_eq!(mock.requests().len(), 4);
}

/// Executes every Example that only reads on a stand-in.
async fn execute(path: &Path) -> (InstructReport, ApiMock) {
    let documents = read_documents(path).unwrap();
    let api = Arc::clone(documents[0].api.as_ref().unwrap());
    let mock = ApiMock::new(ApiDocument::clone(&api));
    let url = serve(&mock).await;
    let base = url::Url::parse(&url).unwrap();
    let caller = Arc::new(OpenApiCaller::new(Some(api), OpenApiConfig::new(base)));
    let mut tools = Registry::new();
    caller.add_to(&mut tools, [], Duration::from_secs(30)).unwrap();
    let writer = Writer { model: None, events: jarvis_ask::Events::unread(), tools: Some(Arc::new(tools)) };
    let options = InstructOptions { shape: Shape::Endpoints, concurrency: 8, ..InstructOptions::default() };
    let written = write(&documents, &writer, options, &Memo::none(), &CancellationToken::new()).await;
    (written.unwrap().1, mock)
}

/// Every Example that only reads is taken by the stand-in; the numbers are those executed and those left untested.
pub(crate) async fn check_examples(path: &Path, executed: u64, untested: u64) {
    let (report, mock) = execute(path).await;
    let refused: Vec<_> = mock.requests().into_iter().filter(|one| one.status >= 300).collect();
    assert_eq!(refused, [], "{}", path.display());
    assert_eq!((report.executed, report.untested, report.dropped.len()), (executed, untested, 0));
}

#[tokio::test]
async fn every_example_can_be_executed() {
    check_examples(&library(), 9, 3).await;
}
