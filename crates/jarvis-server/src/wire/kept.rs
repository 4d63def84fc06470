//! What callers get of what is theirs, and of what there is: chats, their own data, tools.

use jarvis_store::ChatSummary;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::offered::OfferedTool;
use crate::wire::reply::Today;
use crate::wire::schema::AnyObject;

/// The tools.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToolsReply {
    /// The tools, those that wait for approval among them.
    pub(crate) tools: Vec<OfferedTool>,
    /// What is wrong with them.
    pub(crate) warnings: Vec<String>,
}

/// A chat in a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChatLine {
    pub(crate) id: String,
    pub(crate) title: String,
    /// When it was last written, in milliseconds since the Unix epoch.
    pub(crate) updated_ms: u64,
    /// How often it was written.
    pub(crate) version: u64,
}

impl ChatLine {
    pub(crate) fn of(chat: ChatSummary) -> ChatLine {
        let ChatSummary { id, title, updated_at_ms: updated_ms, version } = chat;
        ChatLine { id, title, updated_ms, version }
    }
}

/// A page of chats.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChatsReply {
    /// The latest first.
    pub(crate) chats: Vec<ChatLine>,
    /// Where the next page begins (`before`), where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// A chat with what is in it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChatReply {
    #[serde(flatten)]
    pub(crate) line: ChatLine,
    /// As its page put it.
    #[schema(value_type = AnyObject)]
    pub(crate) body: Value,
}

/// A chat that was kept.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChatWrittenReply {
    pub(crate) id: String,
    /// The version that it has now.
    pub(crate) version: u64,
    pub(crate) updated_ms: u64,
}

/// A chat that was removed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChatRemovedReply {
    pub(crate) id: String,
    /// Always true; one that is not there is an error.
    pub(crate) deleted: bool,
}

/// The caller.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MeReply {
    /// The name, where there are several users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    /// What the caller may do: `run`, `approve`, `admin`.
    pub(crate) may: Vec<&'static str>,
    /// What the caller's runs took of their budget of this day (UTC), where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) today: Option<Today>,
    pub(crate) stored: StoredReply,
    /// When the oldest run began, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) oldest_ms: Option<u64>,
}

/// How much is kept.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StoredReply {
    pub(crate) runs: u64,
    pub(crate) run_bytes: u64,
    pub(crate) files: u64,
    pub(crate) file_bytes: u64,
    pub(crate) plans: u64,
    pub(crate) chats: u64,
    /// Plans of runs, by which new requests are planned.
    pub(crate) experience: u64,
}

/// What was removed.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct RemovedDataReply {
    pub(crate) runs: u64,
    /// Files.
    pub(crate) media: usize,
    pub(crate) plans: usize,
    pub(crate) chats: u64,
    /// Plans by which requests were planned, those of the removed runs among them.
    pub(crate) experience: u64,
    /// Runs that go on or wait, and stay.
    pub(crate) going_on: usize,
}
