//! The two stages that ask a model: what is sent, and what of a reply is taken.

use indexmap::IndexMap;
use jarvis_chat::{ChatModel, Message};
use jarvis_prompt::literal::Literal;
use jarvis_prompt::reader::{Want, read_json, without_reasoning};
use jarvis_prompt::template::TemplateError;
use jarvis_tools::names::standardize;
use serde_json::json;

use super::check::{check_listing, faults};
use super::document::{ApiEntry, ToolDocument};
use super::text::{cut, line, visible};
use crate::instructions::{Example, Parameter};
use crate::prompts::{self, Prompt};

pub(super) const DESCRIBE_TOOL: &str = "describe_tool";

pub(super) const WRITE_SCENARIO: &str = "write_scenario";

/// The most that a model is shown of a parameter's description or default, in characters.
const MAX_SHOWN: usize = 160;

const MAX_PARAMETERS: usize = 60;

/// The longest Scenario that is taken, in characters.
const MAX_SCENARIO: usize = 600;

/// The longest description of one function that is taken, in characters.
const MAX_PHRASE: usize = 300;

/// Asks for the description of a tool with these functions of it. `fault` is why the last reply was refused.
pub(super) fn describe(
    model: &dyn ChatModel,
    document: &ToolDocument,
    apis: &[ApiEntry],
    fault: &str,
) -> Result<Vec<Message>, TemplateError> {
    // A third of the context is for the documentation; a token has some three characters.
    let room = model.context_tokens(DESCRIBE_TOOL) / apis.len().max(1);
    let functions: Vec<_> = apis
        .iter()
        .map(|entry| json!({"name": entry.name, "description": cut(&entry.details, room.clamp(60, 600))}))
        .collect();
    let shown = json!({"name": document.name, "description": document.description, "functions": functions});
    let context = json!({
        "name": document.name, "count": apis.len(), "document": shown.to_string(), "fault": line(fault, 600),
    });
    prompts::messages(Prompt::DescribeTool, &context, None)
}

#[derive(Debug, Clone)]
pub(super) struct Described {
    pub(super) text: String,
    pub(super) purpose: String,
    pub(super) phrases: Vec<String>,
}

/// Takes a description: it names the tool, lists every function once, gives the right count, and is shorter than the
/// documentation.
pub(super) fn described(reply: &str, document: &ToolDocument, apis: &[ApiEntry]) -> Result<Described, String> {
    let (answer, _) = answer(reply);
    let text = visible(&answer).trim().to_owned();
    if text.is_empty() {
        return Err("the reply is empty".into());
    }
    let name = standardize(&document.name);
    let named = text.to_lowercase().contains(&document.name.to_lowercase());
    if !(named || name.len() > 2 && standardize(&text).contains(&name)) {
        return Err(format!("the description does not name the tool `{}`", document.name));
    }
    if text.len() >= document.source.len() {
        return Err("the description is not shorter than the documentation".into());
    }
    let names: Vec<&str> = apis.iter().map(|entry| entry.name.as_str()).collect();
    let mut listed = check_listing(&text, &names)?;
    let phrases = names.iter().map(|name| {
        let at = listed.iter().position(|(one, _)| one == name);
        at.map(|at| line(&listed.swap_remove(at).1, MAX_PHRASE)).unwrap_or_default()
    });
    let phrases = phrases.collect();
    let head = text.find("This tool has ").or_else(|| text.find("1. ")).unwrap_or(text.len());
    let purpose = line(text.get(..head).unwrap_or_default(), 2 * MAX_PHRASE);
    Ok(Described { text, purpose, phrases })
}

pub(super) fn scenario(document: &ToolDocument, entry: &ApiEntry, fault: &str) -> Result<Vec<Message>, TemplateError> {
    let list = |required: bool| {
        let those = entry.parameters.iter().filter(|one| one.required == required).take(MAX_PARAMETERS);
        let shown = those.map(|one| {
            let Parameter { name, kind, description, default } = &one.parameter;
            let mut fields = IndexMap::new();
            fields.insert("name", json!(name));
            fields.insert("type", json!(kind));
            fields.insert("description", json!(cut(description, MAX_SHOWN)));
            if let Some(default) = default {
                let text = default.as_text().map_or_else(|| default.to_string(), str::to_owned);
                fields.insert("default", json!(cut(&text, MAX_SHOWN)));
            }
            if !one.schema.enumeration.is_empty() {
                fields.insert("one_of", json!(one.schema.enumeration.iter().take(20).collect::<Vec<_>>()));
            }
            fields
        });
        json!(shown.collect::<Vec<_>>()).to_string()
    };
    let context = json!({
        "tool": document.name, "function": entry.name, "purpose": format!("{}.", entry.description),
        "required": list(true), "optional": list(false), "fault": line(fault, 600),
    });
    prompts::messages(Prompt::WriteScenario, &context, None)
}

/// Takes an Example: its parameters are declared, all required ones are there, and their types fit.
pub(super) fn example(reply: &str, entry: &ApiEntry) -> Result<Example, String> {
    let (answer, bare) = answer(reply);
    let value = match Literal::parse(bare) {
        Ok(value @ Literal::Map(_)) => value,
        Ok(_) | Err(_) => {
            Literal::from(&read_json(&answer, Want::Object).map_err(|error| error.fault.to_string())?.value)
        }
    };
    let inner = field(&value, "example").filter(|inner| inner.as_map().is_some());
    let value = inner.unwrap_or(&value);
    let scenario = field(value, "scenario").and_then(Literal::as_text).map(|text| line(text, MAX_SCENARIO));
    let scenario = scenario.filter(|text| !text.is_empty()).ok_or("`Scenario` is missing, or is no text")?;
    let mut arguments = match field(value, "parameters") {
        Some(Literal::Map(fields)) => fields.clone(),
        Some(_) => return Err("`Parameters` is not an object".into()),
        None => return Err("`Parameters` is missing".into()),
    };
    let required = |name: &str| entry.parameters.iter().any(|one| one.required && one.parameter.name == name);
    // Null is how models leave out what need not be given.
    arguments.retain(|name, value| *value != Literal::Null || required(name));
    let wrong =
        faults(entry.parameters.iter().map(|one| (one.parameter.name.as_str(), one.required, &one.schema)), &arguments);
    if wrong.is_empty() {
        return Ok(Example { scenario, parameters: Literal::Map(arguments), generated_by: None });
    }
    Err(wrong.iter().take(8).map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

fn field<'a>(value: &'a Literal, name: &str) -> Option<&'a Literal> {
    value.as_map()?.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

fn answer(reply: &str) -> (String, &str) {
    let whole = without_reasoning(reply).trim();
    let bare = whole.strip_prefix("```").and_then(|rest| {
        let (_, rest) = rest.split_once('\n')?;
        rest.trim_end().strip_suffix("```")
    });
    let bare = bare.unwrap_or(whole).trim();
    (bare.to_owned(), bare)
}
