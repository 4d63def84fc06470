//! `jarvis doctor`.

use serde_json::Value;

use crate::harness::Harness;

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

#[cfg(feature = "s3")]
#[test]
fn a_media_store_that_cannot_be_used_is_told_with_what_to_do() {
    let config = "media_store: {bucket: shared, endpoint: 'http://127.0.0.1:1', secret_key_env: THE_SECRET}\n";
    for (key, secret, found, fix) in [
        ("", "", "`AWS_ACCESS_KEY_ID` is not set", "media_store"),
        ("a-key", "", "`THE_SECRET` is not set", "media_store"),
        ("a-key", "a-secret", "s3://shared/ at http://127.0.0.1:1/: it cannot be reached", "media_store.endpoint"),
    ] {
        let harness = Harness::new().env("AWS_ACCESS_KEY_ID", key).env("THE_SECRET", secret);
        harness.file("jarvis.yaml", config);
        let (code, findings) = harness.json(&["doctor", "--json", "--config", "jarvis.yaml"]);
        let media = findings.as_array().expect("a list").iter().find(|one| one["what"] == "media folder");
        let media = media.expect("looked at");
        let text = |what: &str| media[what].as_str().unwrap_or_default().to_owned();
        assert!(code == 1 && text("found").contains(found) && text("fix").contains(fix), "{media}");
        assert!(!findings.to_string().contains("a-secret"));
        let run = harness.run(&["run", "make a picture of a fox", "--config", "jarvis.yaml"]);
        assert!(run.code != 0 && !run.stderr.contains("a-secret"), "{}", run.stderr);
    }
}

fn findings_of(findings: &Value, what: &str) -> Vec<Value> {
    findings.as_array().expect("a list").iter().filter(|one| one["what"] == what).cloned().collect()
}

#[test]
fn a_damaged_journal_is_renamed_only_when_that_is_asked_for() {
    let harness = Harness::new();
    let journal = harness.data().join("runs.db");
    let damaged = "this is no database, and long enough to be looked at as one";
    std::fs::write(&journal, damaged).expect("writable");
    let (_, findings) = harness.json(&["doctor", "--json"]);
    let found = &findings_of(&findings, "run journal")[0];
    assert!(found["fix"].as_str().expect("a fix").contains("jarvis doctor --fix"), "{found}");
    assert_eq!(std::fs::read_to_string(&journal).expect("it stays"), damaged);

    let (code, findings) = harness.json(&["doctor", "--fix", "--json"]);
    let found = findings_of(&findings, "run journal");
    let fixed = found[0]["fixed"].as_str().expect("it was mended");
    assert!(code == 0 && fixed.contains("runs.db.damaged"), "{found:?}");
    assert!(found[0]["ok"] == true && found[1]["ok"] == true && found[1].get("fixed").is_none(), "{found:?}");
    let aside = harness.data().join("runs.db.damaged");
    assert_eq!(std::fs::read_to_string(aside).expect("nothing is lost"), damaged);
    assert_eq!(harness.run(&["runs", "list"]).code, 0);
    let (_, findings) = harness.json(&["doctor", "--fix", "--json"]);
    assert!(!findings.to_string().contains("\"fixed\""), "there is nothing left to mend: {findings:#}");
}

#[test]
fn a_journal_that_is_in_use_is_not_mended_and_that_is_a_failure() {
    let harness = Harness::new();
    let journal = harness.data().join("runs.db");
    let idle = jarvis_store::Journal::open(&journal).expect("a journal");
    // Its log alone would do for reading it.
    std::fs::remove_file(harness.data().join("runs.db-wal")).expect("a log");
    std::fs::write(&journal, "this is no database, and long enough to be looked at as one").expect("writable");
    let (code, findings) = harness.json(&["doctor", "--fix", "--json"]);
    let found = findings_of(&findings, "run journal");
    assert!(code == 1 && found.len() == 1 && found[0]["ok"] == false, "{found:?}");
    assert!(found[0]["fix"].as_str().expect("a fix").contains("stop the server that uses it"), "{found:?}");
    assert!(journal.exists());
    drop(idle);
    assert_eq!(harness.json(&["doctor", "--fix", "--json"]).0, 0);
}

