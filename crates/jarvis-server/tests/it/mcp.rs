//! The MCP door, called by the official client in both generations of the protocol, and byte by byte where the wire
//! matters.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ContentBlock, Implementation,
    ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};

use crate::harness::{self, CASES, Does, Harness, PATIENCE, Reply, planned};
use jarvis_testing::chat::{Reply as Said, Script};
use jarvis_testing::rows;

/// A client that keeps what it is told of progress.
#[derive(Clone, Default)]
struct Listening(Arc<Mutex<Vec<(f64, String)>>>);

impl ClientHandler for Listening {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("a test", "1"))
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.0.lock().unwrap().push((told.progress, told.message.unwrap_or_default()));
    }
}

impl Listening {
    fn told(&self) -> Vec<String> {
        let told = self.0.lock().unwrap();
        assert!(told.windows(2).all(|pair| pair[0].0 < pair[1].0), "numbers grow: {told:?}");
        told.iter().map(|(_, message)| message.clone()).collect()
    }
}

fn lifecycles() -> [ClientLifecycleMode; 2] {
    [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
    ]
}

type Client = RunningService<RoleClient, Listening>;

async fn client(harness: &Harness, lifecycle: ClientLifecycleMode, token: Option<&str>) -> Result<Client, String> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(format!("{}/mcp", harness.url));
    if let Some(token) = token {
        config = config.auth_header(token);
    }
    let transport = StreamableHttpClientTransport::from_config(config);
    let served = Listening::default().serve_with_lifecycle(transport, lifecycle);
    tokio::time::timeout(PATIENCE, served).await.expect("it answers").map_err(|error| error.to_string())
}

async fn call(client: &Client, tool: &str, arguments: Value) -> Result<CallToolResult, ServiceError> {
    let params =
        CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments.as_object().cloned().unwrap_or_default());
    tokio::time::timeout(PATIENCE, client.peer().call_tool(params)).await.expect("it answers")
}

fn text(result: &CallToolResult) -> &str {
    result.content.iter().find_map(|block| block.as_text()).map_or("", |text| text.text.as_str())
}

fn drawn() -> Script {
    Script::new().on(
        "react",
        vec![
            Said::text("<Thought>: Count and draw.\n<Action>: plot\n<Action Input>: {\"x\": [\"pear\", \"fig\"], \"y\": [2, 1]}"),
            Said::text("<Thought>: I know.\n<Final Answer>: Pear, twice."),
        ],
    )
}

#[tokio::test]
async fn tools_are_listed_in_order_with_their_schemas() {
    let harness = harness::offline().start().await;
    for lifecycle in lifecycles() {
        let client = client(&harness, lifecycle, None).await.unwrap();
        let tools = client.peer().list_all_tools().await.unwrap();
        let seen: Vec<(&str, Option<bool>)> = tools
            .iter()
            .map(|tool| (tool.name.as_ref(), tool.annotations.as_ref().and_then(|hints| hints.read_only_hint)))
            .collect();
        assert_eq!(seen, [("run", Some(false)), ("plan", Some(true)), ("ask", Some(true))]);
        for tool in &tools {
            assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
            assert!(tool.output_schema.is_some() && tool.description.is_some(), "{}", tool.name);
        }
        client.cancel().await.unwrap();
    }
}

#[tokio::test]
async fn a_request_is_done_and_told_on_the_way() {
    for lifecycle in lifecycles() {
        let harness = harness::with_chat(planned()).start().await;
        let client = client(&harness, lifecycle, None).await.unwrap();
        let done = call(&client, "run", json!({"request": "tell the mood of: I love it"})).await.unwrap();
        assert_eq!((text(&done), done.is_error), ("Here you are.", Some(false)));
        let document = done.structured_content.unwrap();
        assert_eq!(document["outcomes"][0]["status"], "succeeded", "{document}");
        assert_eq!(document["answer"]["text"], "Here you are.");
        assert!(!document.to_string().contains(&*harness.folder().to_string_lossy()), "no path of this disk");
        let told = client.service().told();
        assert_eq!(told.first().map(String::as_str), Some("being planned: text-classification"), "{told:?}");
        assert!(told.contains(&"planned: text-classification".to_owned()), "{told:?}");
        assert!(told.iter().any(|told| told.starts_with("task 1 (text-classification) ended")), "{told:?}");
        assert_eq!(told.last().map(String::as_str), Some("the answer is ready"), "{told:?}");
        harness.settled().await;
        let runs = harness.get("/runs").await;
        assert_eq!(runs.json["runs"][0]["run_id"], document["run_id"]);
    }
}

