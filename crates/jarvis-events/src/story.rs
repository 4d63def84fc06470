//! A run in the log and in its span, as its events tell it.

use jarvis_plan::EventKind;
use tracing::Span;

/// Tells an event to the log and to the span of its run.
pub(crate) fn tell(kind: &EventKind) {
    log(kind);
    mark(kind);
}

/// What the span of a run says of it.
fn mark(kind: &EventKind) {
    let run = Span::current();
    match kind {
        EventKind::RunStarted { pipeline, planner, .. } => {
            run.record("pipeline", pipeline).record("planner", planner);
        }
        EventKind::Done { cancelled: true, .. } => {
            run.record("error", "cancelled");
        }
        EventKind::Done { ok: false, .. } => {
            run.record("error", "not_done");
        }
        EventKind::Error { code, .. } => {
            run.record("error", code);
        }
        _ => {}
    }
}

/// The story of a run at the level `debug`. Pieces of the answer are no part of it; model calls are logged where they are made.
fn log(kind: &EventKind) {
    match kind {
        EventKind::Token { .. } | EventKind::ModelCall { .. } => {}
        EventKind::RunStarted { planner, model, .. } => tracing::debug!(planner, model, "run started"),
        EventKind::Plan { plan } => tracing::debug!(tasks = plan.tasks().len(), notes = plan.notes().len(), "planned"),
        EventKind::ModelChosen { selection, .. } => {
            tracing::debug!(id = %selection.task, model = selection.chosen.id, reason = selection.reason, "model chosen");
        }
        EventKind::TaskStarted { id, task, model } => tracing::debug!(%id, task, model, "task started"),
        EventKind::TaskAttempt { id, attempt } => {
            let error = attempt.error.as_ref().map(|error| error.message.as_str());
            tracing::debug!(%id, model = attempt.candidate.id, error, "attempt failed");
        }
        EventKind::TaskFinished { outcome } => {
            let (status, ms) = (outcome.status.as_str(), outcome.ms);
            tracing::debug!(id = %outcome.id, task = outcome.task, status, ms, "task finished");
        }
        EventKind::Action { step, tool, .. } => tracing::debug!(step, tool, "action"),
        EventKind::PlanGrew { round, tasks, .. } => tracing::debug!(round, tasks = tasks.len(), "plan grew"),
        EventKind::Budget { spent } => tracing::debug!("{spent}"),
        EventKind::Note { message, .. } => tracing::debug!("{message}"),
        EventKind::Done { ok, ms, .. } => tracing::debug!(ok, ms, "run ended"),
        EventKind::Error { code, message, ms, .. } => tracing::debug!(code, error = message, ms, "run failed"),
        EventKind::Resumed { steps, .. } => tracing::debug!(steps, "resumed"),
        EventKind::Queued { .. }
        | EventKind::Mapped { .. }
        | EventKind::ApprovalNeeded { .. }
        | EventKind::ApprovalGiven { .. }
        | EventKind::ExecutionConfig { .. }
        | EventKind::Thought { .. }
        | EventKind::Observation { .. }
        | EventKind::Answer { .. } => tracing::debug!("{}", kind.name()),
    }
}
