//! What front ends of AG-UI send. Fields that are not listed are ignored.

use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

/// What an agent is to do: the conversation so far, or the answers to what a run waits for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunAgentInput {
    /// The conversation.
    pub(crate) thread_id: String,
    /// The run, as the client calls it.
    pub(crate) run_id: String,
    /// The conversation so far; the last message of the user is the request.
    #[serde(default)]
    pub(crate) messages: Vec<AgUiMessage>,
    /// The state of the front end; what jarvis says of its run stands in it under `jarvis`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub(crate) state: Value,
    /// `{"pipeline": NAME}` chooses the pipeline.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub(crate) forwarded_props: Value,
    /// Answers to the interrupts that the run before ended with.
    #[serde(default)]
    pub(crate) resume: Option<Vec<ResumeEntry>>,
}

/// A message of a conversation.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct AgUiMessage {
    pub(crate) id: String,
    /// `user`, `assistant`, `system`, `developer`; others are passed over.
    pub(crate) role: String,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub(crate) content: Option<AgUiContent>,
}

/// What a message says.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum AgUiContent {
    Text(String),
    Parts(Vec<AgUiPart>),
    /// What only other roles have.
    Other(#[allow(dead_code, reason = "it is passed over")] Value),
}

/// A piece of a message.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum AgUiPart {
    Text { text: String },
    Image { source: Source },
    Audio { source: Source },
    Video { source: Source },
    Document { source: Source },
}

/// Where the content of a piece is.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Source {
    Data {
        /// In base64.
        value: String,
        #[serde(rename = "mimeType", default)]
        mime_type: String,
    },
    Url {
        value: String,
    },
    /// A name that some provider knows.
    File {},
}

/// An answer to what a run waits for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResumeEntry {
    /// Of the interrupt.
    pub(crate) interrupt_id: String,
    pub(crate) status: ResumeStatus,
    /// The answer: a text, `true` or `false`, or what `POST /runs/{id}/approvals/{task}` takes.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub(crate) payload: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ResumeStatus {
    Resolved,
    /// Nobody wants to answer: what was asked for is refused.
    Cancelled,
}
