//! A question to a model: its prompt, its settings, and the attempts at a reply that can be read.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use jarvis_chat::{ChatError, ChatReply, ChatRequest, Message, ReplySchema, ToolOffer};
use jarvis_plan::{EventKind, Level, Role};
use jarvis_prompt::reader::{Want, read_typed, without_reasoning};
use jarvis_prompt::template::TemplateError;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::reasoning::ReasoningFilter;
use crate::{Ask, AskError, call, fit};

/// How much of a reply that cannot be read is sent back to the model, in characters.
const REPLY_SHOWN: usize = 4_000;

crate::prompts! {
    enum Builtin in "../prompts/" {
        Again = "again", "again", [error, wanted];
    }
}

/// A reply that could not be read.
#[derive(Debug, Clone, Copy)]
pub struct Refused<'a> {
    /// The reply.
    pub reply: &'a ChatReply,
    /// What is wrong with it, in words for the model.
    pub reason: &'a str,
}

type Again<'a> = Box<dyn Fn(&mut Vec<Message>, Refused<'_>) -> Result<(), TemplateError> + Send + Sync + 'a>;

/// A question under construction. Made by [`Ask::stage`]; asks when one of [`Question::read`], [`Question::typed`],
/// [`Question::json`], [`Question::call`], [`Question::stream`] and [`Question::attempts`] is called.
#[must_use = "a question is asked only when its reply is read"]
pub struct Question<'a> {
    ask: &'a Ask,
    stage: &'static str,
    request: Box<ChatRequest>,
    reserve: usize,
    level: usize,
    /// The most tokens to write, and the tokens that the prompt leaves.
    tokens: Option<(usize, usize)>,
    attempts: u32,
    repeats_bad_replies: bool,
    verbatim: bool,
    wanted: &'a str,
    noted_as: Option<&'a str>,
    again: Option<Again<'a>>,
}

