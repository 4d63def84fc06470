//! An embedded language model behind the trait of chat models.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::StreamExt as _;
use jarvis_chat::{ChatChunk, ChatError, ChatModel, ChatReply, ChatRequest, ChatStream, Message, Part, TokenUsage};
use jarvis_plan::Role;
use tokio::sync::mpsc;

use super::model::{Description, describe};
use crate::{Call, ChatInput, ChatOutput, ChatTurn, ExpertError, Input, LocalModels, ModelFiles, Output};

/// The task type for which chat models are loaded.
const TASK: &str = "conversational";

/// A language model of this machine as a chat model. Its weights are loaded on the first call, and go when they are idle.
#[derive(Debug, Clone)]
pub struct LocalChat {
    models: LocalModels,
    files: ModelFiles,
    name: String,
    description: Arc<Description>,
}

impl LocalChat {
    /// Reads what the model's file says of its tokens and its context. Blocks for some tenths of a second.
    ///
    /// # Errors
    /// When there is no GGUF file, or jarvis cannot run it.
    pub fn open(models: LocalModels, files: ModelFiles) -> Result<LocalChat, ExpertError> {
        let file = files.gguf();
        let file =
            file.ok_or_else(|| ExpertError::MissingFile { model: files.id.clone(), file: "*.gguf".to_owned() })?;
        let (_, description) = describe(&files, &file, models.max_memory())?;
        let name = format!("local/{}", files.id);
        Ok(LocalChat { models, files, name, description: Arc::new(description) })
    }

    async fn run(&self, input: ChatInput, call: Call, after: Option<Duration>) -> Result<ChatOutput, ChatError> {
        match self.models.run(&self.files, TASK, Input::Chat(input), call).await {
            Ok(Output::Chat(output)) => Ok(output),
            Ok(_) => Err(ChatError::Config(format!("the model `{}` is no language model", self.files.id))),
            Err(error) => Err(chat_error(&error, after)),
        }
    }
}

#[async_trait]
impl ChatModel for LocalChat {
    fn model_name(&self, _stage: &str) -> String {
        self.name.clone()
    }

    fn context_tokens(&self, _stage: &str) -> usize {
        self.description.context
    }

    fn count_tokens(&self, _stage: &str, text: &str) -> usize {
        // A text without tokens cannot be: the tokenizer fails only on what it could not have been given.
        self.description.vocabulary.encode_part(text).map_or_else(|_| text.len(), |tokens| tokens.len())
    }

    fn token_ids(&self, _stage: &str, text: &str) -> Vec<u32> {
        let mut ids = self.description.vocabulary.encode_part(text).unwrap_or_default();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn provider(&self, _stage: &str, _model: &str) -> String {
        jarvis_chat::provider::HERE.to_owned()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let output = self.run(chat_input(request)?, call_of(request), request.timeout).await?;
        let usage = usage(&output);
        Ok(ChatReply {
            text: output.text,
            tool_uses: Vec::new(),
            finish_reason: output.finish_reason,
            usage,
            model: None,
        })
    }

    async fn stream(&self, request: &ChatRequest) -> Result<ChatStream, ChatError> {
        let input = chat_input(request)?;
        let mut call = call_of(request);
        let guard = call.cancel.clone().drop_guard();
        let (sender, receiver) = mpsc::unbounded_channel();
        let pieces = sender.clone();
        // Nobody listens any more once the stream is dropped, and then the call is cancelled too.
        call.on_text = Some(Box::new(move |text| {
            let _ = pieces.send(Ok(ChatChunk { text: text.to_owned(), ..ChatChunk::default() }));
        }));
        let (model, after) = (self.clone(), request.timeout);
        tokio::spawn(async move {
            let last = model.run(input, call, after).await.map(|output| ChatChunk {
                usage: Some(usage(&output)),
                finish_reason: Some(output.finish_reason),
                ..ChatChunk::default()
            });
            let _ = sender.send(last);
        });
        let stream = futures::stream::unfold((receiver, guard), |(mut receiver, guard)| async move {
            let chunk = receiver.recv().await?;
            Some((chunk, (receiver, guard)))
        });
        Ok(stream.boxed())
    }
}

fn usage(output: &ChatOutput) -> TokenUsage {
    TokenUsage { prompt: output.prompt_tokens, completion: output.completion_tokens, ..TokenUsage::default() }
}

fn call_of(request: &ChatRequest) -> Call {
    let deadline = request.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    Call { deadline, ..Call::default() }
}

/// What this kind of model can do of a request. Penalties are left out, as by endpoints that do not know them; tools cannot be
/// offered, since each family calls them in a way of its own.
fn chat_input(request: &ChatRequest) -> Result<ChatInput, ChatError> {
    let sees = |message: &Message| message.parts.iter().any(|part| matches!(part, Part::Image(_)));
    if request.messages.iter().any(sees) {
        return Err(ChatError::Config("local language models take no pictures".to_owned()));
    }
    if !request.tools.is_empty() {
        return Err(ChatError::Config("local language models call no tools by themselves".to_owned()));
    }
    let turn = |message: &Message| {
        let role = match message.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        ChatTurn { role: role.to_owned(), text: message.joined_text() }
    };
    Ok(ChatInput {
        turns: request.messages.iter().map(turn).collect(),
        schema: request.schema.as_ref().map(|schema| serde_json::Value::clone(&schema.schema)),
        max_tokens: request.max_tokens,
        temperature: request.temperature,
        top_p: request.top_p,
        stop: request.stop.clone(),
        seed: None,
        logit_bias: request.logit_bias.clone(),
    })
}

fn chat_error(error: &ExpertError, after: Option<Duration>) -> ChatError {
    let message = error.to_string();
    match error {
        ExpertError::Timeout => ChatError::Timeout { after: after.unwrap_or_default() },
        ExpertError::BadInput(_) => ChatError::Api { status: 400, message },
        ExpertError::Failed { .. } | ExpertError::Cancelled => ChatError::Api { status: 500, message },
        ExpertError::MissingFile { .. }
        | ExpertError::BadFile { .. }
        | ExpertError::Unsupported { .. }
        | ExpertError::TooLarge { .. } => ChatError::Config(message),
    }
}
