//! `models`, `doctor`, `plan`, `completions`, and what `--help` shows.

use serde_json::Value;

use crate::harness::Harness;

#[test]
fn models_are_listed_as_contracted() {
    let harness = Harness::new();
    let (code, list) = harness.json(&["models", "list", "--json"]);
    assert_eq!(code, 0);
    let list = list.as_array().expect("a list");
    for model in list {
        let keys: Vec<&String> = model.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["id", "task", "host", "likes", "description"]);
        assert!(!model["description"].as_str().expect("a text").is_empty(), "{model}");
    }
    let (_, some) = harness.json(&["models", "list", "--task", "tts", "--json"]);
    assert!(some.as_array().expect("a list").iter().all(|model| model["task"] == "text-to-speech"));
}

#[test]
fn the_known_catalogue_loads_where_it_is_at_hand() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/hugginggpt/p0_models.jsonl");
    if !file.is_file() {
        println!("the catalogue file is not at hand: nothing to load");
        return;
    }
    let harness = Harness::new().env("JARVIS_CATALOGUE", &file.display().to_string());
    let (_, list) = harness.json(&["models", "list", "--json"]);
    let hosted = list.as_array().expect("a list").iter().filter(|model| model["host"] == "huggingface").count();
    assert!(hosted >= 673, "{hosted}");
}

#[test]
fn native_models_are_probed_without_any_network() {
    let harness = Harness::new();
    let (code, rows) = harness.json(&["models", "probe", "--task", "canny-control", "--json", "-q"]);
    assert_eq!(code, 0);
    assert_eq!(rows[0]["id"], "native/canny");
    assert_eq!(rows[0]["available"], true);
}

#[test]
fn the_doctor_names_what_works_and_how_to_mend_the_rest() {
    let harness = Harness::new();
    let (code, findings) = harness.json(&["doctor", "--json"]);
    assert_eq!(code, 0, "{findings:#}");
    for finding in findings.as_array().expect("a list") {
        assert_eq!(finding["ok"] == Value::Bool(false), finding["fix"].is_string(), "{finding}");
    }
    let broken = Harness::new().env("JARVIS_LLM", "some-model").env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let (code, findings) = broken.json(&["doctor", "--json"]);
    assert_eq!(code, 1, "{findings:#}");
    let chat =
        findings.as_array().expect("a list").iter().find(|finding| finding["what"] == "chat model").expect("looked at");
    assert!(chat["fix"].as_str().expect("a fix").contains("--base-url"));

    let harness = Harness::new();
    harness.file(
        "jarvis.yaml",
        "grpc: {tls_cert: no.pem, tls_key: no.key}\nmcp_servers: {mine: {command: no-such-program}}\n",
    );
    let (code, findings) = harness.json(&["doctor", "--json", "--config", "jarvis.yaml"]);
    let bad = |what: &str| {
        let bad = findings.as_array().expect("a list").iter().find(|one| one["what"] == what && one["ok"] == false);
        bad.and_then(|finding| finding["found"].as_str()).unwrap_or_default()
    };
    assert_eq!(code, 0, "the main job needs neither: {findings:#}");
    assert!(bad("tools").contains("mine"), "{findings:#}");
    assert!(bad("gRPC door").contains("no.pem"), "{findings:#}");
}

#[test]
fn a_plan_is_written_in_each_format() {
    let harness = Harness::new();
    harness.picture("photo.png");
    let request = "segment photo.png, then find the edges of the result";
    let (code, plan) = harness.json(&["plan", request]);
    assert_eq!((code, &plan["execution_config"]["total_tasks"]), (0, &Value::from(2)));
    let (code, tasks) = harness.json(&["plan", request, "--format", "tasks"]);
    assert_eq!((code, tasks.as_array().expect("a list").len()), (0, 2));
    insta::assert_snapshot!(harness.told(&["plan", request, "--format", "mermaid"]));
    let dot = harness.run(&["plan", request, "--format", "dot"]);
    assert!(dot.stdout.starts_with("digraph plan {") && dot.stdout.contains("t0 -> t1;"), "{}", dot.stdout);
    assert_eq!(std::fs::read_dir(harness.data().join("public/images")).expect("a folder").count(), 1, "the input only");
}

#[test]
fn help_teaches() {
    let harness = Harness::new();
    for command in ["", "run", "chat", "plan", "models", "runs", "doctor", "completions"] {
        let args: Vec<&str> = [command, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let ended = harness.run(&args);
        assert!(ended.code == 0 && ended.stdout.contains("Example"), "{args:?}");
    }
    let bare = harness.run(&[]);
    assert!(bare.code == 2 && bare.stderr.contains("Usage:"), "{bare:?}");
}

#[test]
fn completions_are_printed_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ended = Harness::new().run(&["completions", shell]);
        assert!(ended.code == 0 && ended.stdout.contains("jarvis"), "{shell}");
    }
}

#[test]
fn keys_that_mean_nothing_are_told() {
    let harness = Harness::new();
    harness.file("c.yaml", "llm: {modle: x}\n");
    let ended = harness.run(&["models", "list", "--config", "c.yaml"]);
    assert!(ended.stderr.contains("warning: unknown configuration key `llm.modle`"), "{}", ended.stderr);
}
