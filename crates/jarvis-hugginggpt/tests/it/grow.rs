//! Plans that are looked at and planned on.

use std::sync::Arc;

use async_trait::async_trait;
use indexmap::IndexMap;
use jarvis_hugginggpt::{HuggingGpt, Look};
use jarvis_pipeline::approval::{Approver, Decision};
use jarvis_plan::{Approval, Budget, ErrorCode, EventKind, Kind, Param, Request, RunId, Tool};
use jarvis_testing::chat::{Reply, Script};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Builder, Does, Fixture, Went, with_chat};

/// Tools of a configuration: one that finds flights, another that does too, one that tells of a flight.
fn tools() -> Vec<Tool> {
    let text = |name: &str| Param { schema: Some(json!({"type": "string"})), ..Param::required(name, Kind::Text) };
    let tool = |name: &str, arg: &str| Tool {
        params: vec![text(arg)],
        outputs: vec![Kind::Json],
        ..Tool::typed(name, "", &[], &[Kind::Json])
    };
    vec![tool("flights/find", "to"), tool("trains/find", "to"), tool("flights/show", "number")]
}

fn script(plan: &str, looks: &[&str]) -> Script {
    let looks: Vec<Reply> = looks.iter().map(|look| Reply::text(*look)).collect();
    let script = Script::new().on("parse_task", plan).on("response_results", "It is done.");
    if looks.is_empty() { script } else { script.on("replan", looks) }
}

fn builder(plan: &str, looks: &[&str]) -> Builder {
    with_chat(script(plan, looks))
        .tools(tools())
        .does("flights/find", Does::Fails(ErrorCode::Upstream, "the airline is down".to_owned()))
        .does("trains/find", Does::Gives(json!({"trains": ["ICE 1"]})))
        .does("flights/show", Does::Gives(json!({"flight": {"number": "LH1", "seats": 3}})))
}

/// How a run went, in lines.
fn told(fixture: &Fixture, went: &Went) -> String {
    let run = went.run.as_ref().unwrap();
    let mut lines = went.lines();
    lines.push(format!(
        "ok {}, reason {:?}, rounds {}, looks {}",
        run.ok(),
        run.reason(),
        run.rounds,
        fixture.requests_of("replan").len()
    ));
    lines.extend(run.not_done.iter().map(|what| format!("not done: {what}")));
    lines.join("\n")
}

const FIND: &str = r#"[{"task":"flights/find","id":0,"dep":[-1],"args":{"to":"Rome"}}]"#;

