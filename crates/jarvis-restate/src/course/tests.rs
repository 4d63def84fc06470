//! Plans and reports in, steps out.

use jarvis_engine::ByOutput;
use jarvis_plan::{Effect, Plan, Selection, Vocabulary};
use serde_json::json;

use super::*;
use crate::contract::Planned;

/// A plan in lines: `name tool needs…`, `!` before the name of one that changes something, `|` between candidates.
fn planned(text: &str) -> Vec<PlannedTask> {
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let mut builder = Plan::builder();
    for row in &rows {
        let name = row[0].trim_start_matches('!');
        let needs = row[2..].iter().map(|need| ((*need).to_owned(), json!(jarvis_plan::out(need)))).collect();
        builder = builder.named(name, row[1].split('|').next().unwrap_or_default(), [], Value::Object(needs));
    }
    let tools = rows.iter().filter_map(|row| row[1].split('|').next());
    let plan = builder.check(&Vocabulary::named(tools)).expect("a valid plan");
    let mut rows = rows.iter();
    Planned::with(&plan, |task| {
        let row = rows.next().expect("a row for each task");
        let mut candidates = row[1].split('|').map(Candidate::tool);
        let selection = Selection {
            task: task.id,
            chosen: candidates.next().expect("one at least"),
            fallbacks: candidates.collect(),
            reason: String::new(),
            notes: Vec::new(),
        };
        let effect = if row[0].starts_with('!') { Effect::Writes } else { Effect::Reads };
        PlannedTask::new(task, effect, Some(selection))
    })
    .tasks
}

/// What comes back for a step: an output, an error, or that it is unknown.
fn report(what: &str) -> Report {
    let result = match what {
        "ok" => Tried::Output(json!("ok")),
        "gone" => Tried::Unknown,
        "down" => Tried::Failed(TaskError::new(ErrorCode::Unavailable, "down")),
        other => Tried::Failed(TaskError::new(ErrorCode::InvalidInput, other)),
    };
    Report { result, events: Vec::new(), ms: 1, at_ms: 1 }
}

/// The steps that may be taken now, as `call 0 tool` and `ask 0`.
fn steps(course: &mut Course) -> Vec<String> {
    let mut steps = Vec::new();
    while let Some(step) = course.step() {
        steps.push(match step {
            Step::Call { id, candidate, .. } => format!("call {id} {}", candidate.id),
            Step::Ask { id, question: Question::Approval, .. } => format!("ask {id}"),
            Step::Ask { id, question: Question::Arrived, .. } => format!("arrived {id}"),
            Step::Ask { id, question: Question::Person, .. } => format!("person {id}"),
        });
    }
    steps
}

/// Tells a course what happened, line by line, and checks what it wants after each.
fn check(concurrency: usize, plan: &str, lines: &[(&str, &[&str])], ended: &[&str]) {
    let mut course = Course::new(&ByOutput, concurrency, 2);
    course.add(planned(plan));
    for (told, expected) in lines {
        let words: Vec<&str> = told.split(' ').collect();
        match words.as_slice() {
            [id, "approve"] => {
                course.decided(TaskId(id.parse().expect("an id")), Decision::Approve { args: None, always: false })
            }
            [id, "refuse"] => course.decided(TaskId(id.parse().expect("an id")), Decision::Refuse { reason: None }),
            [id, "retry"] => course.decided(TaskId(id.parse().expect("an id")), Decision::Retry),
            [id, what] => course.reported(TaskId(id.parse().expect("an id")), report(what)),
            _ => {}
        }
        assert_eq!(steps(&mut course), *expected, "after `{told}` of\n{plan}");
    }
    let outcomes: Vec<String> =
        course.outcomes().map(|outcome| format!("{} {}", outcome.id, outcome.status.as_str())).collect();
    assert_eq!(outcomes, ended, "of\n{plan}");
}

#[test]
fn tasks_start_in_ascending_order_when_there_is_room() {
    check(
        2,
        "x a\ny a\nz a\nw a x y",
        &[
            ("", &["call 0 a", "call 1 a"]),
            ("1 ok", &["call 2 a"]),
            ("2 ok", &[]),
            ("0 ok", &["call 3 a"]),
            ("3 ok", &[]),
        ],
        &["0 succeeded", "1 succeeded", "2 succeeded", "3 succeeded"],
    );
}

#[test]
fn candidates_follow_each_other_and_dependants_are_skipped() {
    check(
        8,
        "x a|b|c\ny a\nz a y",
        &[
            ("", &["call 0 a", "call 1 a"]),
            ("0 down", &["call 0 b"]),
            ("1 wrong", &[]),
            ("0 down", &["call 0 c"]),
            ("0 down", &[]),
        ],
        &["0 failed", "1 failed", "2 skipped"],
    );
}

#[test]
fn what_changes_something_waits_for_all_before_it_and_for_leave() {
    check(
        8,
        "x a\n!w a\n!v a\nz a",
        &[
            ("", &["call 0 a", "call 3 a"]),
            ("3 ok", &[]),
            ("0 ok", &["ask 1"]),
            ("1 approve", &["call 1 a"]),
            ("1 gone", &["arrived 1"]),
            ("1 retry", &["call 1 a"]),
            ("1 ok", &["ask 2"]),
            ("2 refuse", &[]),
        ],
        &["0 succeeded", "1 succeeded", "2 failed", "3 succeeded"],
    );
    // One that may have arrived has no second try, and nothing after it is changed.
    check(
        8,
        "!w a|b\n!v a",
        &[("", &["ask 0"]), ("0 approve", &["call 0 a"]), ("0 down", &[])],
        &["0 failed", "1 skipped"],
    );
}

#[test]
fn what_nobody_serves_is_not_called() {
    let mut course = Course::new(&ByOutput, 8, 2);
    course.served(["b".to_owned()].into());
    course.add(planned("x a|b\ny a\nz a y"));
    assert_eq!(steps(&mut course), ["call 0 b"]);
    let outcomes: Vec<&str> = course.outcomes().map(|outcome| outcome.status.as_str()).collect();
    assert_eq!(outcomes, ["failed", "skipped"]);
}

#[test]
fn tasks_that_cannot_run_end_at_once_each_with_its_own_fault() {
    let mut course = Course::new(&ByOutput, 1, 2);
    let mut tasks = planned("x a\n!y a\n!z a\nw a z");
    for planned in &mut tasks[..3] {
        planned.fault = Some(TaskError::new(ErrorCode::MissingArgument, format!("{} is missing", planned.task.id)));
    }
    course.add(tasks);
    assert!(steps(&mut course).is_empty());
    let ended = course.outcomes().map(|outcome| outcome.error.as_ref().map(|error| error.code));
    use ErrorCode::{MissingArgument, NoOutput};
    assert_eq!(ended.collect::<Vec<_>>(), [MissingArgument, MissingArgument, MissingArgument, NoOutput].map(Some));
}

#[test]
fn an_end_from_outside_leaves_no_task_out() {
    let mut course = Course::new(&ByOutput, 1, 2);
    course.add(planned("x a\ny a\n!w a"));
    assert_eq!(steps(&mut course), ["call 0 a"]);
    course.end(Status::Cancelled, ErrorCode::Cancelled, "cancelled");
    assert!(steps(&mut course).is_empty());
    assert!(course.outcomes().all(|outcome| outcome.status == Status::Cancelled));
    assert_eq!(course.outcomes().count(), 3);
}
