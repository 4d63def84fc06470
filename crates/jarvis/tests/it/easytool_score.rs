//! `jarvis easytool score`, `export`, `prepare` and `mock` as a user runs them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::harness::Harness;

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// Three questions and a log that has two of them, in the original's form.
fn funcqa(harness: &Harness) {
    let data = json!([
        {"question": "How much is 2 and 2?", "answer": "4", "calculation": ["<add>(2,2)=4"]},
        {"question": "And 1000 and 500?", "answer": 1500, "func": "<add>(1000,500)=1500"},
        {"question": "And nothing?", "answer": "0"},
    ]);
    harness.file("data.json", data.to_string());
    let log = [
        json!({"config": {"llm": "m"}}),
        json!({"ID": 1, "question": "How much is 2 and 2?", "final_answer": "It is 4.", "execute_log": {"call_result_ls": ["4"]}, "check": 0}),
        json!({"ID": 2, "question": "And 1000 and 500?", "final_answer": "1,500 of 3", "final_value": 1501, "check": 0}),
    ];
    harness.file("log.jsonl", format!("{}{{\"ID\": 3, \"questi", lines(&log)));
}

#[test]
fn funcqa_is_scored() {
    let harness = Harness::new();
    funcqa(&harness);
    let args = ["easytool", "score", "funcqa", "--log", "log.jsonl", "--data", "data.json"];
    let (code, figures) = harness.json(&[&args[..], &["--json", "--per-question", "q.jsonl"]].concat());
    assert_eq!((code, &figures["n"]), (0, &json!(3)));
    let counts =
        ["strict", "any", "lenient", "em", "last_call_strict"].map(|name| figures[name]["count"].as_u64().unwrap());
    assert_eq!(counts, [2, 2, 2, 1, 1]);
    for name in ["strict", "any", "lenient", "em"] {
        let rate = |field: &str| figures[name][field].as_f64().unwrap();
        assert!(rate("low") < rate("rate") && rate("rate") < rate("high") && figures[name]["n"] == 3, "{name}");
    }
    assert_eq!((&figures["missing"], &figures["log"]), (&json!([3]), &json!("log.jsonl")));
    let questions = std::fs::read_to_string(harness.work().join("q.jsonl")).unwrap();
    assert!(
        questions
            .lines()
            .nth(1)
            .unwrap()
            .contains(r#""gold":"1500","prediction":"1501","missing":false,"human":false,"strict":true"#),
        "{questions}"
    );
    insta::assert_snapshot!("funcqa_is_scored", harness.told(&args));
    // Several logs are several documents.
    let (_, figures) =
        harness.json(&[&args[..4], &["log.jsonl", "log.jsonl", "--data", "data.json", "--json"]].concat());
    assert_eq!(figures.as_array().unwrap().len(), 2);
}

#[test]
fn paths_are_scored_with_and_without_the_plans() {
    let harness = Harness::new();
    harness.file(
        "data.jsonl",
        lines(&[
            json!({"query": "a", "solution": ["GET /search/movie ", "GET /movie/{movie_id}"]}),
            json!({"query": "b", "solution": ["GET /tv/popular"]}),
        ]),
    );
    let tool = |id: u32, path: &str| json!({"ID": id, "tool_name": path, "tool_description": "", "tool_usage": format!("GET {path}")});
    harness.file(
        "tools.json",
        json!([tool(1, "/search/movie"), tool(2, "/movie/{id}"), tool(3, "/tv/popular")]).to_string(),
    );
    harness.file("plans.jsonl", lines(&[
        json!({"ID": 1, "question": "a", "task_path": [{"Task": "find", "ID": 1}, {"Task": "get", "ID": ["2", 9]}]}),
        json!({"ID": 2, "question": "b", "task_path": [{"Task": "list", "ID": 2}, {"Task": "say", "ID": -1}]}),
    ]));
    let args = ["easytool", "score", "restbench", "--log", "plans.jsonl", "--data", "data.jsonl", "--json"];
    let told = harness.run(&args);
    assert_eq!(told.code, 2);
    assert!(told.stderr.contains("hint: add --tools FILE"), "{}", told.stderr);
    let ended = harness.run(&[&args[..], &["--tools", "tools.json"]].concat());
    let figures: Value = serde_json::from_str(&ended.stdout).unwrap();
    let counts =
        ["correct_path", "exact", "contiguous", "untrimmed"].map(|name| figures[name]["count"].as_u64().unwrap());
    assert_eq!((&figures["n"], counts), (&json!(2), [1, 1, 1, 0]));
    assert_eq!(figures["mean_extra_calls"], 0.0);
    assert!(ended.stderr.contains("question 1: step 2: there is no tool 9"), "{}", ended.stderr);
}

/// A log of ToolBench with an answer, a failure and a call of an API that is not on offer.
fn toolbench(harness: &Harness) {
    let call = |code: u8, faults: Value| {
        json!({"task_id": 1, "attempt": 1, "tool_id": 1, "tool": "Web", "api": "Search", "arguments": {"q": "x"},
            "result": "found", "code": code, "parameter_faults": faults, "ms": 1})
    };
    harness.file("log.jsonl", lines(&[
        json!({"ID": 1, "query_id": 61, "question": "find x", "final_answer": "x is \"here\"", "status": "succeeded",
            "calls": [call(0, json!([])), call(2, json!(["`n` is no integer"]))]}),
        json!({"ID": 2, "query_id": "62", "question": "find y", "final_answer": "", "status": "failed", "calls": [call(1, json!([]))]}),
    ]));
    harness.file("judge.jsonl", lines(&[
        json!({"stage": "judge_answer", "contains": ["find x"], "reply": "{\"reason\": \"r\", \"status\": \"Solved\"}", "sticky": true}),
    ]));
}

#[test]
fn toolbench_is_scored_by_a_judge_and_without_one() {
    let harness = Harness::new();
    toolbench(&harness);
    let args = ["easytool", "score", "toolbench", "--log", "log.jsonl", "--json", "--llm"];
    let (code, figures) = harness.json(&[&args[..], &["none"]].concat());
    assert_eq!((code, &figures["n"], figures.get("pass")), (0, &json!(2), None));
    let errors = &figures["errors"];
    assert_eq!(
        [&errors["attempts"], &errors["tool"]["count"], &errors["parameter"]["count"], &errors["call"]["count"]],
        [&json!(3), &json!(1), &json!(1), &json!(2)]
    );
    let (code, figures) = harness.json(&[&args[..], &["replay:judge.jsonl", "--repeats", "3"]].concat());
    assert_eq!((code, &figures["pass"]["count"], &figures["success"]["count"]), (0, &json!(1), &json!(1)));
    assert_eq!((&figures["repeats"], &figures["undecided"]["count"]), (&json!(3), &json!(0)));
    // The judge has nothing to say of other questions, and nobody compares without one.
    harness.file("empty.jsonl", "");
    assert_eq!(harness.run(&[&args[..], &["replay:empty.jsonl"]].concat()).code, 1);
    assert_eq!(harness.run(&[&args[..], &["none", "--reference", "log.jsonl"]].concat()).code, 2);
}

#[test]
fn a_log_is_exported_and_scored_again() {
    let harness = Harness::new();
    toolbench(&harness);
    let parameter = |name: &str, kind: &str| json!({"name": name, "type": kind});
    harness.file("tools.json", json!({"0": {"ID": 1, "tool_name": "Web", "tool_description": "searches the web", "tool_guidelines": {
        "Search": {"name": "Search", "required_parameters": [parameter("q", "STRING")], "optional_parameters": [parameter("n", "NUMBER")]},
    }}}).to_string());
    harness.file("data.json", json!([{"query": "find x", "query_id": 61, "api_list": [{"tool_name": "Web", "api_name": "Search"}, {"tool_name": "Gone"}]}]).to_string());
    let told =
        harness.told(&["easytool", "prepare", "--data", "data.json", "--tools", "tools.json", "--out", "ready.json"]);
    assert_eq!(
        told,
        "exit 0\n--- stdout\n--- stderr\nready.json: 1 items, 1 tools added\nwarning: tools without an instruction are left out (items that list them): Gone (1)\n"
    );
    let ready: Value = serde_json::from_slice(&std::fs::read(harness.work().join("ready.json")).unwrap()).unwrap();
    assert_eq!(ready[0]["Tool_dic"], json!([{"ID": 1, "Description": "searches the web"}]));
    let args = ["easytool", "export", "--log", "log.jsonl", "--data", "ready.json", "--tools", "tools.json"];
    let (code, document) = harness.json(&args);
    assert_eq!((code, &document["61"]["available_tools"][0]["name"]), (0, &json!("search_for_web")));
    assert_eq!(document["61"]["available_tools"][0]["parameters"]["optional"], json!(["n"]));
    assert_eq!(document["62"]["answer"]["final_answer"], "");
    assert_eq!(harness.run(&[&args[..], &["--out", "converted.json"]].concat()).code, 0);
    let (_, figures) = harness.json(&[
        "easytool",
        "score",
        "toolbench",
        "--log",
        "converted.json",
        "--llm",
        "replay:judge.jsonl",
        "--json",
    ]);
    assert_eq!(
        (&figures["n"], &figures["pass"]["count"], &figures["errors"]["attempts"]),
        (&json!(2), &json!(1), &json!(3))
    );
}

/// A running stand-in, ended with the test.
struct Mock(Child);

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_recorded_server_answers() {
    let harness = Harness::new().env("MOCK_KEY", "k1");
    harness.file("answers.jsonl", lines(&[json!({"category": "Weather", "tool_name": "Open Weather", "api_name": "Current", "tool_input": {"city": "Bern"}, "error": "", "response": "sunny"})]));
    let args = ["easytool", "mock", "--answers", "answers.jsonl", "--key-env", "MOCK_KEY"];
    let mut child =
        Mock(harness.command(&args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut first = String::new();
    BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let address = first.trim().strip_prefix("http://").unwrap();
    let ask = |body: Value| {
        let body = body.to_string();
        let mut stream = TcpStream::connect(address).unwrap();
        let length = body.len();
        write!(
            stream,
            "POST /rapidapi HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        serde_json::from_str::<Value>(reply.split_once("\r\n\r\n").unwrap().1).unwrap()
    };
    let mut call = json!({"category": "Weather", "tool_name": "open_weather", "api_name": "current", "tool_input": "{\"city\":\"Bern\"}", "strip": "truncate", "toolbench_key": "k1"});
    assert_eq!(ask(call.clone()), json!({"error": "", "response": "sunny"}));
    call["toolbench_key"] = json!("other");
    assert_eq!(ask(call), json!({"error": "Unauthorized error...", "response": ""}));
    let told = harness.run(&["easytool", "mock", "--answers", "none.jsonl"]);
    assert_eq!(told.code, 2, "{}", told.stderr);
}
