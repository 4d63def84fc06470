//! Requests planned by earlier runs, with the real binary and a scripted chat model.

use std::path::Path;

use jarvis_store::Journal;
use jarvis_testing::chat::{FakeChat, Reply, Script};
use serde_json::{Value, json};

use crate::harness::Harness;

/// What nobody else says.
const WORD: &str = "xylophonequartz";
const SECRET: &str = "sk-proj-abcdefgh12345678";

fn plan(text: &str) -> Reply {
    Reply::text(json!([{"task": "text-classification", "id": 0, "dep": [-1], "args": {"text": text}}]).to_string())
}

async fn chat() -> FakeChat {
    let plans = ["tired", "sad", "glad"].into_iter().fold(Script::new(), |script, mood| {
        script.on_containing("parse_task", &[&format!("I feel {mood}")], plan(&format!("I feel {mood}")))
    });
    FakeChat::start(plans.on("response_results", Reply::text("Done."))).await
}

struct Person {
    chat: FakeChat,
    harness: Harness,
}

impl Person {
    async fn new() -> Person {
        Person { chat: chat().await, harness: Harness::new() }
    }

    /// Runs a request and gives its id.
    fn asks(&self, text: &str, more: &[&str]) -> String {
        let url = self.chat.url();
        let args = [&["run", text, "--json", "-q", "--llm", "gpt-4", "--base-url", &url], more].concat();
        let (code, document) = self.harness.json(&args);
        assert_eq!(code, 0, "{document}");
        document["run_id"].as_str().expect("an id").to_owned()
    }

    fn calls(&self) -> usize {
        self.chat.requests_of("parse_task").len()
    }

    /// What earlier requests the latest planning prompt shows, in their order.
    fn shown(&self) -> Vec<String> {
        let calls = self.chat.requests_of("parse_task");
        let messages = calls.last().expect("a planning call").body["messages"].as_array().expect("messages").clone();
        let said = messages.iter().filter(|message| message["role"] == "user");
        let mut said: Vec<String> = said.filter_map(|message| message["content"].as_str()).map(str::to_owned).collect();
        said.pop();
        said.retain(|said| said.contains(WORD));
        said
    }

    fn kept(&self) -> usize {
        let journal = Journal::open(&self.harness.data().join("runs.db")).expect("a journal");
        journal.experience("").expect("it is read").len()
    }
}

/// Whether a file below a folder holds a text.
fn is_on_disk(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).expect("a folder").flatten().any(|entry| match entry.path() {
        path if path.is_dir() => is_on_disk(&path, text),
        path => {
            let bytes = std::fs::read(&path).unwrap_or_default();
            bytes.windows(text.len()).any(|window| window == text.as_bytes())
        }
    })
}

#[tokio::test]
async fn the_model_is_shown_the_most_alike_plans_last() {
    let person = Person::new().await;
    let glad = person.asks(&format!("{WORD}: what mood is this text, \"I feel glad\""), &[]);
    assert_eq!(person.shown(), Vec::<String>::new());
    person.asks(&format!("{WORD} I feel sad"), &[]);
    person.asks(&format!("{WORD} I feel sad"), &["--no-experience"]);
    assert_eq!((person.shown(), person.kept()), (Vec::new(), 2));
    let request = format!("{WORD}: what mood is this text, \"I feel tired\"");
    let explained =
        person.harness.run(&["plan", &request, "--explain", "--llm", "gpt-4", "--base-url", &person.chat.url()]);
    let told: Vec<&str> = explained.stderr.lines().filter(|line| line.starts_with("demonstration: ")).collect();
    assert!(told.len() == 2 && told[0].contains(&glad) && told[0].contains("I feel glad"), "{}", explained.stderr);
    let (sad, glad_said) = (format!("{WORD} I feel sad"), format!("{WORD}: what mood is this text, \"I feel glad\""));
    assert_eq!(person.shown(), [sad.clone(), glad_said]);
    // A bad one is shown no more.
    let rated = person.harness.run(&["runs", "rate", &glad, "bad"]);
    assert_eq!((rated.code, rated.stdout.trim()), (0, format!("run {glad} is rated bad").as_str()), "{}", rated.stderr);
    person.asks(&request, &[]);
    assert_eq!(person.shown(), [sad]);
}

#[tokio::test]
async fn nothing_is_kept_or_shown_where_it_is_off() {
    let mut person = Person::new().await;
    person.harness = person.harness.env("JARVIS_PLANNING__EXPERIENCE", "off");
    let run = person.asks(&format!("{WORD} I feel sad"), &[]);
    person.asks(&format!("{WORD} I feel glad"), &[]);
    assert_eq!((person.shown(), person.kept()), (Vec::new(), 0));
    let rated = person.harness.run(&["runs", "rate", &run, "good"]);
    assert!(rated.code == 1 && rated.stderr.contains("no plan of run"), "{}", rated.stderr);
}

