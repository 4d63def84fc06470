//! `jarvis chat`: history, endings, and one failed request that does not end the conversation.

use jarvis_testing::chat::{FakeChat, Reply, Script};

use crate::harness::Harness;

#[test]
fn a_later_request_sees_the_earlier_ones() {
    let harness = Harness::new();
    let chat = FakeChat::spawn(
        Script::new()
            .on("parse_task", Reply::text("[]"))
            .on("chitchat", vec![Reply::text("Hi Ada."), Reply::text("Ada.")]),
    );
    let args = ["chat", "--llm", "m", "--base-url", &chat.url(), "-q"];
    let ended = harness.run_with_input(&args, "I am Ada\n\nwho am I?\nexit\nnot read\n");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(
        ended.stdout,
        "[ User ]: [ Jarvis ]: Hi Ada.\n— planned by m\n[ User ]: [ User ]: [ Jarvis ]: Ada.\n— planned by m\n[ User ]: \n"
    );
    let second = chat.requests_of("chitchat")[1].prompt();
    assert!(second.contains("I am Ada") && second.contains("Hi Ada.") && second.contains("who am I?"));
    assert_eq!(chat.stages().len(), 4);
}

#[test]
fn the_result_of_a_request_can_be_worked_on() {
    let harness = Harness::new();
    harness.picture("photo.png");
    let ended = harness.run_with_input(&["chat", "--json", "-q"], "segment photo.png\nfind the edges of it\n");
    let lines: Vec<serde_json::Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let made = &lines[0]["answer"]["resources"][0]["url"];
    assert_eq!(&lines[1]["plan"]["tasks"][0]["args"]["image"], made, "{}", lines[1]);
    assert_eq!(lines[1]["outcomes"][0]["status"], "succeeded");
}

#[test]
fn a_text_stays_the_subject_until_another_is_named() {
    let harness = Harness::new();
    harness.file(
        "news.txt",
        "Maria Silva opened the new pier in Lisbon. It was a wonderful day. The pier cost 12,500 euros.",
    );
    let ended = harness.run_with_input(&["chat", "--json", "-q"], "summarise news.txt\nwhich names are in it?\n");
    let lines: Vec<serde_json::Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let answer = lines[1]["answer"]["text"].as_str().expect("a text");
    assert!(answer.contains("Maria Silva"), "{answer}");
}

#[test]
fn a_request_that_fails_does_not_end_the_conversation() {
    let harness = Harness::new();
    let chat = FakeChat::spawn(
        Script::new()
            .on("parse_task", vec![Reply::error(400, "no such thing"), Reply::text("[]")])
            .on("chitchat", Reply::text("Still here.")),
    );
    let args = ["chat", "--llm", "m", "--base-url", &chat.url(), "-q"];
    let ended = harness.run_with_input(&args, "first\nsecond\n");
    assert!(ended.stderr.contains("no such thing"), "{}", ended.stderr);
    assert!(ended.stdout.contains("Still here."), "{}", ended.stdout);
    assert_eq!(ended.code, 0);
}

#[test]
fn once_answers_one_request() {
    let harness = Harness::new();
    harness.picture("photo.png");
    let ended = harness.run(&["chat", "--once", "find the edges of photo.png", "-q"]);
    assert!(ended.code == 0 && ended.stdout.starts_with("[ Jarvis ]: Edges"), "{ended:?}");
}
