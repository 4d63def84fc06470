//! AG-UI with the real binary: what a front end is told of a run, and how it answers what a run waits for.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::approvals::{REQUEST, Shop};
use crate::harness::Harness;
use crate::serve::Server;

/// The events of an exchange.
async fn exchange(server: &Server, input: Value) -> Vec<Value> {
    let sent = server.client.post(format!("{}/ag-ui", server.url)).json(&input).send().await.expect("a reply");
    assert_eq!(sent.status(), 200, "{input}");
    let text = sent.text().await.expect("they end");
    text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?).ok()).collect()
}

fn input(run: &str, more: Value) -> Value {
    let mut input = json!({"threadId": "t", "runId": run, "messages": [{"id": "m", "role": "user", "content": REQUEST}],
        "state": {"own": 1}, "tools": [], "context": [], "forwardedProps": {}});
    input.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
    input
}

fn kinds(events: &[Value]) -> Vec<&str> {
    let mut kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    kinds.dedup();
    kinds
}

#[tokio::test]
async fn a_run_is_told_until_it_waits_and_the_answer_takes_it_on() {
    let shop = Shop::open(200).await;
    let server = Server::start(&shop.harness, &shop.args(&shop.chat.url(), &[]));
    let told = exchange(&server, input("1", json!({}))).await;
    let kinds_of = kinds(&told);
    assert_eq!(kinds_of[..2], ["RUN_STARTED", "STATE_SNAPSHOT"], "{kinds_of:?}");
    for kind in ["ACTIVITY_SNAPSHOT", "STEP_STARTED", "TOOL_CALL_START", "TOOL_CALL_RESULT", "STEP_FINISHED"] {
        assert!(kinds_of.contains(&kind), "{kind}: {kinds_of:?}");
    }
    let state = &told[1]["snapshot"];
    assert_eq!((&state["own"], &state["jarvis"]["status"]), (&json!(1), &json!("running")));
    let last = told.last().expect("an end");
    assert_eq!((&last["type"], &last["outcome"]["type"]), (&json!("RUN_FINISHED"), &json!("interrupt")), "{last}");
    let [waits] = last["outcome"]["interrupts"].as_array().expect("interrupts").as_slice() else { panic!("{last}") };
    assert!(waits["message"].as_str().is_some_and(|words| words.contains("calls `shop.reserve`")), "{waits}");
    assert_eq!(waits["responseSchema"]["required"], json!(["decision"]));

    let resume = |payload: Value, status: &str| json!({"resume": [{"interruptId": waits["id"], "status": status, "payload": payload}]});
    let unclear =
        server.client.post(format!("{}/ag-ui", server.url)).json(&input("2", resume(json!("perhaps"), "resolved")));
    assert_eq!(unclear.send().await.expect("a reply").status(), 400);
    let told = exchange(&server, input("2", resume(json!({"decision": "approve"}), "resolved"))).await;
    assert_eq!((&told[0]["type"], &told[0]["runId"]), (&json!("RUN_STARTED"), &json!("2")));
    let text: String = told
        .iter()
        .filter(|event| event["type"] == "TEXT_MESSAGE_CONTENT")
        .filter_map(|event| event["delta"].as_str())
        .collect();
    assert_eq!(text, "All is done.", "{told:?}");
    let results: Vec<&Value> = told.iter().filter(|event| event["type"] == "TOOL_CALL_RESULT").collect();
    assert_eq!(results.len(), 1, "what was told before is not told again: {told:?}");
    let last = told.last().expect("an end");
    assert_eq!((&last["outcome"]["type"], &last["result"]["ok"]), (&json!("success"), &json!(true)), "{last}");
    assert_eq!(shop.calls(), ["GET /articles", r#"POST /reservations {"article":17}"#]);
    let gone = server.client.post(format!("{}/ag-ui", server.url)).json(&input("3", resume(json!(true), "resolved")));
    assert_eq!(gone.send().await.expect("a reply").status(), 404, "the run is over");
}

#[tokio::test]
async fn an_answer_that_nobody_gives_is_a_refusal() {
    let shop = Shop::open(200).await;
    let server = Server::start(&shop.harness, &shop.args(&shop.chat.url(), &[]));
    let told = exchange(&server, input("1", json!({}))).await;
    let id = told.last().expect("an end")["outcome"]["interrupts"][0]["id"].clone();
    let told = exchange(&server, input("2", json!({"resume": [{"interruptId": id, "status": "cancelled"}]}))).await;
    assert_eq!(told.last().expect("an end")["type"], "RUN_FINISHED");
    assert_eq!(shop.calls(), ["GET /articles"]);
}

/// The client of the protocol's authors, where `cargo xtask setup` installed it.
#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_follows_a_run_and_answers_its_interrupt() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let packages = root.join("target/node/node_modules");
    if !packages.join("@ag-ui/client").exists() {
        println!("skipped: @ag-ui/client is absent in {}; `cargo xtask setup` installs it", packages.display());
        return;
    }
    let speak = |server: &Server, request: &str| -> Value {
        let mut command = Command::new("node");
        command.env("NODE_PATH", &packages).arg(root.join("tests/node/ag_ui.cjs"));
        let ended = command.args([&format!("{}/ag-ui", server.url), request]).output().expect("node runs");
        let (out, told) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        assert!(ended.status.success(), "{out}\n{told}");
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}\n{told}"))
    };
    let harness = Harness::new();
    let server = Server::start(&harness, &["--llm", "offline"]);
    let told = speak(&server, "tell the mood of: I love it");
    assert!(told["answer"].as_str().is_some_and(|text| text.contains("positive")), "{told}");
    assert_eq!((&told["exchanges"], &told["state"]["jarvis"]["status"]), (&json!(1), &json!("done")), "{told}");
    let step = json!({"id": 1, "description": "text-classification", "status": "done"});
    assert_eq!(told["plan"]["steps"], json!([step]), "{told}");

    let shop = Shop::open(200).await;
    let server = Server::start(&shop.harness, &shop.args(&shop.chat.url(), &[]));
    let told = speak(&server, REQUEST);
    assert_eq!((&told["exchanges"], &told["answer"]), (&json!(2), &json!("All is done.")), "{told}");
    assert_eq!(told["tools"], json!(["shop.findArticle", "shop.reserve"]));
    assert_eq!(shop.calls(), ["GET /articles", r#"POST /reservations {"article":17}"#]);
}
