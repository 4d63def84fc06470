//! Models after they were pulled: shown, verified, removed, imported.

use std::fs;
use std::path::Path;

use jarvis_models::{
    FileState, ImportOptions, Local, ModelError, Origin, Precision, PullEvent, Reference, Store, suggest,
};
use jarvis_testing::weights::{Trouble, commit, sha256};

use crate::machine::{DECODER, ENCODER, Machine, caption, chat, weights};

#[tokio::test]
async fn a_model_is_removed_with_all_that_it_brought() {
    let machine = Machine::new(vec![caption(), chat()]);
    machine.pull("chat").await.unwrap();
    let before = machine.tree();
    let local = machine.pull("caption").await.unwrap();
    let removed = machine.store().remove("cap").unwrap();
    assert_eq!((removed.bytes, removed.kept), (local.bytes, 0));
    assert_eq!(machine.tree(), before);
    assert!(!machine.cached("models--org--caption").exists());
    let error = machine.store().remove("caption").unwrap_err();
    assert!(matches!(error, ModelError::NotLocal { .. }), "{error}");
    assert!(machine.store().resolve("chat").is_some());
}

#[tokio::test]
async fn content_that_two_models_share_survives_one_of_them() {
    let machine = Machine::new(vec![caption()]);
    let whole = machine.pull("caption").await.unwrap();
    let same = machine.pull("org/caption").await.unwrap();
    assert_eq!(whole.folder, same.folder);
    machine.store().remove("caption").unwrap();
    assert_eq!(machine.store().local_models(), std::slice::from_ref(&same));
    assert_eq!(fs::read(same.folder.join(ENCODER)).unwrap(), weights(1));
    machine.store().remove("org/caption").unwrap();
    assert!(!machine.cached("models--org--caption/snapshots").exists(), "{:?}", machine.tree());
}

#[tokio::test]
async fn what_was_replaced_or_abandoned_is_pruned() {
    let machine = Machine::new(vec![caption(), chat()]);
    machine.pull("caption").await.unwrap();
    let changed = caption().next("later").large(DECODER, weights(20));
    machine.hub.set(vec![changed.clone(), chat()]);
    let local = machine.pull("caption").await.unwrap();
    assert_eq!(local.revision.as_ref().unwrap().as_str(), changed.main());
    // A pull that fails, and one that goes on.
    machine.hub.trouble("chat-Q4_K_M.gguf", std::iter::repeat_n(Trouble::Cut(1_000), 6));
    machine.pull("chat").await.unwrap_err();
    let store = machine.store();
    let free: Vec<String> = store.unreferenced().unwrap().into_iter().map(|record| record.name).collect();
    assert_eq!(free, ["caption", "chat"]);
    let abandoned = store.remove_abandoned().unwrap();
    assert_eq!((abandoned.models, abandoned.bytes), (vec!["chat".to_owned()], 6_000));
    assert!(store.abandoned().unwrap().is_empty());
    let removed = store.prune().unwrap();
    assert_eq!((removed.models, removed.files, removed.bytes), (vec!["caption".to_owned()], 1, 50_000));
    assert_eq!(store.local_models(), std::slice::from_ref(&local));
    assert_eq!(fs::read(local.folder.join(DECODER)).unwrap(), weights(20));
    assert!(!machine.cached(&format!("models--org--caption/snapshots/{}", commit("org/caption"))).exists());
    assert!(!machine.cached("models--org--chat-GGUF").exists());
    assert!(store.prune().unwrap().models.is_empty());
}

#[tokio::test]
async fn an_abandoned_pull_of_other_weights_does_not_spoil_the_next() {
    let machine = Machine::new(vec![chat()]);
    machine.hub.trouble("chat-Q4_K_M.gguf", std::iter::repeat_n(Trouble::Cut(1_000), 6));
    machine.pull("chat").await.unwrap_err();
    let (store, client) = (machine.store(), machine.client());
    let pull = async |precision| {
        let reference = Reference::parse("chat", store.catalogue()).unwrap();
        let plan = store.plan(&client, &reference, precision).await.unwrap();
        store.pull(&client, &plan, &|_| {}).await.unwrap()
    };
    let eight = pull(Some(Precision::Q8)).await;
    assert_eq!((&eight.weights[..], store.resolve("chat")), (&["chat-Q8_0.gguf".to_owned()][..], Some(eight.clone())));
    assert!(store.damaged().unwrap().is_empty());
    let removed = store.prune().unwrap();
    assert_eq!((removed.files, removed.bytes), (1, 6_000), "the part that was given up");
    // Both at once: one model in two forms, which goes as a whole.
    let both = pull(None).await;
    assert_eq!((both.bytes, &both.weights[..]), (100_000, &["chat-Q4_K_M.gguf".to_owned()][..]));
    assert!(store.prune().unwrap().models.is_empty());
    assert_eq!(store.remove("chat").unwrap().bytes, 100_000);
    assert!(!machine.cached("models--org--chat-GGUF").exists());
}

