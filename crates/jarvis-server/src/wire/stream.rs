//! Schemas of replies that come piece by piece. The schema of such a reply is that of each event or line, as readers of OpenAPI 3.1 have
//! it; `itemSchema`, which says so, is of 3.2, which generators of clients do not read yet.
#![allow(dead_code, reason = "only their schemas are used")]

use std::marker::PhantomData;

use utoipa::openapi::schema::AnyOfBuilder;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::ag_ui_event::AgUiEvent;
use super::event::Event;
use super::openai::ChatStreamItem;
use super::response_event::ResponseStreamEvent;
use super::schema::{reference, word};

/// A text that is JSON of another schema.
pub(crate) struct JsonText<T>(PhantomData<T>);

impl<T: ToSchema> PartialSchema for JsonText<T> {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(Type::String).description(Some("JSON in one line."));
        text.content_media_type("application/json").content_schema(Some(reference(T::name()))).into()
    }
}

impl<T: ToSchema> ToSchema for JsonText<T> {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}

// Derives look for the arguments of generic types; an alias has none.
type EventText = JsonText<Event>;
type RunsEventText = JsonText<RunsEvent>;
type ChatText = JsonText<ChatStreamItem>;
type ResponseText = JsonText<ResponseStreamEvent>;
type AgUiText = JsonText<AgUiEvent>;

/// A server-sent event of a run.
#[derive(ToSchema)]
pub(crate) struct SseEvent {
    /// The kind of event, as the field `event` of its data.
    event: String,
    /// Place in the stream, for `Last-Event-ID`.
    id: String,
    #[schema(inline)]
    data: EventText,
}

/// A server-sent event of one of several runs.
#[derive(ToSchema)]
pub(crate) struct RunsSseEvent {
    /// The kind of event, or `gone` for a run that is not there.
    event: String,
    /// Id of the run and place in its stream, as `ID@PLACE`.
    #[schema(required = false)]
    id: String,
    #[schema(inline)]
    data: RunsEventText,
}

/// An event of one of several runs, or that a run is not there.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum RunsEvent {
    Event(Event),
    Gone(RunGone),
}

/// That a run is not there.
#[derive(ToSchema)]
pub(crate) struct RunGone {
    run_id: String,
}

/// A server-sent event of a chat completion.
#[derive(ToSchema)]
pub(crate) struct ChatSseEvent {
    #[schema(inline)]
    data: ChatData,
}

/// The next piece, or the word that ends the stream.
pub(crate) enum ChatData {}

impl PartialSchema for ChatData {
    fn schema() -> RefOr<Schema> {
        let union = AnyOfBuilder::new().item(ChatText::schema()).item(word("[DONE]"));
        union.description(Some("JSON in one line; `[DONE]` at the end.")).into()
    }
}

impl ToSchema for ChatData {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        ChatText::schemas(schemas);
    }
}

/// A server-sent event of a response.
#[derive(ToSchema)]
pub(crate) struct ResponseSseEvent {
    /// The kind of event, as the field `type` of its data.
    event: String,
    #[schema(inline)]
    data: ResponseText,
}

/// A server-sent event of AG-UI.
#[derive(ToSchema)]
pub(crate) struct AgUiSseEvent {
    #[schema(inline)]
    data: AgUiText,
}

/// A line of a pull, in the words of Ollama.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum PullLine {
    Progress(PullProgress),
    Failure(PullError),
}

/// How far a pull has come.
#[derive(ToSchema)]
pub(crate) struct PullProgress {
    /// Such as `pulling manifest` or, at the end, `success`.
    status: String,
    /// The content that is downloaded.
    #[schema(required = false)]
    digest: String,
    /// Its bytes.
    #[schema(required = false)]
    total: u64,
    /// The bytes of it that have come.
    #[schema(required = false)]
    completed: u64,
}

/// Why a pull ended early.
#[derive(ToSchema)]
pub(crate) struct PullError {
    /// What happened.
    error: String,
    /// What to try, where something can be tried.
    #[schema(required = true)]
    hint: Option<String>,
}
