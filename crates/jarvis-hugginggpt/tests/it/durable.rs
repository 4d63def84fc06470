//! Runs that are cut off at each event that is kept, and go on.

use std::collections::BTreeMap;
use std::sync::Arc;

use jarvis_engine::{Events, Past};
use jarvis_events::Memory;
use jarvis_hugginggpt::{GoingOn, Run};
use jarvis_plan::{Kind, Param, Request, RunId, Tool};
use jarvis_testing::chat::{Reply, Script};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::fixture::{Builder, Does, Fixture, offline, with_chat};

const PLAN: &str = r#"{"tasks":[
    {"task":"trip/find","id":0,"dep":[-1],"args":{"what":"trains"}},
    {"task":"trip/find","id":1,"dep":[-1],"args":{"what":"flights"}},
    {"task":"trip/compare","id":2,"dep":[0,1],"args":{"one":"<GENERATED>-0.found","other":"<GENERATED>-1.found"}}
],"more":true}"#;
const NEXT: &str = r#"{"tasks":[
    {"task":"trip/find","id":3,"dep":[-1],"args":{"what":"hotels"}},
    {"task":"trip/compare","id":4,"dep":[2,3],"args":{"one":"<GENERATED>-2.best","other":"<GENERATED>-3.found"}}
]}"#;

fn growing() -> Builder {
    let text = |name: &str| Param { schema: Some(json!({"type": "string"})), ..Param::required(name, Kind::Text) };
    let tool = |name: &str, args: &[&str]| Tool {
        params: args.iter().map(|arg| text(arg)).collect(),
        outputs: vec![Kind::Json],
        ..Tool::typed(name, "", &[], &[Kind::Json])
    };
    let script = Script::new()
        .on("parse_task", Reply::text(PLAN))
        .on_containing("replan", &["<GENERATED>-2.best", "hotel"], r#"{"done": true}"#)
        .on_containing("replan", &["the last of all"], r#"{"done": true}"#)
        .on("replan", NEXT)
        .on("response_results", "Take the train.");
    with_chat(script)
        .tools(vec![tool("trip/find", &["what"]), tool("trip/compare", &["one", "other"])])
        .does("trip/find", Does::Gives(json!({"found": "something"})))
        .does("trip/compare", Does::Gives(json!({"best": "the last of all"})))
}

/// What was done on the far side: calls of the model by stage, and of tools by what they were given.
fn done(fixture: &Fixture) -> BTreeMap<String, usize> {
    let mut done = BTreeMap::new();
    for (id, _, args) in fixture.worker.seen.lock().unwrap().iter() {
        *done.entry(format!("{id} {args}")).or_default() += 1;
    }
    for request in fixture.chat.iter().flat_map(|chat| chat.requests()) {
        *done.entry(format!("{} {}", request.stage(), request.body)).or_default() += 1;
    }
    done
}

/// Runs a request, or goes on with it, until its end or until the journal is full.
async fn go(fixture: &Fixture, request: &str, past: Past, journal: &Arc<Memory>) -> Option<Run> {
    let going = past.began().map(|began| fixture.pipeline.going_on(began).expect("it can go on"));
    let request = match going {
        None => Request::new(request),
        Some(GoingOn::Request(request)) => *request,
        Some(GoingOn::Plan(..)) => panic!("no plan was given"),
    };
    let (events, _told) = Events::resumed(RunId("r".into()), past);
    events.kept_in(Arc::clone(journal) as Arc<dyn jarvis_engine::Journal>);
    let run = fixture.pipeline.run(Arc::new(request), &events, CancellationToken::new());
    tokio::select! {
        biased;
        () = journal.ended() => None,
        run = run => Some(run.expect("there is an answer")).filter(|_| !journal.is_full()),
    }
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|event| event["event"].as_str()).collect()
}

/// Cuts a run off after each event and goes on: what was kept is not done again, and the end is that of a run that was not cut off.
async fn check(builder: impl Fn() -> Builder, request: &str) {
    let whole = Arc::new(Memory::new());
    let fixture = builder().build().await;
    let undisturbed = go(&fixture, request, Past::default(), &whole).await.expect("nothing ends it");
    assert!(undisturbed.ok(), "{:?}", undisturbed.not_done);
    let steps = done(&fixture);
    assert!(steps.values().all(|times| *times <= 2), "{steps:#?}");
    let all = whole.events().len();
    for most in 1..all {
        let fixture = builder().build().await;
        let cut = Arc::new(Memory::ending_after(most));
        assert!(go(&fixture, request, Past::default(), &cut).await.is_none(), "after {most}");
        let kept = cut.events();
        let past = Past::of(&kept).expect("it is readable");
        let rest = Arc::new(Memory::new());
        let run = go(&fixture, request, past, &rest).await.expect("it goes on to its end");
        let log = [kept.clone(), rest.events()].concat();
        let told = format!("after {most}: {:?} | {:?}", kinds(&kept), kinds(&rest.events()));
        assert_eq!(run.answer, undisturbed.answer, "{told}");
        assert_eq!((run.rounds, run.outcomes.len()), (undisturbed.rounds, undisturbed.outcomes.len()), "{told}");
        // One log, without a gap.
        let numbers: Vec<u64> = log.iter().filter_map(|event| event["seq"].as_u64()).collect();
        assert_eq!(numbers, (0..log.len() as u64).collect::<Vec<_>>(), "{told}");
        let ends: Vec<&Value> =
            log.iter().filter(|event| event["event"] == "task_finished").map(|e| &e["outcome"]["id"]).collect();
        assert_eq!(ends.len(), undisturbed.outcomes.len(), "{told}");
        for kind in ["run_started", "plan", "answer", "done"] {
            assert_eq!(kinds(&log).iter().filter(|one| **one == kind).count(), 1, "{kind}, {told}");
        }
        // What was kept was done once. What was on its way may have been done twice.
        let again = done(&fixture);
        for event in &kept {
            if event["event"] == "task_finished" {
                let args = &event["outcome"]["args"];
                let step = again.iter().find(|(step, _)| step.ends_with(&format!(" {args}")));
                let once = steps.iter().find(|(step, _)| step.ends_with(&format!(" {args}"))).map(|(_, times)| times);
                assert_eq!(step.map(|(_, times)| times), once, "{args} {told}");
            }
        }
        let calls = kept.iter().filter(|event| event["event"] == "model_call").count();
        let called: usize = again.iter().filter(|(step, _)| step.contains("messages")).map(|(_, times)| times).sum();
        let should: usize = steps.iter().filter(|(step, _)| step.contains("messages")).map(|(_, times)| times).sum();
        // One call at most was on its way.
        assert!(called - should <= 1 && called >= calls, "{called} calls, {told}");
    }
}

#[tokio::test]
async fn a_growing_run_goes_on_from_every_event() {
    check(growing, "plan my trip").await;
}

#[tokio::test]
async fn an_offline_run_goes_on_from_every_event() {
    let builder = || offline().does("native/sentiment", Does::Gives(json!({"label": "positive"})));
    check(builder, "tell the mood of: I love it. And translate it to German").await;
}