#[tokio::test]
async fn a_model_that_is_being_pulled_is_not_removed() {
    let machine = Machine::new(vec![chat()]);
    machine.hub.trouble("chat-Q4_K_M.gguf", [Trouble::Hold(30_000)]);
    let plan = machine.plan("chat").await.unwrap();
    let (store, client) = (machine.store(), machine.client());
    let meanwhile = |event: PullEvent| {
        if matches!(event, PullEvent::Progress { completed: 30_000, .. }) {
            assert!(store.unreferenced().unwrap().is_empty() && store.prune().unwrap().models.is_empty());
            machine.hub.release();
        }
    };
    store.pull(&client, &plan, &meanwhile).await.unwrap();
    assert!(store.resolve("chat").is_some());
}

#[tokio::test]
async fn changes_on_the_disk_are_noticed() {
    let machine = Machine::new(vec![caption()]);
    let local = machine.pull("caption").await.unwrap();
    let store = machine.store();
    let states = || -> Vec<(String, FileState)> {
        let checked = store.verify("caption", |_, _| {}).unwrap();
        checked
            .into_iter()
            .filter(|file| file.state != FileState::Ok)
            .map(|file| (file.path.to_string(), file.state))
            .collect()
    };
    assert_eq!(states(), []);
    let blob = machine.cached(&format!("models--org--caption/blobs/{}", sha256(&weights(1))));
    let mut changed = weights(1);
    changed[40_000] ^= 1;
    fs::write(&blob, &changed).unwrap();
    assert_eq!(states(), [(ENCODER.to_owned(), FileState::Changed { found: sha256(&changed) })]);
    assert!(store.resolve("caption").is_some() && store.damaged().unwrap().is_empty(), "sizes alone do not tell");
    fs::remove_file(local.folder.join("config.json")).unwrap();
    assert_eq!(states()[0], ("config.json".to_owned(), FileState::Missing));
    assert!(store.resolve("caption").is_none());
    assert!(matches!(&store.damaged().unwrap()[..], [one] if one.name == "caption"));
    assert!(matches!(store.verify("chat", |_, _| {}), Err(ModelError::NotLocal { .. })));
    // Pulled again, it is whole again; a content of the right size is trusted.
    fs::remove_file(&blob).unwrap();
    machine.pull("caption").await.unwrap();
    assert_eq!(states(), []);
}

#[tokio::test]
async fn the_last_use_is_kept_over_pulls() {
    let machine = Machine::new(vec![chat()]);
    machine.pull("chat").await.unwrap();
    assert_eq!(machine.store().resolve("chat").unwrap().used, None);
    machine.store().touch("chat").unwrap();
    let used = machine.store().resolve("chat").unwrap().used;
    assert!(used.is_some());
    machine.pull("chat").await.unwrap();
    assert_eq!(machine.store().resolve("chat").unwrap().used, used);
}

#[tokio::test]
async fn an_invalid_list_is_told_and_nothing_is_removed() {
    let machine = Machine::new(vec![chat()]);
    machine.pull("chat").await.unwrap();
    let list = machine.data().join("models/models.json");
    for text in ["not json", "{\"version\": 9, \"models\": []}"] {
        fs::write(&list, text).unwrap();
        let error = machine.store().remove("chat").unwrap_err();
        assert!(matches!(error, ModelError::Ledger { .. }) && error.hint().is_some(), "{error}");
        assert!(machine.store().prune().is_err());
        assert_eq!(fs::read_to_string(&list).unwrap(), text);
        assert_eq!(machine.store().local_models().len(), 1, "it is found all the same");
    }
}

fn model_folder(path: &Path) {
    let config = r#"{"model_type": "detr", "architectures": ["DetrForObjectDetection"]}"#;
    fs::create_dir_all(path.join("onnx")).unwrap();
    fs::write(path.join("config.json"), config).unwrap();
    fs::write(path.join("preprocessor_config.json"), "{}").unwrap();
    fs::write(path.join("train.py"), "import os").unwrap();
    fs::write(path.join("onnx/model.onnx"), weights(30)).unwrap();
}

fn import(store: &Store, path: &Path, options: &ImportOptions) -> Result<Local, ModelError> {
    store.import(store.look_at(path, options, |_, _| {})?)
}

