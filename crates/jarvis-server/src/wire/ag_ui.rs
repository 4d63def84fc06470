//! What front ends of AG-UI send. Fields that are not listed are ignored.

use serde::Deserialize;
use serde_json::Value;
use utoipa::openapi::schema::AnyOfBuilder;
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::schema::{AnyJson, reference};

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
    #[schema(value_type = AnyJson)]
    pub(crate) state: Value,
    /// `{"pipeline": NAME}` chooses the pipeline.
    #[serde(default)]
    #[schema(value_type = AnyJson)]
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
    #[schema(value_type = AgUiContent, required = false)]
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

impl PartialSchema for AgUiContent {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(Type::String).description(Some("A text."));
        let parts = ArrayBuilder::new().items(reference(AgUiPart::name())).description(Some("Parts, in order."));
        let union = AnyOfBuilder::new().item(text).item(parts).item(reference(AnyJson::name()));
        union.description(Some("A text, or parts; of messages that are passed over anything.")).into()
    }
}

impl ToSchema for AgUiContent {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        for (name, schema) in
            [(AgUiPart::name(), AgUiPart::schema()), (AnyJson::name(), <AnyJson as PartialSchema>::schema())]
        {
            schemas.push((name.into_owned(), schema));
        }
        AgUiPart::schemas(schemas);
    }
}

/// A piece of a message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum AgUiPart {
    Text { text: String },
    Image { source: Source },
    Audio { source: Source },
    Video { source: Source },
    Document { source: Source },
}

/// Where the content of a piece is.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = AgUiSource)]
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
    #[schema(value_type = AnyJson)]
    pub(crate) payload: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ResumeStatus {
    Resolved,
    /// Nobody wants to answer: what was asked for is refused.
    Cancelled,
}
