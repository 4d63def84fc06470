//! Events in, tasks and what streams tell of them out.

use jarvis_plan::{Event, Level, Outcome, Resource, RunId, Status, TaskId, Thread, Usage};
use serde_json::json;

use super::*;

const RUN: &str = "0198-run";

fn telling() -> Telling {
    Telling::new(RUN, None, "http://here")
}

/// Takes events in order, and gives what each changed: the state it led to, or the artifact with whether it was appended and last.
fn told(telling: &mut Telling, events: Vec<EventKind>) -> Vec<Value> {
    let take = |(seq, kind): (usize, EventKind)| {
        let event = Event { run_id: RunId(RUN.into()), seq: seq as u64, piece: 0, at_ms: 1_000 + seq as u64, kind };
        Some(match telling.take(&Frame::of(&event))? {
            Payload::StatusUpdate(update) => {
                let status = update.status.expect("a status");
                let words = status.message.as_ref().map(|message| words(&message.parts)).unwrap_or_default();
                json!([status.state().as_str_name(), words])
            }
            Payload::ArtifactUpdate(update) => {
                let artifact = update.artifact.expect("an artifact");
                json!([artifact.artifact_id, words(&artifact.parts), update.append, update.last_chunk])
            }
            other => panic!("{other:?}"),
        })
    };
    events.into_iter().enumerate().filter_map(take).collect()
}

fn words(parts: &[Part]) -> String {
    let word = |part: &Part| match &part.content {
        Some(Content::Text(text)) => text.clone(),
        Some(Content::Url(url)) => format!("<{url}>"),
        Some(Content::Data(_)) => "{}".to_owned(),
        other => panic!("{other:?}"),
    };
    parts.iter().map(word).collect::<Vec<_>>().join("|")
}

fn started(thread: Option<Thread>) -> EventKind {
    let source = Source::Public("/images/1.png".to_owned());
    let attachments = vec![Resource { kind: jarvis_plan::Kind::Image, source, name: Some("cat.png".to_owned()) }];
    let request = Request { thread: thread.map(Box::new), attachments, ..Request::new("look at /images/1.png") };
    EventKind::run_started("hugginggpt", request, None)
}

fn token(text: &str) -> EventKind {
    EventKind::Token { text: text.into() }
}

fn answered(text: &str) -> EventKind {
    EventKind::Answer { answer: Answer { text: text.into(), ..Answer::default() } }
}

fn done(ok: bool, cancelled: bool) -> EventKind {
    EventKind::Done { ok, cancelled, usage: Usage::default(), ms: 1 }
}

fn asked(task: u32) -> Approval {
    let (arguments, sources) = Default::default();
    let effect = jarvis_plan::Effect::Writes;
    Approval {
        task: TaskId(task),
        tool: "book".into(),
        effect,
        arguments,
        each: false,
        unknown: false,
        sources,
        place: None,
    }
}

fn given(task: u32, approved: bool) -> EventKind {
    let (answer, arguments) = (None, None);
    EventKind::ApprovalGiven {
        id: TaskId(task),
        tool: "book".into(),
        approved,
        answer,
        arguments,
        always: false,
        done: false,
    }
}

#[test]
fn the_request_is_the_first_message_and_its_conversation_the_context() {
    for (thread, context, message) in [
        (None, RUN, "0198-run.0"),
        (Some(Thread { id: String::new(), message: "m".into() }), RUN, "m"),
        (Some(Thread { id: "c".into(), message: "m".into() }), "c", "m"),
    ] {
        let mut telling = telling();
        assert_eq!(telling.state(), TaskState::Submitted);
        told(&mut telling, vec![started(thread)]);
        let task = telling.task(None, true);
        assert_eq!((task.context_id.as_str(), telling.state()), (context, TaskState::Working));
        let said = &task.history[0];
        assert_eq!((said.message_id.as_str(), said.context_id.as_str(), said.role()), (message, context, Role::User));
        assert_eq!(words(&said.parts), "look at cat.png|<http://here/images/1.png>");
        assert_eq!(said.parts[1].media_type, "image/png");
    }
}

