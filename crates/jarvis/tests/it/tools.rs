//! `jarvis tools`, and remote tools in every pipeline: a gRPC service stands for them all.

use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use jarvis_proto::math::math_server::{Math, MathServer};
use jarvis_proto::math::{AddReply, AddRequest, DESCRIPTORS};
use jarvis_testing::chat::{FakeChat, Script};
use jarvis_tools::approvals::Described;
use serde_json::{Value, json};
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

use crate::harness::{Harness, outcomes};

#[derive(Default)]
struct Adder {
    /// Where calls are told, by their metadata `idempotency-key`; the first one is never answered then.
    keys: Option<Sender<Option<String>>>,
    called: AtomicBool,
}

#[tonic::async_trait]
impl Math for Adder {
    async fn add(&self, request: Request<AddRequest>) -> Result<Response<AddReply>, Status> {
        if let Some(keys) = &self.keys {
            let key = request.metadata().get("idempotency-key").map(|key| key.to_str().expect("a text").to_owned());
            keys.send(key).expect("somebody waits");
            if !self.called.swap(true, Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
        }
        let AddRequest { a, b } = request.into_inner();
        Ok(Response::new(AddReply { result: a + b }))
    }
}

/// The sample service with reflection, for as long as the tests run.
fn math_server(adder: Adder) -> SocketAddr {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
            sender.send(listener.local_addr().expect("an address")).expect("somebody waits");
            let reflection = tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(DESCRIPTORS)
                .build_v1()
                .expect("descriptors");
            let server =
                tonic::transport::Server::builder().add_service(MathServer::new(adder)).add_service(reflection);
            server.serve_with_incoming(TcpIncoming::from(listener)).await.expect("it serves");
        });
    });
    receiver.recv().expect("the server starts")
}

fn harness() -> Harness {
    let harness = Harness::new();
    let address = math_server(Adder::default());
    harness.file(
        "jarvis.yaml",
        format!(
            "tools:\n  \
             - name: add\n    \
               description: Adds two whole numbers and gives the sum.\n    \
               when: the exact sum of two whole numbers is needed\n    \
               input_schema: {{type: object, properties: {{a: {{type: integer}}, b: {{type: integer}}}}, required: [a, b]}}\n    \
               example: {{a: 5, b: 10}}\n    \
               observation: 'Addition Result: {{result}}'\n    \
               effect: reads\n    \
               grpc: {{endpoint: '{address}', method: Math/Add}}\n  \
             - native: plot\n"
        ),
    );
    harness
}

const CONFIG: [&str; 2] = ["--config", "jarvis.yaml"];

