//! Stage 1 with a chat model: ask for a plan, read the reply, ask once more when it cannot be read.

use std::cell::Cell;

use jarvis_chat::{ChatError, ChatModel, ChatRequest, Message, ReplySchema, budget};
use jarvis_engine::Events;
use jarvis_plan::{Draft, Level, Request, Tool, dialect};
use jarvis_prompt::reader::{Want, read_json};
use jarvis_workers::call_model;
use serde_json::{Value, json};

use crate::attached;
use crate::decisions::pipeline;
use crate::pipeline::RunError;
use crate::prompts::{ParseTask, Prompts};
use crate::settings::Settings;

const STAGE: &str = "parse_task";

/// Why there is no draft.
pub(crate) enum PlanFailure {
    /// The call itself failed.
    Run(RunError),
    /// The reply holds no plan.
    Unreadable {
        /// The reply, verbatim.
        reply: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// With what a plan is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    /// Who is asked.
    pub(crate) chat: &'a dyn ChatModel,
    /// What the plan may use.
    pub(crate) tools: &'a [Tool],
    /// The words.
    pub(crate) prompts: &'a Prompts,
    /// Settings.
    pub(crate) settings: &'a Settings,
}

/// Asks for a plan.
pub(crate) async fn ask_for_plan(asking: Asking<'_>, request: &Request, events: &Events) -> Result<Draft, PlanFailure> {
    let Asking { chat, tools, .. } = asking;
    let messages = fitted(asking, request).map_err(PlanFailure::Run)?;
    let mut call = ChatRequest::exact(STAGE, messages);
    if let Some(bias) = asking.settings.parse_bias {
        let ids = chat.token_ids(STAGE, &highlight(tools));
        call.logit_bias = ids.into_iter().map(|id| (id, bias)).collect();
    }
    if asking.settings.structured {
        call.schema = Some(ReplySchema { name: "plan".into(), schema: plan_schema(tools) });
    }
    let reply = ask(chat, events, &call).await?;
    let reason = match read(&reply) {
        Ok(draft) => return Ok(draft),
        Err(reason) => reason,
    };
    if !asking.settings.reask {
        return Err(PlanFailure::Unreadable { reply, reason });
    }
    events.note(Level::Info, format!("the planner's reply could not be read ({reason}); asking once more"));
    let again = asking
        .prompts
        .reask(Vec::new(), &reply, &reason, "a JSON array of tasks")
        .map_err(|error| PlanFailure::Run(RunError::Prompt { stage: STAGE, reason: error.to_string() }))?;
    call.messages.extend(again.into_iter().map(Message::from));
    let second = ask(chat, events, &call).await?;
    read(&second).map_err(|reason| PlanFailure::Unreadable { reply: second, reason })
}

async fn ask(chat: &dyn ChatModel, events: &Events, call: &ChatRequest) -> Result<String, PlanFailure> {
    call_model(chat, events, None, call)
        .await
        .map(|reply| reply.text)
        .map_err(|source| PlanFailure::Run(RunError::Model { stage: STAGE, source }))
}

/// The prompt, shortened until it leaves room for the reply.
pub(crate) fn fitted(asking: Asking<'_>, request: &Request) -> Result<Vec<Message>, RunError> {
    let Asking { chat, tools, .. } = asking;
    let prompt = |reason: String| RunError::Prompt { stage: STAGE, reason };
    let demos = 2 * asking.prompts.demos();
    let steps = budget::steps(request.history.len(), demos);
    let attachments = attached::shown(request);
    let build = |level: usize| {
        let trim = steps.get(level).copied().unwrap_or_default();
        let context = ParseTask {
            tools,
            history: request.history.get(trim.history..).unwrap_or_default(),
            input: &request.text,
            attachments: &attachments,
        };
        asking.prompts.parse_task(&context, demos.saturating_sub(trim.demos) / 2)
    };
    // A template that renders once renders at every level; what is wrong with it is told here.
    let whole = Cell::new(Some(build(0).map_err(|error| prompt(error.to_string()))?));
    let messages = |level: usize| {
        let rendered = whole.take().filter(|_| level == 0);
        let turns = rendered.unwrap_or_else(|| build(level).unwrap_or_default());
        turns.into_iter().map(Message::from).collect()
    };
    budget::fit(chat, STAGE, asking.settings.reserve_tokens, steps.len().saturating_sub(1), messages)
        .map_err(|error| RunError::Model { stage: STAGE, source: ChatError::from(error) })
}

/// Reads a reply as a draft; the error says what is wrong in words that the model can act on.
pub(crate) fn read(reply: &str) -> Result<Draft, String> {
    let read = read_json(reply, Want::Array).map_err(|error| error.to_string())?;
    let mut draft = if pipeline::read::is_pipeline(&read.value) {
        pipeline::read::to_draft(&pipeline::read::value(&read.value)?.tasks)
    } else {
        dialect::read(&read.value).map_err(|error| error.to_string())?
    };
    draft.raw = reply.to_owned();
    draft.notes.splice(0..0, read.mended.iter().map(|mend| format!("the planner's reply was mended: {mend}").into()));
    Ok(draft)
}

/// A line that holds every word of the plan format, for the highlight ids.
fn highlight(tools: &[Tool]) -> String {
    let names: Vec<String> = tools.iter().map(|tool| format!("\"{}\"", tool.name)).collect();
    format!(r#"{{"task": {}, "args", "text", "path", "dep", "id", "<GENERATED>-"}}"#, names.join(", "))
}

/// The plan format as JSON Schema. Strict endpoints want an object at the root, so the array stands in `tasks`.
fn plan_schema(tools: &[Tool]) -> Value {
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let mut args: Vec<&str> = Vec::new();
    for param in tools.iter().flat_map(|tool| &tool.params) {
        if !args.contains(&param.name.as_str()) {
            args.push(&param.name);
        }
    }
    let properties: serde_json::Map<String, Value> =
        args.iter().map(|name| ((*name).to_owned(), json!({"type": ["string", "null"]}))).collect();
    json!({
        "type": "object",
        "properties": {"tasks": {"type": "array", "items": {
            "type": "object",
            "properties": {
                "task": {"type": "string", "enum": names},
                "id": {"type": "integer"},
                "dep": {"type": "array", "items": {"type": "integer"}},
                "args": {"type": "object", "properties": properties, "required": args, "additionalProperties": false},
            },
            "required": ["task", "id", "dep", "args"],
            "additionalProperties": false,
        }}},
        "required": ["tasks"],
        "additionalProperties": false,
    })
}
