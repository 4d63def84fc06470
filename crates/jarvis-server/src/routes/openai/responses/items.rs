//! Items of the responses protocol as what was said in a conversation.

use axum::http::StatusCode;
use jarvis_plan::{Kind, Role};
use uuid::Uuid;

use super::super::said::{File, Said, document, picture, shown, sound};
use super::compact;
use super::object::{Told, answered};
use crate::error::ApiError;
use crate::guard;
use crate::options::Options;
use crate::state::Server;
use crate::users::Caller;
use crate::wire::responses::{Input, Item, ItemContent, ItemPart, OutputItem};

/// The items of an input, each with an id of its own where the caller gave none.
pub(super) fn numbered(input: Option<Input>) -> Vec<Item> {
    let mut items = match input {
        None => Vec::new(),
        Some(Input::Items(items)) => items,
        Some(Input::Text(text)) => {
            let part = ItemPart { kind: "input_text".to_owned(), text: Some(text), ..ItemPart::default() };
            let content = Some(ItemContent::Parts(vec![part]));
            vec![Item { role: Some("user".to_owned()), content, ..Item::default() }]
        }
    };
    for item in &mut items {
        let kind = item.kind.get_or_insert_with(|| "message".to_owned());
        let prefix = match kind.as_str() {
            "message" => "msg",
            "function_call" => "fc",
            "function_call_output" => "fco",
            _ => "item",
        };
        if kind != "item_reference" && item.id.is_none() {
            item.id = Some(format!("{prefix}_{}", Uuid::now_v7().simple()));
        }
    }
    items
}

/// What a request may still bring in by naming it, a response before it or an item of one: in all as much as it may say itself. Without
/// this, a short request could name the same long item a thousand times.
pub(super) struct Room {
    bytes: usize,
    references: usize,
}

impl Room {
    pub(super) fn of(options: &Options) -> Room {
        Room { bytes: guard::most_with_files(options), references: options.max_messages }
    }

    /// Takes what items need; `param` names the field that brings them.
    ///
    /// # Errors
    /// When there is not so much left.
    pub(super) fn take(&mut self, items: &[Item], param: &'static str) -> Result<(), ApiError> {
        let bytes = serde_json::to_string(items).expect("it has only string keys").len();
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(|| {
            let message = "what the request goes on with is longer than a request to this server may be";
            ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
                .param(param)
                .hint("begin anew, and say as `input` what still matters of it")
        })?;
        Ok(())
    }
}

/// The items with what references stand for in their place.
///
/// # Errors
/// When there is no such item, it is not the caller's, or all that is referred to is too much.
pub(super) async fn resolved(
    server: &Server,
    caller: &Caller,
    items: Vec<Item>,
    room: &mut Room,
) -> Result<Vec<Item>, ApiError> {
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        if item.kind.as_deref() != Some("item_reference") {
            all.push(item);
            continue;
        }
        room.references = room.references.checked_sub(1).ok_or_else(|| {
            let message = format!("a conversation may have {} messages", server.options.max_messages);
            ApiError::invalid(message).param("input")
        })?;
        let item = referred(server, caller, &item.id.unwrap_or_default()).await?;
        room.take(std::slice::from_ref(&item), "input")?;
        all.push(item);
    }
    Ok(all)
}

/// An item of the output of a response that is kept: its id names the run.
async fn referred(server: &Server, caller: &Caller, id: &str) -> Result<Item, ApiError> {
    let unknown = || {
        let message = format!("there is no item `{}` in the output of a response that is kept", shown(id));
        ApiError::not_found(message).param("input")
    };
    let run = id.split('_').nth(1).and_then(|run| Uuid::try_parse(run).ok()).ok_or_else(unknown)?;
    let response = format!("resp_{}", run.simple());
    let (run, _) = super::find(server, caller, &response).await.map_err(|_| unknown())?;
    let output = match super::told(server, caller, &run).await? {
        Told::Answered { answer, .. } => answered(&run, &answer, None, None),
        Told::Queued | Told::Going | Told::Failed { .. } => Vec::new(),
    };
    let mut all = output.iter().map(Item::from);
    all.find(|item| item.id.as_deref() == Some(id)).ok_or_else(unknown)
}

/// Adds items to a conversation.
///
/// # Errors
/// Names the item that is wrong.
pub(super) fn add(said: &mut Said, items: &[Item]) -> Result<(), ApiError> {
    for (at, item) in items.iter().enumerate() {
        one(said, item).map_err(|reason| {
            let param = format!("input[{at}]");
            ApiError::invalid(format!("`{param}`: {reason}")).param(param)
        })?;
    }
    Ok(())
}

