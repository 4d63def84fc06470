//! Records of runs, as journals have them.

use jarvis_plan::{EventKind, Level, RunId};
use serde_json::{Value, json};

use super::*;
use crate::{Events, Memory, NotWritten};

/// Events with their numbers, a second apart from the first.
fn log(events: &[Value]) -> Vec<Value> {
    let numbered = |(event, seq): (&Value, u64)| {
        let mut event = event.clone();
        let fields = event.as_object_mut().expect("an event is an object");
        fields.insert("seq".into(), seq.into());
        fields.entry("at_ms").or_insert_with(|| (1_000 * (seq + 1)).into());
        event
    };
    events.iter().zip(0..).map(numbered).collect()
}

fn past(events: &[Value]) -> Past {
    Past::of(&log(events)).expect("it is readable")
}

/// The weights of one model of this machine.
#[derive(Debug)]
struct OneModel(&'static str);

impl crate::Weights for OneModel {
    fn of(&self, model: &str) -> Option<String> {
        (model == "org/here").then(|| self.0.to_owned())
    }
}

#[test]
fn what_a_run_chose_must_have_the_weights_that_it_had() {
    let chosen = |task: u32, model: &str, weights: Option<&str>| {
        let chosen = json!({"id": model, "host": "local", "effective_task": "caption"});
        json!({"event": "model_chosen", "weights": weights, "selection": {"task": task, "chosen": chosen, "reason": ""}})
    };
    let check = |events: &[Value], now: Option<&'static str>, want: &[&str]| {
        let weights = now.map(|now| std::sync::Arc::new(OneModel(now)) as std::sync::Arc<dyn crate::Weights>);
        let meter = crate::Meter { weights, ..crate::Meter::default() };
        assert_eq!(meter.missing(&past(events)), want);
    };
    let plan = planned(&[(0, "caption", &[]), (1, "caption", &[])]);
    let open = [started(), plan.clone(), chosen(0, "org/here", Some("a1")), chosen(1, "org/far", None)];
    check(&open, Some("a1"), &[]);
    check(&open, Some("b2"), &["the revision of `org/here` was `a1`, and is `b2` here"]);
    check(&open, None, &["the revision of `org/here` was `a1`, and there is none here"]);
    // What it made is there, whatever made it.
    let done = [started(), plan, chosen(0, "org/here", Some("a1")), ended(0, "caption", "succeeded")];
    check(&done, Some("b2"), &[]);
}

fn started() -> Value {
    json!({"event": "run_started", "request": {"text": "go", "attachments": [], "history": []}, "planner": "llm", "model": "m"})
}

fn planned(tasks: &[(u32, &str, &[i64])]) -> Value {
    let task = |(id, task, dep): &(u32, &str, &[i64])| json!({"task": task, "id": id, "dep": dep, "args": {}});
    json!({"event": "plan", "plan": {"tasks": tasks.iter().map(task).collect::<Vec<_>>()}})
}

fn ended(id: u32, task: &str, status: &str) -> Value {
    let outcome = json!({"id": id, "task": task, "status": status, "args": {}, "selection": null, "attempts": [],
        "inference": "done", "error": null, "ms": 5});
    json!({"event": "task_finished", "outcome": outcome})
}

fn call(key: &str) -> Value {
    json!({"event": "model_call", "stage": "parse_task", "model": "m", "prompt_tokens": 3, "completion_tokens": 1, "ms": 2,
        "reply": "[]", "ok": true, "key": key})
}

fn asked(unknown: bool) -> Value {
    json!({"event": "approval_needed", "task": 0, "tool": "book", "effect": "writes", "arguments": {}, "sources": {},
        "unknown": unknown})
}

fn given(approved: bool, done: bool) -> Value {
    json!({"event": "approval_given", "id": 0, "tool": "book", "approved": approved, "done": done})
}

fn begun() -> Value {
    json!({"event": "task_started", "id": 0, "task": "book", "model": "book"})
}

#[test]
fn time_counts_while_it_ran_and_a_clock_that_is_set_back_gives_none_back() {
    let at = |mut event: Value, ms: u64| {
        event["at_ms"] = ms.into();
        event
    };
    // It ran for two seconds, lay for an hour, and ran for three more, while the clock went back in the middle.
    let events = [
        at(started(), 10_000),
        at(call("a"), 12_000),
        at(json!({"event": "resumed", "steps": 1, "ran_ms": 2_000}), 3_612_000),
        at(call("b"), 3_614_000),
        at(call("c"), 1_000),
        at(call("d"), 2_000),
    ];
    assert_eq!(past(&events).ran(), Duration::from_secs(5));
    // What calls took counts once, and a call that another run made counts there.
    let mut over = call("e");
    over["taken_over"] = true.into();
    assert_eq!(past(&[started(), call("a"), call("a"), over]).usage().total_calls(), 2);
}

