//! What the Hub does not give, and what of it is not taken.

use jarvis_models::{Environment, Hub, HubOptions, ModelError, RepoId, Revision};
use jarvis_testing::stub::{Canned, Stub};
use jarvis_testing::weights::{Access, WeightsRepo};
use serde_json::{Value, json};

use crate::machine::{Machine, caption, chat};

#[tokio::test]
async fn refusals_say_what_to_do() {
    let private = WeightsRepo { access: Access::Private("hf_good".into()), ..chat() };
    let gated = WeightsRepo { access: Access::Gated("hf_good".into()), ..chat() };
    for (repo, token, name, message, hint) in [
        (&gated, None, "chat", "`org/chat-GGUF` is gated: its authors ask you", "/org/chat-GGUF, then set HF_TOKEN"),
        (
            &gated,
            Some("hf_bad"),
            "chat",
            "`org/chat-GGUF` is gated: its authors ask you",
            "with the account of the token",
        ),
        (&private, None, "chat", "`org/chat-GGUF` does not exist at http", "set HF_TOKEN"),
        (&private, Some("hf_bad"), "chat", "", ""),
        (&gated, None, "org/none", "`org/none` does not exist at http", "check the spelling"),
        (&gated, Some("hf_bad"), "org/none", "`org/none` does not exist at http", "whether the token may read it"),
        (&gated, None, "org/chat-GGUF@v9", "`org/chat-GGUF` has no revision `v9`", "after the `@`"),
        (&gated, None, "org/chat-GGUF:x.gguf", "`org/chat-GGUF` has no file x.gguf", "`chat-Q4_K_M.gguf`"),
    ] {
        let mut machine = Machine::new(vec![repo.clone()]);
        if let Some(token) = token {
            machine = machine.with_token(token);
        }
        let error = machine.pull(name).await.unwrap_err();
        assert!(error.to_string().starts_with(message), "{name} with {token:?}: {error}");
        assert!(error.hint().unwrap_or_default().contains(hint), "{name} with {token:?}: {:?}", error.hint());
        assert!(!format!("{error} {error:?} {:?}", error.hint()).contains("hf_bad"), "the token is not shown");
        assert!(machine.store().local_models().is_empty());
    }
    for repo in [private, gated] {
        Machine::new(vec![repo]).with_token("hf_good").pull("chat").await.unwrap();
    }
}

#[tokio::test]
async fn hostile_listings_are_refused() {
    let entry = |path: &str| json!({"type": "file", "path": path, "size": 3, "oid": "a".repeat(40)});
    let long = format!("{}.json", "x".repeat(300));
    for (tree, message) in [
        (vec![entry("../../.bashrc.json")], "the file name `../../.bashrc.json` leaves its folder"),
        (vec![entry("config.json"), entry("a/../../x")], "the file name `a/../../x` leaves its folder"),
        (vec![entry("/etc/passwd")], "the file name `/etc/passwd` is not a relative path"),
        (vec![entry("a\\..\\x")], "has characters that file names must not have"),
        (vec![entry(&long)], "is too long"),
        (vec![json!({"type": "file", "path": "x.gguf", "size": 3, "oid": "../../x"})], "is not a hash"),
        (
            vec![
                json!({"type": "file", "path": "x.gguf", "size": 3, "oid": "a".repeat(40), "lfs": {"oid": "a/../b", "size": 3}}),
            ],
            "is not a hash",
        ),
        (vec![json!({"type": "file", "path": "x.gguf", "size": -3, "oid": "a".repeat(40)})], "invalid value"),
        (vec![json!("x")], "invalid type"),
    ] {
        let machine = Machine::new(vec![WeightsRepo { tree: Some(tree.clone()), ..chat() }]);
        let error = machine.pull("chat").await.unwrap_err();
        assert!(
            matches!(error, ModelError::BadReply { .. }) && error.to_string().contains(message),
            "{tree:?}: {error}"
        );
        assert!(machine.tree().is_empty() && !machine.data().exists());
    }
}

