//! A person's own data: counted, handed out, and gone from the disk when they want it.

use std::io::Read;
use std::path::Path;

use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::harness::{self, Does, Harness, Reply, planned};
use crate::users::{self, told};

/// What nobody else says.
const WORD: &str = "xylophonequartz";

async fn upload(harness: &Harness, name: &str, bytes: &[u8]) -> String {
    let form = Form::new().part("file", Part::bytes(bytes.to_vec()).file_name(format!("{WORD}.png")));
    let sent = harness.request(Method::POST, "/upload").bearer_auth(format!("token-of-{name}")).multipart(form);
    let reply = Reply::of(sent.send().await.expect("a reply")).await;
    reply.json["path"].as_str().expect("a path").to_owned()
}

fn picture(last: &[u8]) -> Vec<u8> {
    [crate::media::PNG, last].concat()
}

/// Everything that a user can leave behind.
async fn leave(harness: &Harness, name: &str) -> (String, String) {
    let alone = upload(harness, name, &picture(format!("{WORD} {name}").as_bytes())).await;
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    let messages = [said("user", &alone), said("assistant", "A picture."), said("user", &format!("tell {WORD}"))];
    let run = told(harness, name, Method::POST, "/hugginggpt", Some(json!({"messages": messages}))).await;
    assert_eq!(run.status, 200, "{}", run.text);
    let decided = told(harness, name, Method::POST, "/decisions", Some(harness::ask(&format!("tell {WORD}")))).await;
    let plan = decided.json["plan_id"].as_str().expect("an id").to_owned();
    let chat = json!({"title": WORD, "body": {"said": WORD}, "version": 0});
    assert_eq!(told(harness, name, Method::PUT, "/chats/c", Some(chat)).await.status, 200);
    harness.settled_for("root").await;
    (alone, plan)
}

