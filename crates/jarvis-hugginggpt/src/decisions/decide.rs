//! The flow: plan, map, choose, write down.

use std::sync::Arc;

use jarvis_engine::Events;
use jarvis_plan::Request;
use tokio_util::sync::CancellationToken;

use super::{Decision, DecisionError, Decisions};

impl Decisions {
    /// Decides for a request: plans it and chooses a model for every task. Told through `events`, ended by `done` or
    /// `error`.
    ///
    /// # Errors
    /// When there is no plan. A task that nobody can perform is no error.
    pub async fn decide(
        &self,
        _request: Arc<Request>,
        _events: &Events,
        _cancel: CancellationToken,
    ) -> Result<Decision, DecisionError> {
        Err(DecisionError::EmptyRequest)
    }
}
