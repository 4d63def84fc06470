//! `jarvis taskbench infer`: what is printed, sent, written and gone on with.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use jarvis_testing::chat::{FakeChat, Reply, Script};
use serde_json::{Value, json};

use crate::harness::Harness;

const GOOD: &str =
    r#"{"task_steps": ["Step 1: read it"], "task_nodes": [{"task": "Image-to-Text", "arguments": ["a.png"]}]}"#;

/// A harness with a small domain `data_studio`: three requests and two gold plans.
fn harness() -> Harness {
    let harness = Harness::new();
    std::fs::create_dir(harness.work().join("data_studio")).unwrap();
    let tools = json!({"nodes": [
        {"id": "Image-to-Text", "desc": "Extracts text from an image.", "input-type": ["image"], "output-type": ["text"]},
        {"id": "Text Translator", "desc": "Translates a text.", "input-type": ["text"], "output-type": ["text"]},
    ]});
    harness.file("data_studio/tool_desc.json", tools.to_string());
    let requests = ["Extract the text from a.png", "Translate the text in b.png", "Translate 'hello'"];
    let line = |(at, text): (usize, &&str)| format!("{}\n", json!({"id": (at + 1).to_string(), "user_request": text}));
    harness.file("data_studio/user_requests.json", requests.iter().enumerate().map(line).collect::<String>());
    let gold = |id: &str, text: &str| {
        let plan = json!({"id": id, "user_request": text, "task_steps": ["Step 1: read"],
            "task_nodes": [{"task": "Image-to-Text", "arguments": ["c.png"]}], "task_links": []});
        format!("{plan}\n")
    };
    harness.file("data_studio/data.json", gold("3", "Translate 'hello'") + &gold("9", "Read c.png"));
    harness
}

