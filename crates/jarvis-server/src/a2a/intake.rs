//! Messages in: what a client says as a request, and as the answer to what a task waits for.

use jarvis_plan::{Approval, Kind, TaskId};
use jarvis_proto::a2a::part::Content;
use jarvis_proto::a2a::{Message, Part};
use serde_json::Value;

use super::fault::{Fault, Wrong};
use crate::answers;
use crate::files::{ending, taken_in};
use crate::routes::approvals::ApprovalAsk;
use crate::state::Server;
use crate::users::Caller;
use crate::wire::ask::Attachment;

/// A message as a request.
pub(super) struct Said {
    pub(super) text: String,
    pub(super) attachments: Vec<Attachment>,
}

/// The skill that the metadata of a message names.
pub(super) fn skill(message: &Message) -> Result<Option<String>, Fault> {
    let Some(metadata) = &message.metadata else { return Ok(None) };
    match serde_json::Map::from(metadata.clone()).get("skillId") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name.clone())),
        Some(_) => Err(Fault::field("message.metadata.skillId", "it is the id of a skill, a text")),
    }
}

/// The text of a message, and its files taken in.
pub(super) async fn said(server: &Server, caller: &Caller, base: &str, message: &Message) -> Result<Said, Fault> {
    let mut said = Said { text: words(message), attachments: Vec::new() };
    for (at, part) in message.parts.iter().enumerate() {
        said.attachments.extend(attachment(server, caller, base, at, part).await?);
    }
    if said.text.trim().is_empty() {
        return Err(Fault::field("message.parts", "no part is a text that says what is wanted"));
    }
    Ok(said)
}

/// The texts of a message, a line each.
fn words(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match &part.content {
        Some(Content::Text(text)) => Some(text.as_str()),
        Some(Content::Raw(_) | Content::Url(_) | Content::Data(_)) | None => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

async fn attachment(
    server: &Server,
    caller: &Caller,
    base: &str,
    at: usize,
    part: &Part,
) -> Result<Option<Attachment>, Fault> {
    let field = format!("message.parts[{at}]");
    let named = (!part.filename.is_empty()).then(|| part.filename.clone());
    match &part.content {
        None => Err(Fault::field(&field, "the part has no content: `text`, `raw`, `url` or `data`")),
        Some(Content::Text(_)) => Ok(None),
        Some(Content::Data(value)) => {
            let text = Value::from(value.clone()).to_string();
            let name = named.unwrap_or_else(|| "data.json".to_owned());
            Ok(Some(Attachment { kind: Kind::Json, path: None, text: Some(text), url: None, name: Some(name) }))
        }
        Some(Content::Url(url)) => {
            let kind = kind_of(&part.media_type, &[&part.filename, url.split(['?', '#']).next().unwrap_or(url)])
                .ok_or_else(|| unknown(&field, &part.media_type))?;
            // This server's own files are not fetched over the network.
            let own =
                url.strip_prefix(base).filter(|path| kind.is_media() && !base.is_empty() && path.starts_with('/'));
            let (path, url) = match own {
                Some(path) => (Some(path.to_owned()), None),
                None => (None, Some(url.clone())),
            };
            Ok(Some(Attachment { kind, path, text: None, url, name: named }))
        }
        Some(Content::Raw(bytes)) => {
            let name = match named {
                Some(name) => name,
                None => {
                    format!("file.{}", ending(&part.media_type).ok_or_else(|| unknown(&field, &part.media_type))?)
                }
            };
            let taken = taken_in(server, caller, &name, bytes.clone()).await;
            taken.map(Some).map_err(|error| Fault::from(error).about("part", at.to_string()))
        }
    }
}

fn unknown(field: &str, media_type: &str) -> Fault {
    let shown: String = media_type.chars().take(100).collect();
    let said =
        if shown.is_empty() { "no media type and no name that tells one".to_owned() } else { format!("`{shown}`") };
    Fault::new(Wrong::MediaType, format!("{field} has {said}, and cannot be taken in")).hint(
        "texts, pictures, sounds, videos and documents are taken; give `mediaType`, or `filename` with its ending",
    )
}

/// The kind that a media type says, or the ending of a name.
fn kind_of(media_type: &str, names: &[&str]) -> Option<Kind> {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    match essence.split_once('/') {
        Some(("image", _)) => Some(Kind::Image),
        Some(("audio", _)) => Some(Kind::Audio),
        Some(("video", _)) => Some(Kind::Video),
        Some((_, "json")) => Some(Kind::Json),
        Some(("text", _)) => Some(Kind::Text),
        Some(_) => None,
        None => names.iter().find_map(|name| Kind::of_name(name)),
    }
}

/// What a message answers to: one of what a task waits for, and how.
pub(super) fn answer(asked: &[Approval], message: &Message) -> Result<(TaskId, ApprovalAsk), Fault> {
    let mut given = message.parts.iter().find_map(|part| match &part.content {
        Some(Content::Data(value)) => match Value::from(value.clone()) {
            Value::Object(fields) => Some(fields),
            _ => None,
        },
        Some(Content::Text(_) | Content::Raw(_) | Content::Url(_)) | None => None,
    });
    let named = given.as_mut().and_then(|fields| fields.remove("task"));
    let open = match &named {
        None => asked.first(),
        Some(task) => asked.iter().find(|open| task.as_u64() == Some(u64::from(open.task.0))),
    };
    let open = open.ok_or_else(|| Fault::field("message.parts", "the task does not wait for this"))?;
    let ask = answers::answer(open, &words(message), given).map_err(|error| Fault::from(error).at("message.parts"))?;
    Ok((open.task, ask))
}

#[cfg(test)]
mod tests {
    use jarvis_plan::Effect;
    use serde_json::json;

    use super::*;

    fn asked(task: u32) -> Approval {
        let (arguments, sources) = Default::default();
        let (tool, effect) = ("book".to_owned(), Effect::Writes);
        Approval { task: TaskId(task), tool, effect, arguments, each: false, unknown: false, sources, place: None }
    }

    #[test]
    fn an_answer_is_to_the_first_question_or_to_the_one_it_names() {
        let open = [asked(1), asked(2)];
        for (parts, want) in [
            (json!([{"text": "yes"}]), Some(1)),
            (json!([{"data": {"decision": "approve", "task": 2}}]), Some(2)),
            (json!([{"text": "yes"}, {"data": {"decision": "approve", "task": 2}}]), Some(2)),
            (json!([{"data": {"decision": "approve", "task": 7}}]), None),
            (json!([{"text": "perhaps"}]), None),
        ] {
            let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": parts});
            let got = answer(&open, &serde_json::from_value(message).expect("a message"));
            assert_eq!(got.ok().map(|(task, _)| task.0), want, "{parts}");
        }
    }

    #[test]
    fn media_types_and_names_tell_kinds() {
        for (media_type, name, kind) in [
            ("image/png", "", Some(Kind::Image)),
            ("audio/wav; x=1", "", Some(Kind::Audio)),
            ("text/csv", "", Some(Kind::Text)),
            ("application/json", "", Some(Kind::Json)),
            ("application/x-unheard-of", "a.png", None),
            ("", "https://example.org/a.png", Some(Kind::Image)),
            ("", "https://example.org/a", None),
        ] {
            assert_eq!(kind_of(media_type, &[name]), kind, "{media_type} {name}");
        }
    }
}
