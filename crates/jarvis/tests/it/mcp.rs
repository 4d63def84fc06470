//! `jarvis mcp`: the binary as an MCP server, started by clients as they start any.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use jarvis_testing::chat::{FakeChat, Reply, Script};
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, ProtocolVersion};
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};

use crate::harness::Harness;

/// How long a test waits for what must come; reached only when it does not.
const PATIENCE: Duration = Duration::from_secs(60);

type Client = RunningService<RoleClient, ()>;

async fn client(harness: &Harness, args: &[&str], lifecycle: ClientLifecycleMode) -> Client {
    let command = tokio::process::Command::from(harness.command(&[&["mcp"], args].concat()));
    let process = TokioChildProcess::new(command).expect("it starts");
    let served = ().serve_with_lifecycle(process, lifecycle);
    tokio::time::timeout(PATIENCE, served).await.expect("it answers").expect("it speaks the protocol")
}

fn newer() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> CallToolResult {
    let params = CallToolRequestParams::new(tool).with_arguments(arguments.as_object().cloned().unwrap_or_default());
    let called = tokio::time::timeout(PATIENCE, client.peer().call_tool(params)).await;
    called.expect("it answers").expect("a result")
}

fn text(result: &CallToolResult) -> &str {
    result.content.iter().find_map(|block| block.as_text()).map_or("", |text| text.text.as_str())
}

#[tokio::test]
async fn a_client_hands_over_work() {
    let harness = Harness::new();
    for lifecycle in [ClientLifecycleMode::Initialize, newer()] {
        let client = client(&harness, &[], lifecycle).await;
        let tools = client.peer().list_all_tools().await.expect("a list");
        let told: Vec<Value> = tools
            .iter()
            .map(|tool| json!({"name": tool.name, "title": tool.title, "takes": tool.input_schema["required"]}))
            .collect();
        insta::allow_duplicates! {
            insta::assert_snapshot!(json!(told), @r#"[{"name":"run","title":"Do a request with expert models","takes":["request"]},{"name":"plan","title":"Plan a request","takes":["request"]},{"name":"ask","title":"Ask about a document","takes":["question"]}]"#);
        }
        let planned = call(&client, "plan", json!({"request": "tell the mood of: I love it"})).await;
        assert!(text(&planned).starts_with("0. text-classification: "), "{}", text(&planned));
        let done = call(&client, "run", json!({"request": "tell the mood of: I love it"})).await;
        assert!(text(&done).contains("positive"), "{}", text(&done));
        let document = done.structured_content.expect("the run");
        assert_eq!(document["outcomes"][0]["status"], "succeeded", "{document}");
        client.cancel().await.expect("it ends");
    }
    let (_, runs) = harness.json(&["runs", "list", "--json"]);
    assert_eq!(runs.as_array().map(Vec::len), Some(2), "{runs}");
}

#[tokio::test]
async fn pictures_go_in_and_come_back() {
    let harness = Harness::new();
    let picture = std::fs::read(harness.picture("photo.png")).expect("a picture");
    let data = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, picture);
    let client = client(&harness, &[], newer()).await;
    let files = json!([{"name": "photo.png", "data": data}]);
    let done = call(&client, "run", json!({"request": "find the edges of photo.png", "files": files})).await;
    assert_eq!(done.is_error, Some(false), "{done:?}");
    let made = done.content.iter().find_map(|block| block.as_image()).expect("a picture");
    assert_eq!(made.mime_type, "image/png");
    // The client is on this machine, and may know where the file is.
    let document = done.structured_content.expect("the run");
    let path = document["outcomes"][0]["outputs"][0]["path"].as_str().expect("a path");
    assert!(Path::new(path).starts_with(harness.data()), "{path}");
    client.cancel().await.expect("it ends");
}

#[tokio::test]
async fn a_question_is_answered_with_a_chart() {
    let replies = vec![
        Reply::text("<Thought>: T\n<Action>: plot\n<Action Input>: {\"x\": [\"pear\", \"fig\"], \"y\": [2, 1]}"),
        Reply::text("<Thought>: T\n<Final Answer>: Pear, twice."),
    ];
    let chat = FakeChat::start(Script::new().on("react", replies)).await;
    let harness = Harness::new();
    let client = client(&harness, &["--llm", "fake", "--base-url", &chat.url()], newer()).await;
    let asked = json!({"question": "which fruit is most frequent? draw it", "document": "pear\nfig\npear\n"});
    let answered = call(&client, "ask", asked).await;
    assert_eq!(text(&answered), "Pear, twice.");
    assert!(matches!(answered.content.get(1), Some(ContentBlock::Image(_))), "{answered:?}");
    client.cancel().await.expect("it ends");
}

