//! The responses protocol (openai/openai-openapi, v2.3.0; Open Responses): what clients of it send and get.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::openai::{ResponseFormat, ToolChoice};
use super::schema::{AnyJson, AnyObject, JsonSchema, null};

/// A request for a response. Fields that are not listed are ignored.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct ResponsesRequest {
    /// `jarvis/hugginggpt`, which plans, or `jarvis/chat`, which does not.
    #[schema(example = "jarvis/hugginggpt")]
    pub(crate) model: String,
    /// A text, or items.
    #[serde(default)]
    pub(crate) input: Option<Input>,
    /// What holds for this response alone, before the input.
    pub(crate) instructions: Option<String>,
    /// The response whose conversation this goes on with.
    pub(crate) previous_response_id: Option<String>,
    /// A conversation that is kept on its own; not supported.
    #[schema(value_type = AnyJson, required = false)]
    pub(crate) conversation: Option<Value>,
    /// A prompt that is kept on its own; not supported.
    #[schema(value_type = AnyJson, required = false)]
    pub(crate) prompt: Option<Value>,
    /// Whether the response can be asked for again. The run that makes it is in the journal in any case.
    pub(crate) store: Option<bool>,
    /// Whether the reply comes as server-sent events.
    pub(crate) stream: Option<bool>,
    /// Whether it is made while nobody waits: the reply comes at once, and the response is asked for until it is there.
    pub(crate) background: Option<bool>,
    /// Tools of the caller; only functions.
    pub(crate) tools: Option<Vec<ResponsesTool>>,
    /// `auto`, `none`, and for `jarvis/chat` also `required` or one of the tools.
    pub(crate) tool_choice: Option<ToolChoice>,
    /// Whether several may be called at once; they may.
    pub(crate) parallel_tool_calls: Option<bool>,
    /// The form of the text.
    pub(crate) text: Option<TextSettings>,
    /// Notes of the caller's, which are given back.
    pub(crate) metadata: Option<BTreeMap<String, String>>,
    /// 0 to 2; for `jarvis/chat` only, as the two below.
    pub(crate) temperature: Option<f64>,
    /// 0 to 1.
    pub(crate) top_p: Option<f64>,
    /// The most tokens of the text.
    pub(crate) max_output_tokens: Option<u32>,
    /// The most calls of tools; given back, not kept to.
    pub(crate) max_tool_calls: Option<u32>,
    /// Probabilities; not supported.
    pub(crate) top_logprobs: Option<u32>,
    /// `auto` or `disabled`; long conversations are shortened to what the model takes in any case.
    pub(crate) truncation: Option<String>,
    /// How much is thought; given back.
    pub(crate) reasoning: Option<ReasoningSettings>,
    /// Names the person for whom it is; given back.
    pub(crate) user: Option<String>,
    /// The same under a newer name.
    pub(crate) safety_identifier: Option<String>,
    /// Given back.
    pub(crate) prompt_cache_key: Option<String>,
    /// Given back.
    pub(crate) service_tier: Option<String>,
}

/// What is said.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Input {
    /// A text of the user's.
    Text(String),
    /// Items, in order.
    Items(Vec<Item>),
}

/// A thing that was said or done: a message, a call of a function, what it gave, or what stands for such.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Item {
    /// `message` (also where there is none), `function_call`, `function_call_output`, `reasoning`, `item_reference` or `compaction`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(example = "message")]
    pub(crate) kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<String>,
    /// Of a message: `system`, `developer`, `user` or `assistant`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<String>,
    /// Of a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<ItemContent>,
    /// Of a message of the assistant: `commentary` or `final_answer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) phase: Option<String>,
    /// Of a call and of what it gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call_id: Option<String>,
    /// Of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Of a call: JSON, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) arguments: Option<String>,
    /// What a call gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<ItemContent>,
    /// Of a compaction: the conversation in short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) encrypted_content: Option<String>,
}

/// A text, or parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum ItemContent {
    /// A text.
    Text(String),
    /// Parts, in order.
    Parts(Vec<ItemPart>),
}

/// A part of a message, or of what a call gave.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct ItemPart {
    /// `input_text`, `output_text`, `input_image`, `input_file`, `input_audio`, `refusal`, `reasoning_text` or `summary_text`.
    #[serde(rename = "type")]
    #[schema(example = "input_text")]
    pub(crate) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// What is cited; always empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<AnyObject>>)]
    pub(crate) annotations: Option<Vec<Value>>,
    /// Probabilities; always empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<AnyObject>>)]
    pub(crate) logprobs: Option<Vec<Value>>,
    /// An `https:`, `http:` or `data:` address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) image_url: Option<String>,
    /// A data URL, or base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file_data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) filename: Option<String>,
    /// A file that was sent to `/v1/files`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) input_audio: Option<PartAudio>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refusal: Option<String>,
}

/// A sound, inline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct PartAudio {
    /// Its bytes in base64.
    pub(crate) data: String,
    /// `wav` or `mp3`.
    pub(crate) format: String,
}

