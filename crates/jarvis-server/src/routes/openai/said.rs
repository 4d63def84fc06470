//! What was said in a conversation of the OpenAI protocols: turns with the calls that were made in them, their results, and files.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jarvis_plan::{Kind, Role, ToolCall, Turn};
use url::Url;

use crate::error::ApiError;
use crate::options::Options;
use crate::wire::ask::MOST_ATTACHMENTS;

/// A file of a conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum File {
    /// An address, fetched when the file is needed.
    At(Kind, String),
    /// Its bytes, and a name that tells what they are.
    Bytes(String, Vec<u8>),
    /// One that was sent before, by its id.
    Kept(String),
}

/// A conversation as far as it was read.
#[derive(Debug, Default)]
pub(super) struct Said {
    turns: Vec<Turn>,
    files: Vec<File>,
    /// The turn and the place in it of each call, by the call's id.
    calls: HashMap<String, (usize, usize)>,
    text_bytes: usize,
}

/// A conversation, in the parts of a request.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) text: String,
    pub(super) history: Vec<Turn>,
    /// What follows the text: calls with their results.
    pub(super) after: Vec<Turn>,
    pub(super) files: Vec<File>,
    /// The ids of the calls of the last turn, where their results are the last that was said.
    pub(super) answered: Vec<String>,
}

impl Said {
    pub(super) fn turn(&mut self, role: Role, text: String) {
        self.text_bytes += text.len();
        self.turns.push(Turn::said(role, text));
    }

    /// The results of calls and files are of the turn that they stand in.
    pub(super) fn file(&mut self, file: File) {
        self.files.push(file);
    }

    /// A call of the assistant's. Calls that follow each other, or a text, are of one turn.
    pub(super) fn call(&mut self, id: &str, name: &str, arguments: &str) -> Result<(), String> {
        let is_open = |turn: &Turn| turn.role == Role::Assistant && turn.calls.iter().all(|call| call.result.is_none());
        if !self.turns.last().is_some_and(is_open) {
            self.turns.push(Turn::said(Role::Assistant, ""));
        }
        let at = self.turns.len().saturating_sub(1);
        let Some(turn) = self.turns.last_mut() else { return Ok(()) };
        self.text_bytes += name.len() + arguments.len();
        if self.calls.insert(id.to_owned(), (at, turn.calls.len())).is_some() {
            return Err(format!("two calls have the id `{}`", shown(id)));
        }
        turn.calls.push(ToolCall::open(name, arguments));
        Ok(())
    }

    /// All turns.
    pub(super) fn turns(self) -> Vec<Turn> {
        self.turns
    }

    /// What a call gave.
    pub(super) fn result(&mut self, id: &str, text: String) -> Result<(), String> {
        self.text_bytes += text.len();
        let call = self.calls.get(id).and_then(|(turn, call)| self.turns.get_mut(*turn)?.calls.get_mut(*call));
        let call = call.ok_or_else(|| format!("no call before it has the id `{}`", shown(id)))?;
        call.result = Some(text);
        Ok(())
    }

    /// The bounds of the server; `param` names the field that holds the conversation.
    pub(super) fn check(&self, options: &Options, param: &'static str) -> Result<(), ApiError> {
        let too_large =
            |what: &str| Err(ApiError::new(axum::http::StatusCode::PAYLOAD_TOO_LARGE, "too_large", what).param(param));
        if self.turns.len() > options.max_messages {
            let message = format!("a conversation may have {} messages", options.max_messages);
            return Err(ApiError::invalid(message).param(param));
        }
        if self.text_bytes > options.max_body {
            return too_large("the texts of the conversation are longer than this server takes");
        }
        // Files of earlier turns count too: "now make it grey" speaks of them.
        if self.files.len() > MOST_ATTACHMENTS {
            return Err(ApiError::invalid(format!("a conversation may have {MOST_ATTACHMENTS} files")).param(param));
        }
        let is_large = |file: &File| matches!(file, File::Bytes(_, bytes) if bytes.len() > options.max_upload);
        if self.files.iter().any(is_large) {
            return too_large("a file of the conversation is larger than this server takes");
        }
        Ok(())
    }

    /// The request that is meant: the last text of the user, what was said before it, and what after it.
    pub(super) fn asked(mut self) -> Result<Asked, String> {
        if self.turns.is_empty() {
            return Err("it is empty".into());
        }
        let last = self.turns.iter().rposition(|turn| turn.role == Role::User);
        let Some(last) = last else { return Err("it has no message of the user".into()) };
        let after = self.turns.split_off(last + 1);
        let Some(asked) = self.turns.pop() else { return Err("it is empty".into()) };
        // Instructions may follow what they are about.
        let (instructions, after): (Vec<Turn>, Vec<Turn>) =
            after.into_iter().partition(|turn| turn.role == Role::System);
        self.turns.extend(instructions);
        if after.last().is_some_and(|turn| turn.calls.is_empty()) {
            return Err("the last message must be the user's, or the result of a tool".into());
        }
        let calls = self.turns.iter().chain(&after).flat_map(|turn| &turn.calls);
        if let Some(open) = calls.into_iter().find(|call| call.result.is_none()) {
            return Err(format!("a call of `{}` has no result", shown(&open.name)));
        }
        if asked.content.trim().is_empty() && self.files.is_empty() {
            return Err("the last message of the user is empty".into());
        }
        let of_last = |(id, (turn, _)): (&String, &(usize, usize))| (*turn == last + after.len()).then(|| id.clone());
        let answered = self.calls.iter().filter_map(of_last).filter(|_| !after.is_empty()).collect();
        let text = asked.content.trim().to_owned();
        Ok(Asked { text, history: self.turns, after, files: self.files, answered })
    }
}

