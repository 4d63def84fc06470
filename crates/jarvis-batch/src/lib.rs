//! Many items, several at once, that can be killed at any moment and gone on with.
//!
//! [`Log`] is the file of results: a whole line for each item, from which a later run knows what is done. [`Batch`] works
//! through the items that it lacks, counts how they end, informs a [`Watch`], and stops when it is cancelled or when the
//! endpoint does not answer.

mod log;
mod watch;

use std::time::Instant;

use futures::stream::{self, Stream, StreamExt};
use jarvis_chat::ChatError;
use tokio_util::sync::CancellationToken;

pub use log::Log;
pub use watch::{Begun, Ended, Outcome, Summary, Watch};

/// How many items in a row, from the first on, may fail for a [hopeless](is_hopeless) reason before a run gives up. The chat
/// client has repeated each call by then, and the next thousands would take as long.
pub const HOPELESS: usize = 3;

/// Whether every other call would fail for the same reason: the endpoint is unreachable, refuses the credentials or does
/// not know the model, or the client is misconfigured.
pub fn is_hopeless(error: &ChatError) -> bool {
    match error {
        ChatError::Unreachable { .. }
        | ChatError::Unauthorized { .. }
        | ChatError::Config(_)
        | ChatError::Budget(_)
        | ChatError::Stopped(_) => true,
        ChatError::Api { status, .. } => *status == 404,
        ChatError::Timeout { .. }
        | ChatError::RateLimited { .. }
        | ChatError::BadReply { .. }
        | ChatError::ReplayMiss { .. }
        | ChatError::Recording { .. } => false,
    }
}

/// A run over many items.
pub struct Batch<'a> {
    watch: &'a dyn Watch,
    stop: &'a CancellationToken,
    summary: Summary,
    /// Hopeless failures since the start; `None` once an item ended in any other way, since later silence passes.
    hopeless: Option<usize>,
    since: Instant,
}

impl<'a> Batch<'a> {
    /// A run over `items`, of which `pending` are not done yet. `notes` say what is odd about the files.
    pub fn begin(
        items: usize,
        pending: usize,
        notes: Vec<String>,
        watch: &'a dyn Watch,
        stop: &'a CancellationToken,
    ) -> Batch<'a> {
        let already = items.saturating_sub(pending);
        watch.begun(&Begun { pending, already, notes });
        let summary = Summary { items, already, left: pending, ..Summary::default() };
        Batch { watch, stop, summary, hopeless: Some(0), since: Instant::now() }
    }

    /// Works on at most `at_once` items at the same time. `keep` writes down each result as it comes, in the order in which
    /// the items end, and sees how far the run was before. When the run is stopped, items under way are dropped.
    ///
    /// # Errors
    /// The first error of `keep`.
    pub async fn run<I, F: Future, E>(
        &mut self,
        items: impl IntoIterator<Item = I>,
        at_once: usize,
        work: impl FnMut(I) -> F,
        keep: impl FnMut(F::Output, &Summary) -> Result<Ended, E>,
    ) -> Result<(), E> {
        self.drain(stream::iter(items).map(work).buffer_unordered(at_once.max(1)), keep).await
    }

    /// The same for results that come from elsewhere.
    ///
    /// # Errors
    /// The first error of `keep`.
    pub async fn drain<R, E>(
        &mut self,
        results: impl Stream<Item = R>,
        mut keep: impl FnMut(R, &Summary) -> Result<Ended, E>,
    ) -> Result<(), E> {
        let mut results = std::pin::pin!(results);
        while !self.summary.gave_up {
            let result = tokio::select! {
                biased;
                () = self.stop.cancelled() => {
                    self.summary.interrupted = self.summary.left > 0;
                    break;
                }
                result = results.next() => result,
            };
            let Some(result) = result else { break };
            let ended = keep(result, &self.summary)?;
            self.count(&ended);
        }
        Ok(())
    }

    fn count(&mut self, ended: &Ended) {
        let summary = &mut self.summary;
        summary.count(ended);
        self.hopeless = self.hopeless.filter(|_| ended.hopeless).map(|so_far| so_far + 1);
        summary.gave_up = summary.left > 0 && self.hopeless.is_some_and(|hopeless| hopeless >= HOPELESS);
        summary.seconds = self.since.elapsed().as_secs_f64();
        self.watch.ended(summary, ended);
    }

    /// How far the run is.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// How the run ended.
    pub fn end(mut self) -> Summary {
        self.summary.seconds = (self.since.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
        self.summary
    }
}

#[cfg(test)]
mod tests;
