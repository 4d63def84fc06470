//! Stage 1 with a chat model: ask for a plan, read the reply, ask once more when it cannot be read.

use jarvis_ask::{AskError, conversation_levels};
use jarvis_chat::Message;
use jarvis_plan::{Draft, Request, Tool, dialect};
use jarvis_prompt::reader::{Want, read_json};
use serde_json::{Value, json};

use crate::attached;
use crate::decisions::pipeline;
use crate::prompts::ParseTask;
use crate::stages::Stages;

const STAGE: &str = "parse_task";

/// Asks for a plan; [`AskError::Unreadable`] when the reply holds none.
pub(crate) async fn ask_for_plan(stages: &Stages, tools: &[Tool], request: &Request) -> Result<Draft, AskError> {
    let settings = &stages.settings;
    let question = stages.ask.stage(STAGE).messages(prompt(stages, tools, request)?);
    let question = question.favour(&highlight(tools), settings.parse_bias).schema("plan", || plan_schema(tools));
    let question = question.asking(if settings.reask { 2 } else { 1 });
    let question = question.wanted("a JSON array of tasks").noted_as("the planner's reply");
    question.read(|reply| read(&reply.text)).await
}

pub(crate) fn prompt(stages: &Stages, tools: &[Tool], request: &Request) -> Result<Vec<Message>, AskError> {
    let demos = 2 * stages.prompts.demos();
    let attachments = attached::shown(request);
    let levels = conversation_levels(request.history.len(), demos);
    let fitted = stages.ask.fit(STAGE, &levels, |left_out| {
        let history = left_out.kept(&request.history);
        let context = ParseTask { tools, history, input: &request.text, attachments: &attachments };
        stages.prompts.parse_task(&context, demos.saturating_sub(left_out.demos) / 2)
    });
    fitted.map(|(_, messages)| messages)
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