#[tokio::test]
async fn a_request_may_choose_its_pipeline() {
    let harness = harness::with_chat(crate::pipelines::rewoo()).start().await;
    let client = client(&harness, lifecycles()[1].clone(), None).await.unwrap();
    let tools = client.peer().list_all_tools().await.unwrap();
    assert_eq!(
        tools[0].input_schema["properties"]["pipeline"]["enum"],
        json!(["hugginggpt", "chat", "rewoo", "react"])
    );
    let request = json!({"request": "what do both cost?", "pipeline": "rewoo"});
    let done = call(&client, "run", request.clone()).await.unwrap();
    assert_eq!((text(&done), done.is_error), ("Both cost forty-two.", Some(false)));
    assert_eq!(done.structured_content.unwrap()["outcomes"][0]["task"], "calculator");
    for (tool, pipeline, says) in
        [("run", "none", "the pipelines are: hugginggpt, chat, rewoo, react"), ("plan", "rewoo", "no `pipeline`")]
    {
        let error = call(&client, tool, json!({"request": "x", "pipeline": pipeline})).await.unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    // Without a model there is nothing to choose from.
    let offline = harness::offline().start().await;
    let client = self::client(&offline, lifecycles()[1].clone(), None).await.unwrap();
    let tools = client.peer().list_all_tools().await.unwrap();
    assert_eq!(tools[0].input_schema["properties"].get("pipeline"), None);
    let refused = call(&client, "run", request).await.unwrap();
    assert!(refused.is_error == Some(true) && text(&refused).contains("needs a chat model"), "{}", text(&refused));
}

#[tokio::test]
async fn a_plan_is_made_and_nothing_is_done() {
    let harness = harness::with_chat(planned()).start().await;
    let client = client(&harness, lifecycles()[1].clone(), None).await.unwrap();
    let done = call(&client, "plan", json!({"request": "tell the mood of: I love it"})).await.unwrap();
    let document = done.structured_content.clone().unwrap();
    assert_eq!(document["execution_config"]["tasks"][0]["task_type"], "text-classification", "{document}");
    assert!(text(&done).starts_with("0. text-classification: "), "{}", text(&done));
    assert!(client.service().told().contains(&"planned: text-classification".to_owned()));
    // A plan is kept for `POST /plans/{id}/run`, and is no run.
    let saved = harness.get(&format!("/plans/{}", document["plan_id"].as_str().unwrap())).await;
    assert_eq!(saved.json["execution_config"], document["execution_config"]);
    harness.settled().await;
    assert_eq!(harness.get("/runs").await.json["runs"], json!([]));
}

#[tokio::test]
async fn a_question_is_answered_with_its_chart() {
    for lifecycle in lifecycles() {
        let harness = harness::with_chat(drawn()).start().await;
        let client = client(&harness, lifecycle, None).await.unwrap();
        let arguments = json!({"question": "which fruit is most frequent? draw it", "document_base64": STANDARD.encode("pear\nfig\npear\n")});
        let done = call(&client, "ask", arguments).await.unwrap();
        assert_eq!(text(&done), "Pear, twice.");
        let ContentBlock::Image(chart) = &done.content[1] else { panic!("a picture: {:?}", done.content) };
        assert_eq!(chart.mime_type, "image/png");
        assert!(STANDARD.decode(&chart.data).unwrap().starts_with(b"\x89PNG"));
        let document = done.structured_content.unwrap();
        assert_eq!(document["finish_reason"], "final");
        assert_eq!(document["steps"][0]["action"], "plot");
        let told = client.service().told();
        assert_eq!(told[0], "thought: Count and draw.", "{told:?}");
        assert!(told[1].starts_with("action: plot {"), "{told:?}");
        // The document went into the prompt.
        assert!(harness.chat.as_ref().unwrap().requests()[0].prompt().contains("fig"));
    }
}

#[tokio::test]
async fn files_are_taken_in_under_their_names() {
    let plan = r#"[{"task": "text-classification", "id": 0, "dep": [-1], "args": {"text": "n.txt"}},
        {"task": "canny-control", "id": 1, "dep": [-1], "args": {"image": "a.png"}}]"#;
    let script = Script::new().on("parse_task", plan).on("response_results", "Done.");
    let harness = harness::with_chat(script).start().await;
    let client = client(&harness, lifecycles()[1].clone(), None).await.unwrap();
    let mut png = std::io::Cursor::new(Vec::new());
    image::RgbImage::new(2, 2).write_to(&mut png, image::ImageFormat::Png).unwrap();
    let files =
        json!([{"name": "a.png", "data": STANDARD.encode(png.into_inner())}, {"name": "n.txt", "text": "hello"}]);
    let done = call(&client, "run", json!({"request": "look at a.png", "files": files})).await.unwrap();
    assert_eq!(done.is_error, Some(false), "{done:?}");
    let document = done.structured_content.unwrap();
    // The request names the file as plans do.
    assert!(document["request"].as_str().unwrap().starts_with("look at /images/"), "{document}");
}

