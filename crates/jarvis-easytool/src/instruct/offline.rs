//! Instructions from documents alone, the same for the same document every time.

use indexmap::IndexMap;
use jarvis_prompt::literal::Literal;
use jarvis_tools::names::standardize;

use super::document::{ApiEntry, ToolDocument};
use super::model::{Written, WrittenApi};
use super::text::{as_order, line};
use crate::instructions::{Example, Guideline, ToolInstruction};

pub(super) fn description(document: &ToolDocument) -> String {
    let phrases = document.apis.iter().map(|entry| (entry.name.as_str(), phrase(entry)));
    listing(&purpose(document), &phrases.collect::<Vec<_>>())
}

pub(super) fn purpose(document: &ToolDocument) -> String {
    let name = &document.name;
    match as_order(&document.description) {
        Some(order) => format!("{name} is a tool that can {order}."),
        None if document.description.is_empty() => format!("{name} is a tool."),
        None => format!("{name} is a tool for this: {}.", document.description),
    }
}

/// What a function is for, as words after `is to`.
pub(super) fn phrase(entry: &ApiEntry) -> String {
    as_order(&entry.description).unwrap_or_else(|| format!("do this: {}", entry.description))
}

pub(super) fn listing(purpose: &str, phrases: &[(&str, String)]) -> String {
    let count = phrases.len();
    let noun = if count == 1 { "function" } else { "functions" };
    let mut text = format!("{purpose} This tool has {count} {noun}:");
    for (at, (name, words)) in phrases.iter().enumerate() {
        text.push_str(&format!("\n{}. {name} is to {words}.", at + 1));
    }
    text
}

pub(super) fn example(entry: &ApiEntry, generated_by: &str) -> Example {
    let parameters = entry.sample();
    let scenario = scenario(entry, &parameters);
    Example { scenario, parameters: Literal::Map(parameters), generated_by: Some(generated_by.to_owned()) }
}

fn scenario(entry: &ApiEntry, parameters: &IndexMap<String, Literal>) -> String {
    let wish = match as_order(&entry.description) {
        Some(order) => format!("If you want to {order}"),
        None => format!("If you want this: {}", entry.description),
    };
    let shown: Vec<String> = parameters
        .iter()
        .map(|(name, value)| match value.as_text() {
            Some(text) => format!("{name} '{}'", line(text, 60)),
            None => format!("{name} {}", line(&value.to_string(), 60)),
        })
        .collect();
    match shown.split_last() {
        None => format!("{wish}."),
        Some((one, [])) => format!("{wish}, with {one}."),
        Some((last, others)) => format!("{wish}, with {} and {last}.", others.join(", ")),
    }
}

/// The instructions of all tools, numbered from 0.
pub(super) fn tools(documents: &[ToolDocument], written: Vec<Written>) -> Vec<ToolInstruction> {
    let pairs = documents.iter().zip(written).zip(0..);
    pairs
        .map(|((document, written), id)| ToolInstruction {
            id,
            tool_name: document.name.clone(),
            standardized_name: standardize(&document.name),
            category_name: document.category.clone(),
            tool_description: written.description,
            tool_guidelines: document
                .apis
                .iter()
                .zip(written.apis)
                .map(|(entry, api)| (entry.name.clone(), guideline(entry, api)))
                .collect(),
        })
        .collect()
}

fn guideline(entry: &ApiEntry, api: WrittenApi) -> Guideline {
    let mut description = entry.description.clone();
    description.push('.');
    for (name, usage) in &entry.needs {
        description.push_str(&format!(" Needs {name}, which {usage} gives."));
    }
    Guideline { description, example: api.example, ..entry.guideline() }
}