/// The files below a folder that have this text in them or in their name.
fn with_text(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(with_text(&path, text));
        } else {
            let bytes = std::fs::read(&path).unwrap_or_default();
            if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[tokio::test]
async fn what_is_kept_is_counted_handed_out_and_gone() {
    let harness = users::two(harness::with_chat(planned())).start().await;
    let (file, plan) = leave(&harness, "ada").await;
    let me = told(&harness, "ada", Method::GET, "/me", None).await.json;
    assert_eq!((&me["user"], &me["may"]), (&json!("ada"), &json!(["run"])));
    let stored = &me["stored"];
    let counts = ["runs", "files", "plans", "chats", "experience"].map(|what| stored[what].as_u64());
    assert_eq!(counts, [Some(1); 5], "{stored}");
    assert!(
        ["run_bytes", "file_bytes"].iter().all(|what| stored[what].as_u64() > Some(20)) && me["oldest_ms"].is_u64()
    );
    let archive = harness.request(Method::GET, "/me/data").bearer_auth("token-of-ada").send().await.expect("a reply");
    assert_eq!(archive.headers()["content-type"], "application/zip");
    let bytes = archive.bytes().await.expect("an archive");
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(&bytes)).expect("an archive");
    let mut text = |name: &str| {
        let mut text = Vec::new();
        zip.by_name(name).expect("it is there").read_to_end(&mut text).expect("it is whole");
        text
    };
    let lines = |text: Vec<u8>| -> Vec<Value> {
        let text = String::from_utf8(text).expect("text");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let runs = lines(text("runs.jsonl"));
    assert_eq!(
        (runs.len(), &runs[0]["run"]["user"], &runs[0]["events"][0]["event"]),
        (1, &json!("ada"), &json!("run_started"))
    );
    assert_eq!(lines(text("chats.jsonl"))[0]["body"], json!({"said": WORD}));
    let experience = lines(text("experience.jsonl"));
    assert!(experience[0]["request"].to_string().contains(WORD) && experience[0]["verdict"] == "succeeded");
    assert!(String::from_utf8_lossy(&text(&format!("plans/{plan}.json"))).contains("execution_config"));
    assert!(text(&format!("files{file}")).ends_with(format!("{WORD} ada").as_bytes()));
    // bob has nothing of it.
    let bobs = told(&harness, "bob", Method::GET, "/me", None).await.json;
    assert_eq!(
        bobs["stored"],
        json!({"runs": 0, "run_bytes": 0, "files": 0, "file_bytes": 0, "plans": 0, "chats": 0, "experience": 0})
    );
    assert!(!with_text(harness.folder(), WORD).is_empty());
    let gone = told(&harness, "ada", Method::DELETE, "/me/data", None).await.json;
    assert_eq!(gone, json!({"runs": 1, "media": 1, "plans": 1, "chats": 1, "experience": 1, "going_on": 0}));
    assert_eq!(with_text(harness.folder(), WORD), Vec::<String>::new());
    let left = told(&harness, "ada", Method::GET, "/me", None).await.json;
    assert_eq!((&left["stored"], left.get("oldest_ms")), (&bobs["stored"], None));
    for path in [file, "/chats/c".to_owned(), format!("/plans/{plan}")] {
        assert_eq!(told(&harness, "ada", Method::GET, &path, None).await.status, 404, "{path}");
    }
    let audit = std::fs::read_to_string(harness.folder().join("audit.jsonl")).expect("it is there");
    assert!(audit.contains("delete_my_data") && audit.contains("\"ada\""), "{audit}");
}

#[tokio::test]
async fn what_others_have_too_and_what_goes_on_stays() {
    let harness = users::two(harness::with_chat(planned())).does("text-classification", Does::Waits).start().await;
    let shared = upload(&harness, "ada", &picture(b"same")).await;
    assert_eq!(upload(&harness, "bob", &picture(b"same")).await, shared);
    let used = upload(&harness, "ada", &picture(b"used")).await;
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    let messages = [said("user", &used), said("assistant", "A picture."), said("user", "tell")];
    let started =
        told(&harness, "ada", Method::POST, "/hugginggpt", Some(json!({"messages": messages, "detached": true}))).await;
    assert_eq!(started.status, 202);
    harness.worker.started.reach(1).await;
    let gone = told(&harness, "ada", Method::DELETE, "/me/data", None).await.json;
    assert_eq!(gone, json!({"runs": 0, "media": 0, "plans": 0, "chats": 0, "experience": 0, "going_on": 1}));
    let sees = async |name: &str, path: &str| told(&harness, name, Method::GET, path, None).await.status;
    assert_eq!((sees("bob", &shared).await, sees("ada", &shared).await, sees("ada", &used).await), (200, 404, 200));
    harness.go.add_permits(9);
    harness.settled_for("root").await;
    let gone = told(&harness, "ada", Method::DELETE, "/me/data", None).await.json;
    assert_eq!((&gone["runs"], &gone["media"], &gone["going_on"]), (&json!(1), &json!(1), &json!(0)));
    assert_eq!((sees("bob", &shared).await, sees("ada", &used).await), (200, 404));
}

#[tokio::test]
async fn to_the_only_user_everything_belongs() {
    let harness = harness::with_chat(planned()).start().await;
    let (file, _) = leave(&harness, "nobody").await;
    let me = harness.get("/me").await.json;
    assert_eq!((me.get("user"), &me["stored"]["files"], &me["stored"]["runs"]), (None, &json!(1), &json!(1)));
    let gone = harness.request(Method::DELETE, "/me/data").send().await.expect("a reply");
    let gone = Reply::of(gone).await.json;
    assert_eq!(gone, json!({"runs": 1, "media": 1, "plans": 1, "chats": 1, "experience": 1, "going_on": 0}));
    assert_eq!(harness.get(&file).await.status, 404);
    assert_eq!(with_text(harness.folder(), WORD), Vec::<String>::new());
}
