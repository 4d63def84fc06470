//! `--pipeline` of `jarvis run` and `jarvis chat`: the table of pipelines, and ReWOO on a recording.

use serde_json::json;

use crate::harness::{Harness, outcomes};

#[test]
fn rewoo_plans_gathers_and_solves() {
    let harness = Harness::new();
    let plan = "Plan: Add the prices.\n#E1 = calculator[17 + 25]\nPlan: Say it.\n#E2 = LLM[Say #E1 in words.]";
    let lines = [
        json!({"stage": "rewoo_plan", "contains": ["what do both cost"], "reply": plan}),
        json!({"stage": "rewoo_llm", "contains": ["Say 42 in words."], "reply": "forty-two"}),
        json!({"stage": "rewoo_solve", "contains": ["Evidence: forty-two"], "reply": "Both cost forty-two."}),
    ];
    harness.file("r.jsonl", lines.map(|line| line.to_string()).join("\n"));
    let run = ["run", "what do both cost?", "--pipeline", "rewoo", "--llm", "replay:r.jsonl", "-q"];
    let (code, document) = harness.json(&[&run[..], &["--json"]].concat());
    assert_eq!((code, document["answer"]["text"].as_str()), (0, Some("Both cost forty-two.")), "{document:#}");
    assert_eq!(outcomes(&document), ["0 calculator succeeded calculator", "1 LLM succeeded LLM"]);
    assert_eq!(document["plan"]["tasks"][1]["dep"], json!([0]));
    assert_eq!(document["usage"]["calls"], json!({"rewoo_plan": 1, "rewoo_llm": 1, "rewoo_solve": 1}));

    let (_, runs) = harness.json(&["runs", "list", "--json"]);
    assert_eq!(runs[0]["run_id"], document["run_id"], "{runs}");
    let told = harness.told(&[&run[..], &[]].concat());
    assert!(told.contains("Both cost forty-two."), "{told}");
    let chat =
        ["chat", "--once", "what do both cost?", "--pipeline", "rewoo", "--llm", "replay:r.jsonl", "--json", "-q"];
    let (code, document) = harness.json(&chat);
    assert_eq!((code, document["answer"]["text"].as_str()), (0, Some("Both cost forty-two.")), "{document:#}");
}

#[test]
fn react_answers_from_the_attached_text() {
    let harness = Harness::new();
    harness.file("fruits.txt", "apple,apple,apple,banana,apple,banana,orange,apple,apple,banana");
    let run = |question: &'static str| ["run", question, "--pipeline", "react", "--file", "fruits.txt", "--json"];
    let (code, document) = harness.json(&run("which fruit is most frequent? draw it"));
    assert_eq!(code, 0, "{document:#}");
    let text = document["answer"]["text"].as_str().unwrap_or_default();
    assert!(text.contains("apple") && text.contains('6'), "{document:#}");
    assert_eq!(document["answer"]["resources"][0]["kind"], "image", "{document:#}");
    // Rounds are shown, and not the tasks that come of them once more.
    let told = harness.told(&run("which fruit is most frequent? draw it")[..6]);
    assert!(told.contains("1. action: count {}") && told.contains("2. observation: Plot generated"), "{told}");
    assert!(!told.contains("plan: ") && !told.contains("plot done"), "{told}");

    let (code, document) = harness.json(&run("who wrote it, and why?"));
    assert_eq!((code, document["error"]["code"].as_str()), (1, Some("no_answer")), "{document:#}");
}

#[test]
fn wrong_choices_of_a_pipeline_are_wrong_use() {
    let harness = Harness::new();
    for (args, said) in [
        (&["run", "x", "--pipeline", "none"][..], &["hugginggpt", "rewoo", "react"][..]),
        (&["run", "x", "--pipeline", "rewoo"], &["`rewoo` needs a chat model", "--llm MODEL"]),
        (&["chat", "--pipeline", "none"], &["hugginggpt", "rewoo"]),
        (&["chat", "--pipeline", "rewoo"], &["`rewoo` needs a chat model", "--llm MODEL"]),
        (&["run", "--plan", "p.json", "--pipeline", "rewoo"], &["cannot be used with"]),
    ] {
        let ended = harness.run(args);
        assert_eq!(ended.code, 2, "{args:?}: {}", ended.stderr);
        assert!(said.iter().all(|word| ended.stderr.contains(word)), "{args:?}: {}", ended.stderr);
    }
    let help = harness.told(&["run", "--help"]);
    assert!(help.contains("--pipeline <NAME>") && help.contains("rewoo:"), "{help}");
}
