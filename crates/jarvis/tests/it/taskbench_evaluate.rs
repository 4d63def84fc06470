//! `jarvis taskbench evaluate` on the sample domains: tables, files, options, faults.

use std::path::Path;

use serde_json::Value;

use crate::harness::Harness;

/// A harness with a copy of a sample domain, without the figures of earlier runs.
fn harness(domain: &str) -> Harness {
    let harness = Harness::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/taskbench").join(domain);
    std::fs::create_dir_all(harness.work().join(domain).join("predictions")).unwrap();
    let files = ["tool_desc.json", "graph_desc.json", "data.json", "user_requests.json", "alignment_ids.json"];
    for file in files.into_iter().chain(["predictions/example-model.json"]) {
        harness.file(&format!("{domain}/{file}"), std::fs::read(from.join(file)).unwrap());
    }
    harness
}

fn json(harness: &Harness, path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(harness.work().join(path)).unwrap()).unwrap()
}

fn bytes(harness: &Harness, path: &str) -> Vec<u8> {
    std::fs::read(harness.work().join(path)).unwrap()
}

const STUDIO: [&str; 6] = ["taskbench", "evaluate", "--data-dir", "data_studio", "--llm", "example-model"];

fn studio(harness: &Harness, more: &[&str]) -> crate::harness::Ended {
    harness.run(&[&STUDIO, more].concat())
}

