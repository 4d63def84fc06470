//! What other programs left in the cache: found when it is whole, and never removed.

use std::fs;
use std::path::Path;

use jarvis_models::{ModelError, Origin};
use jarvis_testing::weights::{commit, git_oid, sha256};

use crate::machine::{DECODER, ENCODER, Machine, caption, weights};

/// Puts a file where the Hub's library would.
fn put(machine: &Machine, repo: &str, path: &str, content: &[u8], is_large: bool) {
    let folder = machine.cached(&format!("models--{}", repo.replace('/', "--")));
    let blob = if is_large { sha256(content) } else { git_oid(content) };
    fs::create_dir_all(folder.join("blobs")).unwrap();
    fs::write(folder.join("blobs").join(&blob), content).unwrap();
    let commit = commit(repo);
    let link = folder.join("snapshots").join(&commit).join(path);
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    let up = "../".repeat(path.matches('/').count() + 2);
    #[cfg(unix)]
    std::os::unix::fs::symlink(Path::new(&format!("{up}blobs/{blob}")), link).unwrap();
    #[cfg(not(unix))]
    fs::copy(folder.join("blobs").join(&blob), link).unwrap();
    fs::create_dir_all(folder.join("refs")).unwrap();
    fs::write(folder.join("refs/main"), commit).unwrap();
}

const CONFIG: &[u8] = br#"{"model_type": "distilbert", "architectures": ["DistilBertForSequenceClassification"]}"#;

#[test]
fn half_a_snapshot_is_not_taken_for_a_whole() {
    let whole = [
        ("config.json", CONFIG.to_vec(), false),
        ("tokenizer.json", b"{}".to_vec(), false),
        ("onnx/model_quantized.onnx", weights(1), true),
    ];
    let with = |skip: &str| {
        let machine = Machine::new(vec![]);
        for (path, content, is_large) in whole.iter().filter(|(path, ..)| *path != skip) {
            put(&machine, "org/found", path, content, *is_large);
        }
        machine
    };
    let machine = with("");
    let models = machine.store().local_models();
    assert_eq!(models.len(), 1);
    let model = &models[0];
    assert_eq!((model.name.as_str(), model.origin), ("org/found", Origin::Found));
    assert_eq!(
        (&model.tasks[..], &model.weights[..]),
        (&["text-classification".to_owned()][..], &["onnx/model_quantized.onnx".to_owned()][..])
    );
    assert_eq!(machine.store().resolve("org/found").as_ref(), Some(model));
    for (path, ..) in &whole {
        assert!(with(path).store().local_models().is_empty(), "without {path}");
    }
    // A content that was removed under its link, and a download that goes on.
    let machine = with("");
    fs::remove_file(machine.cached(&format!("models--org--found/blobs/{}", sha256(&weights(1))))).unwrap();
    assert!(machine.store().local_models().is_empty());
    let machine = with("");
    let part = machine.cached(&format!("models--org--found/blobs/{}.incomplete", "a".repeat(64)));
    fs::write(&part, "x").unwrap();
    assert!(machine.store().local_models().is_empty());
    let two_days = std::time::Duration::from_secs(2 * 24 * 3600);
    let file = fs::File::options().append(true).open(&part).unwrap();
    file.set_modified(std::time::SystemTime::now() - two_days).unwrap();
    assert_eq!(machine.store().local_models().len(), 1, "nobody goes on with it");
}

#[test]
fn what_the_library_notes_of_a_commit_is_believed() {
    let machine = Machine::new(vec![]);
    put(&machine, "org/found", "config.json", CONFIG, false);
    put(&machine, "org/found", "tokenizer.json", b"{}", false);
    put(&machine, "org/found", "onnx/model_quantized.onnx", &weights(1), true);
    let trees = machine.cached("models--org--found/trees");
    fs::create_dir_all(&trees).unwrap();
    for (files, found) in [
        (r#"{"config.json": {"size": 86}, "README.md": {"size": 1}, "onnx/model.onnx_data": {"size": 9}}"#, 1),
        (r#"{"onnx/model_quantized.onnx": {"size": 50001}}"#, 0),
        (r#"{"onnx/model_quantized.onnx_data": {"size": 9}}"#, 0),
        ("[]", 1),
    ] {
        let listing = format!(r#"{{"format_version": 1, "files": {files}}}"#);
        fs::write(trees.join(format!("{}.json", commit("org/found"))), listing).unwrap();
        assert_eq!(machine.store().local_models().len(), found, "{files}");
    }
}

#[test]
fn a_known_repository_needs_all_that_the_catalogue_names() {
    let machine = Machine::new(vec![]);
    put(&machine, "org/caption", "config.json", b"{}", false);
    put(&machine, "org/caption", "preprocessor_config.json", b"{}", false);
    put(&machine, "org/caption", "tokenizer.json", b"{}", false);
    put(&machine, "org/caption", ENCODER, &weights(1), true);
    assert!(machine.store().local_models().is_empty(), "the decoder is missing");
    put(&machine, "org/caption", DECODER, &weights(2), true);
    let models = machine.store().local_models();
    assert_eq!((models.len(), models[0].name.as_str()), (1, "caption"));
    assert_eq!(machine.store().resolve("image-to-text").unwrap().origin, Origin::Found);
}

#[tokio::test]
async fn what_others_downloaded_is_never_removed() {
    let machine = Machine::new(vec![caption()]);
    put(&machine, "org/caption", ENCODER, &weights(1), true);
    put(&machine, "org/caption", "onnx/encoder_model.onnx", &weights(3), true);
    put(&machine, "org/other", "model.safetensors", &weights(8), true);
    let before = machine.tree();
    let local = machine.pull("caption").await.unwrap();
    let removed = machine.store().remove("caption").unwrap();
    assert_eq!(removed.models, ["caption"]);
    // That a commit lacks a file stays true.
    let after: Vec<String> = machine.tree().into_iter().filter(|path| !path.contains("/.no_exist/")).collect();
    assert_eq!(after, before, "what was there before is there again");
    assert!(removed.bytes < local.bytes && removed.kept == 1);

    put(&machine, "org/caption", DECODER, &weights(2), true);
    for path in ["config.json", "preprocessor_config.json", "tokenizer.json"] {
        put(&machine, "org/caption", path, b"{}", false);
    }
    let error = machine.store().remove("caption").unwrap_err();
    assert!(matches!(error, ModelError::NotOurs { .. }), "{error}");
    assert!(machine.store().resolve("caption").is_some());
}
