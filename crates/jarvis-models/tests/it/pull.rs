//! What a pull leaves, and what it tells.

use std::collections::HashMap;
use std::fs;
use std::sync::Mutex;

use jarvis_models::{Engine, FilePath, Origin, Precision, PullEvent, Reference};
use jarvis_testing::weights::{Trouble, WeightsRepo, commit, git_oid, sha256};

use crate::machine::{DECODER, ENCODER, Machine, caption, chat, weights};

#[tokio::test]
async fn a_model_is_pulled_into_the_layout_of_the_hub() {
    let machine = Machine::new(vec![caption()]);
    let plan = machine.plan("image-to-text").await.unwrap();
    let names: Vec<&str> = plan.files.iter().map(|file| file.remote.path.as_str()).collect();
    assert_eq!(names, ["config.json", DECODER, ENCODER, "preprocessor_config.json", "tokenizer.json"]);
    assert_eq!((plan.license.as_deref(), plan.is_pinned, plan.is_gated), (Some("mit"), false, false));
    assert_eq!((plan.total(), plan.missing()), (plan.total(), plan.total()));
    assert!(machine.tree().is_empty() && !machine.data().exists(), "a plan writes nothing");

    let local = machine.pull("caption").await.unwrap();
    let commit = commit("org/caption");
    assert_eq!((local.name.as_str(), local.origin, local.engine), ("caption", Origin::Pulled, Engine::Onnx));
    assert_eq!(local.revision.as_ref().unwrap().as_str(), commit);
    assert_eq!(local.weights, [ENCODER, DECODER]);
    assert_eq!((local.tasks.as_slice(), local.bytes), (&["image-to-text".to_owned()][..], plan.total()));
    for (path, content) in [(ENCODER, weights(1)), (DECODER, weights(2))] {
        assert_eq!(fs::read(local.folder.join(path)).unwrap(), content);
    }
    let config = caption().commits[&commit]["config.json"].content.clone();
    let mut expected = vec![
        format!("models--org--caption/.no_exist/{commit}/generation_config.json"),
        format!("models--org--caption/blobs/{}", sha256(&weights(1))),
        format!("models--org--caption/blobs/{}", sha256(&weights(2))),
        format!("models--org--caption/blobs/{}", git_oid(&config)),
        format!("models--org--caption/blobs/{}", git_oid(b"{}")),
        format!("models--org--caption/blobs/{}", git_oid(b"{\"tokens\": []}")),
        "models--org--caption/refs/main".to_owned(),
    ];
    expected.extend(names.iter().map(|name| format!("models--org--caption/snapshots/{commit}/{name}")));
    expected.sort();
    assert_eq!(machine.tree(), expected);

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // What any new file has here.
        let new = machine.path().join("new");
        fs::write(&new, "").unwrap();
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode();
        for path in machine.tree() {
            assert_eq!(mode(&machine.cached(&path)), mode(&new), "{path}");
        }
    }

    let store = machine.store();
    assert_eq!(store.local_models(), std::slice::from_ref(&local));
    for name in ["caption", "cap", "image-to-text", "org/caption", "org/caption@main", "local/caption"] {
        assert_eq!(store.resolve(name), Some(local.clone()), "{name}");
    }
    assert_eq!((store.resolve("chat"), store.resolve("org/caption@other")), (None, None));
    // Nothing is downloaded twice.
    let before = machine.hub.requests_of("/resolve/").len();
    machine.pull("caption").await.unwrap();
    assert_eq!(machine.hub.requests_of("/resolve/").len(), before);
    assert_eq!(store.local_models().len(), 1);
}