#[test]
fn folders_are_made_and_lock_files_of_the_dead_removed() {
    let harness = Harness::new();
    let data = harness.work().join("new/data");
    let args = ["doctor", "--fix", "--data-dir", "new/data"];
    let text = harness.run(&args).stdout;
    assert!(text.contains("done  data folder") && text.contains("fixed: made it"), "{text}");
    assert!(data.join("public").is_dir());

    let lock = data.join("runs.db.writers/0123456789abcdef0123456789abcdef");
    std::fs::write(&lock, "").expect("writable");
    let (_, findings) = harness.json(&["doctor", "--json", "--data-dir", "new/data"]);
    assert_eq!(findings_of(&findings, "lock files")[0]["found"], "1 lock file of killed processes");
    assert!(lock.exists());
    let (_, findings) = harness.json(&[&args[..], &["--json"]].concat());
    assert_eq!(findings_of(&findings, "lock files")[0]["fixed"], "checked the journal and removed 1 lock file");
    assert!(!lock.exists());
}

#[cfg(unix)]
#[test]
fn permissions_are_mended() {
    use std::os::unix::fs::PermissionsExt as _;

    let harness = Harness::new();
    harness.run(&["doctor"]);
    let mode = |path: &std::path::Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    let set = |path: &std::path::Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    let (journal, public) = (harness.data().join("runs.db"), harness.data().join("public"));
    set(&journal, 0o644);
    set(&public, 0o500);
    let (_, findings) = harness.json(&["doctor", "--json"]);
    assert_eq!(findings_of(&findings, "permissions").len(), 2, "{findings:#}");
    assert_eq!((mode(&journal), mode(&public)), (0o644, 0o500));
    let (_, findings) = harness.json(&["doctor", "--fix", "--json"]);
    assert_eq!(findings_of(&findings, "permissions").len(), 2, "{findings:#}");
    assert_eq!((mode(&journal), mode(&public)), (0o640, 0o700));
    let (_, findings) = harness.json(&["doctor", "--json"]);
    assert!(findings_of(&findings, "permissions").is_empty(), "{findings:#}");
}

#[test]
fn what_a_download_left_that_was_cut_off_is_removed() {
    use jarvis_testing::weights::{Trouble, WeightsHub, WeightsRepo, content, sha256};

    const FILE: &str = "chat-Q4_K_M.gguf";
    let weights = content(200_000, 1);
    let hub = WeightsHub::start(vec![WeightsRepo::new("org/chat-GGUF").large(FILE, weights.clone())]);
    hub.trouble(FILE, [Trouble::Hold(80_000)]);
    let harness = Harness::new().env("HF_ENDPOINT", &hub.base());
    let mut pull = harness.command(&["models", "pull", "org/chat-GGUF", "-y", "-q"]).spawn().expect("it starts");
    let blobs = harness.data().join(".cache/huggingface/hub/models--org--chat-GGUF/blobs");
    let part = blobs.join(format!("{}.incomplete", sha256(&weights)));
    while std::fs::metadata(&part).map_or(0, |data| data.len()) < 80_000 {
        std::thread::yield_now();
    }
    let (_, findings) = harness.json(&["doctor", "--fix", "--json"]);
    assert!(findings_of(&findings, "partial downloads").is_empty() && part.exists(), "it goes on: {findings:#}");
    pull.kill().and_then(|()| pull.wait()).expect("it ends");

    let (_, findings) = harness.json(&["doctor", "--json"]);
    let found = &findings_of(&findings, "partial downloads")[0];
    assert!(found["fix"].as_str().expect("a fix").contains("jarvis models pull org/chat-GGUF"), "{found}");
    let (_, findings) = harness.json(&["doctor", "--fix", "--json"]);
    assert_eq!(findings_of(&findings, "partial downloads")[0]["fixed"], "removed 1 file, 80000 bytes");
    assert!(!part.exists());
    let (_, findings) = harness.json(&["doctor", "--json"]);
    assert!(findings_of(&findings, "partial downloads").is_empty(), "{findings:#}");
}
