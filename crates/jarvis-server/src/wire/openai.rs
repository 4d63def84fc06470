//! The OpenAI chat protocol (openai/openai-openapi, v2.3.0): what clients of it send and get.
//!
//! Only what can be honoured is taken: a field that would change the reply and cannot be served is an error, one that
//! only tunes a model's sampling is passed on where one model answers, and left aside where a pipeline does.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::schema::{AnyObject, JsonSchema, null};
use crate::error::ErrorBody;

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
    /// Tools of the caller: jarvis plans with them beside its own, and hands back the calls of these.
    pub(crate) tools: Option<Vec<ChatTool>>,
    /// `auto`, `none`, and for `jarvis/chat` also `required` or one of the tools.
    pub(crate) tool_choice: Option<ToolChoice>,
    /// What `tools` was before; not supported.
    #[schema(value_type = Option<Vec<AnyObject>>)]
    pub(crate) functions: Option<Vec<Value>>,
    /// The form of the reply: text, or JSON, which a chat model writes.
    pub(crate) response_format: Option<ResponseFormat>,
    /// Probabilities; not supported.
    pub(crate) logprobs: Option<bool>,
    /// Kinds of output; only `text` can be given.
    pub(crate) modalities: Option<Vec<String>>,
    /// Sound output; not supported.
    #[schema(value_type = Option<AnyObject>)]
    pub(crate) audio: Option<Value>,
    /// Texts before which the reply ends, 4 at most.
    pub(crate) stop: Option<OneOrMany>,
    /// 0 to 2; for `jarvis/chat` and local models only, as the fields below. A pipeline leaves them aside.
    pub(crate) temperature: Option<f32>,
    /// 0 to 1.
    pub(crate) top_p: Option<f32>,
    /// −2 to 2.
    pub(crate) presence_penalty: Option<f32>,
    /// −2 to 2.
    pub(crate) frequency_penalty: Option<f32>,
    /// The most tokens of the reply.
    pub(crate) max_tokens: Option<u32>,
    /// The same under its newer name.
    pub(crate) max_completion_tokens: Option<u32>,
}

/// A tool of the caller.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ChatTool {
    /// `function`.
    #[serde(rename = "type")]
    #[schema(example = "function")]
    pub(crate) kind: String,
    pub(crate) function: Option<FunctionTool>,
}

/// A function of the caller.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct FunctionTool {
    /// 1 to 64 letters, digits, `_`, `-` and `.`.
    #[schema(example = "get_weather")]
    pub(crate) name: String,
    /// What it does.
    pub(crate) description: Option<String>,
    /// The JSON Schema of its arguments.
    #[schema(value_type = Option<JsonSchema>)]
    pub(crate) parameters: Option<Value>,
    /// Whether arguments follow the schema to the letter; they are made to where they can be.
    pub(crate) strict: Option<bool>,
}

/// Which tools may or must be called.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum ToolChoice {
    /// `auto`, `none` or `required`.
    Mode(String),
    /// A function.
    Named(NamedTool),
}

/// A function that must be called: in chat completions under `function`, in responses by `name`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct NamedTool {
    /// `function`.
    #[serde(rename = "type")]
    #[schema(example = "function")]
    pub(crate) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) function: Option<FunctionName>,
}

impl NamedTool {
    /// The function's name.
    pub(crate) fn name(&self) -> Option<&str> {
        let name = self.function.as_ref().map(|function| &function.name).or(self.name.as_ref());
        name.map(String::as_str).filter(|_| self.kind == "function")
    }
}

/// The name of a function.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct FunctionName {
    pub(crate) name: String,
}

/// The form of a reply.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct ResponseFormat {
    /// `text`, `json_object` or `json_schema`.
    #[serde(rename = "type")]
    #[schema(example = "json_schema")]
    pub(crate) kind: String,
    /// The schema, in chat completions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) json_schema: Option<NamedSchema>,
    /// The name of the schema, in responses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The schema, in responses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<JsonSchema>)]
    pub(crate) schema: Option<Value>,
    /// Whether the reply follows it to the letter. It always does, or the request fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) strict: Option<bool>,
    /// What the schema is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
}

/// A JSON Schema with its name.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct NamedSchema {
    pub(crate) name: Option<String>,
    #[schema(value_type = Option<JsonSchema>)]
    pub(crate) schema: Option<Value>,
}