#[test]
fn folders_and_files_are_imported() {
    let machine = Machine::new(vec![]);
    let store = machine.store();
    let folder = machine.path().join("My-Detector");
    model_folder(&folder);
    let file = machine.path().join("small.Q4_K_M.gguf");
    fs::write(&file, [b"GGUF", &weights(31)[..]].concat()).unwrap();
    let options = ImportOptions::default();
    let local = import(&store, &folder, &options).unwrap();
    assert_eq!(
        (local.name.as_str(), local.origin, &local.tasks[..]),
        ("my-detector", Origin::Imported, &["object-detection".to_owned()][..])
    );
    let named = ImportOptions { name: Some("tiny".into()), ..ImportOptions::default() };
    let gguf = import(&store, &file, &named).unwrap();
    assert_eq!(
        (&gguf.weights[..], gguf.folder.as_path()),
        (&["small.Q4_K_M.gguf".to_owned()][..], machine.path().canonicalize().unwrap().as_path())
    );
    let copied = ImportOptions { name: Some("copy".into()), copy: true, ..ImportOptions::default() };
    let copy = import(&store, &folder, &copied).unwrap();
    assert!(copy.folder.starts_with(machine.data()) && copy.folder.join("onnx/model.onnx").is_file());
    assert!(!copy.folder.join("train.py").exists(), "code is not taken");
    assert_eq!(store.local_models().len(), 3);
    // A name stays with what it was given to; the same model may be looked at anew.
    let other = import(&store, &file, &copied).unwrap_err().to_string();
    assert!(other.contains("there is a model `copy` in ") && other.contains("My-Detector already"), "{other}");
    import(&store, &folder, &options).unwrap();
    assert_eq!(store.local_models().len(), 3);
    assert!(store.verify("my-detector", |_, _| {}).unwrap().iter().all(|file| file.state == FileState::Ok));

    // What is a person's own is only forgotten.
    assert_eq!(store.remove("my-detector").unwrap().files, 0);
    assert_eq!(store.remove("tiny").unwrap().bytes, 0);
    assert!(folder.join("onnx/model.onnx").is_file() && file.is_file());
    store.remove("copy").unwrap();
    assert!(!copy.folder.exists() && store.local_models().is_empty());
}

#[test]
fn what_is_no_model_is_not_imported() {
    let machine = Machine::new(vec![]);
    let store = machine.store();
    let folder = machine.path().join("folder");
    model_folder(&folder);
    let (empty, half) = (machine.path().join("empty"), machine.path().join("half"));
    fs::create_dir_all(&empty).unwrap();
    fs::write(empty.join("pytorch_model.bin"), "pickle").unwrap();
    model_folder(&half);
    fs::remove_file(half.join("preprocessor_config.json")).unwrap();
    let text = machine.path().join("notes.txt");
    fs::write(&text, "x").unwrap();
    let (random, short) = (machine.path().join("random.gguf"), machine.path().join("short.gguf"));
    fs::write(&random, weights(32)).unwrap();
    fs::write(&short, "GG").unwrap();
    let named = |name: &str| ImportOptions { name: Some(name.into()), ..ImportOptions::default() };
    for (path, options, message) in [
        (&empty, ImportOptions::default(), "there are no weights"),
        (&half, ImportOptions::default(), "files of settings are missing"),
        (&machine.path().to_path_buf(), named("all"), "; import that folder"),
        (&random, ImportOptions::default(), "random.gguf is no GGUF file"),
        (&short, ImportOptions::default(), "short.gguf is no GGUF file"),
        (&text, ImportOptions::default(), "it is neither a folder nor a GGUF file"),
        (&machine.path().join("none"), ImportOptions::default(), "cannot read"),
        (&folder, named("caption"), "the catalogue has a model `caption`"),
        (&folder, named("../x"), "is not a name of letters"),
        (&folder, named("a/b"), "is not a name of letters"),
    ] {
        let error = import(&store, path, &options).unwrap_err();
        assert!(error.to_string().contains(message), "{}: {error}", path.display());
    }
    assert!(store.local_models().is_empty());
}

#[tokio::test]
async fn suggestions_leave_out_what_is_served_and_what_is_too_large() {
    let machine = Machine::new(vec![caption()]);
    let names = |max, served: &dyn Fn(&str) -> bool| -> Vec<(String, bool)> {
        let store = machine.store();
        suggest(&store, &store.local_models(), max, served).into_iter().map(|one| (one.command, one.fits)).collect()
    };
    let command = "jarvis models pull caption".to_owned();
    assert_eq!(names(None, &|_| false), [(command.clone(), true)]);
    assert_eq!(names(Some(1), &|_| false), [(command, false)]);
    assert_eq!(names(None, &|task| task == "image-to-text"), []);
    machine.pull("caption").await.unwrap();
    assert_eq!(names(None, &|_| false), []);
}