/// A tool of the caller.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct ResponsesTool {
    /// `function`.
    #[serde(rename = "type")]
    #[schema(example = "function")]
    pub(crate) kind: String,
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    /// The JSON Schema of its arguments.
    #[schema(value_type = Option<JsonSchema>)]
    pub(crate) parameters: Option<Value>,
    pub(crate) strict: Option<bool>,
}

/// The form of the text.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct TextSettings {
    /// Text, or JSON, which a chat model writes.
    pub(crate) format: Option<ResponseFormat>,
    /// Given back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verbosity: Option<String>,
}

/// How much is thought.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub(crate) struct ReasoningSettings {
    pub(crate) effort: Option<String>,
    pub(crate) summary: Option<String>,
}

/// A response.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ResponseObject {
    /// `resp_` and the id of the run without its strokes.
    pub(crate) id: String,
    /// `response`.
    pub(crate) object: &'static str,
    /// When it was asked for, in seconds since the Unix epoch.
    pub(crate) created_at: u64,
    /// When it was whole.
    pub(crate) completed_at: Option<u64>,
    /// `queued`, `in_progress`, `completed`, `failed` or `cancelled`.
    pub(crate) status: &'static str,
    /// Why it failed.
    pub(crate) error: Option<ResponseError>,
    #[schema(schema_with = null)]
    pub(crate) incomplete_details: (),
    /// A message with the answer, or calls of the caller's functions.
    pub(crate) output: Vec<OutputItem>,
    /// Tokens of all model calls together.
    pub(crate) usage: Option<ResponseUsage>,
    /// What was asked for.
    #[serde(flatten)]
    pub(crate) asked: Facts,
}

/// Why a response failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ResponseError {
    /// A stable word.
    pub(crate) code: String,
    pub(crate) message: String,
}

/// Tokens of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
pub(crate) struct ResponseUsage {
    pub(crate) input_tokens: u64,
    pub(crate) input_tokens_details: InputDetails,
    pub(crate) output_tokens: u64,
    pub(crate) output_tokens_details: OutputDetails,
    pub(crate) total_tokens: u64,
}

/// Of the tokens that were sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
pub(crate) struct InputDetails {
    pub(crate) cached_tokens: u64,
}

/// Of the tokens that were received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
pub(crate) struct OutputDetails {
    pub(crate) reasoning_tokens: u64,
}

/// What a response gives.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum OutputItem {
    /// The answer.
    #[schema(title = "MessageItem")]
    Message {
        id: String,
        /// `completed` or `in_progress`.
        status: &'static str,
        /// `assistant`.
        role: &'static str,
        content: Vec<ItemPart>,
        /// `final_answer`.
        phase: &'static str,
    },
    /// A function that the caller is to call.
    #[schema(title = "FunctionCallItem")]
    FunctionCall {
        id: String,
        /// Names the call for what it gives.
        call_id: String,
        name: String,
        /// JSON, as text.
        arguments: String,
        /// `completed` or `in_progress`.
        status: &'static str,
    },
}

/// What was asked for with a response, as it is given back.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct Facts {
    pub(crate) model: String,
    pub(crate) instructions: Option<String>,
    pub(crate) previous_response_id: Option<String>,
    pub(crate) tools: Vec<ResponsesTool>,
    pub(crate) tool_choice: ToolChoice,
    pub(crate) parallel_tool_calls: bool,
    pub(crate) text: TextSettings,
    pub(crate) temperature: f64,
    pub(crate) top_p: f64,
    pub(crate) presence_penalty: f64,
    pub(crate) frequency_penalty: f64,
    pub(crate) top_logprobs: u32,
    pub(crate) max_output_tokens: Option<u32>,
    pub(crate) max_tool_calls: Option<u32>,
    pub(crate) truncation: String,
    pub(crate) reasoning: ReasoningSettings,
    pub(crate) store: bool,
    pub(crate) background: bool,
    pub(crate) service_tier: String,
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) user: Option<String>,
    pub(crate) safety_identifier: Option<String>,
    pub(crate) prompt_cache_key: Option<String>,
}

/// That a response is no longer kept.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResponseDeleted {
    pub(crate) id: String,
    /// `response`.
    pub(crate) object: &'static str,
    pub(crate) deleted: bool,
}

/// The items that a response was asked with.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ItemList {
    /// `list`.
    pub(crate) object: &'static str,
    pub(crate) data: Vec<Item>,
    pub(crate) first_id: Option<String>,
    pub(crate) last_id: Option<String>,
    pub(crate) has_more: bool,
}

/// A request to make a conversation shorter.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct CompactRequest {
    /// As of a response.
    pub(crate) model: String,
    /// A text, or items.
    pub(crate) input: Option<Input>,
    /// What the conversation went by.
    pub(crate) instructions: Option<String>,
    /// The response whose conversation it is.
    pub(crate) previous_response_id: Option<String>,
}

/// A conversation made shorter: what was said by the user last, and an item for all of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Compacted {
    pub(crate) id: String,
    /// `response.compaction`.
    pub(crate) object: &'static str,
    pub(crate) created_at: u64,
    pub(crate) output: Vec<Item>,
    pub(crate) usage: ResponseUsage,
}
