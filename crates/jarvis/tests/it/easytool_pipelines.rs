//! `jarvis easytool funcqa`, `toolbench` and `restbench` as a user runs them, with recordings and with servers on real
//! sockets.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use jarvis_testing::chat::{FakeChat, Reply, Script};
use serde_json::{Value, json};

use crate::harness::{Harness, example};

/// The records of a log, its `config` left out.
fn records(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(rows[0].get("config").is_some(), "{text}");
    rows.into_iter().skip(1).collect()
}

/// A stand-in that runs until it is dropped.
struct Mock(Child, String);

impl Mock {
    fn start(harness: &Harness, args: &[&str]) -> Mock {
        let mut command = harness.command(&[&["easytool", "mock", "-q"], args].concat());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Mock(child, url.trim().to_owned())
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn funcqa_answers_logs_goes_on_and_is_scored() {
    let harness = Harness::new();
    let (data, replay) = (example("easytool/questions.json"), format!("replay:{}", example("easytool/answers.jsonl")));
    let args = ["easytool", "funcqa", "--kind", "multi-hop", "--data", &data, "--llm", &replay, "--out", "log.jsonl"];
    let first = harness.run(&[&args[..], &["--limit", "1", "-q"]].concat());
    assert_eq!((first.code, first.stdout.trim()), (0, "1 of 1 questions answered: log.jsonl"), "{}", first.stderr);
    // Not over what is there.
    let again = harness.run(&args);
    assert!(again.code == 2 && again.stderr.contains("--resume"), "{}", again.stderr);
    let (code, summary) = harness.json(&[&args[..], &["--resume", "--json", "-q"]].concat());
    let counted =
        ["questions", "already", "succeeded", "failed", "model_calls", "tool_calls"].map(|name| &summary[name]);
    assert_eq!((code, counted), (0, [2, 1, 1, 0, 10, 2].map(|n| json!(n)).each_ref()), "{summary}");
    let log = records(&harness.work().join("log.jsonl"));
    assert_eq!(log[0]["final_value"], json!(53.28));
    assert_eq!(log[0]["execute_log"]["call_result_ls"], json!(["2220", "26640", "53.28"]));
    // In full, where the original has two decimals.
    assert_eq!(log[1]["execute_log"]["call_result_ls"][1], json!("0.000326797385620915"), "{}", log[1]);
    assert_eq!(log[1]["subtask"][1]["dep"], json!([1]));

    let (code, figures) =
        harness.json(&["easytool", "score", "funcqa", "--log", "log.jsonl", "--data", &data, "--json"]);
    assert_eq!((code, &figures["strict"]["count"], &figures["n"]), (0, &json!(2), &json!(2)));
}

#[test]
fn wrong_use_is_told_before_any_call() {
    let harness = Harness::new();
    harness.file("questions.json", r#"[{"question": "1 + 1?", "answer": 2}]"#);
    let funcqa = ["easytool", "funcqa", "--data", "questions.json", "--kind"];
    for (args, said) in [
        (&[&funcqa[..], &["three-hop"]].concat()[..], "`multi-hop` or `one-hop`"),
        (&[&funcqa[..], &["one-hop"]].concat(), "needs a chat model"),
        (&[&funcqa[..], &["one-hop", "--llm", "replay:none.jsonl"]].concat(), "none.jsonl"),
        (&["easytool", "funcqa", "--kind", "one-hop", "--data", "none.json", "--llm", "m"], "none.json"),
        (&["easytool", "toolbench", "--group", "G1", "--data", "questions.json"], "G1"),
        (&["easytool", "restbench", "--scenario", "tmdb", "--data", "questions.json", "--llm", "m"], "--tools"),
        (&["easytool", "mock"], "--answers"),
    ] {
        let ended = harness.run(args);
        assert!(ended.code == 2 && ended.stderr.contains(said), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn restbench_plans_and_carries_out() {
    let harness = Harness::new();
    let api = Mock::start(&harness, &["--openapi", &example("easytool/library.yaml")]);
    let (data, replay) =
        (example("easytool/library_questions.json"), format!("replay:{}", example("easytool/library_answers.jsonl")));
    let document = example("easytool/library.yaml");
    let plan = [
        "easytool",
        "restbench",
        "--service",
        "a library",
        "--data",
        &data,
        "--openapi",
        &document,
        "--llm",
        &replay,
        "-q",
    ];
    let planned = harness.run(&[&plan[..], &["--out", "plan.jsonl"]].concat());
    assert_eq!(planned.code, 0, "{}", planned.stderr);
    let (code, figures) =
        harness.json(&["easytool", "score", "restbench", "--log", "plan.jsonl", "--data", &data, "--json"]);
    assert_eq!((code, &figures["correct_path"]["count"]), (0, &json!(2)), "{figures}");

    let run = [&plan[..], &["--out", "run.jsonl", "--execute", "--base-url", &api.1]].concat();
    let ran = harness.run(&run);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for record in records(&harness.work().join("run.jsonl")) {
        assert_eq!((&record["status"], &record["check_index"]), (&json!("succeeded"), &json!(1)), "{record}");
        let codes: Vec<&Value> = record["calls"].as_array().unwrap().iter().map(|call| &call["code"]).collect();
        assert!(!codes.is_empty() && codes.iter().all(|code| **code == 0), "{record}");
    }
}

#[test]
fn toolbench_calls_the_server_and_retrieves() {
    let harness = Harness::new();
    let answer = json!({
        "category": "Weather", "tool_name": "Open Weather", "api_name": "Current weather",
        "tool_input": {"city": "Bern"}, "error": "", "response": "sunny, 21 degrees",
    });
    harness.file("server.jsonl", answer.to_string());
    let server = Mock::start(&harness, &["--answers", "server.jsonl"]);
    let tool = |id: i64, name: &str, purpose: &str, api: &str| {
        json!({"ID": id, "tool_name": name, "tool_description": purpose, "tool_guidelines": {api: {
            "name": api, "description": purpose,
            "required_parameters": [{"name": "city", "type": "STRING", "description": "", "default": "Rome"}],
            "optional_parameters": [], "Example": {"Scenario": "", "Parameters": {"city": "Rome"}}}}})
    };
    let tools = json!({
        "0": tool(0, "Open Weather", "tells the weather of a city", "Current weather"),
        "1": tool(1, "Jokes", "tells jokes", "joke"),
    });
    harness.file("tools.json", tools.to_string());
    let item = json!([{"query": "Is it sunny in Bern?", "query_id": 588, "api_list": [
        {"category_name": "Weather", "tool_name": "Open Weather", "api_name": "Current weather"}]}]);
    harness.file("data.json", item.to_string());
    let say =
        |stage: &str, reply: Value| json!({"stage": stage, "reply": reply.to_string(), "sticky": true}).to_string();
    let lines = [
        say("task_decompose", json!({"Tasks": ["Find the weather of the city Bern"]})),
        say("task_topology", json!([{"task": "", "id": 1, "dep": [-1]}])),
        say("tool_check", json!({"Reason": "it changes", "Choice": "Yes"})),
        say("choose_tool", json!({"ID": 0})),
        say("choose_api", json!(["current weather"])),
        say("choose_parameter", json!({"Parameters": {"city": "Bern"}})),
        json!({"stage": "answer_generation", "contains": ["sunny, 21 degrees"], "reply": "Sunny.", "sticky": true})
            .to_string(),
        say("answer_check", json!({"Reason": "good", "Choice": "Yes"})),
        json!({"stage": "answer_summarize", "reply": "Yes, it is sunny.", "sticky": true}).to_string(),
    ];
    harness.file("model.jsonl", lines.join("\n"));
    for retrieve in [&[][..], &["--retrieve", "--top-k", "1"]] {
        let common = [
            "easytool",
            "toolbench",
            "--group",
            "G3",
            "--data",
            "data.json",
            "--tools",
            "tools.json",
            "--server",
            &server.1,
            "--llm",
            "replay:model.jsonl",
            "-q",
        ];
        let ended = harness.run(&[&common[..], retrieve].concat());
        let name = format!("G3_replay-model{}_Easytool.jsonl", if retrieve.is_empty() { "" } else { "_retrieve" });
        assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
        let record = &records(&harness.work().join(&name))[0];
        assert_eq!((&record["status"], &record["query_id"]), (&json!("succeeded"), &json!(588)), "{record}");
        assert_eq!(record["execute_log"]["call_result_ls"], json!(["sunny, 21 degrees"]));
        assert_eq!(record["gold_tools"], json!([0]));
        assert_eq!(record.get("retrieved"), (!retrieve.is_empty()).then_some(&json!([[0]])));
    }
    let (code, found) =
        harness.json(&["easytool", "score", "toolbench", "--log", "G3_replay-model_Easytool.jsonl", "--json"]);
    assert_eq!(code, 0, "{found}");
    let exported = harness.run(&["easytool", "export", "--log", "G3_replay-model_Easytool.jsonl"]);
    assert!(exported.code == 0 && exported.stdout.contains("\"588\""), "{}{}", exported.stdout, exported.stderr);
}

#[test]
fn questions_are_a_run_of_the_journal() {
    let harness = Harness::new();
    harness.file(
        "two.json",
        r#"[{"question": "What is 1 + 2 + 3?", "answer": 6}, {"question": "And 1 + 5?", "answer": 6}]"#,
    );
    let reply = |text: &str| Reply::text(text).usage(100, 10);
    let chat = FakeChat::spawn(
        Script::new()
            .on_containing("task_decompose", &["And 1 + 5?"], reply("no idea"))
            .on("task_decompose", reply(r#"{"Tasks": ["Add 1 and 2", "Add 3 to it"]}"#))
            .on("task_topology", reply(r#"[{"id": 1, "dep": [-1]}, {"id": 2, "dep": [1]}]"#))
            .on("choose_tool", reply(r#"{"ID": 0}"#))
            .on("choose_parameter", reply(r#"{"Parameters": {"input": [1, 2]}}"#))
            .on("choose_parameter_depend", reply(r#"{"Parameters": {"input": [3, 3]}}"#))
            .on("answer_check", reply(r#"{"Choice": "Yes"}"#))
            .otherwise(reply("6")),
    );
    let args =
        ["easytool", "funcqa", "--kind", "multi-hop", "--data", "two.json", "--attempts", "2", "--llm", "m", "-q"];
    let ended = harness.run(&[&args[..], &["--record", "calls.jsonl", "--base-url", &chat.url()]].concat());
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let (_, runs) = harness.json(&["runs", "list", "--json"]);
    let [run] = &runs.as_array().unwrap()[..] else { panic!("one run: {runs}") };
    let about = ["request", "status", "tasks", "ok"].map(|name| run[name].clone());
    assert_eq!(about, [json!("FuncQA multi-hop: 2 questions of two.json"), json!("done"), json!(2), json!(2)]);
    let (_, events) = harness.json(&["runs", "show", run["run_id"].as_str().unwrap(), "--json"]);
    let events = events.as_array().unwrap();
    let finished: Vec<[&Value; 2]> = events
        .iter()
        .filter(|event| event["event"] == "task_finished")
        .map(|event| [&event["outcome"]["args"]["task"], &event["outcome"]["inference"]])
        .collect();
    assert_eq!(finished, [[&json!("Add 1 and 2"), &json!("6")], [&json!("Add 3 to it"), &json!("6")]]);
    let usage = &events.last().unwrap()["usage"];
    let calls = json!({
        "answer_check": 1, "answer_generation": 1, "answer_generation_depend": 1, "answer_summarize": 1, "choose_parameter": 1,
        "choose_parameter_depend": 1, "choose_tool": 2, "task_decompose": 3, "task_topology": 1,
    });
    assert_eq!(
        (&usage["calls"], &usage["prompt_tokens"], &usage["completion_tokens"]),
        (&calls, &json!(1200), &json!(120))
    );
    assert_eq!(std::fs::read_to_string(harness.work().join("calls.jsonl")).unwrap().lines().count(), 12);
}

/// Labels of each call are on the wire, tasks with the ids of the engine's events; a model that is not there ends the
/// run early.
#[test]
fn calls_carry_their_labels_and_a_dead_endpoint_ends_the_run() {
    let harness = Harness::new();
    harness.file("one.json", r#"[{"question": "What is 2 times 3?", "answer": 6}]"#);
    let chat = FakeChat::spawn(
        Script::new()
            .on("choose_tool", vec![Reply::text("no idea"), Reply::text(r#"{"ID": 2}"#)])
            .on("choose_parameter", r#"{"Parameters": {"input": [2, 3]}}"#)
            .on("answer_generation", "6")
            .on("answer_summarize", "6")
            .on("answer_check", r#"{"Choice": "Yes"}"#),
    );
    let url = chat.url();
    let args = ["easytool", "funcqa", "--kind", "one-hop", "--llm", "m", "--base-url"];
    let ended = harness.run(&[&args[..], &[&url, "--data", "one.json", "--out", "a.jsonl"]].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let labels: Vec<(String, String, String)> = chat
        .requests()
        .iter()
        .map(|call| {
            (
                call.stage().to_owned(),
                call.header("x-jarvis-task").to_owned(),
                call.header("x-jarvis-attempt").to_owned(),
            )
        })
        .collect();
    let label = |stage: &str, task: &str, attempt: &str| (stage.to_owned(), task.to_owned(), attempt.to_owned());
    assert_eq!(
        labels,
        [
            label("choose_tool", "0", "1"),
            label("choose_tool", "0", "2"),
            label("choose_parameter", "0", "1"),
            label("answer_generation", "0", "1"),
            label("answer_summarize", "", "1"),
            label("answer_check", "", "1"),
        ]
    );
    drop(chat);

    let many: Vec<Value> = (0..6).map(|n| json!({"question": format!("What is {n} + 1?"), "answer": n + 1})).collect();
    harness.file("many.json", Value::from(many).to_string());
    harness.file("quick.yaml", "llm:\n  max_retries: 0\n");
    let further = [&url, "--data", "many.json", "--out", "b.jsonl", "--config", "quick.yaml"];
    let ended = harness.run(&[&args[..], &further].concat());
    assert!(ended.code == 1 && ended.stderr.contains("gave up"), "{}", ended.stderr);
    assert_eq!(records(&harness.work().join("b.jsonl")).len(), 3);
}

#[test]
fn an_endpoint_is_asked_with_the_stage_label() {
    let harness = Harness::new();
    harness.file("tides.json", r#"{"name": "Tides", "description": "Tides of harbours.", "api_list": [
        {"name": "next", "description": "Get the next tide", "required_parameters": [{"name": "harbour", "type": "STRING"}]},
        {"name": "all", "description": "List all harbours"}]}"#);
    let fake = FakeChat::spawn(
        Script::new()
            .on("describe_tool", "Tides tells tides. 1. next is to get it. 2. all is to list.")
            .on_containing(
                "write_scenario",
                &["`next` of"],
                r#"{"Scenario": "Brest.", "Parameters": {"harbour": "Brest"}}"#,
            )
            .on("write_scenario", r#"{"Scenario": "All.", "Parameters": {}}"#),
    );
    let url = fake.url();
    let ended = harness.run(&["easytool", "instruct", "tides.json", "--llm", "m", "--base-url", &url]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(
        serde_json::from_str::<Value>(&ended.stdout).unwrap()["0"]["tool_guidelines"]["all"]["Example"]["Scenario"],
        "All."
    );
    let mut stages = fake.stages();
    stages.sort();
    assert_eq!(stages, ["describe_tool", "write_scenario", "write_scenario"]);
}

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "the caller of the server is a client of its own")]
async fn a_recorded_server_answers_who_has_its_key() {
    let harness = Harness::new().env("MOCK_KEY", "k1");
    harness.file(
        "answers.jsonl",
        json!({"category": "Weather", "tool_name": "Open Weather", "api_name": "Current",
        "tool_input": {"city": "Bern"}, "error": "", "response": "sunny"})
        .to_string(),
    );
    let server = Mock::start(&harness, &["--answers", "answers.jsonl", "--key-env", "MOCK_KEY"]);
    for (key, error, response) in [("k1", "", "sunny"), ("other", "Unauthorized error...", "")] {
        let call = json!({"category": "Weather", "tool_name": "open_weather", "api_name": "current",
            "tool_input": "{\"city\":\"Bern\"}", "strip": "truncate", "toolbench_key": key});
        let reply = jarvis_net::http::builder()
            .build()
            .unwrap()
            .post(format!("{}/rapidapi", server.1))
            .body(call.to_string())
            .send()
            .await;
        let reply: Value = serde_json::from_slice(&reply.unwrap().bytes().await.unwrap()).unwrap();
        assert_eq!(reply, json!({"error": error, "response": response}));
    }
}
