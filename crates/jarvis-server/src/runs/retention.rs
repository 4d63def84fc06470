//! What goes by itself: runs, files that nothing speaks of, and logs that have been kept for long enough or take too much.

use std::sync::Arc;
use std::time::Duration;

use jarvis_store::{Prune, Sweep};

use super::now_ms;
use crate::state::Server;

/// Files that were stored so shortly ago may be those of a request that has not begun.
const GRACE: Duration = Duration::from_secs(60 * 60);

impl Server {
    /// Removes what has been kept for long enough.
    pub(crate) async fn prune(&self) {
        if let Some(prune_logs) = self.parts.prune_logs.clone()
            && let Err(error) = tokio::task::spawn_blocking(move || prune_logs()).await
        {
            tracing::error!(%error, "old logs could not be removed");
        }
        if let Err(error) = self.prune_runs().await {
            tracing::error!(error = error.fields.message, "what is old could not be removed");
        }
    }

    async fn prune_runs(&self) -> Result<(), crate::error::ApiError> {
        let Some(journal) = &self.parts.journal else { return Ok(()) };
        let (runs, media) = (self.options.keep, self.options.keep_media);
        if runs.is_bounded() {
            let before_ms =
                runs.time.map(|keep| now_ms().saturating_sub(u64::try_from(keep.as_millis()).unwrap_or(u64::MAX)));
            let prune = Prune { before_ms, most_bytes: runs.bytes, grace: GRACE, ..Prune::default() };
            let pruned = self.remove_runs(prune).await?;
            if pruned.runs > 0 {
                tracing::info!(runs = pruned.runs, files = pruned.media.len(), "old runs were removed");
            }
        }
        if media.is_bounded() {
            let spoken_of = self.spoken_of().await?;
            let sweep = Sweep { older: media.time, most_bytes: media.bytes, grace: GRACE, spoken_of, dry: false };
            let swept = journal.sweep(sweep, Arc::clone(&self.parts.media)).await?;
            swept.stuck.iter().for_each(|stuck| tracing::error!(stuck, "a file that nothing speaks of is still there"));
            if !swept.media.is_empty() {
                tracing::info!(
                    files = swept.media.len(),
                    bytes = swept.bytes,
                    "files that nothing speaks of were removed"
                );
            }
        }
        Ok(())
    }
}
