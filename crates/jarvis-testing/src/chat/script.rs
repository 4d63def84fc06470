//! What the fake endpoint answers: rules by stage and prompt, and replies good and bad.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::Rule;

/// The rules of a fake endpoint. The first rule that fits a request answers it; its replies are given in order, and the last
/// one repeats. A request that no rule fits is answered with status 418.
#[derive(Debug, Default)]
pub struct Script {
    pub(super) rules: Vec<Rule>,
}

impl Script {
    pub fn new() -> Script {
        Script::default()
    }

    /// The same replies for every request, whatever its stage.
    pub fn always(replies: impl Into<Replies>) -> Script {
        Script::new().otherwise(replies)
    }

    pub fn on(self, stage: &str, replies: impl Into<Replies>) -> Script {
        self.rule(Some(stage), &[], replies.into())
    }

    /// Answers requests of a stage whose texts hold all the given ones. Put it before a plain [`Script::on`] of the stage.
    pub fn on_containing(self, stage: &str, contains: &[&str], replies: impl Into<Replies>) -> Script {
        self.rule(Some(stage), contains, replies.into())
    }

    /// Answers whatever no earlier rule fits.
    pub fn otherwise(self, replies: impl Into<Replies>) -> Script {
        self.rule(None, &[], replies.into())
    }

    fn rule(mut self, stage: Option<&str>, contains: &[&str], replies: Replies) -> Script {
        let contains = contains.iter().map(|&part| part.to_owned()).collect();
        self.rules.push(Rule { stage: stage.map(str::to_owned), contains, replies: replies.0 });
        self
    }
}

/// One or more replies; a text stands for itself.
#[derive(Debug)]
pub struct Replies(VecDeque<Reply>);

impl From<Reply> for Replies {
    fn from(reply: Reply) -> Replies {
        Replies([reply].into())
    }
}

impl From<&str> for Replies {
    fn from(text: &str) -> Replies {
        Reply::text(text).into()
    }
}

impl From<String> for Replies {
    fn from(text: String) -> Replies {
        Reply::text(text).into()
    }
}

impl From<Vec<Reply>> for Replies {
    fn from(replies: Vec<Reply>) -> Replies {
        Replies(replies.into())
    }
}

impl<const N: usize> From<[Reply; N]> for Replies {
    fn from(replies: [Reply; N]) -> Replies {
        Replies(replies.into())
    }
}

impl<const N: usize> From<[&str; N]> for Replies {
    fn from(texts: [&str; N]) -> Replies {
        Replies(texts.into_iter().map(Reply::text).collect())
    }
}

/// A reply; one of a file of test cases is written as in [`Written`].
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "Written")]
pub struct Reply(pub(super) Kind);

/// A reply as test cases have it: the name and the arguments of its constructor, `{error: [500, oops]}`.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Written {
    Text(String),
    Pieces(Vec<String>),
    Cut(String),
    WithoutDone(String),
    Error(u16, String),
    RateLimited(String),
    Html(u16),
    Json(u16, Value),
    Raw(u16, String, String),
    Refusing(Vec<String>, String),
    RefusingSilently(u16, Vec<String>, String),
    EmptyChoices,
    Never,
}

