//! Decisions: what each request leads to, at what cost in calls, and in which form it is told. Nothing is executed.

use std::sync::Arc;
use std::time::Duration;

use jarvis_engine::Events;
use jarvis_hugginggpt::FileSource;
use jarvis_hugginggpt::decisions::{Decision, DecisionError, DecisionSettings, Decisions, PlanStore};
use jarvis_plan::{Event, Request, RunId};
use jarvis_testing::chat::{Reply, Script};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::fixture::{Builder, Fixture, offline, with_chat, with_events};

/// A fixture whose plans are saved in its logs folder.
pub(crate) fn decisions(fixture: &Fixture) -> Decisions {
    let pipeline = Arc::clone(&fixture.pipeline);
    let source = FileSource::for_planning(Arc::clone(&pipeline.sources), pipeline.chat.is_some(), 5);
    Decisions {
        pipeline,
        settings: DecisionSettings::default(),
        source: Arc::new(source),
        plans: Some(Arc::new(PlanStore::new(fixture.logs.path().join("execution_configs"), 10))),
        prompt_logs: None,
    }
}

pub(crate) struct Decided<T = Decision> {
    pub(crate) result: Result<T, DecisionError>,
    pub(crate) events: Vec<Event>,
}

impl<T> Decided<T> {
    pub(crate) fn decision(&self) -> &T {
        self.result.as_ref().expect("a decision")
    }

    /// The kinds of the events, without notes.
    pub(crate) fn kinds(&self) -> Vec<&'static str> {
        self.events.iter().map(|event| event.kind.name()).filter(|name| *name != "note").collect()
    }
}

pub(crate) async fn decide(decisions: &Decisions, request: Request) -> Decided {
    let decide = async |events: &Events| decisions.decide(Arc::new(request), events, CancellationToken::new()).await;
    let (result, events) = with_events("d1", decide).await;
    Decided { result, events }
}

fn saved(fixture: &Fixture) -> usize {
    std::fs::read_dir(fixture.logs.path().join("execution_configs")).map_or(0, Iterator::count)
}

const TWO: &str = r#"[{"task":"object-detection","id":0,"dep":[-1],"args":{"image":"park.jpg"}},
                      {"task":"canny-control","id":1,"dep":[0],"args":{"image":"<GENERATED>-0"}}]"#;

