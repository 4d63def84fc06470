//! A language model of this machine that is opened when it is first used: reading its vocabulary takes tenths of a second, which a
//! run that never talks to it should not wait for.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use jarvis_chat::{ChatError, ChatModel, ChatReply, ChatRequest, ChatStream};
#[cfg(feature = "llm")]
use jarvis_experts::llm::LocalChat;
use jarvis_experts::{LocalModels, ModelFiles};

/// The context of a model that cannot be opened: its call fails with the true reason, not for a prompt that is too long.
const USUAL_CONTEXT: usize = 8192;

#[derive(Clone)]
pub(super) struct LazyChat(Arc<Inner>);

struct Inner {
    models: LocalModels,
    files: ModelFiles,
    opened: OnceLock<Result<Arc<dyn ChatModel>, ChatError>>,
}

impl LazyChat {
    pub(super) fn new(models: LocalModels, files: ModelFiles) -> LazyChat {
        LazyChat(Arc::new(Inner { models, files, opened: OnceLock::new() }))
    }

    /// The model; blocks when it is first asked for.
    fn open(&self) -> Result<&Arc<dyn ChatModel>, ChatError> {
        let Inner { models, files, opened } = &*self.0;
        opened.get_or_init(|| open(models.clone(), files.clone())).as_ref().map_err(Clone::clone)
    }

    /// The same off the runtime's threads.
    async fn opened(&self) -> Result<&Arc<dyn ChatModel>, ChatError> {
        if self.0.opened.get().is_none() {
            let chat = self.clone();
            // What it found is asked for below.
            let _ = tokio::task::spawn_blocking(move || chat.open().map(drop)).await;
        }
        self.open()
    }
}

#[cfg(feature = "llm")]
fn open(models: LocalModels, files: ModelFiles) -> Result<Arc<dyn ChatModel>, ChatError> {
    match LocalChat::open(models, files) {
        Ok(chat) => Ok(Arc::new(chat)),
        Err(error) => Err(ChatError::Config(error.to_string())),
    }
}

#[cfg(not(feature = "llm"))]
fn open(_: LocalModels, _: ModelFiles) -> Result<Arc<dyn ChatModel>, ChatError> {
    Err(ChatError::Config("this build of jarvis does not run language models".to_owned()))
}

#[async_trait]
impl ChatModel for LazyChat {
    fn model_name(&self, _: &str) -> String {
        format!("{}{}", super::local::PREFIX, self.0.files.id)
    }

    fn context_tokens(&self, stage: &str) -> usize {
        self.open().map_or(USUAL_CONTEXT, |chat| chat.context_tokens(stage))
    }

    fn count_tokens(&self, stage: &str, text: &str) -> usize {
        self.open().map_or(text.len(), |chat| chat.count_tokens(stage, text))
    }

    fn token_ids(&self, stage: &str, text: &str) -> Vec<u32> {
        self.open().map_or_else(|_| Vec::new(), |chat| chat.token_ids(stage, text))
    }

    fn provider(&self, _stage: &str, _model: &str) -> String {
        jarvis_chat::provider::HERE.to_owned()
    }

    #[allow(clippy::disallowed_methods, reason = "it passes on what was asked")]
    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        self.opened().await?.complete(request).await
    }

    #[allow(clippy::disallowed_methods, reason = "it passes on what was asked")]
    async fn stream(&self, request: &ChatRequest) -> Result<ChatStream, ChatError> {
        self.opened().await?.stream(request).await
    }
}
