//! `jarvis models pull` and what is done with models afterwards, against a Hub on loopback sockets.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jarvis_testing::weights::{Access, Trouble, WeightsHub, WeightsRepo, content, sha256};
use serde_json::{Value, json};

use crate::harness::{Ended, Harness};

const FILE: &str = "chat-Q4_K_M.gguf";

fn weights() -> Vec<u8> {
    content(200_000, 1)
}

fn chat() -> WeightsRepo {
    WeightsRepo::new("org/chat-GGUF").large(FILE, weights()).file("LICENSE", "MIT")
}

/// A machine whose Hub is this one.
fn machine(hub: &WeightsHub) -> Harness {
    Harness::new().env("HF_ENDPOINT", &hub.base())
}

fn lines(ended: &Ended) -> Vec<Value> {
    ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

#[test]
fn a_model_is_pulled_listed_verified_and_removed() {
    let hub = WeightsHub::start(vec![chat()]);
    let machine = machine(&hub);
    let pulled = machine.run(&["models", "pull", "org/chat-GGUF", "-y"]);
    assert_eq!((pulled.code, pulled.stdout.as_str()), (0, ""), "{}", pulled.stderr);
    for part in [
        "org/chat-GGUF: org/chat-GGUF\n",
        "licence   mit\n",
        "size      200 kB in 2 files, 200 kB to download\n",
        "(what `main` is now; the catalogue does not pin it)",
        " free\n",
        "org/chat-GGUF is ready: ",
    ] {
        assert!(pulled.stderr.contains(part), "{part}: {}", pulled.stderr);
    }
    assert!(machine.data().join(".cache/huggingface/hub/models--org--chat-GGUF/refs/main").is_file());

    let (_, listed) = machine.json(&["models", "ls", "--json"]);
    assert_eq!((&listed[0]["name"], &listed[0]["origin"]), (&json!("org/chat-GGUF"), &json!("pulled")));
    let listed = machine.run(&["models", "ls"]);
    assert_eq!(listed.stdout, "org/chat-GGUF  200 kB  gguf  used never  pulled  text-generation, conversational\n");
    let (_, shown) = machine.json(&["models", "show", "org/chat-GGUF", "--json"]);
    assert_eq!((&shown["license"], shown["files"].as_array().unwrap().len()), (&json!("mit"), 2));
    assert_eq!(shown["files"][1]["digest"], format!("sha256:{}", sha256(&weights())));
    assert_eq!(machine.run(&["models", "verify"]).stdout, "org/chat-GGUF: 2 files verified\n");

    let folder = shown["folder"].as_str().unwrap();
    std::fs::write(std::path::Path::new(folder).join(FILE), content(200_000, 2)).unwrap();
    let verified = machine.run(&["models", "verify"]);
    assert_eq!(verified.code, 1);
    assert!(verified.stdout.starts_with(&format!("org/chat-GGUF: {FILE}: its hash is ")), "{}", verified.stdout);
    assert!(verified.stderr.contains("hint: "));

    let removed = machine.run(&["models", "rm", "org/chat-GGUF"]);
    assert_eq!(removed.code, 2, "nobody agreed");
    assert!(
        removed.stderr.contains("removing org/chat-GGUF (200 kB) needs a yes")
            && removed.stderr.contains("hint: add -y")
    );
    let removed = machine.run(&["models", "rm", "org/chat-GGUF", "-y"]);
    assert_eq!(removed.stdout, "removed org/chat-GGUF: 2 files, 200 kB freed\n");
    let listed = machine.run(&["models", "ls"]);
    assert!(listed.stdout.is_empty() && listed.stderr.contains("jarvis models suggest"));
}

#[test]
fn nothing_is_downloaded_unasked() {
    let hub = WeightsHub::start(vec![chat()]);
    let machine = machine(&hub);
    let ended = machine.run(&["models", "pull", "org/chat-GGUF"]);
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.contains("error: downloading 200 kB needs a yes, and there is no terminal to ask at"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("hint: add -y"));
    assert!(hub.requests_of("/resolve/").is_empty());
    for command in [&["models", "suggest"][..], &["models", "ls"], &["models", "show", "caption"]] {
        assert_eq!(machine.run(command).code, 0);
    }
    assert_eq!(hub.requests().len(), 2, "only the plan asked: {:?}", hub.requests());
}

#[test]
fn progress_as_json_speaks_as_ollama_does() {
    let hub = WeightsHub::start(vec![chat()]);
    let machine = machine(&hub);
    hub.trouble(FILE, [Trouble::Cut(80_000)]);
    let ended = machine.run(&["models", "pull", "org/chat-GGUF", "-y", "--json", "-q"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let lines = lines(&ended);
    assert_eq!(lines[0], json!({"status": "pulling manifest"}));
    let end: Vec<Value> = ["verifying sha256 digest", "writing manifest", "success"]
        .iter()
        .map(|status| json!({"status": status}))
        .collect();
    assert_eq!(lines[lines.len() - 3..], end);
    let digest = format!("sha256:{}", sha256(&weights()));
    let status = format!("pulling {}", &sha256(&weights())[..12]);
    let told: Vec<&Value> = lines.iter().filter(|line| line["digest"] == digest).collect();
    assert!(told.iter().all(|line| line["total"] == 200_000 && line["status"] == status), "{told:?}");
    let completed: Vec<u64> = told.iter().map(|line| line["completed"].as_u64().unwrap()).collect();
    assert!(completed.is_sorted() && completed.last() == Some(&200_000), "{completed:?}");
}

#[test]
fn failures_say_what_to_do() {
    let gated = WeightsRepo { access: Access::Gated("hf_good".into()), ..chat() };
    let hub =
        WeightsHub::start(vec![gated, WeightsRepo::new("org/old").large("pytorch_model.bin", b"pickle".to_vec())]);
    let machine = machine(&hub);
    for (name, code, message, hint) in [
        ("captoin", 2, "error: unknown model `captoin`", "did you mean `caption`?"),
        ("org/../x", 2, "error: invalid model name", "write `org/repo`"),
        ("time-travel", 2, "error: unknown model `time-travel`", "jarvis models suggest --all"),
        ("text-to-video", 2, "error: the catalogue has no model for text-to-video", "jarvis models pull org/repo"),
        ("org/none", 1, "error: `org/none` does not exist at http", "set HF_TOKEN"),
        ("org/old", 1, "error: `org/old` has weights only in formats that can run code", "ONNX or GGUF"),
        ("org/chat-GGUF", 1, "error: `org/chat-GGUF` is gated", "accept the conditions at http"),
    ] {
        let ended = machine.run(&["models", "pull", name, "-y"]);
        assert_eq!(ended.code, code, "{name}: {}", ended.stderr);
        assert!(ended.stderr.contains(message) && ended.stderr.contains(hint), "{name}: {}", ended.stderr);
    }
    let ended = machine.run(&["models", "pull", "org/none", "-y", "--json"]);
    let told = lines(&ended);
    assert_eq!(told[0], json!({"status": "pulling manifest"}));
    assert!(told[1]["error"].as_str().unwrap().starts_with("`org/none` does not exist"), "{told:?}");
    let machine = machine.env("HF_TOKEN", "hf_good");
    assert_eq!(machine.run(&["models", "pull", "org/chat-GGUF", "-y"]).code, 0);
    for command in [["models", "rm", "detect"], ["models", "verify", "detect"]] {
        let ended = machine.run(&command);
        assert!(ended.stderr.contains("`detect` is not on this machine") && ended.code == 1, "{}", ended.stderr);
    }
}

#[test]
fn two_processes_share_one_download() {
    let hub = WeightsHub::start(vec![chat()]);
    let machine = machine(&hub);
    hub.trouble(FILE, [Trouble::Hold(80_000)]);
    let start = || machine.command(&["models", "pull", "org/chat-GGUF", "-y", "-q"]).spawn().unwrap();
    let mut processes = [start(), start()];
    while hub.requests_of("/tree/").len() < 2 {
        std::thread::yield_now();
    }
    hub.release();
    assert!(processes.iter_mut().all(|process| process.wait().unwrap().success()));
    assert_eq!(hub.requests().iter().filter(|request| request.at_cdn).count(), 1);
    assert_eq!(machine.run(&["models", "verify"]).code, 0);
}

#[cfg(unix)]
#[test]
fn what_was_downloaded_until_ctrl_c_is_kept() {
    let hub = WeightsHub::start(vec![chat()]);
    let machine = machine(&hub);
    hub.trouble(FILE, [Trouble::Hold(80_000)]);
    let mut command = machine.command(&["models", "pull", "org/chat-GGUF", "-y"]);
    let process = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let blobs = machine.data().join(".cache/huggingface/hub/models--org--chat-GGUF/blobs");
    let part = blobs.join(format!("{}.incomplete", sha256(&weights())));
    while std::fs::metadata(&part).map_or(0, |data| data.len()) < 80_000 {
        std::thread::yield_now();
    }
    let killed = std::process::Command::new("kill").args(["-INT", &process.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let ended = process.wait_with_output().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert!(
        told.contains("error: stopped; what was downloaded is kept") && told.contains("hint: the same command"),
        "{told}"
    );
    assert_eq!(machine.run(&["models", "pull", "org/chat-GGUF", "-y"]).code, 0);
    let ranges: Vec<_> =
        hub.requests().into_iter().filter(|request| request.at_cdn).map(|request| request.range).collect();
    assert_eq!(ranges, [None, Some("bytes=80000-".to_owned())]);
}

/// Counts who connects, and answers nobody.
fn counting() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for _ in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    (base, count)
}

#[test]
fn offline_no_socket_is_opened() {
    let hub = WeightsHub::start(vec![chat()]);
    let machine = machine(&hub);
    assert_eq!(machine.run(&["models", "pull", "org/chat-GGUF", "-y"]).code, 0);
    let (base, count) = counting();
    let machine = machine.env("HF_ENDPOINT", &base);
    let run = |args: &[&str]| machine.command(args).output().unwrap();
    for args in [
        &["models", "pull", "org/chat-GGUF", "-y", "--offline"][..],
        &["models", "ls", "--offline"],
        &["models", "suggest", "--offline"],
        &["models", "show", "org/chat-GGUF", "--offline"],
        &["models", "verify", "--offline"],
    ] {
        assert!(run(args).status.success(), "{args:?}");
    }
    for args in [
        &["models", "pull", "caption", "-y", "--offline"][..],
        &["models", "refresh", "--out", "x.jsonl", "--offline"],
        &["models", "refresh", "--out", "x.json", "--pins", "--offline"],
    ] {
        let output = run(args);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && told.contains("this is offline") && told.contains("HF_HUB_OFFLINE"),
            "{told}"
        );
    }
    let by_variable =
        machine.command(&["models", "pull", "caption", "-y"]).env("HF_HUB_OFFLINE", "1").output().unwrap();
    assert!(!by_variable.status.success());
    let probed = run(&["models", "probe", "--task", "image-to-text", "--offline", "--json"]);
    assert!(serde_json::from_slice::<Value>(&probed.stdout).is_ok());
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[test]
fn a_folder_is_imported_where_it_is() {
    let machine = Harness::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jarvis-experts/tests/models/vision-detr");
    for file in ["config.json", "preprocessor_config.json", "onnx/model.onnx"] {
        machine.file(&format!("Detector/{file}"), std::fs::read(fixture.join(file)).unwrap());
    }
    let imported = machine.run(&["models", "import", "Detector", "--task", "object-detection"]);
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    assert!(
        imported.stdout.starts_with("detector: ") && imported.stdout.ends_with(", object-detection\n"),
        "{}",
        imported.stdout
    );
    let (_, listed) = machine.json(&["models", "ls", "--json"]);
    assert_eq!((&listed[0]["name"], &listed[0]["origin"]), (&json!("detector"), &json!("imported")));
    assert_eq!(machine.run(&["models", "rm", "detector", "-y"]).code, 0);
    assert!(machine.work().join("Detector/onnx/model.onnx").is_file());

    machine.file("Joe/joe.onnx", content(5_000, 4));
    machine.file("Joe/joe.onnx.json", "{}");
    // A voice by its files; a build with the engine finds out that it cannot be loaded.
    let imported = machine.run(&["models", "import", "Joe"]);
    let (_, listed) = machine.json(&["models", "ls", "--json"]);
    match imported.code {
        0 => assert_eq!(listed[0]["tasks"], json!(["text-to-speech"])),
        _ => assert!(imported.stderr.contains("joe.onnx.json") && listed == json!([]), "{}", imported.stderr),
    }
}

#[test]
fn suggestions_name_what_to_type() {
    let machine = Harness::new();
    let (_, document) = machine.json(&["models", "suggest", "--json"]);
    let suggestions = document["suggestions"].as_array().unwrap();
    let of = |task: &str| {
        suggestions
            .iter()
            .find(|one| one["tasks"].as_array().unwrap().contains(&json!(task)))
            .unwrap_or_else(|| panic!("{task}"))
    };
    assert_eq!(of("image-to-text")["command"], "jarvis models pull caption");
    assert_eq!(
        (&of("automatic-speech-recognition")["bytes"], &of("automatic-speech-recognition")["is_estimate"]),
        (&json!(40_852_675), &json!(false))
    );
    let one = machine.run(&["models", "suggest", "--task", "captioning"]);
    assert!(one.stdout.starts_with("image-to-text  about 239 MB  jarvis models pull caption  "), "{}", one.stdout);
    let all = machine.run(&["models", "suggest", "--all"]);
    assert!(all.stdout.lines().count() > 40 && all.stdout.contains("whisper-large-turbo"));
}
