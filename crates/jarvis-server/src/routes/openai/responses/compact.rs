//! A conversation in short, as an item that stands for it. What is in the item is for jarvis alone; it is no secret from the caller,
//! who said it.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jarvis_ask::Ask;
use jarvis_chat::{ChatError, Message};
use jarvis_engine::{Events, Meter};
use jarvis_plan::{Role, Turn};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::super::said::Said;
use super::object::tokens;
use crate::error::ApiError;
use crate::runs::now_ms;
use crate::state::Server;
use crate::users::Caller;
use crate::wire::responses::{Compacted, Item};

/// The stage of the call.
const STAGE: &str = "compact";

/// Characters of a conversation that are kept as they are where no model sums it up.
const KEPT: usize = 8_000;

/// What an item holds.
#[derive(Serialize, Deserialize)]
struct Short {
    jarvis: u32,
    text: String,
}

/// The text that an item stands for.
pub(super) fn opened(content: &str) -> Result<String, String> {
    let bytes = URL_SAFE_NO_PAD.decode(content.trim()).ok();
    let short: Option<Short> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let short = short.ok_or("the compaction is none of this server's")?;
    Ok(format!("What was said before, in short:\n{}", short.text))
}

fn sealed(text: String) -> String {
    let short = serde_json::to_vec(&Short { jarvis: 1, text }).expect("it has only string keys");
    URL_SAFE_NO_PAD.encode(short)
}

/// The conversation made shorter: the messages of the user, and an item for all of it.
pub(super) async fn compacted(
    server: &Server,
    caller: &Caller,
    said: Said,
    input: &[Item],
    instructions: Option<&str>,
) -> Result<Compacted, ApiError> {
    let turns = said.turns();
    if turns.is_empty() {
        return Err(ApiError::invalid("there is nothing to make shorter").param("input"));
    }
    let events = Events::unread();
    events.metered(&Meter { account: Arc::clone(caller.account()), ..server.setup().meter.clone() });
    let text = match &server.setup().pipeline.chat {
        Some(chat) => {
            let ask = Ask::new(Arc::clone(chat), &events);
            let asked = "Sum up the conversation so far for yourself, so that you can go on with it from the summary alone: \
                         what the user wants, what was found out and done, names, numbers and paths as they stand, and what \
                         is still open. Write the summary alone.";
            let mut all: Vec<Turn> = instructions.map(Turn::system).into_iter().chain(turns).collect();
            all.push(Turn::user(asked));
            let question = ask.stage(STAGE).messages(Message::of_turns(&all));
            question
                .prose(false)
                .await
                .map_err(ChatError::from)
                .map_err(|error| ApiError::new(axum::http::StatusCode::BAD_GATEWAY, "upstream", error.to_string()))?
        }
        None => end_of(&turns),
    };
    let is_users = |item: &&Item| item.role.as_deref() == Some("user");
    let mut output: Vec<Item> = input.iter().filter(is_users).cloned().collect();
    let id = Uuid::now_v7().simple();
    output.push(Item {
        kind: Some("compaction".to_owned()),
        id: Some(format!("cmp_{id}")),
        encrypted_content: Some(sealed(text)),
        ..Item::default()
    });
    Ok(Compacted {
        id: format!("resp_{id}"),
        object: "response.compaction",
        created_at: now_ms() / 1000,
        output,
        usage: tokens(&events.usage()),
    })
}

/// The end of a conversation, whole turns of it.
fn end_of(turns: &[Turn]) -> String {
    let line = |turn: &Turn| {
        let who = match turn.role {
            Role::System => "instructions",
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let calls = turn.calls.iter().map(|call| {
            format!(
                " [called {} with {}: {}]",
                call.name,
                call.arguments,
                call.result.as_deref().unwrap_or("no result")
            )
        });
        format!("{who}: {}{}", turn.content, calls.collect::<String>())
    };
    let mut lines: Vec<String> = Vec::new();
    let mut length = 0;
    for turn in turns.iter().rev() {
        let line = line(turn);
        length += line.len();
        if length > KEPT && !lines.is_empty() {
            break;
        }
        lines.push(jarvis_net::text::cut(&line, KEPT, "…"));
    }
    lines.reverse();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_is_opened_and_nothing_else() {
        assert_eq!(opened(&sealed("привет".to_owned())).unwrap(), "What was said before, in short:\nпривет");
        for other in ["", "abc", "encrypted-summary"] {
            assert!(opened(other).is_err(), "{other}");
        }
    }

    #[test]
    fn the_end_of_a_conversation_is_whole_turns() {
        let long = "x".repeat(KEPT - 40);
        let turns =
            [Turn::user("first, which is too long for what is left"), Turn::assistant(&long), Turn::user("last")];
        let end = end_of(&turns);
        assert!(end.starts_with("assistant: xxx") && end.ends_with("user: last"), "{end}");
        assert_eq!(end_of(&[Turn::user("only")]), "user: only");
    }
}
