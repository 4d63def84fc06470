//! `jarvis plan` and `jarvis run --plan`: what is decided, kept, edited and carried out.

use serde_json::{Value, json};

use crate::harness::{Harness, outcomes, picture_of};

const REQUEST: &str = "segment photo.png, then find the edges of the result";

fn planned() -> (Harness, Value) {
    let harness = Harness::new();
    harness.picture("photo.png");
    let (code, plan) = harness.json(&["plan", REQUEST]);
    assert_eq!(code, 0);
    (harness, plan)
}

fn write(harness: &Harness, plan: &Value) {
    harness.file("plan.json", plan.to_string());
}

#[test]
fn a_decision_is_printed_and_nothing_is_executed() {
    let harness = Harness::new();
    harness.picture("photo.png");
    insta::assert_snapshot!(harness.told(&["plan", REQUEST]));
    assert_eq!(std::fs::read_dir(harness.data().join("public/images")).expect("a folder").count(), 1, "the input only");
    // The same request gives the same bytes, and each plan is kept.
    assert_eq!(harness.run(&["plan", REQUEST]).stdout, harness.run(&["plan", REQUEST]).stdout);
    let plans = harness.data().join("execution_configs");
    let kept: Vec<String> = std::fs::read_dir(plans)
        .expect("a folder")
        .map(|entry| std::fs::read_to_string(entry.expect("readable").path()).expect("readable"))
        .collect();
    assert_eq!(kept.len(), 3);
    assert!(kept.iter().all(|plan| *plan == kept[0]));
}

#[test]
fn the_whole_reply_can_be_had() {
    let (harness, plan) = planned();
    let (code, reply) = harness.json(&["plan", REQUEST, "--reply"]);
    assert_eq!((code, &reply["execution_config"]), (0, &plan["execution_config"]));
    assert_eq!(
        reply["decisions"]["summary"],
        json!({"total_tasks": 2, "tasks_with_selections": 2, "tasks_unavailable": 0})
    );
    let file = reply["execution_config_file"].as_str().expect("a file");
    assert_eq!(reply["message"], std::fs::read_to_string(harness.data().join(file)).expect("readable"));
}

#[test]
fn keeping_plans_can_be_switched_off_and_limited() {
    let harness = Harness::new();
    harness.file("off.yaml", "decisions: {save_plan: false}");
    harness.file("two.yaml", "decisions: {plan_keep: 2, plan_dir: mine}");
    harness.run(&["plan", "describe /images/a.png", "--config", "off.yaml"]);
    assert!(!harness.data().join("execution_configs").exists());
    for _ in 0..3 {
        harness.run(&["plan", "describe /images/a.png", "--config", "two.yaml"]);
    }
    assert_eq!(std::fs::read_dir(harness.work().join("mine")).expect("a folder").count(), 2);
}

#[test]
fn a_saved_plan_is_carried_out() {
    let (harness, _) = planned();
    let ended = harness.run(&["plan", REQUEST, "--out", "plan.json"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""));
    let (code, document) = harness.json(&["run", "--plan", "plan.json", "--json"]);
    assert_eq!((code, &document["planner"], &document["request"]), (0, &json!("plan"), &json!(REQUEST)));
    assert_eq!(
        outcomes(&document),
        ["0 image-segmentation succeeded native/graph-segmenter", "1 canny-control succeeded native/canny"]
    );
    assert_eq!(picture_of(&document["outcomes"][1]).dimensions(), (200, 120));
    // The journal has it like any other run.
    let (_, runs) = harness.json(&["runs", "list", "--json"]);
    assert_eq!(runs.as_array().expect("runs").len(), 1, "{runs}");
}

#[test]
fn an_edited_plan_is_carried_out_as_it_was_edited() {
    let (harness, mut plan) = planned();
    // The first task goes, the second takes the picture itself; another is added, in a person's words.
    let tasks = plan["execution_config"]["tasks"].as_array_mut().expect("tasks");
    let mut edges = tasks.remove(1);
    tasks.clear();
    edges["args"]["image"] = "photo.png".into();
    tasks.push(edges);
    tasks.push(json!({"task_id": 8, "task_type": "Image to Text", "args": {"image": "public/photo.png"}}));
    let (code, document) = {
        write(&harness, &plan);
        harness.json(&["run", "--plan", "plan.json", "--json"])
    };
    assert_eq!(code, 0, "{document:#}");
    let told = outcomes(&document);
    assert_eq!(told[0], "0 canny-control succeeded native/canny");
    assert!(told[1].starts_with("1 image-to-text succeeded native/"), "{told:?}");
    // From standard input, with a request of its own, and in words.
    let ended = harness.run_with_input(&["run", "only look", "--plan", "-"], &plan.to_string());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("as the given plan says; done by native/canny"), "{}", ended.stdout);
}

