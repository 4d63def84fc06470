//! Stage 1: each row of the table of what a planning reply leads to, with its log and its calls.

use jarvis_hugginggpt::RunError;
use jarvis_testing::chat::{Reply, Script};
use jarvis_testing::rows;
use serde_json::{Value, json};

use crate::fixture::with_chat;

/// Runs a request against a planner that gives these replies, and compares the calls, the answer and the log's `op`.
#[tokio::test]
async fn a_planning_reply_leads_to_tasks_or_conversation() {
    type Row = (Vec<String>, Vec<String>, String, (String, String));
    for (plan, stages, answer, (file, op)) in rows::<Row>(include_str!("cases.yaml"), "outcomes") {
        let plans: Vec<Reply> = plan.iter().map(Reply::text).collect();
        let script = Script::new()
            .on("parse_task", plans)
            .on("chitchat", Reply::text("just talking"))
            .on("response_results", Reply::text("all done"));
        let fixture = with_chat(script).build().await;
        let went = fixture.run("hello there").await;
        // What failed is told before what the model says.
        let told = went.run.expect("an answer").answer.text;
        let said = told.lines().last().unwrap_or_default().to_owned();
        assert_eq!((fixture.stages(), said), (stages.clone(), answer), "{plan:?}");
        let lines = fixture.log(&file);
        assert!(lines.iter().any(|line| line["op"] == *op && line["input"] == "hello there"), "{file}: {lines:?}");
        assert_eq!(went.usage.total_calls() as usize, stages.len());
    }
}

#[tokio::test]
async fn an_api_error_ends_the_run_with_the_endpoints_words() {
    let script = Script::new().on("parse_task", Reply::error(500, "the model is on fire"));
    let fixture = with_chat(script).build().await;
    let went = fixture.run("hello").await;
    match went.run {
        Err(RunError::Model { stage: "parse_task", source }) => assert!(source.to_string().contains("on fire")),
        other => panic!("not a model error: {other:?}"),
    }
    assert_eq!(fixture.stages(), ["parse_task"]);
    let fail = fixture.log("log_fail.jsonl");
    assert_eq!(fail[0]["op"], "report message");
    assert!(fixture.log("log_success.jsonl").is_empty());
    let last = went.events.last().expect("events").kind.name();
    assert_eq!(last, "error");
}

#[tokio::test]
async fn without_reasking_an_unreadable_plan_is_conversation_at_once() {
    let script = Script::new().on("parse_task", Reply::text("no")).on("chitchat", Reply::text("hi"));
    let fixture = with_chat(script).settings(|settings| settings.reask = false).build().await;
    fixture.run("hello").await.run.expect("an answer");
    assert_eq!(fixture.stages(), ["parse_task", "chitchat"]);
}

#[tokio::test]
async fn the_second_question_quotes_the_reply_and_the_reason() {
    let script = Script::new().on("parse_task", vec![Reply::text("my plan: none"), Reply::text("[]")]);
    let fixture = with_chat(script.on("chitchat", Reply::text("hi"))).build().await;
    fixture.run("hello").await.run.expect("an answer");
    let requests = fixture.requests_of("parse_task");
    assert!(requests[1].prompt().contains("my plan: none"));
    assert!(requests[1].prompt().len() > requests[0].prompt().len());
}

#[tokio::test]
async fn stage_one_is_exact_and_favours_the_words_of_the_format() {
    let script = Script::new().on("parse_task", Reply::text("[]")).on("chitchat", Reply::text("hi"));
    let fixture = with_chat(script).build().await;
    fixture.run("hello").await.run.expect("an answer");
    let plan = &fixture.requests_of("parse_task")[0].body;
    assert_eq!(plan["temperature"], 0.0);
    let bias = plan["logit_bias"].as_object().expect("a bias");
    assert!(bias.len() > 40 && bias.values().all(|value| *value == 0.1), "{bias:?}");
    let talk = &fixture.requests_of("chitchat")[0].body;
    assert_eq!((talk.get("temperature"), talk.get("logit_bias")), (None, None));
}

#[tokio::test]
async fn history_is_told_to_the_planner_and_kept_in_conversation() {
    let script = Script::new().on("parse_task", Reply::text("[]")).on("chitchat", Reply::text("hi"));
    let fixture = with_chat(script).build().await;
    let request = jarvis_plan::Request {
        text: "and now?".into(),
        history: vec![jarvis_plan::Turn::user("I am Ada"), jarvis_plan::Turn::assistant("Hello Ada")],
        ..Default::default()
    };
    fixture.run_request(request, Default::default()).await.run.expect("an answer");
    assert!(fixture.prompt("parse_task").contains("I am Ada"));
    let messages = fixture.requests_of("chitchat")[0].body["messages"].clone();
    let said: Vec<(&str, &str)> = messages
        .as_array()
        .expect("messages")
        .iter()
        .map(|message| (message["role"].as_str().unwrap_or_default(), message["content"].as_str().unwrap_or_default()))
        .filter(|(role, _)| *role != "system")
        .collect();
    assert_eq!(said, [("user", "I am Ada"), ("assistant", "Hello Ada"), ("user", "and now?")]);
}

#[tokio::test]
async fn long_history_is_trimmed_and_the_input_stays() {
    let script = Script::new().on("parse_task", Reply::text("[]")).on("chitchat", Reply::text("hi"));
    let fixture = with_chat(script).build().await;
    let history =
        (0..60).map(|n| jarvis_plan::Turn::user(format!("turn {n}: {}", "many words here ".repeat(60)))).collect();
    let request = jarvis_plan::Request { text: "the last wish".into(), history, ..Default::default() };
    fixture.run_request(request, Default::default()).await.run.expect("an answer");
    for stage in ["parse_task", "chitchat"] {
        let prompt = fixture.prompt(stage);
        assert!(prompt.contains("the last wish") && !prompt.contains("turn 0:"), "{stage}");
    }
}

#[tokio::test]
async fn structured_output_asks_for_the_task_names() {
    let script = Script::new().on("parse_task", Reply::text(r#"{"tasks":[]}"#)).on("chitchat", Reply::text("hi"));
    let fixture = with_chat(script).settings(|settings| settings.structured = true).build().await;
    fixture.run("hello").await.run.expect("an answer");
    let body = fixture.requests_of("parse_task")[0].body.clone();
    let schema = &body["response_format"]["json_schema"];
    assert_eq!(schema["strict"], Value::Bool(true));
    let tasks = schema["schema"]["properties"]["tasks"]["items"]["anyOf"].as_array().expect("a schema for each task");
    assert!(tasks.iter().any(|task| task["properties"]["task"]["enum"] == json!(["canny-control"])), "{tasks:?}");
}