impl From<Written> for Reply {
    fn from(written: Written) -> Reply {
        match written {
            Written::Text(text) => Reply::text(text),
            Written::Pieces(pieces) => Reply::pieces(pieces),
            Written::Cut(text) => Reply::cut(&text),
            Written::WithoutDone(text) => Reply::text(text).without_done(),
            Written::Error(status, message) => Reply::error(status, &message),
            Written::RateLimited(wait) => Reply::rate_limited(&wait),
            Written::Html(status) => Reply::html(status),
            Written::Json(status, body) => Reply::json(status, body),
            Written::Raw(status, kind, body) => Reply::raw(status, &kind, &body),
            Written::Refusing(fields, text) => Reply::refusal(400, &fields, true, &text),
            Written::RefusingSilently(status, fields, text) => Reply::refusal(status, &fields, false, &text),
            Written::EmptyChoices => Reply::empty_choices(),
            Written::Never => Reply::never(),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Text(Text),
    Raw(Raw),
    /// Refuses requests that hold one of the fields, `named` or not; answers others.
    Refusing {
        status: u16,
        fields: Vec<String>,
        named: bool,
        text: Text,
    },
    Never,
}

#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) pieces: Vec<String>,
    pub(super) finish_reason: String,
    pub(super) prompt_tokens: u64,
    pub(super) completion_tokens: u64,
    /// The connection ends before the reply does.
    pub(super) cut: bool,
    pub(super) done: bool,
    /// One permit lets one piece go.
    pub(super) gate: Option<Arc<Semaphore>>,
}

impl Text {
    fn new<T: Into<String>>(pieces: impl IntoIterator<Item = T>) -> Text {
        let pieces: Vec<String> = pieces.into_iter().map(Into::into).collect();
        Text {
            completion_tokens: pieces.len() as u64,
            pieces,
            finish_reason: "stop".to_owned(),
            prompt_tokens: 10,
            cut: false,
            done: true,
            gate: None,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Raw {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Raw {
    pub(super) fn new(status: u16, content_type: &str, body: &str) -> Raw {
        Raw { status, headers: vec![("content-type".to_owned(), content_type.to_owned())], body: body.to_owned() }
    }

    pub(super) fn json(status: u16, body: &Value) -> Raw {
        Raw::new(status, "application/json", &body.to_string())
    }

    pub(super) fn error(status: u16, message: &str) -> Raw {
        Raw::json(status, &json!({"error": {"message": message, "type": "fake_error", "code": null}}))
    }
}

/// Lets the pieces of a [`Reply::stepped`] go one by one.
#[derive(Debug, Clone)]
pub struct Step(Arc<Semaphore>);

impl Step {
    /// Lets the next piece go, or the one after those that were let go but not yet sent.
    pub fn step(&self) {
        self.0.add_permits(1);
    }
}

impl Reply {
    /// A reply, streamed word by word where streaming is asked for. Its usage is 10 tokens and one for each piece.
    pub fn text(text: impl Into<String>) -> Reply {
        let text: String = text.into();
        Reply::pieces(text.split_inclusive(' '))
    }

    pub fn pieces<T: Into<String>>(pieces: impl IntoIterator<Item = T>) -> Reply {
        Reply(Kind::Text(Text::new(pieces)))
    }

    /// A streamed reply each of whose pieces waits for a [`Step::step`]; the end follows the last piece by itself.
    pub fn stepped<T: Into<String>>(pieces: impl IntoIterator<Item = T>) -> (Reply, Step) {
        let gate = Arc::new(Semaphore::new(0));
        let reply = Reply::pieces(pieces).edit(|text| text.gate = Some(gate.clone()));
        (reply, Step(gate))
    }

    pub fn finish(self, reason: &str) -> Reply {
        self.edit(|text| text.finish_reason = reason.to_owned())
    }

    pub fn usage(self, prompt_tokens: u64, completion_tokens: u64) -> Reply {
        self.edit(|text| (text.prompt_tokens, text.completion_tokens) = (prompt_tokens, completion_tokens))
    }

    /// Streams a finish reason but no `[DONE]`, as some servers do.
    pub fn without_done(self) -> Reply {
        self.edit(|text| text.done = false)
    }

    /// A reply that breaks off after these words: a stream without its end, or a body shorter than promised.
    pub fn cut(text: &str) -> Reply {
        Reply::text(text).edit(|text| text.cut = true)
    }

    /// Refuses (400) a request that holds any of these fields, with a message that names the first one it finds; answers
    /// other requests with the text.
    pub fn refusing(fields: &[&str], text: &str) -> Reply {
        Reply::refusal(400, fields, true, text)
    }

    /// Never answers; the request ends when the client goes away.
    pub fn never() -> Reply {
        Reply(Kind::Never)
    }

    /// Too many requests, with a `Retry-After` (seconds or an HTTP date).
    pub fn rate_limited(retry_after: &str) -> Reply {
        Reply::error(429, "slow down").header("retry-after", retry_after)
    }

    /// An error as OpenAI words it: `{"error": {"message", "type", "code"}}`. Status 200 is possible.
    pub fn error(status: u16, message: &str) -> Reply {
        Reply(Kind::Raw(Raw::error(status, message)))
    }

    pub fn json(status: u16, body: Value) -> Reply {
        Reply(Kind::Raw(Raw::json(status, &body)))
    }

    /// A web page, as gateways and wrong addresses give it.
    pub fn html(status: u16) -> Reply {
        Reply::raw(status, "text/html; charset=utf-8", "<!doctype html><title>Welcome</title><p>It works.")
    }

    pub fn empty_choices() -> Reply {
        Reply::json(200, json!({"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": []}))
    }

    pub fn raw(status: u16, content_type: &str, body: &str) -> Reply {
        Reply(Kind::Raw(Raw::new(status, content_type, body)))
    }

    /// Adds a header to an answer that is not a chat reply; has no effect on one that is.
    pub fn header(mut self, name: &str, value: &str) -> Reply {
        if let Kind::Raw(raw) = &mut self.0 {
            raw.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    fn refusal(status: u16, fields: &[impl AsRef<str>], named: bool, text: &str) -> Reply {
        let fields = fields.iter().map(|field| field.as_ref().to_owned()).collect();
        Reply(Kind::Refusing { status, fields, named, text: Text::new(text.split_inclusive(' ')) })
    }

    fn edit(mut self, change: impl FnOnce(&mut Text)) -> Reply {
        if let Kind::Text(text) = &mut self.0 {
            change(text);
        }
        self
    }
}
