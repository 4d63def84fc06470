//! The schema of the events of a streamed response.
#![allow(dead_code, reason = "only their schemas are used")]

use super::responses::{ItemPart, OutputItem, ResponseObject};
use super::schema::{AnyObject, tagged};

tagged! {
    /// What happens to a response. The field `type` says which.
    ResponseStreamEvent by "type" [] {
        /// Place in the stream, from 0.
        sequence_number: u64,
    }

    /// The response was begun.
    "response.created" ResponseCreatedEvent {
        response: ResponseObject,
    }

    /// The response is being made.
    "response.in_progress" ResponseInProgressEvent {
        response: ResponseObject,
    }

    /// The response is whole.
    "response.completed" ResponseCompletedEvent {
        response: ResponseObject,
    }

    /// The response was cancelled; its status says so.
    "response.incomplete" ResponseIncompleteEvent {
        response: ResponseObject,
    }

    /// The response failed; its `error` says why.
    "response.failed" ResponseFailedEvent {
        response: ResponseObject,
    }

    /// An item begins.
    "response.output_item.added" OutputItemAddedEvent {
        /// Place of the item, from 0.
        output_index: u32,
        item: OutputItem,
    }

    /// An item is whole.
    "response.output_item.done" OutputItemDoneEvent {
        /// Place of the item, from 0.
        output_index: u32,
        item: OutputItem,
    }

    /// A part of a message begins.
    "response.content_part.added" ContentPartAddedEvent {
        /// The message.
        item_id: String,
        /// Place of the message, from 0.
        output_index: u32,
        /// Place of the part in it, from 0.
        content_index: u32,
        part: ItemPart,
    }

    /// A part of a message is whole.
    "response.content_part.done" ContentPartDoneEvent {
        /// The message.
        item_id: String,
        /// Place of the message, from 0.
        output_index: u32,
        /// Place of the part in it, from 0.
        content_index: u32,
        part: ItemPart,
    }

    /// More of a text.
    "response.output_text.delta" OutputTextDeltaEvent {
        /// The message.
        item_id: String,
        /// Place of the message, from 0.
        output_index: u32,
        /// Place of the part in it, from 0.
        content_index: u32,
        /// What is new.
        delta: String,
        /// Always empty.
        logprobs: Vec<AnyObject>,
    }

    /// A text is whole.
    "response.output_text.done" OutputTextDoneEvent {
        /// The message.
        item_id: String,
        /// Place of the message, from 0.
        output_index: u32,
        /// Place of the part in it, from 0.
        content_index: u32,
        /// All of it.
        text: String,
        /// Always empty.
        logprobs: Vec<AnyObject>,
    }

    /// The arguments of a call, all at once.
    "response.function_call_arguments.delta" FunctionCallArgumentsDeltaEvent {
        /// The call.
        item_id: String,
        /// Place of the call, from 0.
        output_index: u32,
        /// JSON, as text.
        delta: String,
    }

    /// The arguments of a call are whole.
    "response.function_call_arguments.done" FunctionCallArgumentsDoneEvent {
        /// The call.
        item_id: String,
        /// Place of the call, from 0.
        output_index: u32,
        /// The function.
        name: String,
        /// JSON, as text.
        arguments: String,
    }
}