#[test]
fn a_text_file_of_a_plan_is_read_when_it_is_carried_out() {
    let harness = Harness::new();
    harness.file("notes.txt", "Ada Lovelace met Charles Babbage in London in 1833.");
    let ended = harness.run(&["plan", "list the names in notes.txt", "--out", "plan.json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let (code, document) = harness.json(&["run", "--plan", "plan.json", "--json"]);
    assert_eq!(code, 0, "{document:#}");
    assert!(document["results"]["0"].to_string().contains("Ada Lovelace"), "{document:#}");
    // Asked for in other words, the arguments still name the file.
    let (code, document) = harness.json(&["run", "do it", "--plan", "plan.json", "--json"]);
    assert_eq!(code, 0, "{document:#}");
}

#[test]
fn a_plan_with_faults_is_refused_whole() {
    let (harness, mut plan) = planned();
    plan["execution_config"]["tasks"][0]["model_id"] = "native/nobody".into();
    plan["execution_config"]["tasks"][1]["args"]["image"] = "<GENERATED>-7".into();
    write(&harness, &plan);
    insta::assert_snapshot!(harness.told(&["run", "--plan", "plan.json"]));
    let (_, runs) = harness.json(&["runs", "list", "--json"]);
    assert_eq!(runs, json!([]), "nothing was begun");
    let (code, document) = harness.json(&["run", "--plan", "plan.json", "--json"]);
    assert_eq!((code, &document["error"]["code"]), (2, &json!("usage")));
}

#[test]
fn what_is_no_plan_file_is_told() {
    let harness = Harness::new();
    harness.file("broken.json", "{\"tasks\": [");
    harness.file("other.json", "{\"hello\": 1}");
    insta::assert_snapshot!(harness.told(&["run", "--plan", "nowhere.json"]));
    insta::assert_snapshot!(harness.told(&["run", "--plan", "broken.json"]));
    insta::assert_snapshot!(harness.told(&["run", "--plan", "other.json"]));
    let bare = harness.run(&["run"]);
    assert!(bare.code == 2 && bare.stderr.contains("--plan"), "{}", bare.stderr);
}

/// A recording with these replies, one a stage and line.
fn recorded(harness: &Harness, replies: &[(&str, &str)]) -> String {
    let line = |(stage, reply): &(&str, &str)| json!({"stage": stage, "contains": [], "reply": reply}).to_string();
    let lines: Vec<String> = replies.iter().map(line).collect();
    harness.file("replies.jsonl", lines.join("\n"));
    "replay:replies.jsonl".to_owned()
}

#[test]
fn a_model_decides_and_is_never_drawn_into_conversation() {
    let harness = Harness::new();
    let planned = r#"[{"task":"canny-control","id":0,"dep":[-1],"args":{"image":"park.jpg"}},
                      {"task":"summarization","id":1,"dep":[-1],"args":{"text":"long"}}]"#;
    let llm = recorded(&harness, &[("parse_task", planned)]);
    let (code, plan) = harness.json(&["plan", "edges and a summary", "--llm", &llm]);
    let models: Vec<&Value> = (0..2).map(|at| &plan["execution_config"]["tasks"][at]["model_id"]).collect();
    assert_eq!((code, models), (0, vec![&json!("native/canny"), &json!("ChatGPT")]));
    assert_eq!(plan["execution_config"]["tasks"][0]["args"]["image"], "public/park.jpg");

    let llm = recorded(&harness, &[("parse_task", "[]")]);
    let (code, plan) = harness.json(&["plan", "how are you?", "--llm", &llm]);
    assert_eq!((code, &plan["execution_config"]["total_tasks"]), (1, &json!(0)));

    let llm = recorded(&harness, &[("parse_task", "Fine, and you?"), ("parse_task", "Really fine.")]);
    let ended = harness.run(&["plan", "how are you?", "--llm", &llm]);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("error: the planner's reply is no plan"), "{}", ended.stderr);
}

#[test]
fn with_a_model_a_given_plan_is_not_planned_again_and_is_answered_by_it() {
    let (harness, plan) = planned();
    write(&harness, &plan);
    let llm = recorded(&harness, &[("response_results", "Here are the edges.")]);
    let ended = harness.run(&["run", "--plan", "plan.json", "--llm", &llm]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.starts_with("Here are the edges."), "{}", ended.stdout);
    assert!(ended.stdout.contains("— as the given plan says; done by native/graph-segmenter, native/canny"));
}

#[test]
fn prompts_are_written_down_where_that_is_configured() {
    let harness = Harness::new();
    harness.file("c.yaml", "decisions: {save_prompts: true}");
    let llm = recorded(&harness, &[("parse_task", "[]")]);
    harness.run(&["plan", "how are you?", "--llm", &llm, "--config", "c.yaml"]);
    let folder = std::fs::read_dir(harness.data().join("prompt_logs")).expect("a folder").next().expect("one");
    let asked = folder.expect("readable").path().join("01_parse_task.json");
    let asked: Value = serde_json::from_str(&std::fs::read_to_string(asked).expect("readable")).expect("JSON");
    assert!(asked["messages"].to_string().contains("how are you?"));
}

#[test]
fn the_first_prompt_can_be_seen_without_asking() {
    let harness = Harness::new();
    let args = ["plan", "find the edges of /images/a.png", "--dry-run-prompts"];
    let nobody_is_there = ["--llm", "some-model", "--base-url", "http://127.0.0.1:1/v1"];
    let (code, prompt) = harness.json(&[&args[..], &nobody_is_there].concat());
    let messages = prompt["messages"].as_array().expect("messages");
    assert_eq!((code, &messages[0]["role"]), (0, &json!("system")));
    assert!(messages.last().expect("one")["content"].as_str().expect("text").contains("/images/a.png"));
    assert_eq!(harness.run(&args).code, 2, "the offline planner asks nobody");
}
