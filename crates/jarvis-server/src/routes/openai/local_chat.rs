//! Chat completions by a language model of this machine alone, without any pipeline.

use std::sync::Arc;

use axum::Json;
use axum::http::StatusCode;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use jarvis_ask::Ask;
use jarvis_chat::{ChatError, ChatModel, ChatReply, ChatRequest, Message, ReplySchema};
use jarvis_engine::{Events, Meter};
use jarvis_plan::Role;
use tokio_stream::wrappers::UnboundedReceiverStream;

use super::intake;
use super::pieces::{self, Head};
use crate::error::ApiError;
use crate::sse;
use crate::state::Server;
use crate::users::Caller;
use crate::wire::openai::{
    AssistantMessage, ChatCompletion, ChatCompletionRequest, ChatMessage, Content, OneOrMany, Tokens,
};

/// The label of these calls.
const STAGE: &str = "chat";

pub(super) async fn complete(
    server: &Server,
    caller: &Caller,
    id: String,
    model: Arc<dyn ChatModel>,
    body: ChatCompletionRequest,
) -> Result<Response, ApiError> {
    let request = request(&body)?;
    let head = Head::of(&uuid::Uuid::now_v7().to_string(), id);
    let events = Events::unread();
    events.metered(&Meter { account: Arc::clone(caller.account()), ..server.setup().meter.clone() });
    let ask = move |sender: Option<tokio::sync::mpsc::UnboundedSender<String>>| async move {
        let ask = Ask::new(model, &events);
        let asked = ask.stage(STAGE).verbatim().request(|one| *one = request);
        let reply = match sender {
            Some(sender) => asked.stream(move |piece| drop(sender.send(piece.to_owned()))).await,
            None => asked.call().await,
        };
        reply.map_err(ChatError::from).map_err(failed)
    };
    if body.stream != Some(true) {
        let reply = ask(None).await?;
        return Ok(Json(whole(head, reply)).into_response());
    }
    let with_usage = body.stream_options.as_ref().is_some_and(|options| options.include_usage == Some(true));
    let (sender, pieces) = tokio::sync::mpsc::unbounded_channel();
    // Dropping the reply drops the task, and with it the call.
    let task = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(ask(Some(sender))));
    let head = Arc::new(head);
    let of_piece = {
        let head = Arc::clone(&head);
        move |text: String| pieces::text(&head, &text, with_usage)
    };
    let last = async move {
        let ended = task.await.unwrap_or_else(|error| Err(ApiError::internal("the reply broke off", &error)));
        let events: Vec<Event> = match ended {
            Ok(reply) => pieces::end(&head, finish(&reply), with_usage.then(|| tokens(&reply))),
            Err(error) => pieces::failure(&error),
        };
        futures::stream::iter(events)
    };
    let events = UnboundedReceiverStream::new(pieces).map(of_piece);
    Ok(sse::open(events.chain(futures::stream::once(last).flatten()), (), server))
}

fn whole(head: Head, reply: ChatReply) -> ChatCompletion {
    let (usage, finish) = (tokens(&reply), finish(&reply));
    let message =
        AssistantMessage { role: "assistant", content: Some(reply.text), tool_calls: Vec::new(), refusal: () };
    pieces::reply(head, message, finish, usage)
}

fn finish(reply: &ChatReply) -> &'static str {
    if reply.finish_reason == "length" { "length" } else { "stop" }
}

fn tokens(reply: &ChatReply) -> Tokens {
    let (prompt, completion) = (reply.usage.prompt, reply.usage.completion);
    Tokens { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

/// What the model is asked, or which field it cannot serve.
fn request(body: &ChatCompletionRequest) -> Result<ChatRequest, ApiError> {
    let unsupported = |param: &'static str, why: &str| {
        let message = format!("`{param}` is not supported: {why}");
        Err(ApiError::new(StatusCode::BAD_REQUEST, "unsupported_parameter", message).param(param))
    };
    if body.n.is_some_and(|n| n != 1) {
        return unsupported("n", "only one reply can be given");
    }
    let is_given = |given: Option<bool>| given == Some(false);
    for (param, given) in
        [("tools", body.tools.as_ref().map(Vec::is_empty)), ("functions", body.functions.as_ref().map(Vec::is_empty))]
    {
        if is_given(given) {
            return unsupported(param, "models that are called one by one call no tools");
        }
    }
    if body.logprobs == Some(true) {
        return unsupported("logprobs", "there are no probabilities to give");
    }
    let messages = body.messages.iter().enumerate().map(|(at, message)| {
        read(message).map_err(|reason| {
            let param = format!("messages[{at}]");
            ApiError::invalid(format!("`{param}`: {reason}")).param(param)
        })
    });
    let messages = messages.collect::<Result<Vec<Message>, ApiError>>()?;
    if messages.is_empty() {
        return Err(ApiError::invalid("`messages` is empty").param("messages"));
    }
    let stop = match &body.stop {
        None => Vec::new(),
        Some(OneOrMany::One(word)) => vec![word.clone()],
        Some(OneOrMany::Many(words)) => words.clone(),
    };
    let schema = intake::schema(body.response_format.as_ref(), "response_format")?;
    Ok(ChatRequest {
        stage: STAGE.to_owned(),
        messages,
        temperature: body.temperature,
        top_p: body.top_p,
        max_tokens: body.max_completion_tokens.or(body.max_tokens),
        stop,
        presence_penalty: body.presence_penalty,
        frequency_penalty: body.frequency_penalty,
        schema: schema.map(|(name, schema)| ReplySchema { name, schema: Arc::new(schema) }),
        ..ChatRequest::default()
    })
}

fn read(message: &ChatMessage) -> Result<Message, String> {
    let role = match message.role.as_str() {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        other => return Err(format!("the role `{other}` is unknown")),
    };
    let text = match &message.content {
        None => String::new(),
        Some(Content::Text(text)) => text.clone(),
        Some(Content::Parts(parts)) => {
            let texts = parts.iter().map(|part| part.text.as_deref().filter(|_| part.kind == "text"));
            let texts: Option<Vec<&str>> = texts.collect();
            texts.ok_or("the model takes texts only")?.join("\n")
        }
    };
    Ok(Message::text(role, text))
}

fn failed(error: ChatError) -> ApiError {
    let (status, code) = match &error {
        ChatError::Timeout { .. } => (StatusCode::GATEWAY_TIMEOUT, "timeout"),
        ChatError::Config(_) | ChatError::Api { status: 400..=499, .. } => (StatusCode::BAD_REQUEST, "invalid_request"),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "model_failed"),
    };
    let api_error = ApiError::new(status, code, error.to_string());
    match error.hint() {
        Some(hint) => api_error.hint(hint),
        None => api_error,
    }
}