#[test]
fn whoever_reads_the_pieces_of_an_answer_has_it_whole_and_once() {
    for (events, want) in [
        (vec![answered("All.")], vec![json!(["answer", "All.", false, true])]),
        (
            vec![token("It"), token(" is"), answered("It is so.")],
            vec![
                json!(["answer", "It", false, false]),
                json!(["answer", " is", true, false]),
                json!(["answer", " so.", true, true]),
            ],
        ),
        // It broke off and was written anew.
        (
            vec![token("It"), answered("No.")],
            vec![json!(["answer", "It", false, false]), json!(["answer", "No.", false, true])],
        ),
    ] {
        let mut telling = telling();
        assert_eq!(told(&mut telling, events), want);
        let task = telling.task(None, true);
        assert_eq!(task.artifacts.len(), 1);
        let whole = words(&task.artifacts[0].parts);
        assert!(["All.", "It is so.", "No."].contains(&whole.as_str()), "{whole}");
    }
}

#[test]
fn results_are_artifacts_with_their_files() {
    let outcome = |status, output| Outcome {
        made_up_for: false,
        id: TaskId(0),
        task: "image-to-image".to_owned(),
        status,
        args: Default::default(),
        selection: None,
        attempts: Vec::new(),
        output,
        error: None,
        notes: Vec::new(),
        ms: 1,
    };
    let made = outcome(Status::Succeeded, Some(json!({"generated image": "/images/2.png"})));
    let failed = outcome(Status::Failed, None);
    let finished = |outcome: &Outcome| EventKind::TaskFinished { outcome: Box::new(outcome.clone()) };
    let mut telling = telling();
    let told = told(&mut telling, vec![finished(&made), finished(&failed)]);
    assert_eq!(told, [json!(["task-1", "{}|<http://here/images/2.png>", false, true])]);
    assert_eq!(telling.task(None, false).artifacts, []);
}

#[test]
fn a_task_waits_until_everything_is_answered() {
    let mut telling = telling();
    let needed = |task| EventKind::ApprovalNeeded { approval: asked(task) };
    let note = || EventKind::Note { level: Level::Info, message: "n".into() };
    let told =
        told(&mut telling, vec![started(None), needed(1), needed(2), note(), given(1, true), given(2, false), note()]);
    let states: Vec<&str> = told.iter().filter_map(|told| told[0].as_str()).collect();
    // What happens beside it is told to nobody who is asked.
    let (working, asks) = ("TASK_STATE_WORKING", "TASK_STATE_INPUT_REQUIRED");
    assert_eq!(states, [working, asks, asks, asks, working, working]);
    assert!(told[3][1].as_str().is_some_and(|words| words.contains("Task 3 calls `book`")), "{told:?}");
    let said: Vec<String> = telling.task(None, true).history.iter().map(|message| words(&message.parts)).collect();
    assert_eq!(said.len(), 5, "{said:?}");
    assert_eq!(said[3..], ["approve", "refuse"]);
    assert_eq!(telling.task(Some(2), true).history.len(), 2);
    assert_eq!(telling.task(Some(0), true).history, []);
}

#[test]
fn ends_are_told_as_what_they_are() {
    let error = |code: &str| {
        let (code, message) = (code.to_owned(), "it broke".to_owned());
        EventKind::Error { code, message, hint: Some("mend it".into()), ms: 1 }
    };
    for (event, state, words) in [
        (done(true, false), TaskState::Completed, ""),
        (done(false, false), TaskState::Failed, "no task succeeded; the answer says why"),
        (done(true, true), TaskState::Canceled, ""),
        (error("unavailable"), TaskState::Failed, "it broke; mend it"),
        (error("cancelled"), TaskState::Canceled, "it broke; mend it"),
    ] {
        let mut telling = telling();
        let told = told(&mut telling, vec![started(None), event]);
        assert_eq!(told[1], json!([state.as_str_name(), words]));
        assert!(telling.is_over());
        let at = telling.task(None, true).status.and_then(|status| status.timestamp);
        assert_eq!(at.map(Timestamp::as_ms), Some(1_001));
    }
}

#[test]
fn a_run_that_goes_on_in_another_process_waits_for_what_it_waited_for() {
    let resumed = || EventKind::Resumed { from: None, from_task: None, steps: 1, ran_ms: 1 };
    let needed = EventKind::ApprovalNeeded { approval: asked(1) };
    let mut telling = telling();
    let told = told(&mut telling, vec![started(None), resumed(), needed, resumed(), given(1, true)]);
    let states: Vec<&str> = told.iter().filter_map(|told| told[0].as_str()).collect();
    let (working, asks) = ("TASK_STATE_WORKING", "TASK_STATE_INPUT_REQUIRED");
    assert_eq!(states, [working, working, asks, asks, working]);
    assert_eq!(told[3], told[2], "the question is told again");
}