#[test]
fn a_change_is_unknown_from_its_beginning_to_its_outcome_and_again_after_it_was_tried_again() {
    let cases: [(&str, Vec<Value>, bool); 6] = [
        ("never begun", vec![started()], false),
        ("begun", vec![started(), begun()], true),
        ("ended", vec![started(), begun(), ended(0, "book", "succeeded")], false),
        ("to be tried again", vec![started(), begun(), asked(true), given(true, false)], false),
        ("begun again", vec![started(), begun(), asked(true), given(true, false), begun()], true),
        ("said to be done", vec![started(), begun(), asked(true), given(true, true)], true),
    ];
    for (name, events, unknown) in cases {
        let mut past = past(&events);
        assert_eq!(past.take_begun(TaskId(0), Effect::Writes), unknown, "{name}");
        assert!(!past.take_begun(TaskId(0), Effect::Writes), "{name}: it is said once");
    }
    // What somebody said about it is found by whoever asks again, and no leave for the first call passes for it.
    let mut said = past(&[started(), asked(false), given(true, false), begun(), asked(true), given(true, true)]);
    assert!(said.take_leave(TaskId(0), "book", true).is_some_and(|leave| leave.done));
    assert!(said.take_leave(TaskId(0), "book", false).is_some_and(|leave| leave.approved && !leave.done));
    // A question is open until it is answered.
    assert_eq!(past(&[started(), asked(true)]).asked().count(), 1);
    assert_eq!(past(&[started(), asked(true), given(false, false)]).asked().count(), 0);
}

#[test]
fn what_was_told_is_not_told_again_and_another_plan_is_a_fault() {
    let mut told = past(&[
        started(),
        planned(&[(0, "find", &[-1])]),
        begun(),
        call("a"),
        given(true, false),
        ended(0, "find", "succeeded"),
    ]);
    assert_eq!(told.was_told(&started()), Ok(true));
    assert_eq!(told.was_told(&planned(&[(0, "find", &[-1])])), Ok(true));
    for again in [begun(), call("a"), given(true, false), ended(0, "find", "succeeded")] {
        assert_eq!(told.was_told(&again), Ok(false), "what happens again is told again: {again}");
    }
    assert_eq!(told.was_told(&planned(&[(0, "find", &[-1])])), Ok(false), "what is new is told");
    let mut other = past(&[started(), planned(&[(0, "find", &[-1])])]);
    assert!(other.was_told(&planned(&[(0, "search", &[-1])])).is_err());
}

#[test]
fn a_retry_takes_over_what_succeeded_before_and_beside() {
    let plan = planned(&[(0, "find", &[-1]), (1, "find", &[-1]), (2, "join", &[0, 1]), (3, "tell", &[2])]);
    let events = |last: &str| {
        log(&[
            started(),
            call("plan"),
            plan.clone(),
            ended(0, "find", "succeeded"),
            ended(1, "find", last),
            ended(2, "join", last),
            ended(3, "tell", last),
            call("answer"),
            json!({"event": "done", "ok": last == "succeeded", "ms": 9, "usage": {}}),
        ])
    };
    let retry = |last: &str, from: Option<u32>| {
        let past = Past::of(&events(last)).expect("it is readable");
        past.for_retry(RunId("old".into()), from.map(TaskId)).map(|past| {
            let mut kept: Vec<u32> = past.outcomes.keys().map(|id| id.0).collect();
            kept.sort_unstable();
            (kept, past.calls.contains_key("plan"), past.calls.contains_key("answer"))
        })
    };
    assert_eq!(retry("failed", None), Ok((vec![0], true, false)));
    assert_eq!(retry("succeeded", None), Err(NoRetry::NothingFailed));
    assert_eq!(retry("succeeded", Some(2)), Ok((vec![0, 1], true, false)));
    assert_eq!(retry("succeeded", Some(0)), Ok((vec![1], true, false)));
    assert_eq!(retry("succeeded", Some(9)), Err(NoRetry::NoTask(TaskId(9))));
}

#[test]
fn what_is_no_longer_kept_is_not_told_but_for_how_it_ends() {
    let (events, mut told) = Events::channel(RunId("r".into()));
    events.kept_in(std::sync::Arc::new(Memory::new()));
    events.note(Level::Info, "before");
    events.stop(NotWritten::Unknown("nobody knows".into()));
    events.note(Level::Info, "after");
    events.emit(EventKind::Error { code: "interrupted".into(), message: "stopped".into(), hint: None, ms: 1 });
    let told: Vec<_> = std::iter::from_fn(|| told.try_recv().ok()).map(|event| event.to_value()).collect();
    let told: Vec<_> = told.iter().map(|event| (&event["seq"], &event["event"])).collect();
    // Whoever goes on with the run counts on from the first.
    assert_eq!(told, [(&json!(0), &json!("note")), (&json!(1), &json!("error"))]);
}
