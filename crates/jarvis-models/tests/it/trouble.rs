//! Downloads that meet trouble: what is tried again, what is told, and what stays.

use std::fs;
use std::time::Duration;

use jarvis_models::{ModelError, PullEvent};
use jarvis_testing::weights::{Trouble, WeightsRepo, commit, sha256};

use crate::machine::{DECODER, Machine, caption, chat, weights};

const FILE: &str = "chat-Q4_K_M.gguf";

/// The ranges that the content network was asked for.
fn ranges(machine: &Machine) -> Vec<String> {
    let cdn = machine.hub.requests().into_iter().filter(|request| request.at_cdn);
    cdn.map(|request| request.range.unwrap_or_default()).collect()
}

#[tokio::test]
async fn trouble_that_passes_is_outlived() {
    let status = Trouble::status;
    for (troubles, expected) in [
        (vec![Trouble::Cut(20_000)], &["", "bytes=20000-"][..]),
        (vec![Trouble::Cut(0)], &["", ""]),
        (vec![Trouble::Cut(20_000), Trouble::NoRange], &["", "bytes=20000-"]),
        (vec![Trouble::Cut(20_000), status(416)], &["", "bytes=20000-", ""]),
        (
            vec![Trouble::Cut(20_000), status(503), Trouble::Cut(10_000)],
            &["", "bytes=20000-", "bytes=20000-", "bytes=30000-"],
        ),
        (vec![Trouble::too_many("0"), Trouble::too_many("0.001")], &["", "", ""]),
        (vec![status(500), status(502), status(503), status(504), status(408)], &["", "", "", "", "", ""]),
        // The signature of the address is no longer valid: the Hub gives a new one.
        (vec![status(403)], &["", ""]),
    ] {
        let machine = Machine::new(vec![chat()]);
        machine.hub.trouble(FILE, troubles.clone());
        let local = machine.pull("chat").await.unwrap_or_else(|error| panic!("{troubles:?}: {error}"));
        assert_eq!(fs::read(local.folder.join(FILE)).unwrap(), weights(5), "{troubles:?}");
        assert_eq!(ranges(&machine), expected, "{troubles:?}");
    }
}

#[tokio::test]
async fn small_files_are_resumed_only_while_they_are_the_same() {
    let config = vec![b' '; 9_000];
    let repo = WeightsRepo::new("org/small").file("config.json", config.clone()).large("model.safetensors", weights(1));
    let machine = Machine::new(vec![repo]);
    machine.hub.trouble("config.json", [Trouble::Cut(4_096), Trouble::status(503)]);
    machine.pull("org/small").await.unwrap();
    let asked = machine.hub.requests_of("/config.json");
    let tag = format!("\"{}\"", jarvis_testing::weights::git_oid(&config));
    assert_eq!(
        asked.iter().map(|request| request.range.as_deref()).collect::<Vec<_>>(),
        [None, Some("bytes=4096-"), Some("bytes=4096-")]
    );
    assert_eq!(asked[1].if_range.as_deref(), Some(tag.as_str()));
}

#[tokio::test]
async fn trouble_that_stays_is_told_after_six_attempts_and_the_part_is_kept() {
    for (trouble, message, hint) in [
        (Trouble::status(503), "downloading chat-Q4_K_M.gguf of `org/chat-GGUF` failed: ", "try again later"),
        (Trouble::Cut(1_000), "downloading chat-Q4_K_M.gguf of `org/chat-GGUF` broke off after ", "pull again"),
    ] {
        let machine = Machine::new(vec![chat()]);
        machine.hub.trouble(FILE, std::iter::repeat_n(trouble.clone(), 6));
        let (result, told) = machine.pull_telling("chat").await;
        let error = result.unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
        assert!(error.hint().unwrap().contains(hint), "{:?}", error.hint());
        assert_eq!(ranges(&machine).len(), 6, "{trouble:?}");
        assert_eq!(told.iter().filter(|event| matches!(event, PullEvent::Retry { .. })).count(), 5);
        assert!(machine.store().local_models().is_empty());
        let part = machine.cached(&format!("models--org--chat-GGUF/blobs/{}.incomplete", sha256(&weights(5))));
        let kept = if trouble == Trouble::Cut(1_000) { 6_000 } else { 0 };
        assert_eq!(fs::metadata(part).map_or(0, |data| data.len()), kept);
        machine.pull("chat").await.unwrap();
    }
}

#[tokio::test]
async fn a_pause_that_is_too_long_is_not_waited_for() {
    let machine = Machine::new(vec![chat()]);
    machine.hub.trouble(FILE, [Trouble::too_many("3600")]);
    let error = machine.pull("chat").await.unwrap_err();
    assert!(matches!(error, ModelError::RateLimited { seconds: 3600, .. }), "{error}");
    assert_eq!(ranges(&machine).len(), 1);
}