fn lines(harness: &Harness, path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(harness.work().join("data_studio").join(path)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_original_options_and_payload() {
    let harness = harness();
    let fake = FakeChat::spawn(
        Script::new()
            .on("plan", Reply::text("no plan").usage(1000, 100))
            .on("reformat", Reply::text(GOOD).usage(20, 10)),
    );
    let port = fake.origin().rsplit(':').next().unwrap().to_owned();
    let args = format!(
        "taskbench infer --data_dir data_studio --api_addr 127.0.0.1 --api_port {port} --api_key sk-secret-of-mine \
         --llm org/big --use_demos 1 --demo_ids 3 --reformat true --reformat_by small --tag True --multiworker 2 \
         --dependency_type resource --log_first_detail true --temperature 0.7 --price_in 2 --price_out 10 --json"
    );
    let ended = harness.run(&args.split(' ').collect::<Vec<_>>());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let summary: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(summary["predictions"], "data_studio/predictions_use_demos_1_reformat_by_small/org_big.json");
    // The example's request is not asked.
    assert_eq!((&summary["completed"], &summary["calls"], &summary["demos"]), (&json!(2), &json!(4), &json!(["3"])));
    assert_eq!(summary["prompt_tokens"], 2040);
    assert!((summary["cost"].as_f64().unwrap() - (2040.0 * 2.0 + 220.0 * 10.0) / 1e6).abs() < 1e-9, "{summary}");

    assert_eq!(fake.stages().iter().filter(|stage| *stage == "reformat").count(), 2);
    for request in fake.requests() {
        assert_eq!(request.header("authorization"), "Bearer sk-secret-of-mine");
        let mut body = request.body.clone();
        body.as_object_mut().unwrap().shift_remove("messages");
        let model = if request.stage() == "plan" { "org/big" } else { "small" };
        assert_eq!(
            body,
            json!({"model": model, "temperature": 0.7, "top_p": 0.1, "frequency_penalty": 0, "presence_penalty": 1.05,
                "max_tokens": 2000, "stream": false})
        );
    }
    let written: Vec<PathBuf> =
        std::fs::read_dir(harness.work().join("data_studio/predictions_use_demos_1_reformat_by_small"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
    assert_eq!(written.len(), 2, "{written:?}");
    for path in written {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("sk-secret"), "{}: {text}", path.display());
    }
    assert!(!ended.stderr.contains("sk-secret"));
}

#[test]
fn an_inference_is_a_run_of_the_journal() {
    let harness = harness();
    let script = Script::new().on_containing("plan", &["#: Extract the"], Reply::text("no plan").usage(30, 3));
    let fake = FakeChat::spawn(script.otherwise(Reply::text(GOOD).usage(1000, 100)));
    let infer = ["taskbench", "infer", "--data-dir", "data_studio", "--record", "calls.jsonl", "--llm", "m"];
    let ended = harness.run(&[&infer[..], &["--base-url", &fake.url()]].concat());
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let (_, runs) = harness.json(&["runs", "list", "--json"]);
    let [run] = &runs.as_array().unwrap()[..] else { panic!("one run: {runs}") };
    assert_eq!(
        (&run["request"], &run["status"]),
        (&json!("TaskBench inference: 3 requests of studio"), &json!("done"))
    );
    let (_, events) = harness.json(&["runs", "show", run["run_id"].as_str().unwrap(), "--json"]);
    let names: Vec<&str> = events.as_array().unwrap().iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["run_started", "model_call", "model_call", "model_call", "answer", "done"]);
    assert_eq!((&events[0]["planner"], &events[0]["model"]), (&json!("llm"), &json!("m")));
    assert_eq!(events[4]["answer"]["text"], "2 of 3 done; failed: 1, left: 0");
    let usage = json!({
        "calls": {"plan": 3}, "prompt_tokens": 2030, "completion_tokens": 203,
        "by_stage": {"plan": {"calls": 3, "prompt_tokens": 2030, "completion_tokens": 203}},
        "cost": null, "unpriced": ["m"],
    });
    assert_eq!(events[5]["usage"], usage);
    let recorded = std::fs::read_to_string(harness.work().join("calls.jsonl")).unwrap();
    assert_eq!(recorded.lines().count(), 3);
}

#[cfg(unix)]
#[tokio::test]
async fn ctrl_c_stops_in_good_order_and_the_next_run_goes_on() {
    let harness = harness();
    let fake =
        FakeChat::spawn(Script::new().on_containing("plan", &["#: Translate the"], Reply::never()).otherwise(GOOD));
    let url = fake.url();
    let args = ["taskbench", "infer", "--data-dir", "data_studio", "--llm", "m", "--base-url", &url];
    let child =
        harness.command(&args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert!(fake.wait_requests(2).await);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(stdout, "1 of 3 requests have a prediction in data_studio/predictions/m.json\n");
    assert!(stderr.contains("stopped; left: 2 requests\n\nhint: run the same command again"), "{stderr}");
    assert_eq!(lines(&harness, "predictions/m.json").len(), 1);

    drop(fake);
    let fake = FakeChat::spawn(Script::always(GOOD));
    let ended =
        harness.run(&["taskbench", "infer", "--data-dir", "data_studio", "--llm", "m", "--base-url", &fake.url()]);
    assert_eq!((ended.code, fake.requests().len()), (0, 2), "{}", ended.stderr);
    assert_eq!(ended.stdout, "all completed: 3 predictions in data_studio/predictions/m.json\n");
}

#[test]
fn an_endpoint_that_lets_nobody_in_is_left() {
    let harness = harness();
    let requests = (0..9).map(|at| format!("{}\n", json!({"id": at, "user_request": "x"}))).collect::<String>();
    harness.file("data_studio/user_requests.json", requests);
    let chat = FakeChat::spawn(Script::new().on("plan", Reply::error(401, "who are you?")));
    let args = ["taskbench", "infer", "--data-dir", "data_studio", "--llm", "m", "--base-url", &chat.url()];
    let ended = harness.run(&args);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("gave up") && ended.stderr.contains("hint: check the address"), "{}", ended.stderr);
    assert_eq!(chat.requests().len(), 3);
    // No file of predictions is left that would count as a run that says nothing.
    assert!(!harness.work().join("data_studio/predictions/m.json").exists());
}
