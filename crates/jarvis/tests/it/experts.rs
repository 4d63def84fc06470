//! Local models through the binary: imported, used by a run, lent by the server, and what files that were made to do harm achieve.
#![cfg(all(feature = "experts", unix))]

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::serve::Server;

const MOOD: &str = "is this positive or negative: \"What a wonderful film! I would watch it again tomorrow.\"";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../jarvis-experts/tests/models").join(name)
}

/// A copy of a fixture's folder, in the working folder of a machine.
fn copied(machine: &Harness, name: &str) -> PathBuf {
    let to = machine.work().join(name);
    copy(&fixture(name), &to);
    to
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
}

fn import(machine: &Harness, folder: &Path, name: &str, task: &str) {
    let ended = machine.run(&["models", "import", folder.to_str().unwrap(), "--name", name, "--task", task]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

/// Who performed the first task of a run, what it gave as data, and all that is known of it as text.
fn first(document: &Value) -> (String, Value, String) {
    let outcome = &document["outcomes"][0];
    let outputs = outcome["outputs"].as_array().cloned().unwrap_or_default();
    let data = outputs.iter().find(|output| output["kind"] == "json").map(|output| output["value"].clone());
    let performer = outcome["model"].as_str().unwrap_or_default();
    (performer.to_owned(), data.unwrap_or_default(), document.to_string())
}

#[test]
#[cfg(all(feature = "bench", feature = "llm"))]
fn an_encoder_in_safetensors_finds_tools() {
    let machine = Harness::new();
    let tool = |id: u32, about: &str| json!({"ID": id, "tool_name": "T", "tool_description": about});
    let tools = json!({"1": tool(1, "keywords of a movie"), "2": tool(2, "weather in a city")});
    machine.file("tools.json", tools.to_string());
    let folder = copied(&machine, "text-sentences");
    import(&machine, &folder, "tiny", "feature-extraction");
    for embedder in ["local/tiny", &format!("local:{}", folder.display())] {
        let ask = ["easytool", "retrieve", "weather in a city", "--tools", "tools.json", "--embedder", embedder];
        let told = machine.run(&ask);
        let best = told.stdout.lines().next().unwrap_or_default();
        assert!(told.code == 0 && best.starts_with("2   1.0000"), "{embedder}: {} {}", told.stdout, told.stderr);
    }
}

#[test]
fn an_imported_model_serves_its_task_before_native_ones() {
    let machine = Harness::new();
    import(&machine, &copied(&machine, "text-bert-classification"), "tiny", "text-classification");
    let (code, document) = machine.json(&["run", MOOD, "--json"]);
    let (performer, output, all) = first(&document);
    assert_eq!((code, performer.as_str(), &output[0]["label"]), (0, "local/tiny", &json!("NEUTRAL")), "{all}");

    let shown = machine.run(&["run", MOOD]);
    assert!(shown.stdout.contains("local/tiny"), "{}", shown.stdout);
    let doctor = machine.run(&["doctor"]);
    assert!(doctor.stdout.contains("local models (tiny)"), "{}", doctor.stdout);
    let (_, listed) = machine.json(&["models", "ls", "--json"]);
    assert!(listed[0]["used"].is_number(), "{listed}");

    let off = machine.env("JARVIS_LOCAL__ENABLED", "false");
    let (_, document) = off.json(&["run", MOOD, "--json"]);
    assert!(first(&document).0.starts_with("native/"), "{document}");
}

#[test]
fn a_model_runs_in_this_process_where_that_is_wanted() {
    let machine = Harness::new().env("JARVIS_LOCAL__ISOLATED", "false");
    import(&machine, &copied(&machine, "text-bert-classification"), "tiny", "text-classification");
    let (code, document) = machine.json(&["run", MOOD, "--json"]);
    let (performer, output, all) = first(&document);
    assert_eq!((code, performer.as_str(), &output[0]["label"]), (0, "local/tiny", &json!("NEUTRAL")), "{all}");
}

/// Real weights, where they are installed (`cargo xtask test --doors`): a model too small to plan.
#[cfg(feature = "llm")]
#[test]
fn an_installed_language_model_talks_and_does_what_is_done_with_texts() {
    let folder = std::env::var_os("JARVIS_TEST_MODELS").map(|root| Path::new(&root).join("smollm2-135m"));
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        println!("skipped: no folder smollm2-135m in JARVIS_TEST_MODELS");
        return;
    };
    let machine = Harness::new();
    import(&machine, &folder, "smol", "text-generation");
    let run = |request: &str| machine.run(&["run", request, "--llm", "local/smol"]);
    let told = run("What is the capital of France?");
    // What it says is its own affair.
    assert!(told.code == 0 && told.stdout.lines().count() > 1, "{} {}", told.stdout, told.stderr);
    assert!(told.stdout.contains("answered as conversation by local/smol"), "{}", told.stdout);
    let done = run("write a short poem about rain");
    assert!(done.code == 0 && done.stdout.contains("done by local/smol"), "{} {}", done.stdout, done.stderr);
    // What is done by rules, a small model does not do in their place.
    let text = "The choir sang twice in the old barn. Some 300 people came. Ann thanked them all. It rained all night.";
    let done = run(&format!("summarize in one sentence: {text}"));
    assert!(done.code == 0 && done.stdout.contains("done by native/textrank"), "{} {}", done.stdout, done.stderr);
}

#[test]
fn a_graph_made_to_do_harm_ends_with_an_error_and_the_next_model_does_the_task() {
    for (graph, why) in [
        ("loop", "did not end in its time"),
        ("huge", "more memory than"),
        ("cycle", "Encountered cycle"),
        ("lie", "does not match shape"),
        ("cut", "invalid data"),
        ("rank", "its graph has no output"),
    ] {
        let machine =
            Harness::new().env("JARVIS_LIMITS__MODEL_TIMEOUT_S", "3").env("JARVIS_LOCAL__MAX_MEMORY_MB", "2048");
        // As another program downloaded it.
        let repo = machine.data().join(".cache/huggingface/hub/models--org--harm");
        let commit = "0123456789".repeat(4);
        let folder = repo.join("snapshots").join(&commit);
        copy(&fixture("text-bert-classification"), &folder);
        fs::create_dir_all(repo.join("refs")).unwrap();
        fs::write(repo.join("refs/main"), &commit).unwrap();
        for weights in fs::read_dir(folder.join("onnx")).unwrap() {
            fs::copy(fixture("hostile").join(format!("{graph}.onnx")), weights.unwrap().path()).unwrap();
        }
        let imported = machine.run(&["models", "import", folder.to_str().unwrap(), "--name", "harm"]);
        // What loads may do harm later only; nothing else comes into the list.
        let loads = imported.code == 0;
        assert!(loads || imported.stderr.contains(why), "{graph}: {}", imported.stderr);
        let (_, listed) = machine.json(&["models", "ls", "--json"]);
        let origins: Vec<&str> = listed.as_array().unwrap().iter().filter_map(|one| one["origin"].as_str()).collect();
        assert_eq!(origins.contains(&"imported"), loads, "{graph}: {listed}");
        let (code, document) = machine.json(&["run", MOOD, "--json"]);
        let (performer, _, all) = first(&document);
        assert!(all.contains(why), "{graph}: {all}");
        assert!(code == 0 && performer.starts_with("native/"), "{graph}: {all}");
    }
}

/// As `local_model_inference` of microsoft/JARVIS `hugginggpt/server/awesome_chat.py` calls a model server.
#[tokio::test]
async fn the_original_client_is_served() {
    let machine = Harness::new();
    import(&machine, &copied(&machine, "vision-detr"), "boxes", "object-detection");
    import(&machine, &copied(&machine, "text-distilbert-answers"), "answers", "question-answering");
    let server = Server::start(&machine, &["--models-only"]);
    let picture = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/house.jpg")).unwrap();
    let picture = json!({"img_url": format!("data:image/jpeg;base64,{}", STANDARD.encode(picture))});
    let question = json!({"question": "who?", "context": "Anna went to Lisbon"});
    for (id, body, wanted) in [
        ("local/boxes", &picture, "/0/box/xmin"),
        ("local/answers", &question, "/answer"),
        ("canny-control", &picture, "/path"),
    ] {
        let (_, status) = server.get(&format!("/status/{id}")).await;
        assert_eq!(status["loaded"], true, "{id}");
        let (status, reply) = server.post(&format!("/models/{id}"), body).await;
        assert!(status == 200 && reply.pointer(wanted).is_some(), "{id}: {status} {reply}");
    }
    assert_eq!(server.get("/status/none/such").await.1["loaded"], false);
}
