//! A response as an object: what was asked, and what came of its run.

use jarvis_plan::{Answer, RunId, Usage};
use serde_json::Value;

use super::super::calls;
use super::super::links::Links;
use super::super::text::Text;
use super::Kept;
use crate::wire::openai::ResponseFormat;
use crate::wire::responses::{
    InputDetails, ItemPart, OutputDetails, OutputItem, ResponseError, ResponseObject, ResponseUsage, TextSettings,
};

/// What came of the run of a response, as far as it has come.
#[derive(Debug)]
pub(super) enum Told {
    /// It waits for its slot.
    Queued,
    Going,
    Answered {
        answer: Answer,
        usage: Box<Usage>,
        cancelled: bool,
        at: u64,
    },
    Failed {
        error: ResponseError,
        cancelled: bool,
        at: u64,
    },
}

impl Told {
    /// By the events of a run.
    pub(super) fn of(events: Vec<Value>) -> Told {
        let (mut answer, mut told) = (None, Told::Going);
        for event in events {
            told = match event.get("event").and_then(Value::as_str) {
                Some("answer") => {
                    answer = event.get("answer").and_then(|answer| serde_json::from_value(answer.clone()).ok());
                    continue;
                }
                Some("done" | "error") => Told::end(&event, answer.take().unwrap_or_default()),
                // A run that goes on after an end of its record.
                Some("resumed") => Told::Going,
                _ => continue,
            };
        }
        told
    }

    /// By the event that ends a run.
    pub(super) fn end(event: &Value, answer: Answer) -> Told {
        let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
        let at = event.get("at_ms").and_then(Value::as_u64).unwrap_or_default() / 1000;
        if event.get("event").and_then(Value::as_str) == Some("done") {
            let usage = event.get("usage").and_then(|usage| serde_json::from_value(usage.clone()).ok());
            let cancelled = event.get("cancelled").and_then(Value::as_bool).unwrap_or(false);
            return Told::Answered { answer, usage: Box::new(usage.unwrap_or_default()), cancelled, at };
        }
        let code = text("code");
        let error = ResponseError { code: code_of(code).to_owned(), message: text("message").to_owned() };
        Told::Failed { error, cancelled: code == "cancelled", at }
    }
}

/// The word of the protocol for why something failed: those that clients act upon, and `server_error` for the rest.
fn code_of(code: &str) -> &str {
    match code {
        "rate_limited" | "overloaded" => "rate_limit_exceeded",
        "budget" | "budget_used" => "insufficient_quota",
        "prompt_too_long" | "too_long" => "context_length_exceeded",
        "invalid_request" => "invalid_prompt",
        _ => "server_error",
    }
}

/// The id of the response of a run.
pub(super) fn response_id(run: &RunId) -> String {
    format!("resp_{}", calls::simple(&run.0))
}

/// The id of the message of a response.
pub(super) fn message_id(run: &RunId) -> String {
    format!("msg_{}", calls::simple(&run.0))
}

/// What an answer gives: a message, unless it only calls, and the calls. `text` is what was sent of it, where it was sent already.
pub(super) fn answered(run: &RunId, answer: &Answer, links: Option<&Links>, text: Option<String>) -> Vec<OutputItem> {
    let text = text.unwrap_or_else(|| match links {
        Some(links) => Text::whole(links, answer),
        None => answer.text.clone(),
    });
    let mut output = Vec::new();
    if !text.is_empty() || answer.calls.is_empty() {
        output.push(message(run, Some(text)));
    }
    output.extend(calls_of(run, answer, links));
    output
}

/// The message of a response: whole with its text, or as it begins.
pub(super) fn message(run: &RunId, text: Option<String>) -> OutputItem {
    let status = if text.is_some() { "completed" } else { "in_progress" };
    let content = text.map(text_part).into_iter().collect();
    OutputItem::Message { id: message_id(run), status, role: "assistant", content, phase: "final_answer" }
}

/// A text of the answer.
pub(super) fn text_part(text: String) -> ItemPart {
    ItemPart {
        kind: "output_text".to_owned(),
        text: Some(text),
        annotations: Some(Vec::new()),
        logprobs: Some(Vec::new()),
        ..ItemPart::default()
    }
}

/// The calls of an answer.
pub(super) fn calls_of(run: &RunId, answer: &Answer, links: Option<&Links>) -> Vec<OutputItem> {
    let call = |(at, call): (usize, &jarvis_plan::ToolCall)| OutputItem::FunctionCall {
        id: format!("fc_{}_{at}", calls::simple(&run.0)),
        call_id: calls::id(&run.0, at),
        name: call.name.clone(),
        arguments: links.map_or_else(|| call.arguments.clone(), |links| links.in_text(&call.arguments)),
        status: "completed",
    };
    answer.calls.iter().enumerate().map(call).collect()
}

/// The response.
pub(super) fn object(run: &RunId, kept: &Kept, told: &Told, links: &Links) -> ResponseObject {
    let output = match told {
        Told::Answered { answer, .. } => answered(run, answer, Some(links), None),
        Told::Queued | Told::Going | Told::Failed { .. } => Vec::new(),
    };
    with_output(run, kept, told, output)
}

/// The response with what it gives.
pub(super) fn with_output(run: &RunId, kept: &Kept, told: &Told, output: Vec<OutputItem>) -> ResponseObject {
    let status = match told {
        Told::Queued => "queued",
        Told::Going => "in_progress",
        Told::Answered { cancelled: true, .. } | Told::Failed { cancelled: true, .. } => "cancelled",
        Told::Answered { .. } => "completed",
        Told::Failed { .. } => "failed",
    };
    let completed_at = match told {
        Told::Queued | Told::Going => None,
        Told::Answered { at, .. } | Told::Failed { at, .. } => Some(*at),
    };
    let (error, usage) = match told {
        Told::Failed { error, cancelled: false, .. } => (Some(error.clone()), None),
        Told::Answered { usage, .. } => (None, Some(tokens(usage))),
        Told::Queued | Told::Going | Told::Failed { .. } => (None, None),
    };
    ResponseObject {
        id: response_id(run),
        object: "response",
        created_at: kept.created_at,
        completed_at,
        status,
        error,
        incomplete_details: (),
        output,
        usage,
        asked: kept.asked.clone(),
    }
}

pub(super) fn tokens(usage: &Usage) -> ResponseUsage {
    ResponseUsage {
        input_tokens: usage.prompt_tokens,
        input_tokens_details: InputDetails::default(),
        output_tokens: usage.completion_tokens,
        output_tokens_details: OutputDetails::default(),
        total_tokens: usage.prompt_tokens + usage.completion_tokens,
    }
}

/// The settings of the text with the format that is taken where none is named.
pub(super) fn with_format(text: TextSettings) -> TextSettings {
    let plain = || ResponseFormat {
        kind: "text".to_owned(),
        json_schema: None,
        name: None,
        schema: None,
        strict: None,
        description: None,
    };
    TextSettings { format: Some(text.format.unwrap_or_else(plain)), ..text }
}
