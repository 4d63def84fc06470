//! Calls that change something: they wait for leave, over a restart too, and are made once or not at all.

use jarvis_testing::chat::{FakeChat, Reply, Script};
use jarvis_testing::stub::{Canned, Stub};
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
};
use rmcp::service::RequestContext;
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient};
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::serve::Server;

pub(crate) const REQUEST: &str = "find a lamp and reserve it";

/// A shop with one article, and a planner that reserves it.
pub(crate) struct Shop {
    stub: Stub,
    pub(crate) chat: FakeChat,
    pub(crate) harness: Harness,
}

impl Shop {
    /// `finds` is the status of its search.
    pub(crate) async fn open(finds: u16) -> Shop {
        Shop::finding(finds, &[17], "<GENERATED>-0.articles[0].id").await
    }

    /// It finds these articles, and the planner reserves this.
    async fn finding(status: u16, ids: &[u32], article: &str) -> Shop {
        let plan = json!([
            {"task": "shop.findArticle", "id": 0, "dep": [-1], "args": {"query": "lamp"}},
            {"task": "shop.reserve", "id": 1, "dep": [0], "args": {"article": article}},
        ]);
        Shop::planning(status, ids, &plan).await
    }

    /// It finds these articles, and this is the plan.
    pub(crate) async fn planning(status: u16, ids: &[u32], plan: &Value) -> Shop {
        let articles: Vec<Value> = ids.iter().map(|id| json!({"id": id, "name": "lamp"})).collect();
        let stub = Stub::start(move |request| match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/articles") => Canned::json(&json!({"articles": articles})).status(status),
            ("POST", "/reservations") => Canned::json(&json!({"reservation": 5})).status(201),
            _ => Canned::json(&json!({"error": "not found"})).status(404),
        });
        let stub = stub.await.expect("a port");
        let script =
            Script::new().on("parse_task", Reply::text(plan.to_string())).otherwise(Reply::text("All is done."));
        let chat = FakeChat::start(script).await;
        let harness = Harness::new();
        let text =
            |name: &str, kind: &str| json!({"name": name, "in": "query", "required": true, "schema": {"type": kind}});
        let body = json!({"type": "object", "required": ["article"], "properties": {"article": {"type": "integer"}}});
        let document = json!({
            "openapi": "3.1.0",
            "info": {"title": "Shop", "version": "1"},
            "servers": [{"url": stub.url("")}],
            "paths": {
                "/articles": {"get": {
                    "operationId": "findArticle", "summary": "Finds articles", "parameters": [text("query", "string")],
                    "responses": {"200": {"description": "Found"}},
                }},
                "/reservations": {"post": {
                    "operationId": "reserve", "summary": "Reserves an article",
                    "requestBody": {"required": true, "content": {"application/json": {"schema": body}}},
                    "responses": {"201": {"description": "Reserved"}},
                }},
            },
        });
        harness.file("shop.json", document.to_string());
        let tools = "tools:\n  - name: shop\n    when: an article is wanted\n    openapi: {document: shop.json}\n";
        harness.file("jarvis.yaml", format!("{tools}planning:\n  max_tasks: 3\n"));
        Shop { stub, chat, harness }
    }

    /// The same with another chat model.
    #[cfg(feature = "restate")]
    pub(crate) async fn chatting(self, script: Script) -> Shop {
        Shop { chat: FakeChat::start(script).await, ..self }
    }

    pub(crate) fn args<'a>(&self, url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        [more, &["--config", "jarvis.yaml", "--llm", "gpt-4", "--base-url", url]].concat()
    }

    fn serve(&self) -> Server {
        Server::start(&self.harness, &self.args(&self.chat.url(), &[]))
    }

    /// The calls that it got: `METHOD path body`.
    pub(crate) fn calls(&self) -> Vec<String> {
        let said = |request: &jarvis_testing::stub::Captured| {
            format!("{} {} {}", request.method, request.path, String::from_utf8_lossy(&request.body)).trim().to_owned()
        };
        self.stub.requests().iter().map(said).collect()
    }
}

