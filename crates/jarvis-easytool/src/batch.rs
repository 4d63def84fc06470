//! Many questions: several at once, each with its record in the log, until all are done or the run is stopped.

use std::future::Future;

use jarvis_batch::{Batch, Ended, Outcome, Summary, Watch};
use jarvis_chat::TokenUsage;
use jarvis_store::files::FileError;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::log::{LogFile, RestRecord, SolveRecord, StageCall, Status};

pub const TOOL_CALLS: &str = "tool_calls";

pub trait Recorded: Serialize {
    fn ended(&self) -> Ended;
}

impl Recorded for SolveRecord {
    fn ended(&self) -> Ended {
        ended(self.id, self.status, &self.stage_trace, self.calls.len(), &self.errors)
    }
}

impl Recorded for RestRecord {
    fn ended(&self) -> Ended {
        ended(self.id, self.status, &self.stage_trace, self.calls.len(), &self.errors)
    }
}

fn ended(id: u64, status: Status, stages: &[StageCall], tool_calls: usize, errors: &[String]) -> Ended {
    Ended {
        id: id.to_string(),
        outcome: match status {
            Status::Succeeded => Outcome::Done,
            Status::Partial => Outcome::Partial,
            Status::Failed => Outcome::Failed,
        },
        message: errors.join("; "),
        kind: None,
        hopeless: status == Status::Failed && !stages.is_empty() && stages.iter().all(|call| call.hopeless),
        calls: stages.len(),
        usage: TokenUsage {
            prompt: stages.iter().map(|call| call.prompt_tokens).sum(),
            completion: stages.iter().map(|call| call.completion_tokens).sum(),
            ..TokenUsage::default()
        },
        counts: vec![(TOOL_CALLS, tool_calls)],
    }
}

/// Answers the questions that the log does not have yet, at most `at_once` at the same time. When `stop` is cancelled,
/// questions under way are dropped and the summary says what is left.
///
/// # Errors
/// When the log cannot be written. What went wrong with a question is in its record.
pub async fn run<Q, R, F>(
    questions: Vec<(u64, Q)>,
    at_once: usize,
    answer: impl Fn(u64, Q) -> F,
    log: &mut LogFile,
    watch: &dyn Watch,
    stop: &CancellationToken,
) -> Result<Summary, FileError>
where
    R: Recorded,
    F: Future<Output = R>,
{
    let all = questions.len();
    let pending: Vec<(u64, Q)> = questions.into_iter().filter(|(id, _)| !log.done().contains(id)).collect();
    let mut batch = Batch::begin(all, pending.len(), Vec::new(), watch, stop);
    let work = |(id, question)| {
        let answered = answer(id, question);
        async move { (id, answered.await) }
    };
    let keep = |(id, record): (u64, R), _: &Summary| log.write(id, &record).map(|()| record.ended());
    batch.run(pending, at_once, work, keep).await?;
    Ok(batch.end())
}

#[cfg(test)]
mod tests;
