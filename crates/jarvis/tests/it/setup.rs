//! `jarvis setup` without a terminal. tests/python/test_setup.py answers its questions at one.

use std::path::PathBuf;

use jarvis_testing::chat::{FakeChat, Host, Hosted, Make, Script};
use serde_json::{Value, json};

use crate::harness::Harness;

/// A key that must be in no output and no file.
const KEY: &str = "sk-very-secret-key-0123456789";

fn file(harness: &Harness) -> PathBuf {
    harness.data().join(".config/jarvis/jarvis.yaml")
}

fn read(harness: &Harness) -> String {
    std::fs::read_to_string(file(harness)).expect("it was written")
}

/// What `jarvis doctor` says of the configuration that was written.
fn configuration(harness: &Harness) -> Vec<Value> {
    let (_, findings) = harness.json(&["doctor", "--json"]);
    let about = findings.as_array().expect("a list").iter().filter(|one| one["what"] == "configuration");
    about.cloned().collect()
}

#[test]
fn a_machine_with_nothing_gets_a_file_of_comments() {
    let harness = Harness::new();
    let done = harness.run(&["setup"]);
    assert_eq!((done.code, done.stdout), (0, format!("wrote {}\n", file(&harness).display())), "{}", done.stderr);
    for part in ["none answers", "none in the environment", "jarvis completions --install", "jarvis doctor"] {
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
    let text = read(&harness);
    assert!(
        text.contains("# llm:\n#   # ") && text.contains("\n#   model: auto\n") && text.contains("# data_dir: "),
        "{text}"
    );
    assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')), "{text}");
    let found = configuration(&harness);
    assert!(found.len() == 1 && found[0]["ok"] == true, "{found:?}");
    let again = harness.run(&["setup", "--yes"]);
    assert!(again.code == 0 && again.stdout.contains("is up to date"), "{}", again.stdout);
}

#[test]
fn what_is_found_is_proposed_and_no_key_is_shown() {
    let model = |name: &str| Hosted { name: name.into(), context: 32768, ..Hosted::default() };
    let ollama =
        FakeChat::hosted(Host::new(Make::Ollama, [model("qwen3:8b"), model("nomic-embed-text")]), Script::new());
    let servers = json!(["http://127.0.0.1:1", ollama.origin()]).to_string();
    let harness = Harness::new()
        .env("JARVIS_LLM__LOCAL_SERVERS", &servers)
        .env("OPENAI_API_KEY", KEY)
        .env("MISTRAL_API_KEY", KEY)
        .env("HF_TOKEN", "");
    let (code, report) = harness.json(&["setup", "--json"]);
    assert_eq!(code, 0, "{report:#}");
    let at = ollama.origin();
    assert_eq!(report["found"]["servers"], json!([{"kind": "Ollama", "address": at, "models": ["qwen3:8b"]}]));
    let names: Vec<&Value> =
        report["found"]["keys"].as_array().expect("a list").iter().map(|key| &key["variable"]).collect();
    assert_eq!(names, ["OPENAI_API_KEY", "MISTRAL_API_KEY"]);
    assert_eq!((&report["written"], &report["backup"]), (&json!(true), &Value::Null));
    assert_eq!(report["changes"][0], "llm.model: unset -> qwen3:8b");
    let text = read(&harness);
    assert!(
        text.contains("  model: qwen3:8b\n") && text.contains(&format!("  base_url: {}\n", ollama.url())),
        "{text}"
    );
    assert!(!text.contains(KEY) && !report.to_string().contains(KEY));
    // It is what jarvis works with from now on.
    let (_, findings) = harness.json(&["doctor", "--json"]);
    assert!(findings.to_string().contains("qwen3:8b"), "{findings:#}");
}

#[test]
fn flags_are_answers_and_a_key_that_is_missing_is_named() {
    let harness = Harness::new();
    let done = harness.run(&["setup", "--yes", "--llm", "gpt-4o-mini", "--data-dir", "here"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("read -rs OPENAI_API_KEY && export OPENAI_API_KEY"), "{}", done.stderr);
    let text = read(&harness);
    let data_dir = format!("data_dir: {}\n", harness.work().join("here").display());
    for line in ["  model: gpt-4o-mini\n", "  api_key_env: OPENAI_API_KEY\n", data_dir.as_str()] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn flags_are_checked_as_what_is_typed() {
    let harness = Harness::new();
    let cases: [(&[&str], &str); 4] = [
        (&["--llm", "m", "--base-url", "http://user:secret-QX@10.0.0.1/v1"], "without a user name and password"),
        (&["--base-url", "foo"], "begins with http:// or https://"),
        (&["--llm", "two words"], "without spaces"),
        (&["--data-dir", "/dev/null/x"], "/dev/null/x is a file, or lies below one"),
    ];
    for (flags, hint) in cases {
        let refused = harness.run(&[&["setup", "--yes"], flags].concat());
        assert!(refused.code == 2 && refused.stderr.contains(hint), "{flags:?}: {}", refused.stderr);
        assert!(!refused.stderr.contains("secret-QX") && !file(&harness).exists(), "{flags:?}");
    }
}

#[test]
fn a_folder_of_the_environment_is_for_this_time_alone() {
    let harness = Harness::new();
    let done = harness.run(&["setup", "--yes", "--data-dir", "mine"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let before = read(&harness);
    let done = harness.shell("JARVIS_DATA_DIR=$PWD/scratch jarvis setup --yes --llm offline");
    assert!(done.contains("wrote"), "{done}");
    let folder = |text: &str| text.lines().find(|line| line.starts_with("data_dir: ")).map(str::to_owned);
    assert!(folder(&before).is_some());
    assert_eq!(folder(&read(&harness)), folder(&before));
}

#[test]
fn a_configuration_that_is_there_is_only_changed_with_leave_and_kept() {
    let harness = Harness::new();
    let before =
        "# Mine.\nllm: {model: offline, timeout_s: 7}\ntools:\n  - {name: calculator, when: numbers are summed up}\n";
    std::fs::create_dir_all(file(&harness).parent().expect("a folder")).expect("writable");
    std::fs::write(file(&harness), before).expect("writable");
    // What is up to date is left as it is, comments and all.
    assert_eq!(harness.run(&["setup"]).code, 0);
    assert_eq!(read(&harness), before);

    let other = ["setup", "--llm", "qwen3:8b", "--base-url", "http://127.0.0.1:1/v1"];
    let refused = harness.run(&other);
    assert_eq!((refused.code, read(&harness).as_str()), (2, before), "{}", refused.stdout);
    assert!(
        refused.stderr.contains("llm.model: offline -> qwen3:8b") && refused.stderr.contains("hint: agree with --yes")
    );
    let (code, document) = harness.json(&[&other[..], &["--json"]].concat());
    assert!(code == 2 && document["error"]["code"] == "usage", "{document}");

    let printed = harness.run(&[&other[..], &["--print"]].concat());
    assert_eq!((printed.code, read(&harness).as_str()), (0, before));
    let done = harness.run(&[&other[..], &["--yes"]].concat());
    let backup = file(&harness).with_extension("yaml.bak");
    assert!(done.code == 0 && done.stdout.contains(&backup.display().to_string()), "{}{}", done.stdout, done.stderr);
    assert_eq!(std::fs::read_to_string(&backup).expect("it is kept"), before);
    let text = read(&harness);
    assert_eq!(text, printed.stdout);
    for part in ["  model: qwen3:8b\n", "  timeout_s: 7\n", "calculator"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let again = harness.run(&["setup", "--yes", "--llm", "offline"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(std::fs::read_to_string(file(&harness).with_extension("yaml.bak-2")).expect("it is kept too"), text);
    assert!(read(&harness).contains("  model: offline\n"));
}

#[test]
fn a_section_without_keys_stays_valid() {
    let harness = Harness::new();
    std::fs::create_dir_all(file(&harness).parent().expect("a folder")).expect("writable");
    std::fs::write(file(&harness), "budget: {}\noutput: {}\n").expect("writable");
    let done = harness.run(&["setup", "--yes", "--llm", "offline"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(read(&harness).contains("  model: offline\n"));
}

#[test]
fn a_configuration_that_cannot_be_read_is_not_replaced() {
    let harness = Harness::new();
    for (text, why) in [("llm: [", "not valid YAML"), ("llm: {timeout_s: soon}", "llm.timeout_s")] {
        harness.file("mine.yaml", text);
        let refused = harness.run(&["setup", "--yes", "--config", "mine.yaml"]);
        assert!(refused.code == 2 && refused.stderr.contains(why), "{}", refused.stderr);
        assert_eq!(std::fs::read_to_string(harness.work().join("mine.yaml")).expect("it stays"), text);
    }
    let done = harness.run(&["setup", "--yes", "--config", "folder/new.yaml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(harness.work().join("folder/new.yaml").is_file() && !file(&harness).exists());
}
