//! Semantic mapping: which known task an unknown task name means.

use jarvis_chat::ChatModel;
use jarvis_engine::Events;
use jarvis_plan::{Plan, Request};

use super::{DecisionError, Decisions, Mapped};
use crate::source::Tasks;

/// Maps the task names of a plan that the vocabulary does not know (those with [`jarvis_plan::Fault::UnknownTask`]).
/// Names that stay unknown are told with a note and are not in the result. `chat` is the chat model to ask, its prompts
/// written down when that is wanted; the events `mapped` are told by the caller.
pub(super) async fn map(
    _decisions: &Decisions,
    _chat: Option<&dyn ChatModel>,
    _plan: &Plan,
    _tasks: &Tasks,
    _request: &Request,
    _events: &Events,
) -> Result<Vec<Mapped>, DecisionError> {
    Ok(Vec::new())
}