#[tokio::test]
async fn other_values_need_no_model_and_other_words_do() {
    let mut person = Person::new().await;
    person.harness = person.harness.env("JARVIS_PLANNING__EXPERIENCE", "reuse");
    let first = person.asks("the mood of \"I feel glad\"", &[]);
    assert_eq!(person.calls(), 1);
    let url = person.chat.url();
    let args = ["run", "The mood of \"what a day\"!", "--json", "-q", "--llm", "gpt-4", "--base-url", &url];
    let (code, document) = person.harness.json(&args);
    assert_eq!((code, person.calls()), (0, 1), "{document}");
    assert_eq!(document["plan"]["tasks"][0]["args"], json!({"text": "what a day"}));
    let notes = document["plan"]["notes"].to_string();
    assert!(notes.contains(&first) && notes.contains("no model was asked"), "{notes}");
    person.asks("the mood of \"I feel sad\" at noon", &[]);
    assert!(person.calls() > 1);
}

#[tokio::test]
async fn secrets_are_not_in_it_and_what_is_forgotten_is_gone() {
    let person = Person::new().await;
    person.asks(&format!("{WORD} I feel sad, my key is {SECRET}"), &[]);
    let exported = person.harness.run(&["experience", "export", "-"]).stdout;
    assert!(exported.contains(WORD) && !exported.contains(SECRET), "{exported}");
    // Of a run of another machine there is nothing here but this.
    let other = Harness::new();
    let line = exported.replace("[redacted]", SECRET);
    assert!(line.contains(SECRET));
    other.file("plans.jsonl", &line);
    let imported = other.run(&["experience", "import", "plans.jsonl"]);
    assert_eq!((imported.code, imported.stdout.trim()), (0, "imported 1"), "{}", imported.stderr);
    assert!(is_on_disk(other.data(), WORD) && !is_on_disk(other.data(), SECRET));
    let (_, listed) = other.json(&["experience", "list", WORD, "--json"]);
    let id = listed[0]["id"].as_str().expect("an id").to_owned();
    let shown = other.run(&["experience", "show", &id]);
    assert!(
        shown.stdout.contains("good (succeeded)") && shown.stdout.contains("text-classification"),
        "{}",
        shown.stdout
    );
    assert_eq!(other.run(&["experience", "forget", &id]).stdout.trim(), "forgot 1");
    assert!(!is_on_disk(other.data(), WORD));
    assert_eq!(other.run(&["experience", "forget", &id]).code, 1);
    assert_eq!(other.run(&["experience", "forget", "--all"]).stdout.trim(), "forgot 0");
    // Nothing of a file is taken in where a line of it is wrong.
    let broken = line.replace("\"tools\":[\"text-classification\"]", "\"tools\":[]");
    other.file("plans.jsonl", format!("{line}\n{broken}{{\n"));
    let refused = other.run(&["experience", "import", "plans.jsonl"]);
    assert_eq!(refused.code, 2);
    for says in ["nothing was imported", "line 3: `tools`", "line 4: "] {
        assert!(refused.stderr.contains(says), "{says}: {}", refused.stderr);
    }
    assert_eq!(other.json(&["experience", "list", "--json"]).1, Value::Array(Vec::new()));
}

#[tokio::test]
async fn a_plan_that_a_person_gave_is_good_when_it_succeeds() {
    let person = Person::new().await;
    let task = json!({"id": 0, "task_type": "text-classification", "dep": [-1], "args": {"text": "I feel glad"}});
    let plan = json!({"execution_config": {"user_request": format!("{WORD} today"), "tasks": [task]}});
    person.harness.file("plan.json", plan.to_string());
    let ended = person.harness.run(&["run", "--plan", "plan.json", "-q"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let (_, listed) = person.harness.json(&["experience", "list", "--json"]);
    assert_eq!((&listed[0]["verdict"], &listed[0]["good"]), (&json!("edited"), &json!(true)), "{listed}");
}

#[test]
fn what_is_kept_is_shown_with_the_names_that_people_gave() {
    let harness = Harness::new();
    let empty = harness.run(&["experience", "list"]);
    assert_eq!((empty.code, empty.stderr.contains("no experience yet")), (0, true), "{}", empty.stderr);
    harness.picture("boat.png");
    assert_eq!(harness.run(&["run", "make boat.png grey", "-q"]).code, 0);
    let listed = harness.run(&["experience", "list"]);
    assert!(listed.stdout.contains("make boat.png grey"), "{}", listed.stdout);
    let told = harness.run(&["plan", "make boat.png grey", "--explain", "--out", "-"]);
    assert!(told.stderr.contains(": make boat.png grey"), "{} {}", told.stdout, told.stderr);
}
