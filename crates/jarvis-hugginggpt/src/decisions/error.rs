//! Why there is no decision. Nothing here knows of HTTP.

use std::time::Duration;

use jarvis_ask::AskError;
use jarvis_chat::ChatError;
use jarvis_plan::{ErrorCode, TaskError};

use jarvis_pipeline::RunError;

/// Characters of a model's reply that an error quotes.
const QUOTED: usize = 400;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DecisionError {
    #[error("the request is empty")]
    EmptyRequest,
    #[error("the scenario cannot be used: {0}")]
    Scenario(String),
    #[error("the catalogue offers no tasks: {0}")]
    NoTasks(TaskError),
    /// A model call failed, and nothing can be decided without it.
    #[error("the model call of stage `{stage}` failed: {source}")]
    Model { stage: &'static str, source: ChatError },
    #[error("{0} needs a chat model")]
    NeedsModel(&'static str),
    #[error("cannot plan: {0}")]
    Planner(String),
    /// A prompt cannot be made from its template, or does not fit the model.
    #[error("cannot make the prompt of stage `{stage}`: {reason}")]
    Prompt { stage: &'static str, reason: String },
    #[error("the planner's reply is no plan: {reason}")]
    Unreadable { reason: String, reply: String },
    #[error("there was no decision within {} s", .after.as_secs())]
    Timeout { after: Duration },
    #[error("the request was cancelled")]
    Cancelled,
}

impl DecisionError {
    /// A reply that holds no plan; of a long one the start is kept.
    pub fn unreadable(reason: impl Into<String>, reply: &str) -> DecisionError {
        DecisionError::Unreadable { reason: reason.into(), reply: reply.chars().take(QUOTED).collect() }
    }

    /// A stable word.
    pub fn code(&self) -> &'static str {
        match self {
            DecisionError::EmptyRequest => "empty_request",
            DecisionError::Scenario(_) => "bad_scenario",
            DecisionError::NoTasks(_) => "no_tasks",
            DecisionError::Model { source, .. } => source.code().as_str(),
            DecisionError::NeedsModel(_) => ErrorCode::NotConfigured.as_str(),
            DecisionError::Planner(_) => "planner",
            DecisionError::Prompt { .. } => "prompt",
            DecisionError::Unreadable { .. } => "unreadable_plan",
            DecisionError::Timeout { .. } => ErrorCode::Timeout.as_str(),
            DecisionError::Cancelled => ErrorCode::Cancelled.as_str(),
        }
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            DecisionError::EmptyRequest => Some("say what you want".into()),
            DecisionError::Scenario(_) => {
                Some(r#"a scenario is {"objects-seen": ["…"], "sample-description": "…"}"#.into())
            }
            DecisionError::NoTasks(error) => error.hint.clone(),
            DecisionError::Model { source, .. } => source.hint().map(str::to_owned),
            DecisionError::NeedsModel(_) => Some("configure one (`llm.model`)".into()),
            DecisionError::Unreadable { .. } => {
                Some("use a larger model, or allow asking again (`planning.reask`)".into())
            }
            DecisionError::Timeout { .. } => Some("use a faster model, or fewer tasks".into()),
            DecisionError::Planner(_) | DecisionError::Prompt { .. } | DecisionError::Cancelled => None,
        }
    }
}

impl From<AskError> for DecisionError {
    fn from(error: AskError) -> DecisionError {
        match error {
            AskError::Unreadable { reason, reply, .. } => DecisionError::unreadable(reason, &reply),
            AskError::Prompt { .. } | AskError::TooLong { .. } | AskError::Model { .. } => RunError::from(error).into(),
        }
    }
}

impl From<RunError> for DecisionError {
    fn from(error: RunError) -> DecisionError {
        match error {
            RunError::Model { stage, source } => DecisionError::Model { stage, source },
            RunError::Planner(reason) | RunError::Internal(reason) => DecisionError::Planner(reason),
            RunError::Prompt { stage, reason } => DecisionError::Prompt { stage, reason },
            RunError::Timeout { after, .. } => DecisionError::Timeout { after },
            RunError::Cancelled => DecisionError::Cancelled,
            RunError::Unreadable { reason, .. } => DecisionError::unreadable(reason, ""),
            error @ (RunError::NoModel { .. }
            | RunError::InvalidRequest(_)
            | RunError::NoAnswer(_)
            | RunError::Elsewhere(_)
            | RunError::Stopped(_)) => DecisionError::Planner(error.to_string()),
        }
    }
}