#[tokio::test]
async fn what_fails_is_made_up_for_by_another_tool() {
    let other = r#"{"tasks":[{"task":"trains/find","id":1,"dep":[-1],"args":{"to":"Rome"}}]}"#;
    let fixture = builder(FIND, &[other, r#"{"done": true}"#]).build().await;
    let went = fixture.run("how do I get to Rome?").await;
    insta::assert_snapshot!(told(&fixture, &went), @r#"
    0 flights/find Failed flights/find upstream: the airline is down
    1 trains/find Succeeded trains/find {"trains":["ICE 1"]}
    ok true, reason None, rounds 1, looks 2
    "#);
    // Results are shown as data, and the new task's id goes on.
    let prompt = fixture.prompt("replan");
    assert!(prompt.contains("the airline is down") && prompt.contains("Ids go on from 1"), "{prompt}");
}

#[tokio::test]
async fn a_first_part_is_planned_on_with_what_it_found() {
    let plan = r#"{"tasks":[{"task":"trains/find","id":0,"dep":[-1],"args":{"to":"Rome"}}],"more":true}"#;
    let next = r#"{"tasks":[{"task":"flights/show","id":1,"dep":[0],"args":{"number":"<GENERATED>-0.trains[0]"}}]}"#;
    let fixture = builder(plan, &[next, r#"{"done": true}"#]).build().await;
    let went = fixture.run("which train goes to Rome, and what about it?").await;
    insta::assert_snapshot!(told(&fixture, &went), @r#"
    0 trains/find Succeeded trains/find {"trains":["ICE 1"]}
    1 flights/show Succeeded flights/show {"flight":{"number":"LH1","seats":3}}
    ok true, reason None, rounds 1, looks 2
    "#);
    let (_, _, args) = fixture.worker.seen.lock().unwrap()[1].clone();
    assert_eq!(args, json!({"number": "ICE 1"}));
}

#[tokio::test]
async fn long_results_are_looked_at_shortened_and_referred_to_whole() {
    let plan = r#"{"tasks":[{"task":"trains/find","id":0,"dep":[-1],"args":{"to":"Rome"}}],"more":true}"#;
    let next = r#"{"tasks":[{"task":"flights/show","id":1,"dep":[0],"args":{"number":"<GENERATED>-0.trains[2999]"}}]}"#;
    let trains: Vec<String> = (1..=3_000).map(|nth| format!("ICE {nth}")).collect();
    let fixture = builder(plan, &[next, r#"{"done": true}"#])
        .does("trains/find", Does::Gives(json!({"trains": trains, "timetable": "at noon\n".repeat(3_000)})))
        .build()
        .await;
    let went = fixture.run("what about the last train to Rome?").await;
    assert!(went.run.as_ref().unwrap().ok(), "{}", told(&fixture, &went));
    // Although the model has room for all of it.
    let prompt = fixture.prompt("replan");
    let results = prompt.split("by task id, as one line of JSON:").nth(1).unwrap().lines().next().unwrap();
    assert!(results.contains("\"ICE 1\",") && results.contains(" of 3000 elements left out]"), "{results}");
    assert!(results.contains("at noon\\nat noon") && results.contains(" of 3000 left out …]"), "{results}");
    assert!(results.chars().count() < 8_500, "{}", results.chars().count());
    let (_, _, args) = fixture.worker.seen.lock().unwrap()[1].clone();
    assert_eq!(args, json!({"number": "ICE 3000"}));
}

#[tokio::test]
async fn looks_end() {
    let again = r#"{"tasks":[{"task":"flights/find","id":1,"dep":[-1],"args":{"to":"Rome"}}]}"#;
    let more =
        |id: u32| format!(r#"{{"tasks":[{{"task":"trains/find","id":{id},"dep":[-1],"args":{{"to":"city {id}"}}}}]}}"#);
    let endless: Vec<String> = (1..20).map(more).collect();
    let endless: Vec<&str> = endless.iter().map(String::as_str).collect();
    // Each case: the replies of the looks, and the end of the run: its rounds, and how often it was looked at.
    type Case<'a> = (&'a str, &'a [&'a str], (bool, u32, usize));
    let cases: [Case<'_>; 7] = [
        ("the same call again", &[again], (false, 0, 2)),
        ("a model that never ends", &endless, (false, 4, 5)),
        ("nothing more is said to be needed", &[r#"{"done": true}"#], (false, 0, 1)),
        ("it cannot be done", &[r#"{"done": false, "missing": "another airline"}"#], (false, 0, 1)),
        ("an empty list", &[r#"{"tasks": []}"#], (false, 0, 2)),
        ("no plan at all", &["I would try the train."], (false, 0, 2)),
        ("tasks that nothing knows", &[r#"{"tasks":[{"task":"walk","id":1,"dep":[-1],"args":{}}]}"#], (false, 0, 2)),
    ];
    for (what, looks, want) in cases {
        let fixture = builder(FIND, looks).build().await;
        let went = fixture.run("how do I get to Rome?").await;
        let run = went.run.as_ref().unwrap();
        assert_eq!(
            (run.ok(), run.rounds, fixture.requests_of("replan").len()),
            want,
            "{what}: {}",
            told(&fixture, &went)
        );
        let calls = fixture.worker.seen.lock().unwrap().iter().filter(|(id, ..)| id == "flights/find").count();
        assert_eq!(calls, 1, "{what}: an equal call is not made twice");
    }
}

#[tokio::test]
async fn plans_are_looked_at_when_the_settings_say_so() {
    let fine = r#"[{"task":"trains/find","id":0,"dep":[-1],"args":{"to":"Rome"}}]"#;
    for (look, plan, looks) in
        [(Look::Never, FIND, 0), (Look::Failures, FIND, 1), (Look::Failures, fine, 0), (Look::Always, fine, 1)]
    {
        let fixture = builder(plan, &[r#"{"done": true}"#]).settings(|settings| settings.replan = look).build().await;
        fixture.run("how do I get to Rome?").await;
        assert_eq!(fixture.requests_of("replan").len(), looks, "{look:?}");
        let speaks_of_more = fixture.prompt("parse_task").contains("\"more\": true");
        assert_eq!(speaks_of_more, look != Look::Never);
    }
}

struct Person(Option<&'static str>);

#[async_trait]
impl Approver for Person {
    async fn ask(&self, _: &RunId, asked: &Approval) -> Decision {
        assert_eq!(asked.arguments["question"], "From where?");
        match self.0 {
            Some(answer) => {
                Decision::Approve { arguments: Some(IndexMap::from([("answer".to_owned(), json!(answer))])) }
            }
            None => Decision::Refuse { reason: "nobody is here".to_owned(), hint: None },
        }
    }
}

#[tokio::test]
async fn the_person_is_asked_and_the_run_goes_on_or_ends_with_the_question() {
    let other = r#"{"tasks":[{"task":"trains/find","id":1,"dep":[-1],"args":{"to":"Rome from Berlin"}}]}"#;
    for (answer, want) in [(Some("Berlin"), (true, None)), (None, (false, Some("question")))] {
        let looks = [r#"{"ask": "From where?"}"#, other, r#"{"done": true}"#];
        let mut fixture = builder(FIND, &looks).build().await;
        fixture.pipeline =
            Arc::new(HuggingGpt { approver: Arc::new(Person(answer)), ..HuggingGpt::clone(&fixture.pipeline) });
        let went = fixture.run("how do I get to Rome?").await;
        let run = went.run.as_ref().unwrap();
        assert_eq!((run.ok(), run.reason()), want, "{}", told(&fixture, &went));
        match answer {
            Some(_) => assert!(fixture.requests_of("replan")[1].prompt().contains("Berlin")),
            None => {
                assert_eq!((run.answer.text.as_str(), run.question.as_deref()), ("From where?", Some("From where?")))
            }
        }
    }
}

#[tokio::test]
async fn at_a_bound_nothing_new_starts_and_what_is_there_is_answered() {
    let chain = r#"[{"task":"trains/find","id":0,"dep":[-1],"args":{"to":"Rome"}},
        {"task":"flights/show","id":1,"dep":[0],"args":{"number":"<GENERATED>-0.trains[0]"}}]"#;
    let calls = |most: u32| Budget { max_calls: Some(most), ..Budget::default() };
    let tokens = |most: u64| Budget { max_tokens: Some(most), ..Budget::default() };
    let time = |most: f64| Budget { max_time_s: Some(most), ..Budget::default() };
    // Each case: the budget, the end of the run, and how many of the two tasks succeeded.
    for (budget, reason, done) in [
        (Budget::default(), None, 2),
        (calls(2), None, 2),
        (calls(1), Some("budget"), 0),
        (tokens(1), Some("budget"), 0),
        (time(600.0), None, 2),
    ] {
        // What starts while the plan is written may end before its tokens are counted.
        let fixture = builder(chain, &[]).settings(|settings| settings.stream_plan = false).build().await;
        let request = Request { budget, ..Request::new("which train goes to Rome, and what about it?") };
        let went = fixture.run_request(request, CancellationToken::new()).await;
        let run = went.run.as_ref().unwrap();
        assert_eq!(run.reason(), reason, "{budget:?}: {}", told(&fixture, &went));
        let succeeded = run.outcomes.iter().filter(|outcome| outcome.succeeded()).count();
        assert_eq!(succeeded, done, "{budget:?}: {}", told(&fixture, &went));
        let told = went.events.iter().filter(|event| matches!(event.kind, EventKind::Budget { .. })).count();
        assert_eq!(told, usize::from(reason.is_some()));
        assert!(!run.answer.text.is_empty());
    }
    // Without a call there is no plan.
    let fixture = builder(chain, &[]).build().await;
    let request = Request { budget: calls(0), ..Request::new("which train goes to Rome?") };
    let went = fixture.run_request(request, CancellationToken::new()).await;
    assert_eq!(went.run.unwrap_err().code(), "budget");
}

#[tokio::test]
async fn a_first_part_that_is_not_planned_on_is_not_done() {
    let plan = r#"{"tasks":[{"task":"trains/find","id":0,"dep":[-1],"args":{"to":"Rome"}}],"more":true}"#;
    let broken = || Script::new().on("parse_task", plan).on("response_results", "It is done.");
    for (what, script, look) in [
        ("the look fails", broken().on("replan", Reply::error(500, "broken")), Look::Failures),
        ("no reply can be read", broken().on("replan", Reply::text("Let me see.")), Look::Failures),
        ("plans are not looked at", broken(), Look::Never),
        ("nothing is added", broken().on("replan", Reply::text(r#"{"tasks": []}"#)), Look::Failures),
    ] {
        let fixture = with_chat(script)
            .tools(tools())
            .does("trains/find", Does::Gives(json!({"trains": ["ICE 1"]})))
            .settings(|settings| settings.replan = look)
            .build()
            .await;
        let went = fixture.run("which train goes to Rome, and what about it?").await;
        let run = went.run.as_ref().unwrap();
        assert!(!run.ok() && run.not_done.iter().any(|what| what.contains("first part")), "{what}: {run:?}");
    }
}

#[tokio::test]
async fn what_is_added_is_checked_however_it_is_written() {
    let call = |name: &str, arguments: serde_json::Value| json!({"id": name, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
    let calls = |calls: Vec<serde_json::Value>| {
        let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
        Reply::json(200, json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}))
    };
    let text = |tasks: serde_json::Value| Reply::text(json!({"tasks": tasks}).to_string());
    let train = json!({"task": "trains/find", "id": 1, "dep": [-1], "args": {"to": "Rome"}});
    let show = json!({"task": "flights/show", "id": 2, "dep": [1], "args": {"number": "<GENERATED>-1.trains[0]"}});
    // Each case: the reply, the most tasks of a plan, and what the added tasks were called with.
    for (what, reply, most, called) in [
        ("tool calls", calls(vec![call("trains/find", json!({"to": "Rome"}))]), 32, vec![json!({"to": "Rome"})]),
        ("a faulty tool call", calls(vec![call("trains/find", json!({}))]), 32, vec![]),
        (
            "a reference to a new task",
            text(json!([train, show])),
            32,
            vec![json!({"to": "Rome"}), json!({"number": "ICE 1"})],
        ),
        ("more than a plan may have", text(json!([train, show])), 2, vec![]),
    ] {
        let script = Script::new()
            .on("parse_task", FIND)
            .on("replan", vec![reply.clone(), reply, Reply::text(r#"{"done": true}"#)])
            .on("response_results", "It is done.");
        let fixture = with_chat(script)
            .tools(tools())
            .does("flights/find", Does::Fails(ErrorCode::Upstream, "the airline is down".to_owned()))
            .does("trains/find", Does::Gives(json!({"trains": ["ICE 1"]})))
            .settings(|settings| settings.plan.max_tasks = most)
            .build()
            .await;
        fixture.run("how do I get to Rome?").await;
        let seen: Vec<serde_json::Value> =
            fixture.worker.seen.lock().unwrap().iter().skip(1).map(|(_, _, args)| args.clone()).collect();
        assert_eq!(seen, called, "{what}");
    }
}