#[tokio::test]
async fn wrong_calls_are_told_what_is_wrong() {
    let harness = harness::offline().start().await;
    for lifecycle in lifecycles() {
        let client = client(&harness, lifecycle, None).await.unwrap();
        for (tool, arguments, want) in rows::<(String, Value, String)>(CASES, "wrong mcp calls") {
            let error = call(&client, &tool, arguments.clone()).await.unwrap_err();
            let ServiceError::McpError(error) = error else { panic!("{error}") };
            assert_eq!(error.code.0, -32602, "{tool} {arguments}: {error}");
            assert!(error.message.contains(&want), "{tool} {arguments}: {error}");
        }
    }
}

#[tokio::test]
async fn work_that_fails_is_a_result_that_says_why() {
    let script = Script::new().otherwise(Said::error(401, "no such key"));
    let harness = harness::with_chat(script).start().await;
    let client = client(&harness, lifecycles()[1].clone(), None).await.unwrap();
    for (tool, arguments) in [
        ("run", json!({"request": "tell the mood of: I love it"})),
        ("plan", json!({"request": "tell the mood of: I love it"})),
        ("ask", json!({"question": "who?", "document": "me"})),
    ] {
        let done = call(&client, tool, arguments).await.unwrap();
        assert_eq!(done.is_error, Some(true), "{tool}: {done:?}");
        assert!(text(&done).contains("the model call of stage"), "{tool}: {}", text(&done));
    }
}

#[tokio::test]
async fn tasks_that_all_fail_are_an_error_with_the_whole_run() {
    let harness = harness::with_chat(planned()).does("text-classification", Does::Fails).start().await;
    let client = client(&harness, lifecycles()[1].clone(), None).await.unwrap();
    let done = call(&client, "run", json!({"request": "tell the mood of: I love it"})).await.unwrap();
    assert_eq!(done.is_error, Some(true));
    assert_eq!(done.structured_content.unwrap()["outcomes"][0]["status"], "failed");
}

#[tokio::test]
async fn a_full_queue_says_to_come_back() {
    let full = harness::with_chat(planned()).does("text-classification", Does::Waits);
    let harness = full.options(|options| (options.max_running, options.max_waiting) = (1, 0)).start().await;
    let client = client(&harness, lifecycles()[0].clone(), None).await.unwrap();
    let request = json!({"request": "tell the mood of: I love it"});
    let first = call(&client, "run", request.clone());
    let second = async {
        harness.worker.started.reach(1).await;
        let refused = call(&client, "run", request.clone()).await.unwrap_err();
        harness.go.add_permits(1);
        refused
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.unwrap().is_error, Some(false));
    let ServiceError::McpError(error) = second else { panic!("{second}") };
    assert!(error.message.contains("try again later"), "{error}");
    assert_eq!(error.data.unwrap()["retry"], true);
}

