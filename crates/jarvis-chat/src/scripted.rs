//! A chat model that answers from a list, for tests and examples.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use crate::model::{ChatError, ChatModel, ChatReply, ChatRequest, ChatStream, TokenUsage};

/// Answers each call with the next reply of a list and keeps the requests. After the last reply, calls fail.
#[derive(Debug)]
pub struct Scripted {
    replies: Mutex<VecDeque<Result<ChatReply, ChatError>>>,
    requests: Mutex<Vec<ChatRequest>>,
    context_tokens: usize,
    sees: bool,
}

impl Scripted {
    /// A model that replies with these texts, in order. Each call is reported as 7 tokens sent and 2 received.
    pub fn new(replies: impl IntoIterator<Item = impl Into<String>>) -> Scripted {
        Scripted::answering(replies.into_iter().map(|text| {
            Ok(ChatReply {
                text: text.into(),
                finish_reason: "stop".to_owned(),
                usage: TokenUsage { prompt: 7, completion: 2, ..TokenUsage::default() },
                ..ChatReply::default()
            })
        }))
    }

    /// A model that gives these results, in order.
    pub fn answering(replies: impl IntoIterator<Item = Result<ChatReply, ChatError>>) -> Scripted {
        let replies = Mutex::new(replies.into_iter().collect());
        Scripted { replies, requests: Mutex::default(), context_tokens: 4096, sees: false }
    }

    /// Sets the context size, 4,096 tokens by default. Four bytes count as one token.
    #[must_use]
    pub fn with_context(self, tokens: usize) -> Scripted {
        Scripted { context_tokens: tokens, ..self }
    }

    /// Sets whether it takes pictures; it does not by default.
    #[must_use]
    pub fn seeing(self, sees: bool) -> Scripted {
        Scripted { sees, ..self }
    }

    pub fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl ChatModel for Scripted {
    fn model_name(&self, _: &str) -> String {
        "scripted".to_owned()
    }

    fn context_tokens(&self, _: &str) -> usize {
        self.context_tokens
    }

    fn count_tokens(&self, _: &str, text: &str) -> usize {
        text.len() / 4
    }

    fn token_ids(&self, _: &str, _: &str) -> Vec<u32> {
        Vec::new()
    }

    fn provider(&self, _stage: &str, _model: &str) -> String {
        String::new()
    }

    fn can_see(&self, _: &str) -> bool {
        self.sees
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        let next = self.replies.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        next.unwrap_or_else(|| Err(ChatError::Config("the scripted model has no reply left".to_owned())))
    }

    async fn stream(&self, request: &ChatRequest) -> Result<ChatStream, ChatError> {
        Ok(self.complete(request).await?.into_stream())
    }
}