#[tokio::test]
async fn content_that_is_not_the_announced_one_is_told_and_removed() {
    let wrong = sha256(&weights(5).iter().map(|byte| byte ^ 1).collect::<Vec<u8>>());
    for (troubles, message, requests) in [
        (
            vec![Trouble::OtherBytes],
            format!(
                "{FILE} is not the file that was announced: its hash is {wrong} instead of {}",
                sha256(&weights(5))
            ),
            1,
        ),
        // Told by the announcement, before a byte of the content.
        (
            vec![Trouble::OtherTag],
            format!("{FILE} is not the file that was announced: its hash is {}", sha256(b"another")),
            0,
        ),
        (vec![Trouble::Shorter(10)], format!("{FILE} has 49990 bytes instead of 50000; nothing of it was kept"), 1),
    ] {
        let machine = Machine::new(vec![chat()]);
        machine.hub.trouble(FILE, troubles.clone());
        let error = machine.pull("chat").await.unwrap_err();
        assert!(error.to_string().starts_with(&message), "{troubles:?}: {error}");
        assert_eq!(ranges(&machine).len(), requests, "{troubles:?}");
        assert!(machine.store().local_models().is_empty());
        let left: Vec<u64> =
            machine.tree().iter().map(|path| fs::metadata(machine.cached(path)).unwrap().len()).collect();
        assert_eq!(left.iter().sum::<u64>(), 0, "{troubles:?}: {:?}", machine.tree());
    }
}

#[tokio::test]
async fn a_part_with_other_content_is_downloaded_anew() {
    let machine = Machine::new(vec![chat()]);
    let blobs = machine.cached("models--org--chat-GGUF/blobs");
    fs::create_dir_all(&blobs).unwrap();
    for part in [weights(9)[..20_000].to_vec(), weights(9), vec![0; 60_000]] {
        fs::write(blobs.join(format!("{}.incomplete", sha256(&weights(5)))), part).unwrap();
        let local = machine.pull("chat").await.unwrap();
        assert_eq!(fs::read(local.folder.join(FILE)).unwrap(), weights(5));
        machine.store().remove("chat").unwrap();
        fs::create_dir_all(&blobs).unwrap();
    }
}

#[tokio::test]
async fn a_download_that_stalls_goes_on_where_it_stopped() {
    let mut machine = Machine::new(vec![chat()]);
    machine.timeout = Duration::from_millis(500);
    machine.hub.trouble(FILE, [Trouble::Stall(20_000)]);
    machine.pull("chat").await.unwrap();
    assert_eq!(ranges(&machine)[..2], ["", "bytes=20000-"]);
}

#[tokio::test]
async fn a_file_that_vanishes_leaves_no_half_model() {
    let machine = Machine::new(vec![caption()]);
    machine.hub.trouble(DECODER, [Trouble::Gone]);
    let error = machine.pull("caption").await.unwrap_err();
    assert_eq!(error.to_string(), format!("`org/caption` no longer has the file {DECODER}"));
    let snapshot = machine.cached(&format!("models--org--caption/snapshots/{}", commit("org/caption")));
    assert!(!snapshot.exists(), "no program takes half of it for the whole");
    assert!(machine.store().local_models().is_empty() && machine.store().resolve("caption").is_none());
}

#[tokio::test]
async fn the_token_does_not_follow_a_redirect_to_another_host() {
    let machine = Machine::new(vec![caption()]).with_token("hf_secret");
    machine.pull("caption").await.unwrap();
    let (cdn, hub): (Vec<_>, Vec<_>) = machine.hub.requests().into_iter().partition(|request| request.at_cdn);
    assert!(cdn.len() == 2 && cdn.iter().all(|request| request.authorization.is_none()), "{cdn:?}");
    assert!(hub.iter().all(|request| request.authorization.as_deref() == Some("Bearer hf_secret")));
}

#[tokio::test]
async fn a_full_disk_is_told_before_the_first_byte() {
    let machine = Machine::new(vec![chat()]);
    let mut plan = machine.plan("chat").await.unwrap();
    plan.free = Some(40_000);
    let error = machine.store().pull(&machine.client(), &plan, &|_| {}).await.unwrap_err();
    assert!(matches!(error, ModelError::NoSpace { free: 40_000, .. }), "{error}");
    assert!(error.hint().unwrap().contains("jarvis models prune"));
    assert!(machine.tree().is_empty() && ranges(&machine).is_empty());
}