#[tokio::test]
async fn a_call_that_is_cancelled_or_left_cancels_its_run() {
    for lifecycle in lifecycles() {
        let harness = harness::with_chat(planned()).does("text-classification", Does::Hangs).start().await;
        let client = client(&harness, lifecycle, None).await.unwrap();
        let params = CallToolRequestParams::new("run")
            .with_arguments(json!({"request": "tell the mood of: I love it"}).as_object().cloned().unwrap());
        let peer = client.peer().clone();
        let calling = tokio::spawn(async move { peer.call_tool(params).await });
        harness.worker.started.reach(1).await;
        // The client tells the server of it, by a notification or by closing the stream.
        calling.abort();
        harness.worker.dropped.reach(1).await;
        harness.settled().await;
        assert_eq!(harness.get("/runs").await.json["runs"][0]["status"], "cancelled");
    }
}

#[tokio::test]
async fn a_connection_that_is_closed_cancels_its_run() {
    let harness = harness::with_chat(planned()).does("text-classification", Does::Hangs).start().await;
    let arguments = json!({"name": "run", "arguments": {"request": "tell the mood of: I love it"}});
    for with_session in [false, true] {
        let body = if with_session {
            legacy("tools/call", arguments.clone())
        } else {
            modern("tools/call", arguments.clone())
        };
        let mut request = harness.request(Method::POST, "/mcp").header("accept", ACCEPT).json(&body);
        if with_session {
            request = request.header("mcp-session-id", session(&harness).await);
        } else {
            request = request.headers(modern_headers("tools/call", Some("run")));
        }
        let started = harness.worker.started.reach(1 + usize::from(with_session));
        // A reply is waited for only until the work has begun.
        tokio::select! {
            reply = async { let reply = request.send().await.expect("a reply"); reply.text().await } => panic!("{reply:?}"),
            () = started => {}
        }
        harness.worker.dropped.reach(1 + usize::from(with_session)).await;
        harness.settled().await;
    }
}

const ACCEPT: &str = "application/json, text/event-stream";

fn legacy(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// A request that stands for itself.
fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "a test", "version": "1"},
        "progressToken": "p",
    });
    legacy(method, params)
}

fn modern_headers(method: &str, name: Option<&str>) -> reqwest::header::HeaderMap {
    let mut headers = reqwest::header::HeaderMap::new();
    headers.insert("mcp-protocol-version", "2026-07-28".parse().unwrap());
    headers.insert("mcp-method", method.parse().unwrap());
    if let Some(name) = name {
        headers.insert("mcp-name", name.parse().unwrap());
    }
    headers
}

/// The messages of a reply, in whichever form it came.
fn messages(reply: &Reply) -> Vec<Value> {
    match reply.header("content-type").starts_with("text/event-stream") {
        true => harness::events(&reply.text).into_iter().map(|(_, data)| data).filter(Value::is_object).collect(),
        false => vec![reply.json.clone()],
    }
}

async fn post(harness: &Harness, body: &Value, headers: reqwest::header::HeaderMap) -> Reply {
    let request = harness.request(Method::POST, "/mcp").header("accept", ACCEPT).headers(headers).json(body);
    Reply::of(request.send().await.expect("a reply")).await
}

/// Opens a session of the earlier protocol.
async fn session(harness: &Harness) -> String {
    let hello = legacy(
        "initialize",
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}}),
    );
    let reply = post(harness, &hello, Default::default()).await;
    let answer = &messages(&reply)[0]["result"];
    assert_eq!((&answer["protocolVersion"], &answer["serverInfo"]["name"]), (&json!("2025-11-25"), &json!("jarvis")));
    let session = reply.header("mcp-session-id").to_owned();
    let mut headers = reqwest::header::HeaderMap::new();
    headers.insert("mcp-session-id", session.parse().unwrap());
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(post(harness, &ready, headers).await.status, 202);
    session
}

