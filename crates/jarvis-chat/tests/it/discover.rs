//! Model servers that are found, chosen from, and asked what their models can do.

use std::time::Duration;

use jarvis_chat::{ChatModel, Discovery, Fact, NoServer, OpenAi, OpenAiConfig, Protocol, Secret};
use jarvis_testing::chat::{FakeChat, Host, Script};
use jarvis_testing::rows;
use jarvis_testing::stub::{Canned, Stub};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::KEY;

const CASES: &str = include_str!("discover.yaml");

/// Longer than any test waits for a server that answers.
const PATIENT: Duration = Duration::from_secs(20);

fn host(host: Host) -> FakeChat {
    FakeChat::hosted(host, Script::always("hi"))
}

fn config(base_url: impl Into<String>, model: &str) -> OpenAiConfig {
    OpenAiConfig { probe_timeout: PATIENT, ..OpenAiConfig::new(base_url, model) }
}

fn discovery(addresses: &[String]) -> Discovery {
    Discovery::new(addresses).unwrap().timeout(PATIENT)
}

/// A port at which nothing listens any more.
async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[derive(Deserialize)]
struct Choice {
    case: String,
    servers: Vec<Host>,
    /// What is chosen: server, model, context, vision; or why not.
    want: Value,
}

#[tokio::test]
async fn the_first_server_with_a_chat_model_is_taken_with_its_best_model() {
    for Choice { case, servers, want } in rows(CASES, "choices") {
        let fakes: Vec<FakeChat> = servers.into_iter().map(host).collect();
        let addresses: Vec<String> = fakes.iter().map(FakeChat::origin).collect();
        let found = match discovery(&addresses).first().await {
            Ok((server, model)) => {
                assert!(addresses.iter().any(|address| server.base_url() == format!("{address}/v1")), "{case}");
                json!([server.kind.to_string(), model.name, model.context, model.vision])
            }
            Err(misses) => {
                let why: Vec<String> = misses.iter().map(|(_, why)| why.to_string()).collect();
                json!(why.join("; "))
            }
        };
        assert_eq!(found, want, "{case}");
    }
}

#[derive(Deserialize)]
struct Telling {
    case: String,
    server: Option<Host>,
    model: String,
    /// Context and where it comes from, vision and where it comes from.
    want: [Value; 4],
}

fn told<T: serde::Serialize>(fact: Fact<T>) -> [Value; 2] {
    [json!(fact.value), json!(format!("{:?}", fact.origin))]
}

#[tokio::test]
async fn the_endpoint_tells_context_and_vision_or_the_families_do() {
    for Telling { case, server, model, want } in rows(CASES, "facts") {
        let fake = server.map_or_else(|| FakeChat::spawn(Script::always("hi")), host);
        let client = OpenAi::new(config(fake.url(), &model)).unwrap();
        assert_eq!(fake.lookups().len(), 0, "nothing is asked before it is needed");
        client.probe().await;
        let [context, from, vision, by] = want;
        assert_eq!(told(client.context("parse_task")), [context, from], "{case}");
        assert_eq!(told(client.vision("task_llm")), [vision, by], "{case}");
        let asked = fake.lookups().len();
        client.probe().await;
        assert_eq!((fake.lookups().len(), fake.requests().len()), (asked, 0), "{case}: it is asked once");
    }
}

#[tokio::test]
async fn what_is_configured_wins_and_each_stage_has_its_own_model() {
    let server: Host = rows::<Telling>(CASES, "facts").into_iter().find_map(|row| row.server).unwrap();
    let fake = host(server);
    let mut config = config(fake.url(), "text:8b");
    config.stage_models = [("task_llm".to_owned(), "vision:8b".to_owned())].into();
    let client = OpenAi::new(config.clone()).unwrap();
    client.probe().await;
    assert_eq!((client.can_see("parse_task"), client.can_see("task_llm")), (false, true));

    config.context_tokens = Some(77);
    config.vision = Some(true);
    let client = OpenAi::new(config.clone()).unwrap();
    client.probe().await;
    assert_eq!((client.context_tokens("parse_task"), client.can_see("parse_task")), (77, true));
    config.protocol = Protocol::Completion;
    assert!(!OpenAi::new(config).unwrap().can_see("task_llm"), "the legacy protocol has no pictures");
}

#[tokio::test]
async fn the_key_goes_to_the_configured_endpoint_and_nowhere_else() {
    let elsewhere = FakeChat::spawn(Script::new());
    let target = elsewhere.url();
    let redirecting = Stub::start(move |request| Canned::redirect(&format!("{target}{}", request.path))).await.unwrap();
    for base in [redirecting.url(""), redirecting.url("/v1")] {
        let config = OpenAiConfig { api_key: Secret::new(KEY), ..config(base, "gpt-4o") };
        let client = OpenAi::new(config).unwrap();
        client.probe().await;
        assert!(client.server().is_none() && client.can_see("task_llm"));
    }
    assert!(redirecting.requests().iter().all(|request| request.header("authorization").is_some()));
    assert_eq!(elsewhere.lookups().len(), 0);

    // Looking for servers sends no key, since nobody configured one for them.
    let found = discovery(&[redirecting.url("")]).first().await.unwrap_err();
    assert_eq!(found[0].1, NoServer::Unknown);
    assert!(redirecting.requests().iter().rev().take(4).all(|request| request.header("authorization").is_none()));
}

