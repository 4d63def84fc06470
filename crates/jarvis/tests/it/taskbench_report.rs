//! `jarvis taskbench report`: what it prints, writes and refuses.

use std::path::Path;

use serde_json::json;

use crate::harness::Harness;

/// A domain folder with two tools, two gold plans and a run `own` that has one of them right.
fn studio(harness: &Harness, name: &str) {
    let dir = harness.work().join(name);
    std::fs::create_dir_all(dir.join("predictions")).unwrap();
    let tool = |id: &str| json!({"id": id, "desc": "", "input-type": ["audio"], "output-type": ["audio"]});
    write(&dir, "tool_desc.json", &json!({"nodes": [tool("Trim"), tool("Mix")]}).to_string());
    let plan = |id: &str, task: &str| {
        json!({"id": id, "type": "single", "n_tools": 1, "user_request": "Please", "task_steps": [task],
               "task_nodes": [{"task": task, "arguments": ["a.wav"]}], "task_links": []})
    };
    let gold = [plan("1", "Trim"), plan("2", "Mix")];
    write(&dir, "data.json", &gold.each_ref().map(|line| format!("{line}\n")).concat());
    let said = gold.map(|line| {
        let node = json!({"task": "Trim", "arguments": ["a.wav"]});
        format!("{}\n", json!({"id": line["id"], "result": {"task_steps": line["task_steps"], "task_nodes": [node], "task_links": []}}))
    });
    write(&dir, "predictions/own.json", &said.concat());
}

fn write(dir: &Path, name: &str, text: &str) {
    std::fs::write(dir.join(name), text).unwrap();
}

#[test]
fn prints_a_table_and_writes_a_page() {
    let harness = Harness::new();
    studio(&harness, "data_studio");
    let report = ["taskbench", "report", "--data_dir", "data_studio", "--html", "out/page.html"];
    insta::assert_snapshot!("prints_a_table_and_writes_a_page", harness.told(&report));
    let page = std::fs::read_to_string(harness.work().join("out/page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("missed tool Mix"));
    assert!(!page.contains("gpt-4"), "this is no published domain");

    let csv = ["taskbench", "report", "--data-dir", "data_studio", "-m", "f1", "--format", "csv", "--out", "runs.csv"];
    let ended = harness.run(&csv);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("wrote runs.csv"), "{}", ended.stderr);
    let written = std::fs::read_to_string(harness.work().join("runs.csv")).unwrap();
    assert!(
        written.starts_with("model,source,n,of,n-F1,t-F1,v-F1,strict n-F1,strict t-F1,strict v-F1\nown,run,2,2,"),
        "{written}"
    );
}

#[test]
fn folders_need_no_option_and_programs_get_json() {
    let harness = Harness::new();
    studio(&harness, "data_studio");
    studio(&harness, "data_other");
    let (code, document) = harness.json(&["taskbench", "report", "data_studio", "data_other", "--format", "json"]);
    let rows = document["rows"].as_array().unwrap();
    let told: Vec<_> = rows.iter().map(|row| (&row["model"], &row["domain"], &row["figures"]["n-F1"])).collect();
    let (own, half) = (json!("own"), json!(50.0));
    assert_eq!((code, told), (0, vec![(&own, &json!("studio"), &half), (&own, &json!("other"), &half)]));
    assert_eq!((&rows[0]["strict"]["e-F1"], &rows[0]["figures"]["BsF"]), (&json!(null), &json!(null)));
}

#[test]
fn stands_beside_the_leaderboard_unless_told_not_to() {
    let harness = Harness::new();
    studio(&harness, "data_multimedia");
    let run = ["taskbench", "report", "--run", "data_multimedia/predictions/own.json", "--format", "markdown"];
    let ended = harness.run(&run);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(ended.stdout.matches("| published |").count(), 17, "{}", ended.stdout);
    assert!(ended.stdout.contains("| **own**") && ended.stdout.contains("(multimedia 5584)"), "{}", ended.stdout);
    let ended = harness.run(&[&run[..], &["--no-leaderboard"]].concat());
    assert_eq!(ended.stdout.matches("| published |").count(), 0);
}

#[test]
fn says_what_is_missing() {
    let harness = Harness::new();
    studio(&harness, "data_studio");
    let bare = harness.work().join("data_bare");
    std::fs::create_dir(&bare).unwrap();
    harness.file("data_studio/predictions/broken.json", "{\n");
    harness.file("alone.json", "{}\n");
    for (args, code, said) in [
        (
            &["--data-dir", "data_studio"][..],
            0,
            "warning: left out: data_studio/predictions/broken.json: no line is a prediction",
        ),
        (
            &["--data-dir", "data_studio", "--llm", "broken"],
            2,
            "error: data_studio/predictions/broken.json: no line is a prediction",
        ),
        (&["--data-dir", "data_studio", "--llm", "gpt-9"], 2, "hint: runs that are there: broken, own"),
        (&["--data-dir", "data_bare"], 2, "hint: make some with `jarvis taskbench infer"),
        (&["--data-dir", "data_none"], 2, "cannot read data_none"),
        (&[], 2, "hint: name a domain folder with --data-dir DIR"),
        (&["--run", "alone.json"], 2, "alone.json is in no domain folder"),
        (&["--data-dir", "data_studio", "--run", "alone.json"], 2, "no line is a prediction"),
        (&["--data-dir", "data_studio", "-m", "speed"], 2, "unknown metric `speed`"),
        (&["--data-dir", "data_studio", "--out", "data_studio/data.json"], 2, "would be overwritten"),
        (&["--data-dir", "data_studio", "--html", "data_studio"], 1, "cannot write data_studio"),
    ] {
        let ended = harness.run(&[&["taskbench", "report"], args].concat());
        assert_eq!(ended.code, code, "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{args:?}: {}", ended.stderr);
        assert_eq!(ended.stdout.is_empty(), code == 2, "{args:?}");
    }
}