#[tokio::test]
async fn requests_that_stand_for_themselves_are_answered_in_full() {
    let harness = harness::with_chat(planned()).start().await;
    let reply = post(&harness, &modern("server/discover", json!({})), modern_headers("server/discover", None)).await;
    let found = &messages(&reply)[0]["result"];
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{found}");
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2025-11-25")), "{found}");
    assert!(found["instructions"].as_str().unwrap().contains("`run`"), "{found}");

    let reply = post(&harness, &modern("tools/list", json!({})), modern_headers("tools/list", None)).await;
    let listed = &messages(&reply)[0]["result"];
    assert_eq!((&listed["resultType"], listed["ttlMs"].is_u64()), (&json!("complete"), true), "{listed}");

    let call = modern("tools/call", json!({"name": "run", "arguments": {"request": "tell the mood of: I love it"}}));
    let reply = post(&harness, &call, modern_headers("tools/call", Some("run"))).await;
    let told = messages(&reply);
    let (last, before) = told.split_last().unwrap();
    assert_eq!(last["result"]["structuredContent"]["answer"]["text"], "Here you are.", "{last}");
    assert_eq!(last["result"]["resultType"], "complete");
    assert!(before.len() > 2, "{before:?}");
    for (at, note) in before.iter().enumerate() {
        assert_eq!(note["method"], "notifications/progress");
        assert_eq!(
            (&note["params"]["progressToken"], note["params"]["progress"].as_f64()),
            (&json!("p"), Some(at as f64 + 1.0))
        );
    }

    // Header and body must agree.
    let reply = post(&harness, &call, modern_headers("tools/list", None)).await;
    assert_eq!((reply.status, &reply.json["error"]["code"]), (400, &json!(-32020)), "{}", reply.text);
    let mut old = modern("tools/list", json!({}));
    old["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let mut headers = modern_headers("tools/list", None);
    headers.insert("mcp-protocol-version", "2031-01-01".parse().unwrap());
    let reply = post(&harness, &old, headers).await;
    assert_eq!((reply.status, &reply.json["error"]["code"]), (400, &json!(-32022)), "{}", reply.text);
}

#[tokio::test]
async fn sessions_of_the_earlier_protocol_are_opened_and_closed() {
    let harness = harness::with_chat(planned()).start().await;
    let id = session(&harness).await;
    let with = || {
        let mut headers = reqwest::header::HeaderMap::new();
        headers.insert("mcp-session-id", id.parse().unwrap());
        headers.insert("mcp-protocol-version", "2025-11-25".parse().unwrap());
        headers
    };
    let reply = post(&harness, &legacy("tools/list", json!({})), with()).await;
    let listed = messages(&reply)[0]["result"].clone();
    assert_eq!(listed["tools"].as_array().map(Vec::len), Some(3), "{listed}");
    assert_eq!(listed.get("resultType"), None, "{listed}");
    // Nothing is sent unasked.
    let stream = harness.request(Method::GET, "/mcp").header("accept", "text/event-stream").headers(with());
    assert_eq!(stream.send().await.unwrap().status(), 405);
    let closed = harness.request(Method::DELETE, "/mcp").headers(with()).send().await.unwrap();
    assert!(closed.status().is_success(), "{}", closed.status());
    let reply = post(&harness, &legacy("tools/list", json!({})), with()).await;
    assert_eq!(reply.status, 404, "{}", reply.text);
}

#[tokio::test]
async fn only_those_who_may_call_are_served() {
    let harness =
        harness::offline().options(|options| options.token = jarvis_net::Secret::new("open sesame")).start().await;
    let list = modern("tools/list", json!({}));
    let reply = post(&harness, &list, modern_headers("tools/list", None)).await;
    assert_eq!((reply.told().as_str(), reply.header("www-authenticate")), ("401 unauthorized", "Bearer"));
    assert!(client(&harness, lifecycles()[0].clone(), None).await.is_err());
    for lifecycle in lifecycles() {
        let client = client(&harness, lifecycle, Some("open sesame")).await.unwrap();
        assert_eq!(client.peer().list_all_tools().await.unwrap().len(), 3);
    }

    let harness = harness::offline().start().await;
    let from = |name: &'static str, value: &'static str| {
        let mut headers = modern_headers("tools/list", None);
        headers.insert(name, value.parse().unwrap());
        headers
    };
    let reply = post(&harness, &list, from("origin", "https://evil.example")).await;
    assert_eq!(reply.told(), "403 foreign_origin");
    let reply = post(&harness, &list, from("host", "evil.example")).await;
    assert_eq!(reply.told(), "421 unknown_host");
}

#[tokio::test]
async fn a_body_that_is_too_long_or_broken_is_refused() {
    let harness = harness::offline().options(|options| options.max_upload = 3 << 10).start().await;
    let long = modern("tools/call", json!({"name": "run", "arguments": {"request": "x".repeat(128 << 10)}}));
    assert_eq!(post(&harness, &long, modern_headers("tools/call", Some("run"))).await.status, 413);
    let broken =
        harness.request(Method::POST, "/mcp").header("accept", ACCEPT).header("content-type", "application/json");
    let reply = Reply::of(broken.body("{").send().await.unwrap()).await;
    assert!((400..500).contains(&reply.status), "{}", reply.status);
    let large =
        modern("tools/call", json!({"name": "ask", "arguments": {"question": "x", "document": "x".repeat(4 << 10)}}));
    let reply = post(&harness, &large, modern_headers("tools/call", Some("ask"))).await;
    assert_eq!(messages(&reply)[0]["error"]["code"], -32602, "{}", reply.text);
}

#[tokio::test]
async fn a_server_that_stops_lets_calls_end() {
    let harness = harness::with_chat(planned()).does("text-classification", Does::Waits).start().await;
    let client = client(&harness, lifecycles()[0].clone(), None).await.unwrap();
    let arguments = json!({"request": "tell the mood of: I love it"});
    let calling = tokio::spawn(async move {
        let done = call(&client, "run", arguments).await;
        (client, done)
    });
    harness.worker.started.reach(1).await;
    harness.stop.cancel();
    harness.go.add_permits(1);
    let (_client, done) = calling.await.unwrap();
    assert_eq!(text(&done.unwrap()), "Here you are.");
    tokio::time::timeout(PATIENCE, harness.served).await.expect("it ends").unwrap();
}

#[tokio::test]
async fn runs_and_files_are_resources() {
    let made = harness::Does::Gives(r#"{"generated image": "/images/made.png"}"#);
    let harness = harness::offline().does("canny-control", made).start().await;
    std::fs::write(harness.folder().join("public/images/made.png"), "a picture").expect("a file");
    let client = client(&harness, lifecycles()[1].clone(), None).await.unwrap();
    let done = call(&client, "run", json!({"request": "find the edges of /images/made.png"})).await.unwrap();
    let document = done.structured_content.expect("a document");
    let id = document["run_id"].as_str().expect("an id");
    harness.settled().await;
    let listed = client.peer().list_all_resources().await.unwrap();
    assert_eq!(listed[0].uri, format!("jarvis://runs/{id}"));
    assert_eq!(listed[0].name, "find the edges of /images/made.png");
    let templates = client.peer().list_all_resource_templates().await.unwrap();
    assert_eq!(templates.len(), 2, "{templates:?}");
    let read = async |uri: &str| {
        let asked = rmcp::model::ReadResourceRequestParams::new(uri);
        let read = client.peer().read_resource(asked).await.map_err(|error| error.to_string())?;
        Ok::<Value, String>(serde_json::to_value(&read).expect("JSON")["contents"][0].clone())
    };
    let run = read(&format!("jarvis://runs/{id}")).await.unwrap();
    let whole: Value = serde_json::from_str(run["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!((&run["mimeType"], &whole["run_id"]), (&json!("application/json"), &json!(id)), "{whole}");
    let file = read("jarvis://files/images/made.png").await.unwrap();
    assert_eq!((&file["mimeType"], &file["blob"]), (&json!("image/png"), &json!("YSBwaWN0dXJl")));
    for unknown in
        ["jarvis://runs/none", "jarvis://files/images/none.png", "jarvis://files/../runs.db", "file:///etc/passwd"]
    {
        let error = read(unknown).await.unwrap_err();
        assert!(error.contains("there is no resource"), "{unknown}: {error}");
    }
}