/// llama-server in front of several models tells no properties of one.
#[tokio::test]
async fn a_server_that_routes_between_models_says_which_is_loaded() {
    let model = |name: &str, status: &str| json!({"id": name, "object": "model", "owned_by": "llamacpp", "status": {"value": status}, "meta": {"n_ctx_train": 32768}});
    let list = json!({"object": "list", "data": [model("a-chat", "unloaded"), model("b-chat", "loaded")]});
    let router = Stub::start(move |request| match request.path.as_str() {
        "/v1/models" => Canned::json(&list),
        "/props" => Canned::json(&json!({"role": "router", "max_instances": 4})),
        _ => Canned::json(&json!({"error": {"code": 404, "type": "not_found_error"}})).status(404),
    });
    let (server, best) = discovery(&[router.await.unwrap().url("")]).first().await.unwrap();
    let found = (server.kind.to_string(), best.name.as_str(), best.context, best.context_is_maximum);
    assert_eq!(found, ("llama-server".to_owned(), "b-chat", Some(32768), true));
}

#[tokio::test]
async fn what_is_no_model_server_is_told_apart() {
    let page = Canned::bytes("text/html", "<!doctype html><title>It works</title>");
    let other: [(&str, Canned, NoServer); 8] = [
        ("one that requires a key", Canned::json(&json!({"error": "no key"})).status(401), NoServer::Locked),
        ("a web page for every path", page, NoServer::Unknown),
        ("not JSON", Canned::bytes("application/json", "{\"version\": "), NoServer::Unknown),
        ("another service's version", Canned::json(&json!({"version": "1.2"})), NoServer::Unknown),
        ("another service's data", Canned::json(&json!({"data": [{"id": 7}]})), NoServer::Unknown),
        ("a list of models of unknown make", Canned::json(&json!({"data": [{"id": "m"}]})), NoServer::Unknown),
        ("an error", Canned::json(&json!({"error": "no"})).status(500), NoServer::Unknown),
        ("more than anyone has to say", Canned::bytes("application/json", vec![b' '; 2 << 20]), NoServer::Unknown),
    ];
    for (case, answer, want) in other {
        let stub = Stub::start(move |_| answer.clone()).await.unwrap();
        let misses = discovery(&[stub.url("")]).first().await.unwrap_err();
        assert_eq!(misses.into_iter().map(|(_, why)| why).collect::<Vec<_>>(), [want], "{case}");
    }

    let stub = Stub::start(|_| Canned::bytes("application/json", "{").endless()).await.unwrap();
    let short = Duration::from_millis(50);
    let misses = Discovery::new([stub.url("")]).unwrap().timeout(short).first().await.unwrap_err();
    assert_eq!(misses[0].1, NoServer::Timeout(short));
    let nobody = nobody().await;
    let misses = discovery(&[nobody.replace("//", "//user:password@")]).first().await.unwrap_err();
    assert!(matches!(&misses[..], [(at, NoServer::Unreachable(_))] if *at == nobody), "{misses:?}");
    assert!(Discovery::new(["not an address"]).is_err());
}

#[tokio::test]
async fn a_server_that_hangs_does_not_hold_up_an_earlier_one() {
    let hanging = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hanging = (format!("http://{}", hanging.local_addr().unwrap()), hanging);
    let servers: Vec<Host> = rows::<Choice>(CASES, "choices").remove(0).servers;
    let fake = servers.into_iter().map(host).next().unwrap();
    let forever = Duration::from_secs(86_400);
    let discovery = Discovery::new([nobody().await, fake.origin(), hanging.0]).unwrap().timeout(forever);
    assert!(discovery.first().await.is_ok());
}

#[tokio::test]
async fn every_server_that_answers_is_listed() {
    let fakes: Vec<FakeChat> =
        rows::<Telling>(CASES, "facts").into_iter().filter_map(|row| row.server.map(host)).collect();
    let addresses: Vec<String> = std::iter::once(nobody().await).chain(fakes.iter().map(FakeChat::url)).collect();
    let found: Vec<String> = discovery(&addresses).all().await.iter().map(|server| server.shown_address()).collect();
    assert_eq!(found, fakes.iter().map(FakeChat::origin).collect::<Vec<String>>());
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_leaves_the_table() {
    let client = OpenAi::new(config(nobody().await, "gpt-4o-mini")).unwrap();
    client.probe().await;
    assert_eq!((client.context_tokens("parse_task"), client.can_see("task_llm")), (128_000, true));
}