impl<'a> Question<'a> {
    pub(crate) fn new(ask: &'a Ask, stage: &'static str) -> Question<'a> {
        Question {
            ask,
            stage,
            request: Box::new(ChatRequest::exact(stage, Vec::new())),
            reserve: ask.reserve,
            level: 0,
            tokens: None,
            attempts: 1,
            repeats_bad_replies: false,
            verbatim: false,
            wanted: "a JSON object",
            noted_as: None,
            again: None,
        }
    }

    /// Labels the calls with a task.
    pub fn task(mut self, task: impl Into<Option<i64>>) -> Self {
        self.request.labels.task = task.into();
        self
    }

    /// Names the calls in prompt logs, in the place of the stage.
    pub fn named(mut self, name: Option<&'static str>) -> Self {
        self.request.labels.name = name;
        self
    }

    /// Sends these messages, without counting their tokens.
    pub fn messages(mut self, messages: Vec<Message>) -> Self {
        self.request.messages = messages;
        self
    }

    /// Tokens of the context that [`Question::fitted`] keeps free for the reply, in the place of those of [`Ask`].
    pub fn reserve(mut self, tokens: usize) -> Self {
        self.reserve = tokens;
        self
    }

    /// Sends the messages of the first of `levels` that fits the model's context. Each level is shorter than the one before.
    ///
    /// # Errors
    /// When a level cannot be rendered, or not even the last one fits.
    pub fn fitted<L, M: Into<Message>>(
        mut self,
        levels: &[L],
        build: impl Fn(&L) -> Result<Vec<M>, TemplateError>,
    ) -> Result<Self, AskError> {
        (self.level, self.request.messages) =
            fit::fit(self.ask.model.as_ref(), self.stage, self.reserve, levels, build)?;
        Ok(self)
    }

    /// The index of the level that [`Question::fitted`] took; 0 when nothing was left out.
    pub fn level(&self) -> usize {
        self.level
    }

    /// Changes settings of the request that have no method of their own.
    pub fn request(mut self, change: impl FnOnce(&mut ChatRequest)) -> Self {
        change(&mut self.request);
        self
    }

    /// Temperature, 0 to 2; 0 unless set. `None` leaves it to the endpoint.
    pub fn temperature(mut self, temperature: Option<f32>) -> Self {
        self.request.temperature = temperature;
        self
    }

    /// Favours the tokens of these words by `bias`, −100 to 100; `None` favours none.
    pub fn favour(mut self, words: &str, bias: Option<f32>) -> Self {
        if let Some(bias) = bias {
            let ids = self.ask.model.token_ids(self.stage, words);
            self.request.logit_bias = ids.into_iter().map(|id| (id, bias)).collect();
        }
        self
    }

    /// Offers tools for the endpoint's own tool calling.
    pub fn tools(mut self, tools: Vec<ToolOffer>) -> Self {
        self.request.tools = tools;
        self
    }

    /// Time for one attempt of a call, in the place of the client's.
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.request.timeout = timeout;
        self
    }

    /// Sends a JSON Schema for the reply, where [`Ask::structured`] is on.
    pub fn schema<S: Into<Arc<serde_json::Value>>>(mut self, name: &str, schema: impl FnOnce() -> S) -> Self {
        if self.ask.structured {
            self.request.schema = Some(ReplySchema { name: name.to_owned(), schema: schema().into() });
        }
        self
    }

    /// Lets the model write at most `most` tokens, and no more than the context has left after the prompt.
    pub fn tokens_left(mut self, most: usize) -> Self {
        let used = fit::count(self.ask.model.as_ref(), self.stage, &self.request.messages, "\n");
        // The count is an estimate for some models, so a tenth is kept free.
        let left = self.ask.model.context_tokens(self.stage).saturating_sub(used + used / 10);
        self.tokens = Some((most, left));
        self.limit_tokens();
        self
    }

    /// Asks up to so many times, at least once.
    pub fn asking(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// What the reply must be, for the message that asks again: `a JSON object` unless set.
    pub fn wanted(mut self, wanted: &'a str) -> Self {
        self.wanted = wanted;
        self
    }

    /// Adds a note to the run when the model is asked again: "{what} could not be read ({reason}); asking once more".
    pub fn noted_as(mut self, what: &'a str) -> Self {
        self.noted_as = Some(what);
        self
    }

    /// How the messages change before the model is asked again. Unless set, the reply and the reason follow them.
    pub fn again(
        mut self,
        again: impl Fn(&mut Vec<Message>, Refused<'_>) -> Result<(), TemplateError> + Send + Sync + 'a,
    ) -> Self {
        self.again = Some(Box::new(again));
        self
    }

    /// Counts [`ChatError::BadReply`] as an attempt instead of ending with it.
    pub fn repeating_bad_replies(mut self) -> Self {
        self.repeats_bad_replies = true;
        self
    }

    /// Leaves blanks at both ends of replies, which are cut off otherwise.
    pub fn verbatim(mut self) -> Self {
        self.verbatim = true;
        self
    }

    /// Asks once and gives the whole reply.
    ///
    /// # Errors
    /// When the call fails.
    pub async fn call(self) -> Result<ChatReply, AskError> {
        self.attempts().next().await
    }

    /// Asks once and passes the reply on in pieces as it is written.
    ///
    /// # Errors
    /// When the call fails, before the first piece or in the middle.
    pub async fn stream(mut self, mut piece: impl FnMut(&str) + Send) -> Result<ChatReply, AskError> {
        self.request.labels.attempt = Some(1);
        let reply = call::call(self.ask.model.as_ref(), &self.ask.events, &self.request, Some(&mut piece)).await;
        self.finished(reply)
    }

    /// Asks once for text that a person reads, without the reasoning before it. With `stream`, the text is also reported in
    /// pieces as it is written, as [`EventKind::Token`].
    ///
    /// # Errors
    /// When the call fails or the reply is empty.
    pub async fn prose(self, stream: bool) -> Result<String, AskError> {
        let stage = self.stage;
        let text = self.said(stream).await?.text;
        if text.is_empty() {
            let source = ChatError::BadReply { reason: "the reply is empty".into(), body: text };
            return Err(AskError::Model { stage, source });
        }
        Ok(text)
    }

    /// As [`Question::prose`], with the tools that the model calls. The text may be empty.
    ///
    /// # Errors
    /// When the call fails.
    pub async fn said(self, stream: bool) -> Result<ChatReply, AskError> {
        let mut reply = if stream {
            let events = self.ask.events.clone();
            let mut filter = ReasoningFilter::default();
            let piece = |text: &str| {
                let text = filter.push(text);
                if !text.is_empty() {
                    events.emit(EventKind::Token { text });
                }
            };
            self.stream(piece).await?
        } else {
            self.call().await?
        };
        reply.text = without_reasoning(&reply.text).trim().to_owned();
        Ok(reply)
    }

    /// Asks until `read` takes a reply. Its error says what is wrong, in words that are sent to the model.
    ///
    /// # Errors
    /// [`AskError::Unreadable`] when the attempts are used up, and those of the calls and of the prompt for asking again.
    pub async fn read<T, R: Display>(self, read: impl Fn(&ChatReply) -> Result<T, R>) -> Result<T, AskError> {
        let mut attempts = self.attempts();
        loop {
            match attempts.next().await {
                Ok(reply) => match read(&reply) {
                    Ok(value) => return Ok(value),
                    Err(reason) => attempts.refuse(&reply, &reason.to_string())?,
                },
                Err(error) => attempts.failed(error)?,
            }
        }
    }

    /// Asks until a reply holds JSON that is a `T`.
    ///
    /// # Errors
    /// As [`Question::read`].
    pub async fn typed<T: DeserializeOwned>(self, want: Want) -> Result<T, AskError> {
        self.read(|reply| read_typed(&reply.text, want).map(|read| read.value)).await
    }

    /// As [`Question::typed`] for a JSON object, with the schema of `T`.
    ///
    /// # Errors
    /// As [`Question::read`].
    pub async fn json<T: DeserializeOwned + JsonSchema>(self) -> Result<T, AskError> {
        let schema = || schemars::schema_for!(T).to_value();
        self.schema(&T::schema_name(), schema).typed(Want::Object).await
    }

    /// The attempts one by one, for readers that do more than read.
    pub fn attempts(self) -> Attempts<'a> {
        Attempts { question: self, made: 0 }
    }

    fn limit_tokens(&mut self) {
        if let Some((most, left)) = self.tokens {
            self.request.max_tokens = u32::try_from(most.min(left)).ok().filter(|tokens| *tokens > 0);
        }
    }

    fn finished(&self, reply: Result<ChatReply, ChatError>) -> Result<ChatReply, AskError> {
        let mut reply = reply.map_err(|source| AskError::Model { stage: self.stage, source })?;
        if !self.verbatim && reply.text.trim().len() != reply.text.len() {
            reply.text = reply.text.trim().to_owned();
        }
        Ok(reply)
    }
}

