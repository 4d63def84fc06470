//! Runs that are carried out elsewhere, by a system that several servers share. A run that this server has nothing on record of is
//! told and cancelled there.

use async_trait::async_trait;
use futures::stream::BoxStream;
use jarvis_plan::RunId;
use serde_json::Value;

/// Why something cannot be said to a run elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotSaid {
    /// There is no such run.
    Unknown,
    /// The place does not answer.
    Away(String),
}

/// Where runs are carried out that every server can tell of.
#[async_trait]
pub trait Elsewhere: Send + Sync {
    /// The events of a run from its beginning, as they come, in the JSON of [`jarvis_plan::Event`].
    ///
    /// # Errors
    /// When there is no such run, or the place does not answer.
    async fn events(&self, run: &RunId) -> Result<BoxStream<'static, Value>, NotSaid>;

    /// Cancels a run.
    ///
    /// # Errors
    /// Why it cannot be said.
    async fn cancel(&self, run: &RunId) -> Result<(), NotSaid>;
}
