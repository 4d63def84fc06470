//! Several users: every door knows who calls, and what each may have at once.

use jarvis_net::Secret;
use jarvis_plan::Budget;
use jarvis_proto::file_based_qa::QueryRequest;
use jarvis_proto::file_based_qa::file_based_qa_client::FileBasedQaClient;
use jarvis_server::{May, ServeError, User};
use jarvis_testing::chat::Script;
use reqwest::Method;
use rmcp::model::{CallToolRequestParams, ClientConfig};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ServiceExt};
use serde_json::{Value, json};
use tonic::transport::Channel;
use tonic::{Code, Request};

use crate::harness::{self, Builder, Does, Harness, Reply, ask, planned};

const RUN: May = May { run: true, approve: false, admin: false };

fn user(name: &str, may: May, max_runs: Option<usize>) -> User {
    let token = Secret::new(&token(name)).expect("a token");
    User { name: name.into(), token, may, max_runs, a_day: Budget::default() }
}

fn token(name: &str) -> String {
    format!("token-of-{name}")
}

/// ada and bob may run, ada one at a time; eve may only approve.
fn with_users(builder: Builder) -> Builder {
    builder.options(|options| {
        let eve = May { run: false, approve: true, admin: false };
        options.users = vec![user("ada", RUN, Some(1)), user("bob", RUN, None), user("eve", eve, None)];
    })
}

/// ada and bob may run, and root may do everything.
pub(crate) fn two(builder: Builder) -> Builder {
    builder.options(|options| {
        let all = May { run: true, approve: true, admin: true };
        options.users = vec![user("ada", RUN, None), user("bob", RUN, None), user("root", all, None)];
    })
}

pub(crate) async fn told(harness: &Harness, name: &str, method: Method, path: &str, body: Option<Value>) -> Reply {
    let mut request = harness.request(method, path).bearer_auth(token(name));
    if let Some(body) = body {
        request = request.json(&body);
    }
    Reply::of(request.send().await.expect("a reply")).await
}

/// Of whom the latest run is that ada and bob see, and whether the other one does not.
async fn latest_is_of(harness: &Harness, name: &str, request: &str) {
    harness.settled().await;
    let other = if name == "ada" { "bob" } else { "ada" };
    let runs = told(harness, name, Method::GET, "/runs", None).await;
    let run = &runs.json["runs"][0];
    assert_eq!((&run["request"], &run["user"]), (&json!(request), &json!(name)), "{runs:?}");
    let path = format!("/runs/{}", run["run_id"].as_str().expect("an id"));
    assert_eq!(told(harness, other, Method::GET, &path, None).await.told(), "404 not_found");
    assert_eq!(told(harness, other, Method::GET, &format!("{path}/events"), None).await.told(), "404 not_found");
}

#[derive(Clone)]
struct Quiet;

impl ClientHandler for Quiet {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::default()
    }
}

#[tokio::test]
async fn a_run_belongs_to_whoever_started_it_by_any_door() {
    let answer = "<Thought>: known\n<Final Answer>: Three.";
    let harness = with_users(harness::with_chat(planned().on("react", answer))).start().await;
    assert_eq!(told(&harness, "bob", Method::POST, "/hugginggpt", Some(ask("by http"))).await.status, 200);
    latest_is_of(&harness, "bob", "by http").await;

    let body = json!({"model": "jarvis/hugginggpt", "messages": [{"role": "user", "content": "by openai"}]});
    assert_eq!(told(&harness, "ada", Method::POST, "/v1/chat/completions", Some(body)).await.status, 200);
    latest_is_of(&harness, "ada", "by openai").await;

    let login = harness.post("/session", json!({"token": token("bob")})).await;
    let cookie = login.header("set-cookie").split(';').next().expect("a pair").to_owned();
    let sent = harness.request(Method::POST, "/hugginggpt").header("cookie", &cookie).json(&ask("by cookie"));
    assert_eq!(sent.send().await.expect("a reply").status(), 200);
    latest_is_of(&harness, "bob", "by cookie").await;

    let config =
        StreamableHttpClientTransportConfig::with_uri(format!("{}/mcp", harness.url)).auth_header(token("ada"));
    let client = Quiet.serve(StreamableHttpClientTransport::from_config(config)).await.expect("it answers");
    let arguments = json!({"request": "by mcp"}).as_object().cloned().expect("an object");
    let called = client.peer().call_tool(CallToolRequestParams::new("run").with_arguments(arguments)).await;
    assert!(called.is_ok_and(|result| result.is_error != Some(true)));
    latest_is_of(&harness, "ada", "by mcp").await;

    let channel = Channel::from_shared(format!("http://{}", harness.grpc)).expect("an address");
    let client = FileBasedQaClient::new(channel.connect().await.expect("it answers"));
    let question = |name: &str| {
        let question =
            QueryRequest { question: "by grpc".into(), file_data: b"a,b".to_vec().into(), ..QueryRequest::default() };
        let mut request = Request::new(question);
        let bearer = format!("Bearer {}", token(name)).parse().expect("a header");
        request.metadata_mut().insert("authorization", bearer);
        let mut client = client.clone();
        async move { client.query_file(request).await }
    };
    question("bob").await.expect("an answer");
    latest_is_of(&harness, "bob", "by grpc").await;
    // Who may not run may not by any door.
    assert_eq!(question("eve").await.expect_err("it is refused").code(), Code::PermissionDenied);
    assert_eq!(question("mallory").await.expect_err("it is refused").code(), Code::Unauthenticated);
    let form = || {
        reqwest::multipart::Form::new()
            .part("file", reqwest::multipart::Part::bytes(b"text".to_vec()).file_name("a.txt"))
    };
    let upload = harness.request(Method::POST, "/upload").bearer_auth(token("eve")).multipart(form());
    assert_eq!(upload.send().await.expect("a reply").status(), 403);
    for path in
        ["/hugginggpt", "/hugginggpt/stream", "/tasks", "/results", "/decisions", "/v1/chat/completions", "/plans/run"]
    {
        let body = match path {
            "/v1/chat/completions" => {
                json!({"model": "jarvis/hugginggpt", "messages": [{"role": "user", "content": "x"}]})
            }
            "/plans/run" => {
                json!({"execution_config": {"tasks": [{"task_id": 0, "task_type": "text-classification", "args": {"text": "x"}, "dependencies": []}]}})
            }
            _ => ask("x"),
        };
        assert_eq!(told(&harness, "eve", Method::POST, path, Some(body)).await.told(), "403 not_allowed", "{path}");
    }
}