fn one(said: &mut Said, item: &Item) -> Result<(), String> {
    let needed = |value: &Option<String>, name: &str| {
        value.clone().ok_or_else(|| format!("an item of type `{}` needs the field `{name}`", kind(item)))
    };
    match kind(item) {
        "message" => {
            let role = match needed(&item.role, "role")?.as_str() {
                "system" | "developer" => Role::System,
                "user" => Role::User,
                "assistant" => Role::Assistant,
                other => return Err(format!("`{}` is not a role", shown(other))),
            };
            let (text, files) = pieces(item.content.as_ref())?;
            files.into_iter().for_each(|file| said.file(file));
            said.turn(role, text);
        }
        "function_call" => {
            let (id, name) = (needed(&item.call_id, "call_id")?, needed(&item.name, "name")?);
            said.call(&id, &name, item.arguments.as_deref().unwrap_or("{}"))?;
        }
        "function_call_output" => {
            let (text, files) = pieces(item.output.as_ref())?;
            files.into_iter().for_each(|file| said.file(file));
            said.result(&needed(&item.call_id, "call_id")?, text)?;
        }
        // What a model thought is its own.
        "reasoning" => {}
        "compaction" | "compaction_summary" => {
            let content = needed(&item.encrypted_content, "encrypted_content")?;
            said.turn(Role::System, compact::opened(&content)?);
        }
        other => {
            return Err(format!(
                "items of type `{}` are not supported; `message`, `function_call`, `function_call_output`, `reasoning`, \
                 `item_reference` and `compaction` are",
                shown(other)
            ));
        }
    }
    Ok(())
}

fn kind(item: &Item) -> &str {
    item.kind.as_deref().unwrap_or("message")
}

/// The text and the files of a content.
fn pieces(content: Option<&ItemContent>) -> Result<(String, Vec<File>), String> {
    let parts = match content {
        None => return Ok((String::new(), Vec::new())),
        Some(ItemContent::Text(text)) => return Ok((text.clone(), Vec::new())),
        Some(ItemContent::Parts(parts)) => parts,
    };
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for part in parts {
        match (part.kind.as_str(), part) {
            ("input_text" | "output_text" | "text", ItemPart { text: Some(text), .. }) => texts.push(text.as_str()),
            ("refusal", ItemPart { refusal: Some(text), .. }) => texts.push(text.as_str()),
            ("input_image", ItemPart { image_url: Some(url), .. }) => files.push(own_or(url)?),
            ("input_image" | "input_file", ItemPart { file_id: Some(id), file_data: None, .. }) => {
                files.push(document(None, None, Some(id))?);
            }
            ("input_file", ItemPart { file_data, filename, .. }) => {
                files.push(document(file_data.as_deref(), filename.as_deref(), None)?);
            }
            ("input_audio", ItemPart { input_audio: Some(audio), .. }) => {
                files.push(sound(&audio.format, &audio.data)?);
            }
            ("input_text" | "output_text" | "text" | "refusal" | "input_image" | "input_audio", _) => {
                return Err(format!("a part of type `{}` lacks what it is about", part.kind));
            }
            (other, _) => {
                return Err(format!(
                    "parts of type `{}` are not supported; `input_text`, `input_image`, `input_file` and `input_audio` are",
                    shown(other)
                ));
            }
        }
    }
    Ok((texts.join("\n"), files))
}

/// A picture by its address: one of this server's own by its path too.
fn own_or(url: &str) -> Result<File, String> {
    if url.starts_with("/images/") { Ok(File::At(Kind::Image, url.to_owned())) } else { picture(url) }
}

impl From<&OutputItem> for Item {
    fn from(item: &OutputItem) -> Item {
        match item.clone() {
            OutputItem::Message { id, status, role, content, phase } => Item {
                kind: Some("message".to_owned()),
                id: Some(id),
                status: Some(status.to_owned()),
                role: Some(role.to_owned()),
                content: Some(ItemContent::Parts(content)),
                phase: Some(phase.to_owned()),
                ..Item::default()
            },
            OutputItem::FunctionCall { id, call_id, name, arguments, status } => Item {
                kind: Some("function_call".to_owned()),
                id: Some(id),
                status: Some(status.to_owned()),
                call_id: Some(call_id),
                name: Some(name),
                arguments: Some(arguments),
                ..Item::default()
            },
        }
    }
}