#[test]
fn both_profiles_are_printed_and_kept() {
    let harness = harness("data_studio");
    insta::assert_snapshot!(
        "both_profiles_are_printed_and_kept",
        harness.told(&[&STUDIO[..], &["-s", "all", "-m", "f1", "-m", "ed,link"]].concat())
    );
    let kept = json(&harness, "data_studio/metrics/example-model.json");
    let keys: Vec<&String> = kept["overall_overall"].as_object().unwrap().keys().collect();
    insta::assert_snapshot!(format!("{keys:?}"), @r##"["all_samples", "step_supports", "node_supports", "link_supports", "argument_supports", "node_micro_precision_no_matching", "node_micro_recall_no_matching", "node_micro_f1_no_matching", "node_macro_precision_no_matching", "node_macro_recall_no_matching", "node_macro_f1_no_matching", "node_per_type_no_matchcing", "argument_task_argname_binary_f1_no_matching", "argument_task_argname_value_binary_f1_no_matching", "edit_distance", "link_binary_f1"]"##);
    assert!(kept["chain_overall"].is_object() && kept["overall_1"].is_null());
    let log = String::from_utf8(bytes(&harness, "data_studio/metrics/example-model.log")).unwrap();
    assert!(log.contains("  edit_distance: 0.1") && log.contains("macro"), "{log}");
}

#[test]
fn groups_that_are_not_run_stay_and_those_that_are_are_new() {
    let harness = harness("data_studio");
    std::fs::create_dir(harness.work().join("data_studio/metrics")).unwrap();
    harness.file(
        "data_studio/metrics/example-model.json",
        r#"{"dag_4": {"kept": true}, "chain_overall": {"old": 1, "link_binary_f1": 9}}"#,
    );
    assert_eq!(studio(&harness, &["-s", "chain", "-m", "link", "--profile", "legacy"]).code, 0);
    let kept = json(&harness, "data_studio/metrics/example-model.json");
    assert_eq!(kept["dag_4"]["kept"], Value::Bool(true));
    let chain = kept["chain_overall"].as_object().unwrap();
    assert!(!chain.contains_key("old") && chain.len() == 6, "{chain:?}");
    assert!(!harness.work().join("data_studio/metrics/example-model.strict.json").exists());
    // A file that is no metrics file is not written over.
    harness.file("data_studio/metrics/example-model.json", "{\"half\": ");
    let ended = studio(&harness, &["--profile", "legacy"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("example-model.json is not JSON"), "{}", ended.stderr);
    assert_eq!(bytes(&harness, "data_studio/metrics/example-model.json"), b"{\"half\": ");
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let harness = harness("data_studio");
    let files = ["data_studio/a/example-model.json", "data_studio/a/example-model.strict.json", "samples.jsonl"];
    let all =
        ["--splits", "all", "--n_tools", "all", "--save_dir", "a", "--per-sample", "samples.jsonl", "--intervals"];
    let run = |threads: &str| {
        assert_eq!(studio(&harness, &[&all[..], &["--threads", threads]].concat()).code, 0);
        files.map(|file| bytes(&harness, file))
    };
    let one = run("1");
    assert_eq!(one, run("3"));
    assert_eq!(one, run("8"));
    let samples = String::from_utf8(one[2].clone()).unwrap();
    let lost: Vec<String> = samples
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|sample| sample["lost"].as_array().is_some_and(|lost| !lost.is_empty()))
        .map(|sample| format!("{}: {}", sample["id"], sample["lost"]))
        .collect();
    insta::assert_snapshot!("any_number_of_threads_gives_the_same_bytes", lost.join("\n"));
}

#[test]
fn every_file_of_predictions_is_scored_once() {
    let harness = harness("data_errands");
    let run = |more: &[&str]| {
        harness.told(&[&["taskbench", "evaluate", "--data_dir", "data_errands", "-m", "link"], more].concat())
    };
    insta::assert_snapshot!(
        "every_file_of_predictions_is_scored_once",
        run(&["--splits", "overall", "--profile", "strict"])
    );
    let again = run(&["--splits", "overall", "--profile", "strict"]);
    assert!(again.contains("newer than predictions") && again.contains("overall_overall"), "{again}");
    assert!(!run(&["--splits", "overall", "--profile", "strict", "--force"]).contains("newer"));
    // Figures of other options are no answer: of fewer samples, or of other figures.
    harness.file("ids.json", "[\"12840357\"]");
    for other in [&["--ids", "ids.json"][..], &["-m", "f1"], &["--use-demos", "1"], &["--intervals", "10"], &[]] {
        let options = [&["--splits", "overall", "--profile", "strict"], other].concat();
        assert!(!run(&options).contains("newer"), "{other:?}");
        assert!(run(&options).contains("newer"), "{other:?}");
    }
}

#[test]
fn samples_are_chosen_by_alignment_ids_and_examples() {
    let harness = harness("data_studio");
    let samples = |more: &[&str]| {
        let ended = studio(&harness, &[&["--json", "-m", "f1", "--profile", "both"], more].concat());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let document: Value = serde_json::from_str(&ended.stdout).unwrap();
        let count = |profile: &str, key: &str| document[profile]["overall_overall"][key].as_u64().unwrap();
        (count("legacy", "all_samples"), count("strict", "samples"))
    };
    let whole = samples(&[]);
    assert_eq!(samples(&["--alignment", "human"]), whole);
    assert_eq!(samples(&["--alignment", "none"]), whole);
    let aligned = samples(&["--alignment", "all"]);
    assert!(aligned.1 < whole.1 && aligned.1 > 0, "{aligned:?}");
    assert!(harness.work().join("data_studio/metrics_alignment_all/example-model.json").exists());
    let some: Vec<Value> = String::from_utf8(bytes(&harness, "data_studio/data.json"))
        .unwrap()
        .lines()
        .take(3)
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
        .collect();
    harness.file("ids.json", Value::from(some).to_string());
    assert_eq!(samples(&["--ids", "ids.json"]).1, 3);
}

#[test]
fn faults_say_what_to_do() {
    let harness = harness("data_studio");
    let cases: [(&[&str], &str); 11] = [
        (&["--llm", "gpt-5"], "predictions in this folder: example-model"),
        (&["--llm", "example-model", "-s", "chains"], "unknown split `chains`"),
        (&["--llm", "example-model", "-n", "many"], "unknown number of tools `many`"),
        (&["--llm", "example-model", "-m", "bleu"], "unknown metric `bleu`"),
        (&["--llm", "example-model", "--alignment", "bot"], "unknown alignment `bot`"),
        (&["--llm", "example-model", "--save-dir", "predictions"], "would be written over the predictions"),
        (
            &["--llm", "example-model", "--save-dir", "../data_studio/predictions"],
            "would be written over the predictions",
        ),
        (&["--llm", "example-model", "--per-sample", "data_studio/data.json"], "is read here and would be overwritten"),
        (&["--llm", "example-model", "--dependency-type", "spatial"], "unknown dependency type `spatial`"),
        (&["--prediction-dir", "elsewhere"], "there are no predictions in"),
        (&["--llm", "example-model", "--bert-model", "nowhere"], "BERTScore"),
    ];
    for (args, told) in cases {
        let ended = harness.run(&[&["taskbench", "evaluate", "--data-dir", "data_studio"], args].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{args:?}");
        assert!(ended.stderr.contains(told), "{args:?}: {}", ended.stderr);
    }
    // Lines that are none are told, and the others count.
    let predictions = "data_studio/predictions/example-model.json";
    let mut broken = bytes(&harness, predictions);
    broken.extend(b"{\"id\": \"1\", \"result\": \n[1]\n{\"result\": {}}\n");
    harness.file(predictions, broken);
    let ended = studio(&harness, &["-m", "f1"]);
    assert_eq!(ended.code, 0);
    for told in ["line 16: not JSON", "line 17: it is a list, not an object", "line 18: it has no `id`"] {
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
    }
}

#[test]
fn nothing_to_compare_is_told() {
    let harness = harness("data_studio");
    let said = |lines: &str| harness.file("data_studio/predictions/m.json", lines);
    let run = |more: &[&str]| {
        harness.run(&[&["taskbench", "evaluate", "--data-dir", "data_studio", "--llm", "m", "-m", "f1"], more].concat())
    };
    let cases = [
        (r#"{"id": "1", "result": {"task_nodes": []}}"#, 0, "is it of another domain?"),
        (r#"{"id": 41720963, "result": {"task_nodes": []}}"#, 0, "are numbers, those of data.json text"),
        ("", 0, "it is empty"),
        ("id,result\n1,x\n", 0, "no line of it is a prediction"),
    ];
    for (lines, code, told) in cases {
        said(lines);
        let ended = run(&[]);
        assert_eq!(ended.code, code, "{lines}: {}", ended.stderr);
        assert!(ended.stderr.contains(told), "{lines}: {}", ended.stderr);
    }
    harness.file("ids.json", "[\"none\"]");
    let ended = run(&["--ids", "ids.json"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("none of the ids in ids.json is in data_studio/data.json"), "{}", ended.stderr);
    harness.file("data_studio/data.json", "");
    let ended = run(&[]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("data_studio/data.json holds no gold plan"), "{}", ended.stderr);
    // Without an answer nothing is written.
    assert!(!harness.work().join("data_studio/metrics_ids_ids").exists());
}

#[test]
fn several_runs_are_compared() {
    let harness = harness("data_studio");
    std::fs::copy(
        harness.work().join("data_studio/predictions/example-model.json"),
        harness.work().join("data_studio/predictions/again.json"),
    )
    .unwrap();
    let ended = harness.run(&["taskbench", "evaluate", "--data-dir", "data_studio", "-m", "f1"]);
    let rows: Vec<&str> =
        ended.stdout.lines().filter(|line| line.starts_with(" again") || line.starts_with(" ex")).collect();
    assert_eq!((ended.code, rows.len()), (0, 4), "{}", ended.stdout);
    assert!(ended.stderr.contains("all groups are in data_studio/metrics"), "{}", ended.stderr);
    let ended = harness.run(&["taskbench", "evaluate", "--data-dir", "data_studio", "-m", "f1", "--json", "-q"]);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(document.as_array().map(Vec::len), Some(2));
    assert!(document[1]["strict"]["overall_10"].is_object());
}

#[test]
fn what_inference_left_is_known() {
    let harness = harness("data_studio");
    // The second request shows an example of the sample domain, and one reply holds no plan.
    let examples = "t - m - INFO - settings: planner=m; examples=41720963; reformat=false\n";
    harness.file("data_studio/predictions/m.log", examples);
    harness.file("data_studio/predictions/m.json", "{\"id\": \"27649031\", \"result\": {\"task_nodes\": []}}\n");
    let errors = "{\"id\": \"49087315\", \"kind\": \"ContentFormat\", \"message\": \"no JSON\"}\n";
    harness.file("data_studio/predictions/m.errors.jsonl", errors);
    let strict = |more: &[&str]| {
        let args = ["taskbench", "evaluate", "--data-dir", "data_studio", "--llm", "m", "--json", "-m", "f1"];
        let ended = harness.run(&[&args, more].concat());
        let document: Value = serde_json::from_str(&ended.stdout).unwrap();
        let overall = &document["strict"]["overall_overall"];
        (overall["samples"].as_u64(), overall["missing"].as_u64(), overall["malformed"].to_string())
    };
    assert_eq!(strict(&[]), (Some(13), Some(11), r#"{"unreadable":1}"#.to_owned()));
    assert_eq!(strict(&["--use-demos", "0"]), (Some(14), Some(12), r#"{"unreadable":1}"#.to_owned()));
    assert_eq!(strict(&["--demo-ids", "27649031,49087315"]), (Some(12), Some(12), "{}".to_owned()));
}
