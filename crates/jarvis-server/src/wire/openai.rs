//! The OpenAI chat protocol (openai/openai-openapi, v2.3.0): what clients of it send and get.
//!
//! Only what can be honoured is taken: a field that would change the reply and cannot be served is an error, one that
//! only tunes a model's sampling is left to the models behind jarvis.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A request for a chat completion. Fields that are not listed are ignored.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ChatCompletionRequest {
    /// `jarvis/hugginggpt`, or a language model of this machine such as `local/qwen3-0.6b`.
    #[schema(example = "jarvis/hugginggpt")]
    pub(crate) model: String,
    /// The conversation; the last message is the request.
    #[schema(min_items = 1)]
    pub(crate) messages: Vec<ChatMessage>,
    /// Whether the reply comes piece by piece, as server-sent events.
    pub(crate) stream: Option<bool>,
    /// Settings of a streamed reply.
    pub(crate) stream_options: Option<StreamOptions>,
    /// An extension: whether a streamed reply also tells the progress, as `reasoning_content`.
    pub(crate) stream_progress: Option<bool>,
    /// How many replies; only 1 can be given.
    #[schema(minimum = 1, maximum = 1)]
    pub(crate) n: Option<u64>,
    /// Tools of the caller; not supported.
    #[schema(value_type = Option<Vec<Object>>)]
    pub(crate) tools: Option<Value>,
    /// The choice among them; not supported.
    #[schema(value_type = Option<String>)]
    pub(crate) tool_choice: Option<Value>,
    /// Functions of the caller; not supported.
    #[schema(value_type = Option<Vec<Object>>)]
    pub(crate) functions: Option<Value>,
    /// The form of the reply; text, and for local models JSON.
    #[schema(value_type = Option<Object>)]
    pub(crate) response_format: Option<Value>,
    /// Probabilities; not supported.
    pub(crate) logprobs: Option<bool>,
    /// Kinds of output; only `text` can be given.
    pub(crate) modalities: Option<Vec<String>>,
    /// Sound output; not supported.
    #[schema(value_type = Option<Object>)]
    pub(crate) audio: Option<Value>,
    /// Words that end the reply; for local models only.
    #[schema(value_type = Option<String>)]
    pub(crate) stop: Option<Value>,
    /// 0 to 2; for local models only, as the fields below.
    pub(crate) temperature: Option<f32>,
    /// 0 to 1.
    pub(crate) top_p: Option<f32>,
    /// The most tokens of the reply.
    pub(crate) max_tokens: Option<u32>,
    /// The same under its newer name.
    pub(crate) max_completion_tokens: Option<u32>,
}

/// Settings of a streamed reply.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(crate) struct StreamOptions {
    /// Whether a last piece tells the usage.
    pub(crate) include_usage: Option<bool>,
}

/// One message.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ChatMessage {
    /// The author: `system`, `developer`, `user` or `assistant`.
    #[schema(pattern = "^(system|developer|user|assistant)$", example = "user")]
    pub(crate) role: String,
    /// A text, or parts.
    pub(crate) content: Option<Content>,
}

/// The content of a message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Content {
    /// A text.
    Text(String),
    /// Parts, in order.
    Parts(Vec<Part>),
}

/// A part of a message.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct Part {
    /// `text`, `image_url` or `input_audio`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The text.
    pub(crate) text: Option<String>,
    /// The picture.
    pub(crate) image_url: Option<ImageUrl>,
    /// The sound.
    pub(crate) input_audio: Option<InputAudio>,
}

/// A picture, by address.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ImageUrl {
    /// An `https:`, `http:` or `data:` address.
    pub(crate) url: String,
}

/// A sound, inline.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct InputAudio {
    /// Its bytes in base64.
    pub(crate) data: String,
    /// `wav` or `mp3`.
    pub(crate) format: String,
}

/// A whole reply.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChatCompletion {
    /// Its id: `chatcmpl-` and the id of the run.
    pub(crate) id: String,
    /// `chat.completion`.
    pub(crate) object: &'static str,
    /// When, in seconds since the Unix epoch.
    pub(crate) created: u64,
    /// The model that was asked for.
    pub(crate) model: String,
    pub(crate) choices: Vec<Choice>,
    /// Tokens of all model calls of the run together.
    pub(crate) usage: Tokens,
}

/// The one choice of a whole reply.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Choice {
    pub(crate) index: u32,
    pub(crate) message: AssistantMessage,
    /// `stop`.
    pub(crate) finish_reason: &'static str,
    /// Always null.
    #[schema(value_type = Option<Object>)]
    pub(crate) logprobs: (),
}

/// The reply.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AssistantMessage {
    /// `assistant`.
    pub(crate) role: &'static str,
    /// The answer, with links to the files that were made.
    pub(crate) content: String,
    /// Always null.
    #[schema(value_type = Option<String>)]
    pub(crate) refusal: (),
}

/// Tokens used.
#[derive(Debug, Clone, Copy, Default, Serialize, ToSchema)]
pub(crate) struct Tokens {
    /// Tokens sent.
    pub(crate) prompt_tokens: u64,
    /// Tokens received.
    pub(crate) completion_tokens: u64,
    /// Both together.
    pub(crate) total_tokens: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Chunk<'a> {
    pub(crate) id: &'a str,
    pub(crate) object: &'static str,
    pub(crate) created: u64,
    pub(crate) model: &'a str,
    pub(crate) choices: Vec<ChunkChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Option<Tokens>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ChunkChoice<'a> {
    pub(crate) index: u32,
    pub(crate) delta: Delta<'a>,
    pub(crate) finish_reason: Option<&'static str>,
    pub(crate) logprobs: (),
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning_content: Option<&'a str>,
}

/// The models that can be asked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModelList {
    /// `list`.
    pub(crate) object: &'static str,
    pub(crate) data: Vec<ModelCard>,
}

/// A model that can be asked.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ModelCard {
    pub(crate) id: String,
    /// `model`.
    pub(crate) object: &'static str,
    /// When it was made, in seconds since the Unix epoch.
    pub(crate) created: u64,
    /// `jarvis` for a pipeline, `local` for a model of this machine.
    pub(crate) owned_by: &'static str,
}