/// The attempts at a question: [`Attempts::next`] asks, [`Attempts::refuse`] and [`Attempts::failed`] say whether there is
/// another attempt.
pub struct Attempts<'a> {
    question: Question<'a>,
    made: u32,
}

impl Attempts<'_> {
    /// Makes a call.
    ///
    /// # Errors
    /// When it fails.
    pub async fn next(&mut self) -> Result<ChatReply, AskError> {
        self.made += 1;
        self.question.request.labels.attempt = Some(self.made);
        let Question { ask, request, .. } = &self.question;
        let reply = call::call(ask.model.as_ref(), &ask.events, request, None).await;
        self.question.finished(reply)
    }

    /// Makes a call and passes the reply on in pieces as it is written. Where it breaks off, it is asked for once more as a whole.
    ///
    /// # Errors
    /// When that call fails too.
    pub async fn next_streamed(&mut self, mut piece: impl FnMut(&str) + Send) -> Result<ChatReply, AskError> {
        self.made += 1;
        self.question.request.labels.attempt = Some(self.made);
        let mut began = false;
        let mut piece = |text: &str| {
            began = true;
            piece(text);
        };
        let Question { ask, request, .. } = &self.question;
        let mut reply = call::call(ask.model.as_ref(), &ask.events, request, Some(&mut piece)).await;
        if reply.is_err() && began {
            reply = call::call(ask.model.as_ref(), &ask.events, request, None).await;
        }
        self.question.finished(reply)
    }

    /// How many calls were made.
    pub fn made(&self) -> u32 {
        self.made
    }

    /// The request as it was sent last, or will be sent first.
    pub fn request(&self) -> &ChatRequest {
        &self.question.request
    }

    /// Prepares another attempt after a reply that cannot be used.
    ///
    /// # Errors
    /// [`AskError::Unreadable`] when this was the last attempt.
    pub fn refuse(&mut self, reply: &ChatReply, reason: &str) -> Result<(), AskError> {
        let question = &mut self.question;
        let stage = question.stage;
        if self.made >= question.attempts {
            let (reason, reply) = (reason.to_owned(), reply.text.clone());
            return Err(AskError::Unreadable { stage, attempts: self.made, reason, reply });
        }
        if let Some(what) = question.noted_as {
            let note = format!("{what} could not be read ({reason}); asking once more");
            question.ask.events.note(Level::Info, note);
        }
        let refused = Refused { reply, reason };
        let before = question.request.messages.len();
        let messages = &mut question.request.messages;
        let changed = match &question.again {
            Some(again) => again(messages, refused),
            None => follow_up(messages, refused, question.wanted),
        };
        changed.map_err(|source| AskError::Prompt { stage, source })?;
        if let Some((_, left)) = &mut question.tokens {
            let added = question.request.messages.get(before..).unwrap_or_default();
            let model = &question.ask.model;
            let added: usize = added.iter().map(|message| model.count_tokens(stage, &message.joined_text())).sum();
            *left = left.saturating_sub(added + added / 10);
            question.limit_tokens();
        }
        Ok(())
    }

    /// Goes on after a failed call, if another attempt may help.
    ///
    /// # Errors
    /// The same error, when no other attempt is made.
    pub fn failed(&mut self, error: AskError) -> Result<(), AskError> {
        let is_bad_reply = matches!(&error, AskError::Model { source: ChatError::BadReply { .. }, .. });
        if is_bad_reply && self.question.repeats_bad_replies && self.made < self.question.attempts {
            return Ok(());
        }
        Err(error)
    }
}

/// Adds the reply, cut, and the reason why it cannot be used.
fn follow_up(messages: &mut Vec<Message>, refused: Refused<'_>, wanted: &str) -> Result<(), TemplateError> {
    let reply = &refused.reply.text;
    let reply = match reply.char_indices().nth(REPLY_SHOWN).and_then(|(at, _)| reply.get(..at)) {
        Some(start) => format!("{}…", start.trim_end()),
        None => reply.clone(),
    };
    messages.push(Message::text(Role::Assistant, reply));
    let context = serde_json::json!({"error": refused.reason, "wanted": wanted});
    messages.extend(crate::Prompts::<Builtin>::builtin()?.messages(Builtin::Again, &context)?);
    Ok(())
}