#[tokio::test]
async fn listings_that_do_not_end_are_ended() {
    let entry =
        |number: usize| json!({"type": "file", "path": format!("f{number}.json"), "size": 3, "oid": "a".repeat(40)});
    let many: Vec<Value> = (0..100_000).map(entry).collect();
    for repo in [
        WeightsRepo { tree: Some(many), page: 10_000, ..chat() },
        WeightsRepo { endless: true, tree: Some(vec![entry(1)]), ..chat() },
        // Pages without entries.
        WeightsRepo { endless: true, tree: Some(Vec::new()), ..chat() },
    ] {
        let machine = Machine::new(vec![repo]);
        let error = machine.pull("chat").await.unwrap_err();
        assert!(matches!(error, ModelError::TooManyFiles { .. }), "{error}");
        assert!(machine.hub.requests_of("/tree/").len() <= 200);
    }
}

#[tokio::test]
async fn weights_that_can_run_code_are_not_pulled() {
    let pickles = WeightsRepo::new("org/old").file("config.json", "{}").large("pytorch_model.bin", b"pickle".to_vec());
    let machine = Machine::new(vec![pickles, caption()]);
    let error = machine.pull("org/old").await.unwrap_err();
    assert_eq!(error.to_string(), "`org/old` has weights only in formats that can run code (pytorch_model.bin)");
    let error = machine.pull("org/caption:pytorch_model.bin").await.unwrap_err();
    assert_eq!(error.to_string(), "`org/caption` has no file pytorch_model.bin");
    assert!(machine.hub.requests_of("/resolve/").is_empty());
    machine.pull("org/caption").await.unwrap();
    let taken = machine.hub.requests_of("/resolve/");
    assert!(taken.iter().all(|request| !request.target.ends_with(".bin") && !request.target.ends_with(".py")));
}

#[tokio::test]
async fn offline_no_socket_is_opened() {
    let machine = Machine::new(vec![chat()]);
    let mut environment: Environment = machine.environment.clone();
    environment.is_offline = true;
    let hub = Hub::new(HubOptions::new(&environment));
    let error = hub.revision(&RepoId::new("org/chat-GGUF").unwrap(), &Revision::main()).await.unwrap_err();
    assert!(matches!(error, ModelError::Offline { .. }), "{error}");
    let plan = machine.plan("chat").await.unwrap();
    let before = machine.hub.requests().len();
    let error = machine.store().pull(&hub, &plan, &|_| {}).await.unwrap_err();
    assert!(matches!(error, ModelError::Offline { .. }), "{error}");
    assert_eq!(machine.hub.requests().len(), before);
    // Nothing listens there, so that a connection would be another error.
    environment.endpoint = "http://127.0.0.1:1".parse().unwrap();
    let hub = Hub::new(HubOptions::new(&environment));
    let error = hub.revision(&RepoId::new("org/chat-GGUF").unwrap(), &Revision::main()).await.unwrap_err();
    assert!(matches!(error, ModelError::Offline { .. }), "{error}");
}

#[tokio::test]
async fn a_hub_that_is_not_there_is_told_with_what_to_check() {
    let mut machine = Machine::new(vec![]);
    machine.environment.endpoint = "http://127.0.0.1:1".parse().unwrap();
    let error = machine.pull("chat").await.unwrap_err();
    assert!(error.to_string().starts_with("asking about `org/chat-GGUF` failed: 127.0.0.1 is unreachable"), "{error}");
    assert!(error.hint().unwrap().contains("HF_ENDPOINT"));
    // Something else answers.
    let stub = Stub::start(|_| Canned::bytes("text/html", "<html>log in</html>")).await.unwrap();
    machine.environment.endpoint = stub.url("/").parse().unwrap();
    let error = machine.pull("chat").await.unwrap_err();
    assert!(error.to_string().contains(" sent an invalid reply about `org/chat-GGUF`"), "{error}");
}