/// Starts the run and gives its id once it waits.
async fn waiting(server: &Server) -> String {
    let (status, reply) = server.ask(REQUEST).await;
    assert_eq!((status, &reply["status"]), (202, &json!("waiting")), "{reply}");
    let asked = &reply["waiting"][0];
    assert_eq!((&asked["tool"], &asked["arguments"]), (&json!("shop.reserve"), &json!({"article": 17})), "{asked}");
    assert_eq!((&asked["sources"]["article"], &asked["effect"]), (&json!("task 1"), &json!("writes")), "{asked}");
    reply["run_id"].as_str().expect("an id").to_owned()
}

/// The events of a run to its end.
async fn ended(server: &Server, id: &str) -> Vec<Value> {
    let text = server.told(id).await;
    text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?).ok()).collect()
}

fn count(events: &[Value], kind: &str) -> usize {
    events.iter().filter(|event| event["event"] == kind).count()
}

#[tokio::test]
async fn a_run_waits_for_leave_over_a_kill_and_a_stop_and_is_asked_once() {
    let shop = Shop::open(200).await;
    let server = shop.serve();
    let id = waiting(&server).await;
    assert_eq!(server.end("-KILL"), None);
    let (_, listed) = shop.harness.json(&["runs", "list", "--json"]);
    assert_eq!(listed[0]["status"], "waiting", "{listed}");
    // Taken up again, told to stop, and taken up once more.
    let server = shop.serve();
    assert_eq!(server.get(&format!("/runs/{id}")).await.1["status"], "waiting");
    assert_eq!(server.end("-TERM"), Some(0));
    let server = shop.serve();
    let (_, run) = server.get(&format!("/runs/{id}")).await;
    assert_eq!((&run["status"], &run["waiting"][0]["arguments"]["article"]), (&json!("waiting"), &json!(17)), "{run}");
    assert_eq!(shop.calls(), ["GET /articles"], "nothing was reserved, and nothing is asked for twice");

    let at = format!("/runs/{id}/approvals/1");
    let (status, reply) = server.post(&at, &json!({"decision": "approve", "arguments": {"article": "x"}})).await;
    assert!(status == 400 && reply.to_string().contains("article"), "{status} {reply}");
    let (status, reply) = server.post(&format!("/runs/{id}/approvals/0"), &json!({"decision": "approve"})).await;
    assert_eq!((status, &reply["error"]["hint"]), (404, &json!(format!("it waits for an answer at {at}"))), "{reply}");
    let (status, reply) = server.post(&at, &json!({"decision": "approve", "arguments": {"article": 18}})).await;
    assert_eq!((status, &reply["approved"]), (200, &json!(true)), "{reply}");
    let events = ended(&server, &id).await;
    assert_eq!(
        (count(&events, "approval_needed"), count(&events, "approval_given"), count(&events, "done")),
        (1, 1, 1)
    );
    let places: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(shop.calls(), ["GET /articles", r#"POST /reservations {"article":18}"#]);
    let status = server.post(&at, &json!({"decision": "approve"})).await.0;
    assert!(matches!(status, 404 | 409), "{status}");
    let (_, run) = server.get(&format!("/runs/{id}")).await;
    assert_eq!((&run["status"], &run["ok"]), (&json!("done"), &json!(2)), "{run}");
}

#[tokio::test]
async fn calls_for_each_element_of_a_list_are_asked_about_together_over_a_kill_and_made_once() {
    let shop = Shop::finding(200, &[17, 18, 19], "<GENERATED>-0.articles[].id").await;
    let server = shop.serve();
    let (status, reply) = server.ask(REQUEST).await;
    assert_eq!((status, &reply["status"]), (202, &json!("waiting")), "{reply}");
    let asked = json!({"each": [{"article": 17}, {"article": 18}, {"article": 19}]});
    let waits = &reply["waiting"][0];
    assert_eq!((&waits["arguments"], &waits["sources"]["each"]), (&asked, &json!("task 1")), "{waits}");
    let id = reply["run_id"].as_str().expect("an id").to_owned();
    assert_eq!(server.end("-KILL"), None);
    let server = shop.serve();
    let at = format!("/runs/{id}/approvals/1");
    for wrong in [json!({"article": 17}), json!({"each": [{"article": "x"}]}), json!({"each": 17})] {
        let (status, reply) = server.post(&at, &json!({"decision": "approve", "arguments": wrong})).await;
        assert_eq!((status, reply["error"]["param"].as_str()), (400, Some("arguments")), "{reply}");
    }
    let without_one = json!({"each": [{"article": 17}, {"article": 19}]});
    let (status, reply) = server.post(&at, &json!({"decision": "approve", "arguments": without_one})).await;
    assert_eq!(status, 200, "{reply}");
    let events = ended(&server, &id).await;
    let outcome = events.iter().rfind(|event| event["event"] == "task_finished").expect("an outcome");
    assert_eq!(outcome["outcome"]["status"], "succeeded", "{outcome}");
    let calls = ["GET /articles", r#"POST /reservations {"article":17}"#, r#"POST /reservations {"article":19}"#];
    assert_eq!(shop.calls(), calls);
}

#[tokio::test]
async fn nothing_changes_beside_what_was_left_out() {
    let find = |id: u32| json!({"task": "shop.findArticle", "id": id, "dep": [-1], "args": {"query": "lamp"}});
    let reserve =
        json!({"task": "shop.reserve", "id": 1, "dep": [0], "args": {"article": "<GENERATED>-0.articles[0].id"}});
    // More than a plan may have.
    let shop = Shop::planning(200, &[17], &json!([find(0), reserve, find(2), find(3)])).await;
    let url = shop.chat.url();
    let ended = shop.harness.run(&shop.args(&url, &["run", REQUEST, "--yes"]));
    assert_eq!(ended.code, 1, "{}{}", ended.stdout, ended.stderr);
    assert_eq!(shop.calls(), [""; 0]);
}

#[tokio::test]
async fn what_was_settled_outlives_a_kill() {
    let shop = Shop::open(200).await;
    let server = shop.serve();
    // A plan names who performs its last task.
    let mood = json!({"task_id": 2, "task_type": "text-classification", "args": {"text": "I love it"}, "model_id": "native/vader",
        "model_reason": "the plan says so", "hosted_on": "native", "alternatives": [], "dependencies": [1]});
    let tasks = json!([
        {"task_id": 0, "task_type": "shop.findArticle", "args": {"query": "lamp"}, "dependencies": []},
        {"task_id": 1, "task_type": "shop.reserve", "args": {"article": "<GENERATED>-0.articles[0].id"}, "dependencies": [0]},
        mood,
    ]);
    let plan = json!({"execution_config": {"user_request": "a lamp", "tasks": tasks}});
    let (status, reply) = server.post("/plans/run", &plan).await;
    assert_eq!((status, &reply["status"]), (202, &json!("waiting")), "{reply}");
    let pinned = reply["run_id"].as_str().expect("an id").to_owned();
    assert_eq!(server.end("-KILL"), None);

    let server = shop.serve();
    let at = format!("/runs/{pinned}/approvals/1");
    let wrong = json!({"decision": "approve_always", "arguments": {"article": 1}});
    assert_eq!(server.post(&at, &wrong).await.0, 400);
    assert_eq!(server.post(&at, &json!({"decision": "approve"})).await.0, 200);
    let events = ended(&server, &pinned).await;
    let outcome = events.iter().rfind(|event| event["event"] == "task_finished").expect("an outcome");
    let selection = &outcome["outcome"]["selection"];
    assert_eq!(
        (&selection["chosen"]["id"], &selection["reason"]),
        (&json!("native/vader"), &json!("the plan says so"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_list_is_nothing_done() {
    let shop = Shop::finding(200, &[], "<GENERATED>-0.articles[].id").await;
    let url = shop.chat.url();
    let ended = shop.harness.run(&shop.args(&url, &["run", REQUEST, "--yes"]));
    assert!(ended.code == 1 && ended.stdout.contains("the list is empty"), "{}{}", ended.stdout, ended.stderr);
    assert_eq!(shop.calls(), ["GET /articles"]);
}

#[tokio::test]
async fn what_is_refused_is_not_called_and_said() {
    let shop = Shop::open(200).await;
    let server = shop.serve();
    let id = waiting(&server).await;
    let no = json!({"decision": "refuse", "reason": "too dear"});
    assert_eq!(server.post(&format!("/runs/{id}/approvals/1"), &no).await.0, 200);
    let events = ended(&server, &id).await;
    let answer = events.iter().find(|event| event["event"] == "answer").expect("an answer");
    assert!(answer["answer"]["text"].as_str().is_some_and(|text| text.contains("too dear")), "{answer}");
    assert_eq!(shop.calls(), ["GET /articles"]);
}

#[tokio::test]
async fn a_run_that_waits_can_be_cancelled() {
    let shop = Shop::open(200).await;
    let server = shop.serve();
    let id = waiting(&server).await;
    assert_eq!(server.post(&format!("/runs/{id}/cancel"), &json!({})).await.0, 200);
    let events = ended(&server, &id).await;
    let done = events.last().expect("an end");
    assert_eq!((&done["event"], &done["cancelled"]), (&json!("done"), &json!(true)), "{done}");
    assert_eq!(shop.calls(), ["GET /articles"]);
}

#[tokio::test]
async fn nothing_is_changed_after_a_failure_before_it() {
    let shop = Shop::open(500).await;
    let server = shop.serve();
    let (status, reply) = server.ask(REQUEST).await;
    assert_eq!((status, &reply["run"]["ok"]), (200, &json!(false)), "{reply}");
    assert!(shop.calls().iter().all(|call| call.starts_with("GET")), "{:?}", shop.calls());
}

#[tokio::test]
async fn a_door_that_cannot_wait_refuses() {
    let shop = Shop::open(200).await;
    let server = shop.serve();
    let body = json!({"model": "jarvis/hugginggpt", "messages": [{"role": "user", "content": REQUEST}]});
    let (status, reply) = server.post("/v1/chat/completions", &body).await;
    let text = reply["choices"][0]["message"]["content"].as_str().unwrap_or_default();
    assert!(status == 200 && text.contains("shop.reserve") && text.contains("was not called"), "{status} {reply}");
    assert_eq!(shop.calls(), ["GET /articles"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_without_a_terminal_names_the_flag() {
    let shop = Shop::open(200).await;
    let url = shop.chat.url();
    let run = |more: &[&str]| shop.harness.run(&shop.args(&url, &[&["run", REQUEST], more].concat()));
    let ended = run(&[]);
    assert!(ended.code == 1 && ended.stdout.contains("--approve shop.reserve"), "{}{}", ended.stdout, ended.stderr);
    assert_eq!(shop.calls(), ["GET /articles"]);
    let ended = run(&["--approve", "shop.*"]);
    assert_eq!(
        (ended.code, shop.calls().last().map(String::as_str)),
        (0, Some(r#"POST /reservations {"article":17}"#))
    );
}

/// An MCP client whose person allows every call that is asked about, or none.
struct Person {
    allows: bool,
    can_be_asked: bool,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        if self.can_be_asked {
            info.capabilities = ClientCapabilities::builder().enable_elicitation().build();
        }
        info
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else { panic!("a form is asked for") };
        assert!(message.contains("shop.reserve") && message.contains("article: 17  (from task 1)"), "{message}");
        let answer = ElicitResult::new(ElicitationAction::Accept);
        Ok(answer.with_content(json!({"allow": self.allows})))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_mcp_client_that_can_ask_its_person_is_asked() {
    for (person, made, says) in [
        (Person { allows: true, can_be_asked: true }, true, "All is done"),
        (Person { allows: false, can_be_asked: true }, false, "it was refused"),
        (Person { allows: true, can_be_asked: false }, false, "approved:"),
    ] {
        let shop = Shop::open(200).await;
        let command = shop.harness.command(&shop.args(&shop.chat.url(), &["mcp"]));
        let process = TokioChildProcess::new(tokio::process::Command::from(command)).expect("it starts");
        let client =
            person.serve_with_lifecycle(process, ClientLifecycleMode::Initialize).await.expect("it speaks MCP");
        let call = CallToolRequestParams::new("run")
            .with_arguments(json!({"request": REQUEST}).as_object().cloned().unwrap_or_default());
        let done = client.peer().call_tool(call).await.expect("a result");
        let text = done.content.iter().find_map(|block| block.as_text()).map_or("", |text| text.text.as_str());
        assert!(text.contains(says) && done.is_error == Some(!made), "{done:?}");
        assert_eq!(shop.calls().iter().any(|call| call.starts_with("POST")), made, "{:?}", shop.calls());
        client.cancel().await.expect("it ends");
    }
}
