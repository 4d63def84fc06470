//! Runs that have ended.

use std::time::Instant;

use jarvis_catalogue::TaskOutput;
use jarvis_events::Events;
use jarvis_plan::{Answer, ErrorCode, EventKind, NoteKind, Outcome, Plan, Spent, Task, TaskError, TaskId};

use crate::RunError;

/// A run that ended with an answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// The plan; empty for conversation.
    pub plan: Plan,
    /// How each task ended, in ascending id.
    pub outcomes: Vec<Outcome>,
    /// The answer.
    pub answer: Answer,
    /// Whether the request was answered as conversation, without tasks.
    pub conversation: bool,
    /// What was asked for and was not done, a sentence each without a full stop.
    pub not_done: Vec<String>,
    /// Whether the run was cancelled. Outcomes and answer then cover what was done before.
    pub cancelled: bool,
    /// How often it was looked at and planned on.
    pub rounds: u32,
    /// What the planner asks the person, where nobody answered: the run goes on with the answer as another request.
    pub question: Option<String>,
    /// The bound of the budget that is used up, where something was not started for it.
    pub spent: Option<Spent>,
}

impl Run {
    /// Whether the request was carried out: nothing of it was left undone, and at least one task succeeded or it was answered
    /// in conversation.
    pub fn ok(&self) -> bool {
        let done = self.conversation || !self.answer.calls.is_empty() || self.outcomes.iter().any(Outcome::succeeded);
        !self.cancelled && self.question.is_none() && self.spent.is_none() && self.not_done.is_empty() && done
    }

    /// Why the run is not ok, as a stable word.
    pub fn reason(&self) -> Option<&'static str> {
        if self.ok() {
            None
        } else if self.cancelled {
            Some("cancelled")
        } else if self.spent.is_some() {
            Some("budget")
        } else if self.question.is_some() {
            Some("question")
        } else if self.outcomes.is_empty() {
            Some("no_plan")
        } else if self.outcomes.iter().any(Outcome::succeeded) {
            Some("partial")
        } else {
            Some("failed")
        }
    }
}

/// Emits the last events of a run that began at `began`: its answer and [`EventKind::Done`], or [`EventKind::Error`].
///
/// # Errors
/// `ended` is returned as it is, unless the run was stopped because its steps cannot be kept.
pub fn report_end(mut ended: Result<Run, RunError>, events: &Events, began: Instant) -> Result<Run, RunError> {
    if let Err(why) = events.going() {
        ended = Err(RunError::Stopped(why));
    }
    if let Ok(run) = &mut ended {
        run.spent = events.refused();
    }
    match &ended {
        Ok(run) => {
            let ms = began.elapsed().as_millis() as u64;
            events.emit(EventKind::Answer { answer: run.answer.clone() });
            events.emit(EventKind::Done { ok: run.ok(), cancelled: run.cancelled, usage: events.usage(), ms });
        }
        Err(error) => events.emit(error.event(began)),
    }
    ended
}

/// What a plan leaves undone whatever its tasks do: its tasks with faults, and what was left out of it, a sentence each.
pub fn unplanned(plan: &Plan) -> Vec<String> {
    unplanned_but(plan, &[])
}

fn unplanned_but(plan: &Plan, made_up: &[TaskId]) -> Vec<String> {
    let open = plan.tasks().iter().filter(|task| !made_up.contains(&task.id));
    let faulty = open.filter(|task| !task.faults.is_empty()).map(|task| {
        let faults: Vec<String> = task.faults.iter().map(ToString::to_string).collect();
        format!("task {} (`{}`): {}", task.id.number(), task.task, faults.join("; "))
    });
    let left_out = plan.notes().iter().filter(|note| note.kind == NoteKind::LeftOut).map(|note| note.text.clone());
    faulty.chain(left_out).collect()
}

/// What a run did not do, a sentence each: [`unplanned`], the tasks that did not succeed, in their order, and the parts of
/// their work that tasks say they left undone.
pub fn not_done(plan: &Plan, outcomes: &[Outcome]) -> Vec<String> {
    let is_faulty = |id: TaskId| plan.task(id).is_some_and(|task| !task.faults.is_empty());
    let open = outcomes.iter().filter(|outcome| !outcome.succeeded() && !outcome.made_up_for);
    let failed = open.filter(|outcome| !is_faulty(outcome.id)).map(in_words);
    let succeeded = outcomes.iter().filter(|outcome| outcome.succeeded());
    let parts = succeeded.flat_map(|outcome| {
        let parts = TaskOutput::of(outcome).map(|output| output.not_done()).unwrap_or_default();
        parts.into_iter().map(|part| format!("task {} (`{}`): {part}", outcome.id.number(), outcome.task))
    });
    let made_up: Vec<TaskId> =
        outcomes.iter().filter(|outcome| outcome.made_up_for).map(|outcome| outcome.id).collect();
    unplanned_but(plan, &made_up).into_iter().chain(failed).chain(parts).collect()
}

/// What was to change something and did not, a sentence each: `changes` says whether a task does. A call that failed and was
/// made again later, as an agent does that corrects its arguments, is done.
pub fn unchanged(plan: &Plan, outcomes: &[Outcome], changes: impl Fn(&Task) -> bool) -> Vec<String> {
    let is_open = |outcome: &&Outcome| {
        let made_up_for = |later: &Outcome| later.id > outcome.id && later.task == outcome.task && later.succeeded();
        !outcome.succeeded() && plan.task(outcome.id).is_some_and(&changes) && !outcomes.iter().any(made_up_for)
    };
    outcomes.iter().filter(is_open).map(in_words).collect()
}

/// Why a task did not succeed; what was not allowed says how it would be.
fn in_words(outcome: &Outcome) -> String {
    let why = match &outcome.error {
        None => outcome.status.as_str().to_owned(),
        Some(TaskError { code: ErrorCode::NotApproved, message, hint: Some(hint) }) => format!("{message}; {hint}"),
        Some(_) => outcome.failure().unwrap_or_default(),
    };
    format!("task {} (`{}`): {why}", outcome.id.number(), outcome.task)
}