/// A text from outside as errors show it.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

/// A picture, by its address or as a data URL.
pub(super) fn picture(address: &str) -> Result<File, String> {
    if !address.starts_with("data:") {
        return match Url::parse(address) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(File::At(Kind::Image, address.to_owned())),
            Ok(url) => Err(format!("the address of a picture may not begin with `{}:`", url.scheme())),
            Err(error) => Err(format!("the address of a picture is wrong: {error}")),
        };
    }
    let bytes = data(address)?;
    // What it is, the bytes tell; the type that the URL names need not be true.
    match jarvis_store::sniff::sniff(&bytes) {
        Some(found) if found.kind == Some(Kind::Image) => {
            Ok(File::Bytes(format!("picture.{}", found.extension), bytes))
        }
        _ => Err("its data URL holds no picture".into()),
    }
}

/// A sound in base64.
pub(super) fn sound(format: &str, data: &str) -> Result<File, String> {
    let format = format.trim();
    if !matches!(format, "wav" | "mp3" | "flac" | "ogg") {
        return Err("the format of a sound is `wav`, `mp3`, `flac` or `ogg`".into());
    }
    let bytes = STANDARD.decode(data.trim()).map_err(|error| format!("its sound is not base64: {error}"))?;
    Ok(File::Bytes(format!("sound.{format}"), bytes))
}

/// A document or any other file: as a data URL or bare base64 with its name, or one that was sent before.
pub(super) fn document(content: Option<&str>, name: Option<&str>, id: Option<&str>) -> Result<File, String> {
    match (content, id) {
        (Some(_), Some(_)) => Err("a file has `file_data` or `file_id`, not both".into()),
        (None, None) => Err("a file needs `file_data` with its `filename`, or `file_id`".into()),
        (None, Some(id)) => Ok(File::Kept(id.to_owned())),
        (Some(content), None) => {
            let name = name.map(str::trim).filter(|name| !name.is_empty() && name.len() <= 200);
            let name = name.ok_or("a file in `file_data` needs its `filename`, which tells what it is")?;
            let bytes = match content.starts_with("data:") {
                true => data(content)?,
                false => STANDARD
                    .decode(content.trim())
                    .map_err(|error| format!("its `file_data` is not base64: {error}"))?,
            };
            let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
            Ok(File::Bytes(name.chars().filter(|c| !c.is_control()).collect(), bytes))
        }
    }
}

/// The bytes of a data URL.
fn data(address: &str) -> Result<Vec<u8>, String> {
    let (head, body) = address.split_once(',').ok_or("its data URL has no comma")?;
    if !head.ends_with(";base64") {
        return Err("its data URL is not base64".into());
    }
    STANDARD.decode(body.trim()).map_err(|error| format!("its data URL is not base64: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(of: &[&str]) -> Result<Asked, String> {
        let mut said = Said::default();
        for (at, one) in of.iter().enumerate() {
            let (what, text) = one.split_once(' ').unwrap_or((one, ""));
            match what {
                "user" => said.turn(Role::User, text.into()),
                "assistant" => said.turn(Role::Assistant, text.into()),
                "system" => said.turn(Role::System, text.into()),
                "call" => said.call(text, "add", "{}").map_err(|error| format!("{at}: {error}"))?,
                _ => said.result(text, "5".into()).map_err(|error| format!("{at}: {error}"))?,
            }
        }
        said.asked()
    }

    #[test]
    fn a_conversation_is_what_was_before_what_is_asked_and_what_came_after() {
        for (of, text, history, after, answered) in [
            (vec!["user a"], "a", 0, 0, 0),
            (vec!["system s", "user a", "assistant b", "user c"], "c", 3, 0, 0),
            (vec!["user a", "call 1", "call 2", "result 2", "result 1"], "a", 0, 1, 2),
            (vec!["user a", "assistant b", "call 1", "result 1"], "a", 0, 1, 1),
            (vec!["user a", "call 1", "result 1", "call 2", "result 2"], "a", 0, 2, 1),
            (vec!["user a", "call 1", "result 1", "assistant b", "user c"], "c", 3, 0, 0),
            (vec!["user a", "system s"], "a", 1, 0, 0),
        ] {
            let asked = said(&of).unwrap_or_else(|error| panic!("{of:?}: {error}"));
            let found = (asked.text.as_str(), asked.history.len(), asked.after.len(), asked.answered.len());
            assert_eq!(found, (text, history, after, answered), "{of:?}");
        }
    }

    #[test]
    fn what_is_no_request_is_told() {
        for (of, want) in [
            (vec![], "it is empty"),
            (vec!["system s"], "it has no message of the user"),
            (vec!["user a", "assistant b"], "the last message must be the user's, or the result of a tool"),
            (vec!["user  "], "the last message of the user is empty"),
            (vec!["user a", "call 1"], "a call of `add` has no result"),
            (vec!["user a", "call 1", "user b"], "a call of `add` has no result"),
            (vec!["user a", "result 1"], "1: no call before it has the id `1`"),
            (vec!["user a", "call 1", "call 1"], "2: two calls have the id `1`"),
        ] {
            assert_eq!(said(&of).map(|_| ()), Err(want.to_owned()), "{of:?}");
        }
    }
}