#[tokio::test]
async fn progress_is_told_for_each_content_and_never_goes_back() {
    let machine = Machine::new(vec![caption()]);
    machine.hub.trouble(ENCODER, [Trouble::Cut(20_000), Trouble::NoRange]);
    machine.hub.trouble(DECODER, [Trouble::Cut(9_000), Trouble::Cut(9_000)]);
    let (result, told) = machine.pull_telling("caption").await;
    result.unwrap();
    let mut last: HashMap<String, u64> = HashMap::new();
    let mut retries = 0;
    for event in &told {
        match event {
            PullEvent::Progress { file, completed, total, .. } => {
                assert!(completed <= total);
                let before = last.insert(file.to_string(), *completed);
                assert!(before.is_none_or(|before| before < *completed), "{file}: {before:?} then {completed}");
            }
            PullEvent::Retry { .. } => retries += 1,
            _ => {}
        }
    }
    assert_eq!((last[ENCODER], last[DECODER], last.len(), retries), (50_000, 50_000, 5, 3));
    assert_eq!(&told[told.len() - 2..], [PullEvent::Verified, PullEvent::Complete]);
}

#[tokio::test]
async fn the_same_weights_are_stored_once_and_not_downloaded_again() {
    // Twice in one repository, again in a later revision, and in another repository.
    let twice = WeightsRepo::new("org/twice")
        .file("config.json", "{}")
        .large(ENCODER, weights(1))
        .large("onnx/decoder_model_quantized.onnx", weights(1));
    let machine = Machine::new(vec![twice.clone(), caption()]);
    let plan = machine.plan("org/twice").await.unwrap();
    assert_eq!((plan.files.len(), plan.total()), (3, 50_002));
    let local = machine.pull("org/twice").await.unwrap();
    assert_eq!(local.bytes, 50_002);
    let requests = |machine: &Machine| machine.hub.requests().iter().filter(|request| request.at_cdn).count();
    assert_eq!(requests(&machine), 1);

    machine.hub.set(vec![twice.next("later").file("config.json", "{\"a\": 1}"), caption()]);
    assert_eq!(machine.plan("org/twice").await.unwrap().missing(), 8);
    machine.pull("org/twice").await.unwrap();
    assert_eq!(requests(&machine), 1);

    machine.pull("caption").await.unwrap();
    assert_eq!(requests(&machine), 2, "only the decoder is new");
    let blob = sha256(&weights(1));
    let blobs: Vec<String> =
        machine.tree().into_iter().filter(|path| path.ends_with(&format!("blobs/{blob}"))).collect();
    assert_eq!(blobs.len(), 2);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let inode = |path: &String| fs::metadata(machine.cached(path)).unwrap().ino();
        assert_eq!(inode(&blobs[0]), inode(&blobs[1]), "two names of one file");
    }
}

#[tokio::test]
async fn repositories_files_revisions_and_precisions_can_be_named() {
    let old = chat();
    let first = old.main();
    let machine = Machine::new(vec![old.next("later").large("chat-Q4_K_M.gguf", weights(7)), caption()]);
    for (name, weights_of, revision) in [
        ("chat", "chat-Q4_K_M.gguf", None),
        ("org/chat-GGUF:q8_0", "chat-Q8_0.gguf", None),
        ("org/chat-GGUF:chat-Q8_0.gguf", "chat-Q8_0.gguf", None),
        (&format!("org/chat-GGUF@{first}"), "chat-Q4_K_M.gguf", Some(&first)),
    ] {
        let local = machine.pull(name).await.unwrap();
        assert_eq!(local.weights, [weights_of], "{name}");
        assert!(revision.is_none_or(|revision| local.revision.unwrap().as_str() == revision), "{name}");
    }
    assert_eq!(
        fs::read(machine.cached(&format!("models--org--chat-GGUF/snapshots/{first}/chat-Q4_K_M.gguf"))).unwrap(),
        weights(5)
    );
    let store = machine.store();
    let reference = Reference::parse("org/caption", store.catalogue()).unwrap();
    let error = store.plan(&machine.client(), &reference, Some(Precision::Q4)).await.unwrap_err();
    assert_eq!(error.to_string(), "`org/caption` has no weights stored as q4");
    assert!(error.hint().unwrap().contains("onnx/encoder_model.onnx"), "{:?}", error.hint());
}

