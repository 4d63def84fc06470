//! Messages in: what a client says as a request, and as the answer to what a task waits for.

use jarvis_pipeline::approval::ASK_PERSON;
use jarvis_plan::{Approval, Kind, TaskId};
use jarvis_proto::a2a::part::Content;
use jarvis_proto::a2a::{Message, Part};
use serde_json::{Map, Value};

use super::fault::{Fault, Wrong};
use crate::files::taken_in;
use crate::routes::approvals::{ApprovalAsk, Said as Decision};
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
    let metadata = serde_json::to_value(metadata).unwrap_or_default();
    match metadata.get("skillId") {
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
            let text = serde_json::to_string(value).unwrap_or_default();
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
                    format!("file.{}", extension(&part.media_type).ok_or_else(|| unknown(&field, &part.media_type))?)
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

/// The ending of the names of files of a media type, one that tells their kind where there is one.
fn extension(media_type: &str) -> Option<&'static str> {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let known = mime_guess::get_mime_extensions_str(essence)?;
    known.iter().find(|ending| Kind::of_name(&format!("x.{ending}")).is_some()).or(known.first()).copied()
}

/// What a message answers to: one of what a task waits for, and how.
pub(super) fn answer(asked: &[Approval], message: &Message) -> Result<(TaskId, ApprovalAsk), Fault> {
    let mut given = message.parts.iter().find_map(|part| match &part.content {
        Some(Content::Data(value)) => match serde_json::to_value(value).ok()? {
            Value::Object(fields) => Some(fields),
            _ => None,
        },
        Some(Content::Text(_) | Content::Raw(_) | Content::Url(_)) | None => None,
    });
    let named = given.as_mut().and_then(|fields| fields.remove("task"));
    let open = match &named {
        None => asked.first(),
        // Numbers of this protocol have a point.
        Some(task) => asked.iter().find(|open| task.as_f64() == Some(f64::from(open.task.0))),
    };
    let open = open.ok_or_else(|| Fault::field("message.parts", "the task does not wait for this"))?;
    let text = words(message);
    let ask = match given {
        Some(fields) => serde_json::from_value(Value::Object(fields)).map_err(|error| {
            Fault::field("message.parts", format!("the answer cannot be read: {error}"))
                .hint(r#"an answer is {"decision": "approve"|"approve_always"|"refuse"|"retry"|"done"|"skip", "arguments"?, "reason"?}"#)
        })?,
        None if open.tool == ASK_PERSON => {
            let arguments = Map::from_iter([("answer".to_owned(), Value::from(text))]);
            ApprovalAsk { decision: Decision::Approve, arguments: Some(arguments), reason: None }
        }
        None => in_words(open, &text)?,
    };
    Ok((open.task, ask))
}

/// An answer in words: the first of them decides, and what stands behind a refusal is the reason.
fn in_words(asked: &Approval, text: &str) -> Result<ApprovalAsk, Fault> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let decision = match word.to_lowercase().as_str() {
        "approve" | "approved" | "yes" | "y" | "ok" | "okay" | "allow" if !asked.unknown => Decision::Approve,
        "always" | "approve_always" if !asked.unknown => Decision::ApproveAlways,
        "refuse" | "refused" | "no" | "n" | "deny" | "reject" if !asked.unknown => Decision::Refuse,
        "retry" if asked.unknown => Decision::Retry,
        "done" if asked.unknown => Decision::Done,
        "skip" if asked.unknown => Decision::Skip,
        _ => {
            let words = if asked.unknown { "`retry`, `done` or `skip`" } else { "`approve`, `always` or `refuse`" };
            let message = format!("the task waits for leave to call `{}`; the answer begins with {words}", asked.tool);
            return Err(Fault::field("message.parts", message));
        }
    };
    let reason = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
    let reason = (decision == Decision::Refuse && !reason.is_empty()).then(|| reason.to_owned());
    Ok(ApprovalAsk { decision, arguments: None, reason })
}

#[cfg(test)]
mod tests {
    use jarvis_plan::Effect;
    use serde_json::json;

    use super::*;

    fn asked(task: u32, tool: &str, unknown: bool) -> Approval {
        let (arguments, sources) = Default::default();
        let (tool, effect) = (tool.to_owned(), Effect::Writes);
        Approval { task: TaskId(task), tool, effect, arguments, each: false, unknown, sources, place: None }
    }

    fn message(parts: Value) -> Message {
        serde_json::from_value(json!({"messageId": "m", "role": "ROLE_USER", "parts": parts})).expect("a message")
    }

    #[test]
    fn answers_are_read_from_words_and_from_data() {
        let (calls, unknown) = ([asked(1, "book", false), asked(2, "pay", false)], [asked(3, "book", true)]);
        let question = [asked(0, ASK_PERSON, false)];
        for (open, parts, want) in [
            (&calls[..], json!([{"text": "Yes, please."}]), Ok((1, "Approve", None))),
            (&calls, json!([{"text": "always"}]), Ok((1, "ApproveAlways", None))),
            (&calls, json!([{"text": "no: too dear"}]), Ok((1, "Refuse", Some("too dear")))),
            (&calls, json!([{"text": "nothing of that"}]), Err("begins with `approve`, `always` or `refuse`")),
            (&calls, json!([{"text": "retry"}]), Err("begins with `approve`")),
            (&calls, json!([{"data": {"decision": "approve", "task": 2}}]), Ok((2, "Approve", None))),
            (&calls, json!([{"data": {"decision": "refuse", "reason": "r"}}]), Ok((1, "Refuse", Some("r")))),
            (&calls, json!([{"data": {"decision": "approve", "task": 7}}]), Err("does not wait for this")),
            (&calls, json!([{"data": {"decision": "maybe"}}]), Err("cannot be read")),
            (&unknown, json!([{"text": "done"}]), Ok((3, "Done", None))),
            (&unknown, json!([{"text": "yes"}]), Err("begins with `retry`")),
            (&question, json!([{"text": "no, the blue one"}]), Ok((0, "Approve", None))),
        ] {
            let got = answer(open, &message(parts.clone()));
            let got = got.map(|(task, ask)| (task.0, format!("{:?}", ask.decision), ask.reason));
            match (got, want) {
                (Ok((task, decision, reason)), Ok(want)) => {
                    assert_eq!((task, decision.as_str(), reason.as_deref()), want, "{parts}");
                }
                (Err(fault), Err(want)) => assert!(fault.rpc().to_string().contains(want), "{parts}: {fault:?}"),
                (got, want) => panic!("{parts}: {got:?} and not {want:?}"),
            }
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
        for (media_type, ending) in [("image/png", Some("png")), ("application/x-unheard-of", None), ("", None)] {
            assert_eq!(extension(media_type), ending, "{media_type}");
        }
    }
}