/// A text, or several.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
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
    /// The author: `system`, `developer`, `user`, `assistant` or `tool`.
    #[schema(pattern = "^(system|developer|user|assistant|tool)$", example = "user")]
    pub(crate) role: String,
    /// A text, or parts.
    pub(crate) content: Option<Content>,
    /// Tools that the assistant called in it.
    pub(crate) tool_calls: Option<Vec<CallMade>>,
    /// The call that the message of a tool answers.
    pub(crate) tool_call_id: Option<String>,
}

/// A call of a tool of the caller's.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct CallMade {
    /// Names the call for its result.
    pub(crate) id: String,
    /// `function`.
    #[serde(rename = "type", default = "function")]
    #[schema(example = "function")]
    pub(crate) kind: String,
    pub(crate) function: FunctionCall,
}

fn function() -> String {
    "function".to_owned()
}

/// What is called, with what.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct FunctionCall {
    pub(crate) name: String,
    /// JSON, as text.
    pub(crate) arguments: String,
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
    /// `text`, `image_url`, `input_audio` or `file`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The text.
    pub(crate) text: Option<String>,
    /// The picture.
    pub(crate) image_url: Option<ImageUrl>,
    /// The sound.
    pub(crate) input_audio: Option<InputAudio>,
    /// The document or other file.
    pub(crate) file: Option<InputFile>,
    /// Why the assistant did not do something, in a message of its own.
    pub(crate) refusal: Option<String>,
}

/// A file, inline with its name, or one that was sent to `/v1/files`.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct InputFile {
    /// A data URL, or base64.
    pub(crate) file_data: Option<String>,
    /// Its name, whose ending tells what it is.
    pub(crate) filename: Option<String>,
    /// The id of a file that was sent before.
    pub(crate) file_id: Option<String>,
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
    /// `stop`, `length`, or `tool_calls` where the caller is to call.
    pub(crate) finish_reason: &'static str,
    #[schema(schema_with = null)]
    pub(crate) logprobs: (),
}

/// The reply.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AssistantMessage {
    /// `assistant`.
    pub(crate) role: &'static str,
    /// The answer, with links to the files that were made; null where tools are called and nothing is said.
    pub(crate) content: Option<String>,
    /// Tools of the caller's that the caller is to call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_calls: Vec<CallMade>,
    #[schema(schema_with = null)]
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

/// An event of a streamed reply: a piece, or the error that ends it.
#[derive(ToSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) enum ChatStreamItem {
    Chunk(Chunk<'static>),
    Failure(ErrorBody),
}

/// A piece of a streamed reply.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatCompletionChunk)]
pub(crate) struct Chunk<'a> {
    /// The same in all pieces: `chatcmpl-` and the id of the run.
    pub(crate) id: &'a str,
    /// `chat.completion.chunk`.
    pub(crate) object: &'static str,
    /// When, in seconds since the Unix epoch.
    pub(crate) created: u64,
    /// The model that was asked for.
    pub(crate) model: &'a str,
    /// One; none in the piece that tells the usage.
    pub(crate) choices: Vec<ChunkChoice<'a>>,
    /// Tokens, in the last piece where they are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Tokens>)]
    pub(crate) usage: Option<Option<Tokens>>,
}

/// The one choice of a piece.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChunkChoice<'a> {
    pub(crate) index: u32,
    pub(crate) delta: Delta<'a>,
    /// Null before the last piece; then `stop`, `length` or `tool_calls`.
    #[schema(required = true)]
    pub(crate) finish_reason: Option<&'static str>,
    #[schema(schema_with = null)]
    pub(crate) logprobs: (),
}

/// What is new in a piece.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct Delta<'a> {
    /// `assistant`, in the first piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub(crate) role: Option<&'static str>,
    /// More of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub(crate) content: Option<&'a str>,
    /// Progress of the run, where it is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub(crate) reasoning_content: Option<&'a str>,
    /// Tools that the caller is to call.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<CallDelta>, required = false)]
    pub(crate) tool_calls: &'a [CallDelta],
}

/// A call in a piece of a streamed reply.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CallDelta {
    /// Its place among the calls of the reply, which clients put pieces together by.
    pub(crate) index: usize,
    #[serde(flatten)]
    pub(crate) call: CallMade,
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
