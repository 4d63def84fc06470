//! Runs that have ended.

use std::time::Instant;

use jarvis_catalogue::TaskOutput;
use jarvis_events::Events;
use jarvis_plan::{Answer, AnswerResource, EventKind, Outcome, Plan};

use crate::RunError;

/// A run that ended with an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The plan; empty for conversation.
    pub plan: Plan,
    /// How each task ended, in ascending id.
    pub outcomes: Vec<Outcome>,
    /// The answer.
    pub answer: Answer,
    /// Whether the request was answered as conversation, without tasks.
    pub conversation: bool,
    /// Whether the run was cancelled. Outcomes and answer then cover what was done before.
    pub cancelled: bool,
}

impl Run {
    /// Whether the answer rests on something: conversation, or at least one task that succeeded.
    pub fn ok(&self) -> bool {
        !self.cancelled && (self.conversation || self.outcomes.iter().any(Outcome::succeeded))
    }
}

/// Emits the last events of a run that began at `began`: its answer and [`EventKind::Done`], or [`EventKind::Error`].
///
/// # Errors
/// `ended` is returned as it is.
pub fn report_end(ended: Result<Run, RunError>, events: &Events, began: Instant) -> Result<Run, RunError> {
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

/// The files that tasks made, in task order, without repeats.
pub fn resources(outcomes: &[Outcome]) -> Vec<AnswerResource> {
    let mut found: Vec<AnswerResource> = Vec::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.succeeded()) {
        for output in TaskOutput::of(outcome).iter().flat_map(TaskOutput::outputs) {
            let Some(url) = output.url() else { continue };
            if !found.iter().any(|resource| resource.url == url) {
                found.push(AnswerResource { kind: output.kind(), url: url.to_owned(), from: outcome.id });
            }
        }
    }
    found
}
