//! With a chat model: a scripted endpoint, recordings, keys, errors, the journal.

#[cfg(unix)]
use std::process::{Command, Stdio};

use jarvis_testing::chat::{FakeChat, Reply, Script};
#[cfg(unix)]
use serde_json::json;

use crate::harness::{Harness, outcomes};

const PLAN: &str = r#"[{"task":"canny-control","id":0,"dep":[-1],"args":{"image":"photo.png"}}]"#;

fn script() -> Script {
    Script::new()
        .on("parse_task", Reply::text(PLAN).usage(50, 3))
        .on("response_results", Reply::pieces(["Here are ", "the edges."]).usage(100, 7))
        .on("chitchat", Reply::text("Hello to you."))
}

#[test]
fn a_model_plans_and_answers() {
    let harness = Harness::new();
    let chat = FakeChat::spawn(script());
    let ended = harness.run(&["run", "hi", "--llm", "some-model", "--base-url", &chat.url(), "--json", "-q"]);
    let document: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(document["planner"], "llm");
    assert_eq!(document["model"], "some-model");
    // The plan is sent back once for its fault, and nothing else is found to do.
    assert_eq!(document["usage"]["calls"]["parse_task"], 2);
    assert_eq!(chat.stages(), ["parse_task", "parse_task", "response_results"]);
    let text = document["answer"]["text"].as_str().expect("an answer");
    assert!(text.starts_with("Not done: task 1") && text.ends_with("\n\nHere are the edges."), "{text}");
    assert_eq!(document["usage"]["completion_tokens"], 13);
    // The only task needs a file that does not exist.
    assert_eq!((ended.code, outcomes(&document).len()), (1, 1));
}

#[test]
fn the_answer_is_printed_as_it_comes_and_once() {
    let harness = Harness::new();
    let chat = FakeChat::spawn(
        Script::new().on("parse_task", Reply::text("[]")).on("chitchat", Reply::pieces(["Hel", "lo."])),
    );
    let ended = harness.run(&["run", "hi", "--llm", "m", "--base-url", &chat.url(), "-q"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "Hello.\n— planned by m\n"));
}

#[test]
fn an_answer_that_breaks_off_is_followed_by_a_whole_one() {
    let harness = Harness::new();
    harness.picture("photo.png");
    let script = Script::new().on("parse_task", Reply::text(PLAN)).on("response_results", Reply::cut("Here are the"));
    let chat = FakeChat::spawn(script);
    let ended = harness.run(&["run", "edges, please", "--llm", "m", "--base-url", &chat.url()]);
    assert!(ended.stdout.contains("Here are the") && ended.stdout.contains("could not be done"), "{}", ended.stdout);
    assert!(ended.stderr.contains("the model could not write the answer"), "{}", ended.stderr);
}

#[test]
fn a_run_that_fails_is_a_document_too() {
    let harness = Harness::new();
    let chat = FakeChat::spawn(Script::always(Reply::error(403, "not for you")));
    let (code, document) = harness.json(&["run", "hi", "--llm", "m", "--base-url", &chat.url(), "--json", "-q"]);
    assert_eq!((code, &document["error"]["code"]), (1, &serde_json::json!("unauthorized")));
    assert!(document["run_id"].is_string() && document["error"]["message"].to_string().contains("not for you"));
}

#[test]
fn what_is_recorded_replays_without_the_endpoint() {
    let harness = Harness::new();
    harness.picture("photo.png");
    let request = &["run", "find the edges of photo.png", "--json", "-q"][..];
    let recorded = {
        let chat = FakeChat::spawn(script());
        let url = chat.url();
        harness.json(&[request, &["--llm", "m", "--base-url", &url, "--record", "r.jsonl"]].concat()).1
    };
    let lines = std::fs::read_to_string(harness.work().join("r.jsonl")).expect("a recording");
    assert_eq!(lines.lines().count(), 2);
    for line in lines.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert!(line["stage"].is_string() && line["contains"].is_array() && line["reply"].is_string());
        assert!(line["request_sha256"].is_string() && line["sticky"] == false);
    }
    let replayed = harness.json(&[request, &["--llm", "replay:r.jsonl"]].concat()).1;
    assert_eq!(replayed["answer"]["text"], recorded["answer"]["text"]);
    assert_eq!(outcomes(&replayed), outcomes(&recorded));
}

#[test]
fn a_replay_without_a_fitting_line_says_which_stage_and_what_was_asked() {
    let harness = Harness::new();
    harness.file(
        "r.jsonl",
        "{\"stage\":\"parse_task\",\"contains\":[\"nothing like it\"],\"reply\":\"[]\",\"sticky\":false}\n",
    );
    let ended = harness.run(&["run", "hello there", "--llm", "replay:r.jsonl"]);
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("ReplayMiss") && ended.stderr.contains("parse_task"), "{}", ended.stderr);
}