fn started(harness: &Harness, args: &[&str]) -> Child {
    harness
        .command(&[&["mcp"], args].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts")
}

fn request(id: u32, method: &str, params: Value) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

fn hello() -> String {
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}});
    request(1, "initialize", params) + "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
}

#[test]
fn standard_output_holds_the_protocol_and_nothing_else() {
    let harness = Harness::new().env("JARVIS_LOG", "debug");
    let mut child = started(&harness, &["-vv"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map(|line| {
        let line = line.expect("text");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not of the protocol: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    });
    let run = json!({"name": "run", "arguments": {"request": "tell the mood of: I love it"}});
    let mut told_of = run.clone();
    told_of["_meta"] = json!({"progressToken": 7});
    stdin.write_all((hello() + &request(2, "tools/call", told_of)).as_bytes()).expect("it reads");
    let said: Vec<Value> = lines.by_ref().take_while(|message| message["id"] != 2).collect();
    assert_eq!(said[0]["result"]["serverInfo"]["name"], "jarvis");
    assert!(said.len() > 2 && said[1..].iter().all(|note| note["params"]["progressToken"] == 7), "{said:?}");
    // What was asked before standard input was closed is still answered, and then it ends.
    let asked = request(3, "tools/call", json!({"name": "sing"})) + &request(4, "tools/call", run);
    stdin.write_all(asked.as_bytes()).expect("it reads");
    drop(stdin);
    let last: Vec<Value> = lines.collect();
    let answer = |id: u32| last.iter().find(|line| line["id"] == id).unwrap_or_else(|| panic!("{id}: {last:?}"));
    assert_eq!(answer(3)["error"]["code"], -32602);
    assert_eq!(answer(4)["result"]["isError"], false);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_cancels_what_runs_and_ends_it() {
    let chat = FakeChat::start(Script::new().on("parse_task", Reply::never())).await;
    let harness = Harness::new();
    let mut child = started(&harness, &["--llm", "fake", "--base-url", &chat.url()]);
    let mut stdin = child.stdin.take().expect("a pipe");
    let call =
        request(2, "tools/call", json!({"name": "run", "arguments": {"request": "tell the mood of: I love it"}}));
    stdin.write_all((hello() + &call).as_bytes()).expect("it reads");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(lines.next().expect("a line").expect("text").contains("serverInfo"));
    assert!(chat.wait_requests(1).await, "the model is asked");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill runs").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    drop(stdin);
    let (_, runs) = harness.json(&["runs", "list", "--json"]);
    assert_eq!(runs[0]["status"], "cancelled", "{runs}");
}

/// The inspector of the protocol's authors, where `cargo xtask setup` installed it.
#[test]
fn the_installed_inspector_works_against_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let inspector = root.join("target/node/node_modules/@modelcontextprotocol/inspector/cli/build/cli.js");
    if !inspector.exists() {
        println!("skipped: {} is absent; `cargo xtask setup` installs it", inspector.display());
        return;
    }
    let harness = Harness::new();
    let jarvis = harness.command(&["mcp"]);
    let inspect = |more: &[&str]| -> Value {
        let mut command = Command::new("node");
        // The inspector passes its own environment on, so the harness's goes there.
        for (name, value) in jarvis.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.arg(&inspector).arg("--cli").arg(jarvis.get_program()).args(jarvis.get_args()).args(more);
        let ended = command.current_dir(harness.work()).output().expect("node runs");
        let (out, told) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        assert!(ended.status.success(), "{out}\n{told}");
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}\n{told}"))
    };
    let listed = inspect(&["--method", "tools/list"]);
    let names: Vec<&str> =
        listed["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["run", "plan", "ask"]);
    let said = "request=tell the mood of: I love it";
    let done = inspect(&["--method", "tools/call", "--tool-name", "run", "--tool-arg", said]);
    assert_eq!(done["isError"], false, "{done}");
    assert!(done["content"][0]["text"].as_str().is_some_and(|text| text.contains("positive")), "{done}");
}