#[test]
fn tools_are_listed_shown_and_called() {
    let harness = harness();
    let (code, list) = harness.json(&[&["tools", "list", "--json"], &CONFIG[..]].concat());
    assert_eq!(code, 0);
    let tools = list["tools"].as_array().expect("tools");
    let row = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name}"));
    for tool in tools {
        for part in ["name", "description", "when", "input_format", "example"] {
            assert!(!tool[part].is_null() && tool[part] != "", "{tool} lacks {part}");
        }
    }
    assert_eq!((&row("add")["source"], &row("add")["planned"]), (&json!("grpc"), &json!(true)));
    assert_eq!((&row("plot")["planned"], &row("calculator")["planned"]), (&json!(true), &json!(false)));

    let call = |name: &str, input: &str| harness.told(&[&["tools", "call", name, input], &CONFIG[..]].concat());
    insta::assert_snapshot!(call("add", r#"{"a":5,"b":10}"#));
    insta::assert_snapshot!(call("calculator", r#"{"expression": "(17 + 4) * 2"}"#));
    assert!(call("add", r#"{"a":5,"c":10}"#).starts_with("exit 2\n"));
    assert!(call("ad", "{}").starts_with("exit 2\n"));
    assert!(call("add", "{a").contains("the input is not JSON"));
    let ended = harness.run(&["tools", "call", "plot", r#"{"x": ["a"], "y": [1]}"#, "--out", "chart.png"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "Plot generated successfully.\n"));
    assert!(image::open(harness.work().join("chart.png")).is_ok());
    harness.file("fruits.txt", "pear,pear,fig");
    let ended = harness.run(&["tools", "call", "count", "{}", "--file", "fruits.txt"]);
    assert!(ended.stdout.starts_with("pear: 2, fig: 1"), "{}", ended.stdout);
    // The same in UTF-16.
    let wide: Vec<u8> = "\u{feff}груша,груша,fig".encode_utf16().flat_map(u16::to_le_bytes).collect();
    harness.file("wide.txt", wide);
    let ended = harness.run(&["tools", "call", "count", "{}", "--file", "wide.txt"]);
    assert!(ended.stdout.starts_with("груша: 2, fig: 1"), "{}{}", ended.stdout, ended.stderr);
    harness.file("letter.pdf", "%PDF-1.7\n");
    let ended = harness.run(&["tools", "call", "count", "{}", "--file", "letter.pdf"]);
    assert!(ended.code == 2 && ended.stderr.contains("PDF"), "{}", ended.stderr);
    let shown = harness.run(&["tools", "show", "plot"]).stdout;
    assert!(shown.contains("Use it when:") && shown.contains("Example: jarvis tools call plot '"), "{shown}");
}

#[test]
fn methods_of_a_server_are_listed() {
    let (harness, address) = (Harness::new(), math_server(Adder::default()).to_string());
    let (code, listed) = harness.json(&["tools", "methods", &address, "--json"]);
    let add = &listed["methods"][0];
    assert_eq!((code, &add["name"], &add["streams"]), (0, &json!("Math/Add"), &json!(false)), "{listed}");
    assert_eq!(add["input_schema"]["properties"]["a"], json!({"type": "integer"}));
    let told = harness.run(&["tools", "methods", &address]).stdout;
    assert!(told.starts_with("Math/Add\n  {") && told.contains("\"b\""), "{told}");
    assert_eq!(harness.run(&["tools", "methods", "ftp://x"]).code, 2);
}

#[test]
fn a_changed_tool_is_shown_in_both_versions_and_approved_as_shown() {
    let harness = Harness::new();
    let address = math_server(Adder::default());
    harness.file(
        "jarvis.yaml",
        format!(
            "tools:\n  - name: add\n    description: Adds.\n    when: sums are needed\n    \
             grpc: {{endpoint: '{address}', method: Math/Add}}\n"
        ),
    );
    let run = |args: &[&str]| harness.run(&[args, &CONFIG[..]].concat());
    assert_eq!(run(&["tools", "list"]).code, 0);
    // As if the service had been another one when it was approved, and another one again when it was shown.
    let path = harness.data().join("approved_tools.json");
    let mut kept: Value = serde_json::from_slice(&std::fs::read(&path).expect("approvals")).expect("JSON");
    let tool = &mut kept["sources"]["grpc:add"]["tools"]["add"];
    let described = |field: &str| Described {
        description: "Adds.".into(),
        schema: json!({"type": "object", "properties": {field: {"type": "integer"}}}),
        ..Described::default()
    };
    tool["sha256"] = described("earlier").sha256("add").into();
    tool["approved"] = serde_json::to_value(described("earlier")).expect("JSON");
    tool["offered"] = serde_json::to_value(described("recorded")).expect("JSON");
    std::fs::write(&path, kept.to_string()).expect("writable");
    let shown = run(&["tools", "show", "add"]).stdout;
    let approved = run(&["tools", "approve", "add"]);
    assert_eq!(approved.code, 0, "{}", approved.stderr);
    assert!(approved.stderr.contains("`add` is approved as it is offered"), "{}", approved.stderr);
    for text in [&shown, &approved.stdout] {
        let (before, after) = text.split_once("Offered:\n").expect("both versions");
        assert!(before.contains("  |     \"earlier\"") && !before.contains("recorded"), "{text}");
        assert!(after.contains("  |     \"recorded\"") && !after.contains("earlier"), "{text}");
    }
    // What was approved is what was shown, not what the service offers by now; that comes next, and is fetched.
    assert!(run(&["tools", "show", "add"]).stdout.contains("\"recorded\""));
    let refused = run(&["tools", "call", "add", "{\"a\": 5}"]);
    assert!(refused.code == 1 && refused.stderr.contains("changed since it was approved"), "{}", refused.stderr);
    let approved = run(&["tools", "approve", "add"]);
    assert!(approved.stdout.contains("  |     \"a\"") && approved.code == 0, "{}", approved.stdout);
    assert_eq!(run(&["tools", "call", "add", "{\"a\": 5}"]).code, 0);
    let nothing = run(&["tools", "approve", "add"]);
    assert!(nothing.code == 0 && nothing.stderr.contains("nothing to approve"), "{}", nothing.stderr);
    assert_eq!(run(&["tools", "approve", "other"]).code, 2);
}

#[test]
fn a_tool_that_is_not_wholly_described_is_left_out() {
    let harness = Harness::new();
    let entry = |without: &str| {
        let lines = [
            "name: add",
            "description: Adds.",
            "when: sums are needed",
            "input_schema: {type: object}",
            "example: {a: 1}",
        ];
        let kept: Vec<&str> = lines.into_iter().filter(|line| !line.starts_with(without)).collect();
        format!("tools:\n  - {}\n    grpc: {{endpoint: '127.0.0.1:1', method: Math/Add}}\n", kept.join("\n    "))
    };
    for without in ["name", "description", "when", "example"] {
        harness.file("jarvis.yaml", entry(&format!("{without}:")));
        let ended = harness.run(&["tools", "list", "--config", "jarvis.yaml"]);
        assert_eq!(ended.code, 0, "without {without}: {}", ended.stderr);
        let reason = format!("lacks `{without}`");
        assert!(ended.stderr.contains(&reason), "{}", ended.stderr);
        assert!(ended.stdout.contains("unavailable:") && ended.stdout.contains(&reason), "{}", ended.stdout);
        assert!(ended.stdout.contains("calculator"), "{}", ended.stdout);
    }
    // What cannot be reached is no fault of the configuration, and is told when it is called.
    harness.file("jarvis.yaml", entry("nothing"));
    assert_eq!(harness.run(&["tools", "list", "--config", "jarvis.yaml"]).code, 0);
    let ended = harness.run(&["tools", "call", "add", "{\"a\": 1}", "--config", "jarvis.yaml"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
}

#[test]
fn an_agent_calls_a_remote_procedure() {
    let chat = FakeChat::spawn(Script::always([
        "<Thought>: Add.\n<Action>: add\n<Action Input>: {\"a\": 5, \"b\": 10}",
        "<Thought>: known\n<Final Answer>: Fifteen.",
    ]));
    let harness = harness();
    harness.file("numbers.txt", "5 and 10");
    let args = ["ask", "What is their sum?", "--file", "numbers.txt", "--llm", "gpt-4o", "--base-url", &chat.url()];
    let (code, document) = harness.json(&[&args[..], &["--json"], &CONFIG[..]].concat());
    assert_eq!((code, &document["steps"][0]["observation"]), (0, &json!("Addition Result: 15")), "{document}");
}

#[test]
fn a_plan_uses_the_tools_of_the_configuration() {
    let plan = json!([
        {"task": "add", "id": 0, "dep": [-1], "args": {"a": "5", "b": "10"}},
        {"task": "plot", "id": 1, "dep": [-1], "args": {"x": "[\"pear\", \"fig\"]", "y": "[2, 1]"}},
    ]);
    let script = Script::new().on("parse_task", plan.to_string()).otherwise("Fifteen, and a chart.");
    let chat = FakeChat::spawn(script);
    let harness = harness();
    let args = ["run", "add 5 and 10, and draw a chart", "--llm", "gpt-4o", "--base-url", &chat.url(), "--json"];
    let (code, document) = harness.json(&[&args[..], &CONFIG[..]].concat());
    assert_eq!(code, 0, "{document}");
    assert_eq!(outcomes(&document), ["0 add succeeded add", "1 plot succeeded plot"]);
    let host = |at: usize| document["outcomes"][at]["host"].clone();
    assert_eq!((host(0), host(1)), (json!("tool"), json!("tool")));
    assert_eq!(document["outcomes"][0]["outputs"][0]["text"], "Addition Result: 15");
    assert_eq!(document["outcomes"][1]["outputs"][0]["kind"], "image");
    // The planning model is told of them.
    let prompt = chat.requests_of("parse_task")[0].prompt();
    assert!(prompt.contains("add") && prompt.contains("Adds two whole numbers"), "{prompt}");
    // A decision names the tool too, and runs as it stands.
    let (_, decided) =
        harness.json(&[&["plan", "add 5 and 10", "--llm", "gpt-4o", "--base-url", &chat.url()], &CONFIG[..]].concat());
    assert_eq!(decided.pointer("/execution_config/tasks/0/model_id"), Some(&json!("add")), "{decided}");
    harness.file("plan.json", decided.to_string());
    let (code, document) = harness.json(&[&["run", "--plan", "plan.json", "--json"], &CONFIG[..]].concat());
    assert_eq!((code, outcomes(&document)[0].as_str()), (0, "0 add succeeded add"), "{document}");
}

/// A run that was killed while its only call, which changes something, was on its way.
struct CutOff {
    harness: Harness,
    id: String,
    /// The keys of all calls.
    keys: Receiver<Option<String>>,
    first: Option<String>,
}

impl CutOff {
    /// `metadata` is what the method takes the key of a call by.
    fn during_a_call(metadata: Option<&str>) -> CutOff {
        let (sender, keys) = channel();
        let address = math_server(Adder { keys: Some(sender), ..Adder::default() });
        let harness = Harness::new();
        let metadata = metadata.map_or(String::new(), |name| format!(", idempotency_metadata: {name}"));
        harness.file(
            "jarvis.yaml",
            format!(
                "tools:\n  - name: add\n    description: Adds to an account.\n    when: something is added\n    effect: writes\n    \
                 grpc: {{endpoint: '{address}', method: Math/Add{metadata}}}\n"
            ),
        );
        let plan = json!({"tasks": [{"task": "add", "id": 0, "dep": [-1], "args": {"a": 5, "b": 10}}]});
        harness.file("plan.json", plan.to_string());
        let mut run = harness
            .command(&[&["run", "--plan", "plan.json", "--yes"], &CONFIG[..]].concat())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let first = keys.recv().expect("it is called");
        run.kill().expect("it runs");
        run.wait().expect("it ends");
        let (_, runs) = harness.json(&["runs", "list", "--json"]);
        let id = runs[0]["run_id"].as_str().expect("an id").to_owned();
        CutOff { harness, id, keys, first }
    }

    fn args<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        [&["runs", "resume", &self.id], more, &CONFIG[..]].concat()
    }
}

#[test]
fn a_method_that_takes_the_key_of_a_call_is_called_again_with_it() {
    let run = CutOff::during_a_call(Some("idempotency-key"));
    let (code, document) = run.harness.json(&run.args(&["--json"]));
    assert_eq!((code, outcomes(&document)), (0, vec!["0 add succeeded add".to_owned()]), "{document:#}");
    let keys: Vec<_> = std::iter::once(run.first).chain(run.keys.try_iter()).collect();
    assert_eq!(keys, vec![Some(format!("{}/0", run.id)); 2]);
}

#[test]
fn without_a_terminal_a_person_is_sent_to_where_they_can_decide() {
    let run = CutOff::during_a_call(None);
    let CutOff { harness, id, .. } = &run;
    assert_eq!(run.first, None, "a method that takes no key gets none");
    insta::assert_snapshot!(harness.told(&run.args(&[])));
    // It stays so, and no flag decides.
    for more in [&[][..], &["--yes"], &["--approve", "add"]] {
        let ended = harness.run(&run.args(more));
        let said = ended.stderr.contains("error: a person must decide: task 1 called `add`")
            && !ended.stderr.contains("failed");
        assert!(ended.code == 1 && ended.stdout.is_empty() && said, "{more:?}: {ended:?}");
    }
    let (code, document) = harness.json(&run.args(&["--json", "-q"]));
    assert_eq!((code, &document["error"]["code"]), (1, &json!("interrupted")), "{document:#}");
    let said = document["error"]["message"].as_str().unwrap_or_default();
    assert!(said.starts_with("a person must decide: task 1 called `add`"), "{document:#}");
    // A reader of events is told nothing that did not happen.
    let ended = harness.run(&run.args(&["--events", "-q"]));
    let told: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(told.iter().all(|event| event["event"] != "task_finished"), "{}", ended.stdout);
    assert_eq!(run.keys.try_iter().count(), 0, "it is not called again");
    let (_, runs) = harness.json(&["runs", "list", "--json"]);
    assert_eq!((&runs[0]["run_id"], &runs[0]["resumable"]), (&json!(id), &json!(true)), "{runs}");
}

#[test]
fn a_tool_serves_a_task_type() {
    let harness = Harness::new();
    let address = math_server(Adder::default());
    harness.file(
        "jarvis.yaml",
        format!(
            "tools:\n  - name: adder\n    description: Adds.\n    when: sums are needed\n    \
             input_schema: {{type: object, properties: {{a: {{type: integer}}}}, required: [a]}}\n    \
             example: {{a: 1}}\n    effect: reads\n    serves: token-classification\n    \
             grpc: {{endpoint: '{address}', method: Math/Add}}\n"
        ),
    );
    let plan = json!([{"task": "token-classification", "id": 0, "dep": [-1], "args": {"text": "7"}}]);
    let chat = FakeChat::spawn(
        Script::new().on("parse_task", plan.to_string()).otherwise("{\"id\": \"adder\", \"reason\": \"r\"}"),
    );
    let args = ["run", "do it", "--llm", "gpt-4o", "--base-url", &chat.url(), "--json"];
    let (_, document) = harness.json(&[&args[..], &CONFIG[..]].concat());
    let models: Vec<Value> =
        document["outcomes"].as_array().expect("outcomes").iter().map(|o| o["status"].clone()).collect();
    assert_eq!(models, [json!("succeeded")], "{document}");
    assert_eq!(outcomes(&document), ["0 token-classification succeeded adder"]);
    // A task that the chat model serves too, alone in its plan: the tool was configured to be called.
    harness.file(
        "text.yaml",
        std::fs::read_to_string(harness.work().join("jarvis.yaml"))
            .expect("it was written")
            .replace("token-classification", "translation"),
    );
    let plan = json!([{"task": "translation", "id": 0, "dep": [-1], "args": {"text": "7"}}]);
    let chat = FakeChat::spawn(Script::new().on("parse_task", plan.to_string()).otherwise("Seven."));
    let args = ["run", "translate 7", "--llm", "gpt-4o", "--base-url", &chat.url(), "--json", "--config", "text.yaml"];
    let (_, document) = harness.json(&args);
    assert_eq!(outcomes(&document), ["0 translation succeeded adder"], "{document}");
    harness.file("wrong.yaml", "tools:\n  - native: plot\n    serves: nonsense\n");
    let ended = harness.run(&["run", "do it", "--config", "wrong.yaml"]);
    assert!(ended.stderr.contains("a tool is to serve `nonsense`"), "{}", ended.stderr);
}

#[test]
fn questions_with_tools_use_the_registry() {
    let chat = FakeChat::spawn(
        Script::new()
            .on("task_decompose", json!({"Tasks": ["Add 5 and 10"]}).to_string())
            .on("task_topology", json!([{"task": "", "id": 1, "dep": [-1]}]).to_string())
            .on("choose_tool", "{\"ID\": 18}")
            .on("choose_api", json!(["add"]).to_string())
            .on("choose_parameter", json!({"Parameters": {"a": 5, "b": 10}}).to_string())
            .on("answer_check", json!({"Choice": "Yes"}).to_string())
            .otherwise("The sum is 15."),
    );
    let harness = harness();
    harness.file("questions.json", json!([{"query": "What is 5 + 10?", "query_id": 1}]).to_string());
    let args = ["easytool", "toolbench", "--group", "G3", "--data", "questions.json", "--registry"];
    let ended = harness.run(&[&args[..], &["--llm", "gpt-4o", "--base-url", &chat.url()], &CONFIG[..]].concat());
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let offered = chat.requests_of("choose_tool")[0].prompt();
    assert!(offered.contains("Adds two whole numbers") && offered.contains("Draws a chart"), "{offered}");
    let answered = chat.requests_of("answer_generation")[0].prompt();
    assert!(answered.contains("Addition Result: 15"), "{answered}");
}

#[cfg(feature = "mcp")]
#[test]
fn a_new_tool_of_a_known_server_is_looked_at_before_it_is_approved() {
    let harness = Harness::new();
    let program = env!("CARGO_BIN_EXE_jarvis");
    harness.file(
        "jarvis.yaml",
        format!(
            "mcp_servers:\n  other: {{command: '{program}', args: [mcp, --data-dir, '{}']}}\n",
            harness.data().join("other").display()
        ),
    );
    let run = |args: &[&str]| harness.run(&[args, &CONFIG[..]].concat());
    let listed = run(&["tools", "list"]);
    assert!(listed.stdout.contains("other/run"), "{}{}", listed.stdout, listed.stderr);
    // As if it had not been there when the server was approved.
    let path = harness.data().join("approved_tools.json");
    let mut kept: Value = serde_json::from_slice(&std::fs::read(&path).expect("approvals")).expect("JSON");
    let hints = &kept["sources"]["mcp:other"]["tools"]["other/run"]["approved"];
    assert!(hints.is_object(), "{kept:#}");
    let tools = kept["sources"]["mcp:other"]["tools"].as_object_mut().expect("tools");
    tools.remove("other/run").expect("the tool");
    std::fs::write(&path, kept.to_string()).expect("writable");
    let called = run(&["tools", "call", "other/plan", r#"{"request": "find the edges"}"#]);
    assert_ne!(called.code, 2, "{}", called.stderr);
    let refused = run(&["tools", "call", "other/run", r#"{"request": "hi"}"#]);
    assert!(refused.code != 0 && refused.stderr.contains("jarvis tools show other/run"), "{}", refused.stderr);
    let shown = run(&["tools", "show", "other/run"]);
    assert!(shown.code == 0 && shown.stdout.contains("new at a known server"), "{}{}", shown.stdout, shown.stderr);
    assert!(shown.stdout.contains("  | Effect: ") && shown.stdout.contains("  | openWorldHint: "), "{}", shown.stdout);
    assert_eq!(run(&["tools", "approve", "other/run"]).code, 0);
    assert!(run(&["tools", "show", "other/run"]).stdout.contains("Use it when"));
}