#[test]
fn keys_are_never_shown() {
    let key = "sk-very-secret-key-0123456789";
    let harness = Harness::new().env("OPENAI_API_KEY", key).env("JARVIS_LOG", "trace");
    let refused = format!("Incorrect API key provided: {key}");
    let chat = FakeChat::spawn(Script::always(Reply::error(401, &refused)));
    let ended = harness.run(&["run", "hi", "--llm", "m", "--base-url", &chat.url(), "-vv", "--record", "r.jsonl"]);
    assert_eq!(chat.requests()[0].header("authorization"), format!("Bearer {key}"));
    assert_eq!(ended.code, 1);
    let shown = harness.run(&["runs", "list"]);
    let id = shown.stdout.split_whitespace().next().expect("a run").to_owned();
    let all = [
        ended.stdout,
        ended.stderr.clone(),
        harness.run(&["runs", "show", &id, "--json"]).stdout,
        std::fs::read_to_string(harness.data().join("logs/log_fail.jsonl")).unwrap_or_default(),
        std::fs::read_to_string(harness.work().join("r.jsonl")).unwrap_or_default(),
    ];
    assert!(all.iter().all(|text| !text.contains(key)), "{all:#?}");
    assert!(ended.stderr.contains("hint: check the API key"), "{}", ended.stderr);
}

#[test]
fn the_log_tells_the_story_of_a_run() {
    let harness = Harness::new().env("JARVIS_LOG", "jarvis=debug");
    let ended = harness.run(&["run", "tell the mood of: I love it"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for want in ["run{run_id=", "task finished", "task=\"text-classification\"", "status=\"succeeded\""] {
        assert!(ended.stderr.contains(want), "{want}: {}", ended.stderr);
    }
}

#[test]
fn an_endpoint_that_is_not_there_is_told_with_what_to_try() {
    let harness = Harness::new().env("JARVIS_LLM__MAX_RETRIES", "0");
    let ended = harness.run(&["run", "hi", "--llm", "m", "--base-url", "http://127.0.0.1:1/v1", "-q"]);
    insta::assert_snapshot!(harness.filtered(&ended.stderr));
    assert_eq!(ended.code, 1);
}

#[test]
fn runs_are_listed_and_shown_with_their_replies() {
    let harness = Harness::new();
    let chat = FakeChat::spawn(
        Script::new().on("parse_task", Reply::text("[ ]")).on("chitchat", Reply::text("Hello to you.")),
    );
    harness.run(&["run", "good day", "--llm", "m", "--base-url", &chat.url(), "-q"]);
    insta::assert_snapshot!(harness.told(&["runs", "list"]));
    let listed = harness.run(&["runs", "list"]).stdout;
    let id = listed.split_whitespace().next().expect("a run");
    let told = harness.told(&["runs", "show", &id[..13], "--reply"]);
    assert!(told.contains("request: good day") && told.contains("| [ ]") && told.contains("Hello to you."), "{told}");
    assert_eq!(harness.run(&["runs", "show", "zzz"]).code, 1);
}

#[test]
fn a_request_that_fails_does_not_end_the_conversation() {
    let harness = Harness::new();
    let chat = FakeChat::spawn(
        Script::new()
            // What is refused is asked once more without what the endpoint may not know.
            .on(
                "parse_task",
                vec![Reply::error(400, "no such thing"), Reply::error(400, "no such thing"), Reply::text("[]")],
            )
            .on("chitchat", Reply::text("Still here.")),
    );
    let args = ["chat", "--llm", "m", "--base-url", &chat.url(), "-q"];
    let ended = harness.run_with_input(&args, "first\nsecond\n");
    assert!(ended.stderr.contains("no such thing"), "{}", ended.stderr);
    assert!(ended.stdout.contains("Still here."), "{}", ended.stdout);
    // Of a script's requests one was not carried out.
    assert_eq!(ended.code, 1);
}

/// A run that Ctrl-C ended is told as cancelled, before there is a plan and after, and keeps what was done.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_cancels_a_run_in_good_order() {
    let harness = Harness::new();
    harness.picture("photo.png");
    let planning = Script::new().on("parse_task", Reply::never());
    let answering = Script::new().on("parse_task", Reply::text(PLAN)).on("response_results", Reply::never());
    for (script, requests, said, done) in [(planning, 1, "cancelled", 0), (answering, 2, "photo-edges.png", 1)] {
        let chat = FakeChat::start(script).await;
        let args = ["run", "find the edges of photo.png", "--llm", "m", "--base-url", &chat.url()];
        let mut command = harness.command(&args);
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        assert!(chat.wait_requests(requests).await);
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
        let ended = child.wait_with_output().expect("it ends");
        let text = format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        assert!(ended.status.code() == Some(1) && text.contains(said), "{text}");
        let (_, runs) = harness.json(&["runs", "list", "--json", "-n", "1"]);
        assert_eq!((&runs[0]["status"], &runs[0]["ok"]), (&json!("cancelled"), &json!(done)), "{runs}");
    }
}