pub(crate) fn script(plan: impl Into<jarvis_testing::chat::Replies>) -> Script {
    Script::new()
        .on("parse_task", plan)
        .on("choose_model", Reply::text(r#"{"id":"org/two","reason":"it is better"}"#))
        .on("response_results", Reply::text("It will look, then speak."))
}

fn two() -> Builder {
    // Control tasks have no host in this mode.
    let fixture = with_chat(script(Reply::text(TWO))).mode(jarvis_catalogue::InferenceMode::Huggingface);
    fixture.live("object-detection", "org/one org/two")
}

#[tokio::test]
async fn the_reply_has_every_field() {
    let fixture = two().build().await;
    let decided = decide(&decisions(&fixture), Request::new("find things in park.jpg")).await;
    assert_eq!(fixture.stages(), ["parse_task", "choose_model"]);
    assert!(fixture.worker.seen.lock().expect("no poison").is_empty(), "nothing is executed");
    let mut reply = decided.decision().reply();
    let file = reply["execution_config_file"].take();
    let file = file.as_str().expect("a file");
    assert!(file.starts_with("execution_configs/execution_plan_2") && file.ends_with("_d1.json"), "{file}");
    let on_disk = std::fs::read_to_string(fixture.logs.path().join(file)).expect("it is there");
    assert_eq!(reply["message"], on_disk.as_str());
    let message: Value = serde_json::from_str(&on_disk).expect("JSON");
    assert_eq!(message["execution_config"], reply["execution_config"]);
    for changing in ["message", "execution_config_file", "timing_ms", "usage", "execution_config"] {
        assert!(reply.as_object_mut().expect("an object").shift_remove(changing).is_some(), "{changing}");
    }
    // As texts, since the order of the fields counts too.
    insta::assert_snapshot!(format!("{reply:#}"));
    insta::assert_snapshot!(on_disk);
}

#[tokio::test]
async fn the_events_tell_it_as_it_goes() {
    let fixture = two().build().await;
    let decided = decide(&decisions(&fixture), Request::new("find things in park.jpg")).await;
    let kinds = decided.kinds();
    assert_eq!(kinds.first(), Some(&"run_started"));
    assert_eq!(kinds[kinds.len() - 2..], ["execution_config", "done"]);
    let at = |kind: &str| kinds.iter().position(|other| *other == kind).expect(kind);
    assert!(at("plan") < at("model_chosen") && at("model_chosen") < at("execution_config"), "{kinds:?}");
    let told = decided.events[decided.events.len() - 2].to_value();
    assert_eq!(told["value"], decided.decision().execution_config()["execution_config"]);
}

/// What comes of a planning reply that is nothing to choose for.
async fn nothing(replies: Vec<Reply>) -> (Fixture, Decided) {
    let fixture = with_chat(script(replies)).build().await;
    let decided = decide(&decisions(&fixture), Request::new("hello there")).await;
    (fixture, decided)
}

#[tokio::test]
async fn an_empty_plan_is_an_empty_decision() {
    let many = |texts: &[&str]| texts.iter().map(|text| Reply::text(*text)).collect::<Vec<_>>();
    for replies in [many(&["[]"]), many(&["```json\n[]\n```"]), many(&["null", "null"]), many(&["{}", r#""no""#])] {
        let (fixture, decided) = nothing(replies).await;
        let reply = decided.decision().reply();
        assert_eq!(
            reply["decisions"]["summary"],
            json!({"total_tasks": 0, "tasks_with_selections": 0, "tasks_unavailable": 0})
        );
        assert_eq!(
            (&reply["decisions"]["planned_tasks"], &reply["decisions"]["model_selections"]),
            (&json!([]), &json!({}))
        );
        assert!(reply["message"].as_str().expect("a notice").starts_with("No task was planned"));
        assert_eq!((reply.get("raw_results"), reply.get("execution_config_file")), (None, None));
        assert!(
            fixture.stages().iter().all(|stage| stage == "parse_task"),
            "never conversation: {:?}",
            fixture.stages()
        );
        assert_eq!((saved(&fixture), decided.kinds().last()), (0, Some(&"done")));
    }
}

#[tokio::test]
async fn what_is_no_plan_is_an_error_and_never_conversation() {
    let (fixture, decided) = nothing(vec![Reply::text("I cannot."), Reply::text("Sorry, no.")]).await;
    let error = decided.result.clone().expect_err("no plan");
    assert_eq!((error.code(), fixture.stages().len()), ("unreadable_plan", 2));
    assert!(matches!(error, DecisionError::Unreadable { ref reply, .. } if reply == "Sorry, no."), "{error:?}");
    assert_eq!(decided.kinds().last(), Some(&"error"));

    let (fixture, decided) = nothing(vec![Reply::error(500, "the model is on fire")]).await;
    let error = decided.result.clone().expect_err("no plan");
    assert!(matches!(error, DecisionError::Model { stage: "parse_task", .. }) && error.to_string().contains("on fire"));
    assert_eq!((fixture.stages().len(), decided.kinds().last()), (1, Some(&"error")));

    let fixture = with_chat(script(Reply::text("[]"))).build().await;
    let decided = decide(&decisions(&fixture), Request::new("  ")).await;
    assert_eq!(decided.result.clone().expect_err("nothing asked").code(), "empty_request");
    assert!(fixture.stages().is_empty());
}

#[tokio::test]
async fn a_single_task_of_the_chat_model_is_told_whole_and_not_saved() {
    for task in ["summarization", "translation", "conversational", "text-generation", "text2text-generation"] {
        let plan = format!(r#"[{{"task":"{task}","id":0,"dep":[-1],"args":{{"text":"x"}}}}]"#);
        let fixture = with_chat(script(Reply::text(plan))).build().await;
        let decided = decide(&decisions(&fixture), Request::new("do it")).await;
        assert_eq!(fixture.stages(), ["parse_task"]);
        let reply = decided.decision().reply();
        let selection = &reply["decisions"]["model_selections"]["0"];
        assert_eq!(selection["selected_model"], "ChatGPT");
        assert_eq!(selection["status"], "selected_not_executed");
        assert_eq!(selection["available_candidates"], 1);
        assert_eq!(
            reply["decisions"]["summary"],
            json!({"total_tasks": 1, "tasks_with_selections": 1, "tasks_unavailable": 0})
        );
        assert_eq!(reply["execution_config"]["tasks"][0]["model_id"], "ChatGPT");
        assert_eq!((saved(&fixture), reply.get("execution_config_file")), (0, None));
    }
}

#[tokio::test]
async fn the_same_request_gives_the_same_bytes() {
    let fixture = two().build().await;
    let decisions = decisions(&fixture);
    let mut messages = Vec::new();
    for _ in 0..2 {
        messages.push(decide(&decisions, Request::new("find things in park.jpg")).await.decision().message());
    }
    assert_eq!(messages[0], messages[1]);
}

#[tokio::test]
async fn without_a_chat_model_the_offline_planner_decides() {
    let fixture = offline().build().await;
    let mut decisions = decisions(&fixture);
    decisions.settings.describe = true;
    let decided = decide(&decisions, Request::new("find the edges of /images/a.png and describe /images/b.png")).await;
    let reply = decided.decision().reply();
    assert_eq!((&reply["llm_calls"], saved(&fixture)), (&json!(0), 1));
    assert!(reply["description"].as_str().expect("words").contains("canny-control"), "{}", reply["description"]);
    let empty = decide(&decisions, Request::new("good morning")).await;
    assert!(empty.decision().plan.tasks().is_empty());
}

#[tokio::test]
async fn a_plan_is_described_for_one_more_call() {
    let fixture = two().build().await;
    let mut decisions = decisions(&fixture);
    decisions.settings.describe = true;
    let decided = decide(&decisions, Request::new("find things")).await;
    assert_eq!(fixture.stages(), ["parse_task", "choose_model", "response_results"]);
    assert_eq!(decided.decision().reply()["description"], "It will look, then speak.");
    let prompt = fixture.prompt("response_results");
    assert!(prompt.contains("future tense") && prompt.contains("org/two"), "{prompt}");
}

#[tokio::test]
async fn a_plan_that_cannot_be_saved_is_a_warning() {
    let fixture = two().build().await;
    std::fs::write(fixture.logs.path().join("execution_configs"), "a file").expect("writable");
    let decided = decide(&decisions(&fixture), Request::new("find things")).await;
    let reply = decided.decision().reply();
    assert_eq!(reply.get("execution_config_file"), None);
    assert!(reply["warnings"].to_string().contains("could not be saved"), "{}", reply["warnings"]);
    assert!(!decided.decision().message().contains("could not be saved"));
}

#[tokio::test]
async fn prompts_are_written_down_when_asked_for() {
    let fixture = with_chat(script(vec![Reply::text("no plan"), Reply::text(TWO)]))
        .live("object-detection", "org/one org/two")
        .build()
        .await;
    let root = fixture.logs.path().join("prompt_logs");
    let mut decisions = decisions(&fixture);
    decisions.prompt_logs = Some(root.clone());
    let decided = decide(&decisions, Request::new("find things in my secret.jpg")).await;
    let shown = decided.decision().prompt_logs.clone().expect("a folder");
    assert_eq!(decided.decision().reply()["prompt_logs_directory"], shown.as_str());
    assert!(shown.starts_with("prompt_logs/request_2") && shown.ends_with("_d1"), "{shown}");
    let folder = fixture.logs.path().join(shown);
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("it is there")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    insta::assert_snapshot!(names.join("\n"));
    let read = |name: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(folder.join(name)).expect("readable")).expect("JSON")
    };
    let asked = read("01_parse_task.json");
    assert_eq!((&asked["prompt_type"], &asked["task_id"]), (&json!("parse_task"), &Value::Null));
    let sent = &fixture.requests_of("parse_task")[0].body["messages"];
    assert_eq!(&asked["messages"], sent);
    assert_eq!(read("02_choose_model_task_0.json")["task_id"], 0);
}

#[tokio::test]
async fn a_decision_ends_when_it_is_cancelled_or_late() {
    let fixture = with_chat(Script::new().on("parse_task", Reply::never())).build().await;
    let mut decisions = decisions(&fixture);
    let (events, mut receiver) = Events::channel(RunId("d1".into()));
    let cancel = CancellationToken::new();
    let request = Arc::new(Request::new("find things"));
    let chat = fixture.chat.as_ref().expect("a chat");
    let (result, ()) = tokio::join!(decisions.decide(Arc::clone(&request), &events, cancel.clone()), async {
        assert!(chat.wait_requests(1).await);
        cancel.cancel();
    });
    assert_eq!(result, Err(DecisionError::Cancelled));
    let mut last = None;
    while let Ok(event) = receiver.try_recv() {
        last = Some(event.kind.name());
    }
    assert_eq!(last, Some("error"));

    decisions.settings.timeout = Duration::from_millis(1);
    let late = decisions.decide(request, &events, CancellationToken::new()).await;
    assert_eq!(late.expect_err("late").code(), "timeout");
}
