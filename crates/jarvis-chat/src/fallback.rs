//! Several models in a row: where one cannot be reached or is overloaded, the next is asked.

use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt as _;
use futures::stream;

use crate::model::{ChatError, ChatModel, ChatReply, ChatRequest, ChatStream};

/// Asks the first of its models, and the next where that one fails in a way that says nothing about the question: it cannot be
/// reached, does not answer in time, is overloaded, broken, or has too small a context. A reply says who gave it. A reply that
/// breaks off in the middle is not asked for again: what was read of it may have been acted upon.
pub struct Fallback {
    first: Arc<dyn ChatModel>,
    others: Vec<Arc<dyn ChatModel>>,
}

impl Fallback {
    /// The models in the order in which they are asked.
    pub fn new(first: Arc<dyn ChatModel>, others: Vec<Arc<dyn ChatModel>>) -> Fallback {
        Fallback { first, others }
    }

    fn told(&self, stage: &str, at: usize, error: &ChatError) {
        let next = self.others.get(at).map(|model| model.model_name(stage)).unwrap_or_default();
        tracing::warn!(stage, error = error.code().as_str(), next, "a chat model failed, and the next one is asked");
        tracing::debug!(%error, "it said");
    }
}

/// Whether another endpoint may answer where one failed so. Every way to fail is listed.
fn next_may_help(error: &ChatError) -> bool {
    match error {
        ChatError::Unreachable { .. } | ChatError::Timeout { .. } | ChatError::RateLimited { .. } => true,
        ChatError::Api { status, message } => *status >= 500 || is_overflow(message),
        ChatError::Unauthorized { .. }
        | ChatError::BadReply { .. }
        | ChatError::ReplayMiss { .. }
        | ChatError::Recording { .. }
        | ChatError::Config(_)
        | ChatError::Budget(_)
        | ChatError::Stopped(_) => false,
    }
}

/// Whether an endpoint says that the prompt is too long for its model, in the words of the usual servers.
fn is_overflow(message: &str) -> bool {
    let message = message.to_lowercase();
    ["context length", "context_length", "context window", "context size", "maximum context", "too many tokens"]
        .iter()
        .any(|words| message.contains(words))
}

/// A streamed reply whose first piece has come: some endpoints tell what is wrong in the place of it.
async fn begun(model: &dyn ChatModel, request: &ChatRequest) -> Result<ChatStream, ChatError> {
    let mut pieces = model.stream(request).await?;
    match pieces.next().await {
        Some(Err(error)) => Err(error),
        first => Ok(stream::StreamExt::boxed(stream::iter(first).chain(pieces))),
    }
}

#[async_trait]
impl ChatModel for Fallback {
    crate::model_facts_of!(self => self.first);

    fn provider(&self, stage: &str, model: &str) -> String {
        let mut all = std::iter::once(&self.first).chain(&self.others);
        all.find(|other| other.model_name(stage) == model).unwrap_or(&self.first).provider(stage, model)
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let mut failed = match self.first.complete(request).await {
            Err(error) if next_may_help(&error) => error,
            done => return done,
        };
        for (at, model) in self.others.iter().enumerate() {
            self.told(&request.stage, at, &failed);
            match model.complete(request).await {
                Ok(mut reply) => {
                    reply.model.get_or_insert_with(|| model.model_name(&request.stage));
                    return Ok(reply);
                }
                Err(error) if next_may_help(&error) => failed = error,
                Err(error) => return Err(error),
            }
        }
        Err(failed)
    }

    async fn stream(&self, request: &ChatRequest) -> Result<ChatStream, ChatError> {
        let mut failed = match begun(self.first.as_ref(), request).await {
            Err(error) if next_may_help(&error) => error,
            done => return done,
        };
        for (at, model) in self.others.iter().enumerate() {
            self.told(&request.stage, at, &failed);
            match begun(model.as_ref(), request).await {
                Ok(pieces) => {
                    let name = model.model_name(&request.stage);
                    let named = pieces.map(move |piece| {
                        piece.map(|mut piece| {
                            piece.model.get_or_insert_with(|| name.clone());
                            piece
                        })
                    });
                    return Ok(stream::StreamExt::boxed(named));
                }
                Err(error) if next_may_help(&error) => failed = error,
                Err(error) => return Err(error),
            }
        }
        Err(failed)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Scripted;

    #[tokio::test]
    async fn the_next_model_is_asked_by_class_of_failure() {
        let api = |status: u16, message: &str| ChatError::Api { status, message: message.to_owned() };
        let said = |message: &str| message.to_owned();
        for (error, goes_on) in [
            (ChatError::Unreachable { url: said("http://a"), reason: said("refused") }, true),
            (ChatError::Timeout { after: Duration::from_secs(1) }, true),
            (ChatError::RateLimited { message: said("slow down") }, true),
            (api(500, "broken"), true),
            (api(503, "loading"), true),
            (api(400, "This model's maximum context length is 8192 tokens"), true),
            (api(400, "invalid temperature"), false),
            (api(404, "no such model"), false),
            (ChatError::Unauthorized { message: said("bad key") }, false),
            (ChatError::BadReply { reason: said("HTML"), body: said("<html>") }, false),
        ] {
            let answer = || Scripted::new(["from the second"]);
            for streamed in [false, true] {
                let first = Scripted::answering([Err(error.clone())]);
                let model = Fallback::new(Arc::new(first), vec![Arc::new(answer())]);
                let request = ChatRequest::exact("parse_task", Vec::new());
                let reply = if streamed {
                    match model.stream(&request).await {
                        Err(error) => Err(error),
                        Ok(mut pieces) => {
                            let mut reply = ChatReply::default();
                            while let Some(piece) = pieces.next().await {
                                piece.unwrap().add_to(&mut reply);
                            }
                            Ok(reply)
                        }
                    }
                } else {
                    model.complete(&request).await
                };
                match reply {
                    Ok(reply) => {
                        assert!(goes_on, "{error:?}");
                        assert_eq!(
                            (reply.text.as_str(), reply.model.as_deref()),
                            ("from the second", Some("scripted"))
                        );
                    }
                    Err(told) => assert_eq!((goes_on, &told), (false, &error)),
                }
            }
        }
    }
}