#[tokio::test]
async fn a_session_of_mcp_is_its_openers() {
    let harness = with_users(harness::with_chat(planned())).start().await;
    let open = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}}});
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}});
    let send = |name: &str, body: &Value, session: Option<&str>| {
        let mut request = harness.request(Method::POST, "/mcp").bearer_auth(token(name)).json(body);
        request = request.header("accept", "application/json, text/event-stream");
        if let Some(session) = session {
            request = request.header("mcp-session-id", session).header("mcp-protocol-version", "2025-06-18");
        }
        async move { request.send().await.expect("a reply") }
    };
    let opened = send("ada", &open, None).await;
    let session = opened.headers()["mcp-session-id"].to_str().expect("text").to_owned();
    send("ada", &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), Some(&session)).await;
    assert_eq!(send("ada", &list, Some(&session)).await.status(), 200);
    assert_eq!(send("bob", &list, Some(&session)).await.status(), 404);
    let ended = harness.request(Method::DELETE, "/mcp").bearer_auth(token("bob")).header("mcp-session-id", &session);
    assert_eq!(ended.send().await.expect("a reply").status(), 404);
    assert_eq!(send("ada", &list, Some(&session)).await.status(), 200);
}

#[tokio::test]
async fn a_user_has_so_many_runs_at_once_and_no_more() {
    let harness = with_users(harness::with_chat(planned())).does("text-classification", Does::Hangs).start().await;
    let start = |name: &'static str| {
        let request = harness.request(Method::POST, "/hugginggpt/stream").bearer_auth(token(name)).json(&ask("x"));
        async move { request.send().await.expect("a reply") }
    };
    // At the same time too.
    let both = futures::future::join_all((0..8).map(|_| start("ada"))).await;
    let started: Vec<_> = both.iter().filter(|reply| reply.status() == 200).collect();
    assert_eq!((started.len(), both.iter().filter(|reply| reply.status() == 429).count()), (1, 7));
    let refused = both.iter().filter(|reply| reply.status() == 429);
    assert!(refused.map(|reply| &reply.headers()["retry-after"]).all(|seconds| seconds == "1"));
    let id = started[0].headers()["x-run-id"].to_str().expect("text").to_owned();
    let bobs = start("bob").await;
    assert_eq!(bobs.status(), 200, "it is ada's alone");
    // Trying one anew is another run.
    harness.worker.started.reach(2).await;
    assert_eq!(told(&harness, "ada", Method::POST, &format!("/runs/{id}/cancel"), Some(json!({}))).await.status, 200);
    drop((both, bobs));
    let ended = async {
        while told(&harness, "ada", Method::GET, &format!("/runs/{id}"), None).await.json["status"] == "running" {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(harness::PATIENCE, ended).await.expect("it ends");
    let anew = |path: String| told(&harness, "ada", Method::POST, Box::leak(path.into_boxed_str()), Some(json!({})));
    let (one, other) =
        futures::future::join(anew(format!("/runs/{id}/retry")), anew(format!("/runs/{id}/retry"))).await;
    let mut told = [one.told(), other.told()];
    told.sort();
    assert_eq!(told, ["200", "429 too_many_runs"]);
}

#[tokio::test]
async fn several_users_need_a_journal_and_names() {
    let serve = async |change: fn(&mut jarvis_server::Options)| {
        let address = ([127, 0, 0, 1], 0).into();
        let mut options = jarvis_server::Options { users: vec![user("ada", RUN, None)], ..Default::default() };
        change(&mut options);
        jarvis_server::check(address, &options)
    };
    assert!(serve(|_| {}).await.is_ok());
    assert!(matches!(serve(|options| options.token = Secret::new("x")).await, Err(ServeError::Users(_))));
    assert!(matches!(serve(|options| options.users.push(user("Ada", RUN, None))).await, Err(ServeError::Users(_))));
    // With users, names of hosts are free, as with a token.
    let harness = with_users(harness::with_chat(Script::new())).start().await;
    let reply = harness.request(Method::GET, "/runs").bearer_auth(token("ada")).header("host", "jarvis.example.org");
    assert_eq!(reply.send().await.expect("a reply").status(), 200);
}