#[tokio::test]
async fn a_pull_that_is_dropped_keeps_its_part_and_goes_on_later() {
    let machine = Machine::new(vec![chat()]);
    machine.hub.trouble("chat-Q4_K_M.gguf", [Trouble::Hold(30_000)]);
    let part = machine.cached(&format!("models--org--chat-GGUF/blobs/{}.incomplete", sha256(&weights(5))));
    let plan = machine.plan("chat").await.unwrap();
    let (store, client) = (machine.store(), machine.client());
    let (seen, mut arrived) = tokio::sync::watch::channel(0);
    let report = |event: PullEvent| {
        if let PullEvent::Progress { completed, .. } = event {
            seen.send_replace(completed);
        }
    };
    tokio::select! {
        result = store.pull(&client, &plan, &report) => panic!("it is held: {result:?}"),
        _ = arrived.wait_for(|completed| *completed == 30_000) => {}
    }
    // The thread that writes ends by itself; whoever pulls next waits for its lock.
    assert!(store.local_models().is_empty() && store.resolve("chat").is_none());
    machine.pull("chat").await.unwrap();
    let ranges: Vec<Option<String>> =
        machine.hub.requests().into_iter().filter(|request| request.at_cdn).map(|request| request.range).collect();
    assert_eq!(ranges, [None, Some("bytes=30000-".to_owned())]);
    assert!(!part.exists());
}

#[tokio::test]
async fn two_pulls_at_once_share_one_download() {
    let machine = Machine::new(vec![chat()]);
    machine.hub.trouble("chat-Q4_K_M.gguf", [Trouble::Hold(30_000)]);
    let waiting = Mutex::new(0);
    let plan = machine.plan("chat").await.unwrap();
    let pull = async || {
        let report = |event: PullEvent| {
            if matches!(event, PullEvent::Waiting { .. }) {
                *waiting.lock().unwrap() += 1;
                machine.hub.release();
            }
        };
        machine.store().pull(&machine.client(), &plan, &report).await.unwrap()
    };
    let (one, other) = tokio::join!(pull(), pull());
    assert_eq!(one, other);
    assert!(*waiting.lock().unwrap() > 0, "one waits for the other");
    assert_eq!(machine.hub.requests().iter().filter(|request| request.at_cdn).count(), 1);
    assert_eq!(machine.store().local_models().len(), 1);
}

#[tokio::test]
async fn a_part_and_a_blob_that_another_program_left_are_used() {
    let machine = Machine::new(vec![caption()]);
    let blobs = machine.cached("models--org--caption/blobs");
    fs::create_dir_all(&blobs).unwrap();
    fs::write(blobs.join(format!("{}.incomplete", sha256(&weights(1)))), &weights(1)[..12_345]).unwrap();
    fs::write(blobs.join(sha256(&weights(2))), weights(2)).unwrap();
    // Another program's part that is none of this file.
    fs::write(blobs.join(format!("{}.incomplete", git_oid(b"{}"))), "x").unwrap();
    let plan = machine.plan("caption").await.unwrap();
    assert_eq!(plan.total() - plan.missing(), 12_345 + 50_000 + 1);
    let local = machine.pull("caption").await.unwrap();
    assert_eq!(fs::read(local.folder.join(ENCODER)).unwrap(), weights(1));
    assert_eq!(fs::read(local.folder.join("preprocessor_config.json")).unwrap(), b"{}");
    let cdn: Vec<_> = machine.hub.requests().into_iter().filter(|request| request.at_cdn).collect();
    assert_eq!(cdn.len(), 1);
    assert_eq!(cdn[0].range.as_deref(), Some("bytes=12345-"));
    assert!(
        machine
            .store()
            .cache()
            .repo(local.repo.as_ref().unwrap())
            .is_known_absent(local.revision.as_ref().unwrap(), &FilePath::new("generation_config.json").unwrap())
    );
}
