//! The conversations of the page, kept for their user. What is in one is the page's business.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use jarvis_store::{Chat, ChatFilter, ChatSummary, ChatWrite, Journal};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use crate::error::{ApiError, ErrorBody, Failures};
use crate::extract::{ApiJson, ApiQuery};
use crate::routes::paging::{self, checked_limit, cursor, fifty, read_cursor};
use crate::runs::now_ms;
use crate::state::Server;
use crate::users::Caller;
use crate::wire::kept::{ChatLine, ChatRemovedReply, ChatReply, ChatWrittenReply, ChatsReply};
use crate::wire::schema::AnyObject;

/// The most chats of a user.
const MOST: u64 = 1000;
/// The longest id, in characters.
const LONGEST_ID: usize = 64;
/// The longest title, in characters.
const LONGEST_TITLE: usize = 500;

/// Which chats are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChatsAsk {
    /// The most chats to list.
    #[serde(default = "fifty")]
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: u32,
    /// The `next` of the page before.
    before: Option<String>,
    /// Those that have this text in their title or in what is said in them, whatever the case of its letters.
    text: Option<String>,
}

/// A chat as its page has it.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ChatAsk {
    title: String,
    /// What is in it; the server looks at none of it.
    #[schema(value_type = AnyObject)]
    body: Map<String, Value>,
    /// The version that this was made of; 0 for a new chat.
    version: u64,
}

/// The caller's chats, in pages
///
/// The latest first. `next` of a page is `before` of the one that follows it.
#[utoipa::path(get, path = "/chats", operation_id = "list_chats", tag = "chats", params(ChatsAsk),
    responses((status = 200, description = "A page of chats", body = ChatsReply), Failures))]
pub(crate) async fn list(
    State(server): State<Server>,
    caller: Caller,
    ApiQuery(ask): ApiQuery<ChatsAsk>,
) -> Result<Json<ChatsReply>, ApiError> {
    journal(&server)?;
    let ChatsAsk { limit, before, text } = ask;
    let limit = checked_limit(limit, paging::MOST)? as usize;
    let after = before.as_deref().map(read_cursor).transpose()?;
    let text = text.filter(|text| !text.is_empty());
    let filter = ChatFilter { user: caller.name().to_owned(), text, after };
    // One more shows whether there is another page.
    let mut chats = server.read_journal(move |journal| journal.chats(&filter, limit + 1)).await?;
    let is_more = chats.len() > limit;
    chats.truncate(limit);
    let next = chats.last().filter(|_| is_more).map(|last| cursor(last.updated_at_ms, &last.id));
    Ok(Json(ChatsReply { chats: chats.into_iter().map(ChatLine::of).collect(), next }))
}

/// A chat
#[utoipa::path(get, path = "/chats/{id}", operation_id = "get_chat", tag = "chats", params(("id" = String, Path, description = "The chat's id")),
    responses((status = 200, description = "The chat", body = ChatReply),
        (status = 404, description = "There is no such chat", body = ErrorBody), Failures))]
pub(crate) async fn show(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ChatReply>, ApiError> {
    journal(&server)?;
    let user = caller.name().to_owned();
    let found = server.read_journal(move |journal| journal.chat(&user, &id)).await?;
    let Chat { summary, body } = found.ok_or_else(no_such_chat)?;
    let body = serde_json::from_str(&body).map_err(|error| ApiError::internal("the chat cannot be read", &error))?;
    Ok(Json(ChatReply { line: ChatLine::of(summary), body }))
}

/// Keep a chat
///
/// Over the version that it was made of; where another one is kept by now, the status is 409 and `details` has its `version`.
#[utoipa::path(put, path = "/chats/{id}", operation_id = "put_chat", tag = "chats", request_body = ChatAsk,
    params(("id" = String, Path, description = "1 to 64 letters, digits, `_` and `-`; the client chooses it")),
    responses((status = 200, description = "It is kept", body = ChatWrittenReply),
        (status = 409, description = "Another version is kept by now, or there are too many chats", body = ErrorBody),
        Failures))]
pub(crate) async fn put(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
    ApiJson(ask): ApiJson<ChatAsk>,
) -> Result<Json<ChatWrittenReply>, ApiError> {
    let journal = journal(&server)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !(1..=LONGEST_ID).contains(&id.len()) || !id.chars().all(is_plain) {
        let message = format!("an id of a chat has 1 to {LONGEST_ID} letters, digits, `_` and `-`");
        return Err(ApiError::invalid(message).param("id"));
    }
    if ask.title.chars().count() > LONGEST_TITLE {
        return Err(ApiError::invalid(format!("a title may have {LONGEST_TITLE} characters")).param("title"));
    }
    let ChatAsk { title, body, version } = ask;
    let updated_at_ms = now_ms();
    let chat = Chat {
        summary: ChatSummary { id: id.clone(), title, updated_at_ms, version },
        body: Value::Object(body).to_string(),
    };
    match journal.put_chat(caller.name(), chat, MOST).await? {
        ChatWrite::Written(version) => Ok(Json(ChatWrittenReply { id, version, updated_ms: updated_at_ms })),
        ChatWrite::Changed(version) => {
            Err(ApiError::new(StatusCode::CONFLICT, "changed", "another version of the chat is kept by now")
                .hint("get it, and put what is new over it")
                .version(version))
        }
        ChatWrite::Full => {
            let message = format!("a user may have {MOST} chats");
            Err(ApiError::new(StatusCode::CONFLICT, "too_many_chats", message).hint("remove some"))
        }
    }
}

/// Remove a chat
#[utoipa::path(delete, path = "/chats/{id}", operation_id = "remove_chat", tag = "chats", params(("id" = String, Path, description = "The chat's id")),
    responses((status = 200, description = "It is gone", body = ChatRemovedReply),
        (status = 404, description = "There is no such chat", body = ErrorBody), Failures))]
pub(crate) async fn remove(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ChatRemovedReply>, ApiError> {
    match journal(&server)?.delete_chat(caller.name(), &id).await? {
        true => Ok(Json(ChatRemovedReply { id, deleted: true })),
        false => Err(no_such_chat()),
    }
}

fn journal(server: &Server) -> Result<&Journal, ApiError> {
    server.parts.journal.as_deref().ok_or_else(|| {
        ApiError::new(StatusCode::NOT_IMPLEMENTED, "no_journal", "this server has no journal, and keeps no chats")
    })
}

fn no_such_chat() -> ApiError {
    ApiError::not_found("there is no such chat")
}
