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
