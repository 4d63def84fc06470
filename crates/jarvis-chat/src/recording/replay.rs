//! Answers chat calls from a recording; no network.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use super::{Line, LineModel, request_sha256};
use crate::model::{ChatError, ChatModel, ChatReply, ChatRequest, ChatStream, Message, TokenUsage};
use crate::tokens::Tokens;
use crate::wire::start;

const NAME: &str = "replay";

/// The context size, in tokens, where the recording has none: large, since recorded replies need no space.
const CONTEXT: usize = 128_000;

/// A recording that answers. A call takes the first unused line whose stage is equal and whose every `contains` occurs in
/// the call's texts; a `sticky` line may answer again. A line that was recorded for exactly this request goes first.
#[derive(Debug)]
pub struct Replay {
    lines: Vec<Line>,
    used: Mutex<Vec<bool>>,
}

impl Replay {
    /// Reads a recording, at once; meant for the start of a program. Errors are [`ChatError::Recording`] and name the line.
    pub fn open(path: impl AsRef<Path>) -> Result<Replay, ChatError> {
        let path = path.as_ref().display().to_string();
        match std::fs::read_to_string(&path) {
            Ok(text) => Replay::parse(&path, &text),
            Err(error) => Err(ChatError::Recording { path, reason: format!("it cannot be read: {error}") }),
        }
    }

    /// Reads a recording from a text. `path` is its name in errors. Empty lines are passed over.
    pub fn parse(path: &str, text: &str) -> Result<Replay, ChatError> {
        let mut lines = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim_start_matches('\u{feff}').trim();
            if line.is_empty() {
                continue;
            }
            let line: Line = serde_json::from_str(line).map_err(|error| {
                // The parser's "at line 1" is about its own text, one line long.
                let error = error.to_string();
                let (what, column) = error.rsplit_once(" at line 1 column ").unwrap_or((&error, "1"));
                let reason = format!("line {}, column {column}: {what}", at + 1);
                ChatError::Recording { path: path.to_owned(), reason }
            })?;
            lines.push(line);
        }
        let used = Mutex::new(vec![false; lines.len()]);
        Ok(Replay { lines, used })
    }

    /// Lines that no call has taken yet.
    pub fn unused(&self) -> usize {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(|used| !**used).count()
    }

    fn take(&self, request: &ChatRequest) -> Result<&Line, ChatError> {
        let texts: Vec<String> = request.messages.iter().map(Message::joined_text).collect();
        let hashed = self.lines.iter().any(|line| line.request_sha256.is_some());
        let hash = hashed.then(|| request_sha256(request));
        let exact = |line: &Line| line.request_sha256.is_some() && line.request_sha256 == hash;
        let fits = |line: &Line| line.contains.iter().all(|part| texts.iter().any(|text| text.contains(part)));

        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let free = || {
            let of_stage = self.lines.iter().zip(used.iter()).enumerate();
            of_stage.filter(|(_, (line, used))| line.stage == request.stage && (line.sticky || !**used))
        };
        let found = free().find(|(_, (line, _))| exact(line)).or_else(|| free().find(|(_, (line, _))| fits(line)));
        let Some((at, (line, _))) = found else {
            let prompt = start(&texts.join("\n"), 200);
            return Err(ChatError::ReplayMiss { stage: request.stage.clone(), prompt });
        };
        if let Some(used) = used.get_mut(at) {
            *used = true;
        }
        Ok(line)
    }

    fn model(&self, stage: &str) -> Option<&LineModel> {
        self.lines.iter().filter(|line| line.stage == stage).find_map(|line| line.model.as_ref())
    }

    fn tokens(&self, stage: &str) -> Tokens {
        Tokens::of(self.model(stage).map_or(NAME, |model| &model.name))
    }
}

fn reply(line: &Line) -> ChatReply {
    ChatReply {
        text: line.reply.clone(),
        tool_uses: line.tool_uses.clone(),
        finish_reason: line.finish_reason.clone().unwrap_or_else(|| "stop".to_owned()),
        usage: line.usage.map_or(TokenUsage::default(), |usage| TokenUsage {
            prompt: usage.prompt_tokens,
            completion: usage.completion_tokens,
            ..TokenUsage::default()
        }),
        model: None,
    }
}

#[async_trait]
impl ChatModel for Replay {
    fn model_name(&self, stage: &str) -> String {
        self.model(stage).map_or_else(|| NAME.to_owned(), |model| model.name.clone())
    }

    fn context_tokens(&self, stage: &str) -> usize {
        self.model(stage).map_or(CONTEXT, |model| model.context_tokens)
    }

    fn count_tokens(&self, stage: &str, text: &str) -> usize {
        self.tokens(stage).count(text)
    }

    fn token_ids(&self, stage: &str, text: &str) -> Vec<u32> {
        self.tokens(stage).ids(text)
    }

    fn provider(&self, _stage: &str, _model: &str) -> String {
        String::new()
    }

    fn can_see(&self, stage: &str) -> bool {
        if let Some(model) = self.model(stage) {
            return model.can_see;
        }
        // Older recordings and runs without such a call know it of the other stages.
        self.lines.iter().filter_map(|line| line.model.as_ref()).any(|model| model.can_see)
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        self.take(request).map(reply)
    }

    async fn stream(&self, request: &ChatRequest) -> Result<ChatStream, ChatError> {
        Ok(self.complete(request).await?.into_stream())
    }
}
