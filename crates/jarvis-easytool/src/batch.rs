//! Many questions: several at once, each with its record in the log, until all are done or the run is stopped.

use std::future::Future;
use std::time::Instant;

use futures::stream::{self, StreamExt};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::log::{LogFile, LogFileError, RestRecord, SolveRecord, StageCall, Status};

/// So many questions in a row from the first on without any reply of the model end a run: every further one would end so.
const HOPELESS: usize = 3;

/// A record, as far as a batch looks at it.
pub trait Recorded: Serialize {
    /// The question's number.
    fn id(&self) -> u64;
    /// How it ended.
    fn status(&self) -> Status;
    /// Every call of the model.
    fn stages(&self) -> &[StageCall];
    /// How many calls of tools there were.
    fn calls(&self) -> usize;
    /// What went wrong on the way.
    fn errors(&self) -> &[String];
}

macro_rules! recorded {
    ($($record:ty),*) => {$(
        impl Recorded for $record {
            fn id(&self) -> u64 {
                self.id
            }

            fn status(&self) -> Status {
                self.status
            }

            fn stages(&self) -> &[StageCall] {
                &self.stage_trace
            }

            fn calls(&self) -> usize {
                self.calls.len()
            }

            fn errors(&self) -> &[String] {
                &self.errors
            }
        }
    )*};
}

recorded!(SolveRecord, RestRecord);

/// Sees a run. Called from the task that runs it: it must not block.
pub trait Watch: Send + Sync {
    /// A question has ended.
    fn ended(&self, _summary: &Summary, _id: u64, _status: Status, _errors: &[String]) {}
}

/// Sees nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Watch for Quiet {}

/// How a run ended, or how far it is.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Summary {
    /// Questions of the run.
    pub questions: usize,
    /// Those that were in the log before.
    pub already: usize,
    /// Those whose every subtask has an accepted answer.
    pub succeeded: usize,
    /// Those answered although something failed.
    pub partial: usize,
    /// Those without an answer.
    pub failed: usize,
    /// Those not asked to the end.
    pub left: usize,
    /// Whether the run was stopped.
    pub interrupted: bool,
    /// Whether it stopped by itself, since nobody answered.
    pub gave_up: bool,
    /// Calls of the model.
    pub model_calls: usize,
    /// Calls of tools.
    pub tool_calls: usize,
    /// Tokens sent, as the endpoint reported them.
    pub prompt_tokens: u64,
    /// Tokens received.
    pub completion_tokens: u64,
    /// How long the run took, in seconds.
    pub seconds: f64,
}

impl Summary {
    /// True when every question has an answer.
    pub fn is_complete(&self) -> bool {
        self.failed == 0 && self.left == 0
    }

    fn count(&mut self, record: &impl Recorded) {
        match record.status() {
            Status::Succeeded => self.succeeded += 1,
            Status::Partial => self.partial += 1,
            Status::Failed => self.failed += 1,
        }
        self.left = self.left.saturating_sub(1);
        self.model_calls += record.stages().len();
        self.tool_calls += record.calls();
        self.prompt_tokens += record.stages().iter().map(|call| call.prompt_tokens).sum::<u64>();
        self.completion_tokens += record.stages().iter().map(|call| call.completion_tokens).sum::<u64>();
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
) -> Result<Summary, LogFileError>
where
    R: Recorded,
    F: Future<Output = R>,
{
    let since = Instant::now();
    let all = questions.len();
    let pending: Vec<(u64, Q)> = questions.into_iter().filter(|(id, _)| !log.done().contains(id)).collect();
    let mut summary =
        Summary { questions: all, already: all - pending.len(), left: pending.len(), ..Summary::default() };
    let mut hopeless = 0;
    {
        let asked = stream::iter(pending).map(|(id, question)| answer(id, question)).buffer_unordered(at_once.max(1));
        let mut asked = std::pin::pin!(asked);
        loop {
            let record = tokio::select! {
                biased;
                () = stop.cancelled() => {
                    summary.interrupted = true;
                    break;
                }
                record = asked.next() => record,
            };
            let Some(record) = record else { break };
            log.write(record.id(), &record)?;
            summary.count(&record);
            watch.ended(&summary, record.id(), record.status(), record.errors());
            // Once the model has said anything, later silence is a passing trouble.
            hopeless = match record.stages().iter().any(|call| call.parsed.is_some() || call.prompt_tokens > 0) {
                true => usize::MAX,
                false if hopeless == usize::MAX => hopeless,
                false if record.status() == Status::Failed => hopeless + 1,
                false => hopeless,
            };
            if hopeless == HOPELESS {
                summary.gave_up = true;
                break;
            }
        }
    }
    summary.seconds = since.elapsed().as_secs_f64();
    Ok(summary)
}

#[cfg(test)]
mod tests;
