//! Reads a plan out of a model's reply, or says why it holds none.
//!
//! Strict JSON first: the whole reply, then each balanced value in it, fenced or in prose; of several the last that fits
//! the schema, else the partial ones put together. Only then is text mended. No backslash is deleted but before `_`.
//! What a model writes after its plan under the prompt's own labels, a further request of its own making, does not count.

use jarvis_prompt::reader::{Want, read_json, without_reasoning};
use serde_json::{Map, Value};

use super::shape::{KEYS, check_plan};
use crate::data::DependencyType;

#[derive(Debug, Clone, PartialEq)]
pub struct ReadPlan {
    /// The plan, as the model gave it.
    pub result: Value,
    /// What had to be done to get it; empty when the whole reply was the plan.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPlan {
    #[error("{0}")]
    ContentFormat(String),
    #[error("{0}")]
    Schema(String),
}

/// The most values that are looked at, and the most places from which broken JSON is mended.
const MOST_VALUES: usize = 256;
const MOST_MENDED: usize = 8;

/// The prompt's labels under which models go on after their plan.
const LABELS: [&str; 2] = ["# EXAMPLE #", "# USER REQUEST #"];

pub fn read_plan(reply: &str, dependency: DependencyType) -> Result<ReadPlan, NoPlan> {
    let text = reply.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(NoPlan::ContentFormat("the reply is empty".into()));
    }
    let mut notes = Vec::new();
    let answer = match without_reasoning(text) {
        // A reply that ends within its reasoning may still hold a plan.
        "" => text,
        answer => answer,
    };
    if answer.len() < text.len() {
        notes.push("the reasoning before the answer was left out".to_owned());
    }
    let mut fault = None;
    let unescaped = without_escaped_underscores(answer);
    let own = LABELS.iter().filter_map(|label| answer.find(label)).min().and_then(|at| answer.get(..at));
    for (text, escapes) in [(own, false), (Some(answer), false), (unescaped.as_deref(), true)] {
        let Some(text) = text else { continue };
        match choose(values(text), dependency) {
            Chosen::Plan(result, how) => {
                if escapes {
                    notes.push("backslashes before underscores were left out".to_owned());
                }
                let whole = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
                notes.extend((!whole).then(|| "the JSON stood in other text".to_owned()));
                notes.extend(how.map(str::to_owned));
                return Ok(ReadPlan { result, notes });
            }
            Chosen::Fault(found) => fault = Some(found),
            Chosen::Nothing => {}
        }
    }
    let text = unescaped.as_deref().unwrap_or(answer);
    let (mended, reason) = mended(text);
    match choose(mended, dependency) {
        Chosen::Plan(result, how) => {
            notes.push("its JSON was mended".to_owned());
            notes.extend(how.map(str::to_owned));
            Ok(ReadPlan { result, notes })
        }
        Chosen::Fault(found) => Err(NoPlan::Schema(found)),
        Chosen::Nothing => Err(match fault {
            Some(fault) => NoPlan::Schema(fault),
            None => NoPlan::ContentFormat(reason),
        }),
    }
}

/// The text with `\_` as `_`, for models that escape underscores as Markdown does; `None` when there is none.
/// A backslash that is itself escaped stays.
pub(super) fn without_escaped_underscores(text: &str) -> Option<String> {
    if !text.contains("\\_") {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('_') => out.push('_'),
            Some(next) => out.extend(['\\', next]),
            None => out.push('\\'),
        }
    }
    (out.len() < text.len()).then_some(out)
}

/// The balanced objects and lists of a text that are strict JSON, in order; none inside another.
fn values(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    // Attempts that fail are paid for by their length, so that a text of brackets costs no more than a few readings.
    let mut budget = text.len() * 2 + 64 * 1024;
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find(['{', '['])).map(|offset| at + offset) {
        if budget == 0 || found.len() == MOST_VALUES {
            break;
        }
        let rest = text.get(start..).expect("`find` gives the start of a letter");
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                at = start + stream.byte_offset();
                found.push(value);
            }
            Some(Err(error)) => {
                let lines =
                    rest.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
                budget = budget.saturating_sub((lines + error.column()).max(64));
                at = start + 1;
            }
            None => at = start + 1,
        }
    }
    found
}

/// What the tolerant reader makes of a text: as a whole, and from each object on that seems to hold a part of a plan.
/// The text is the reader's complaint.
fn mended(text: &str) -> (Vec<Value>, String) {
    // The last ones alone: a search back from each of very many would take for ever.
    let keys = KEYS.iter().flat_map(|key| text.rmatch_indices(key).take(2 * MOST_MENDED));
    let mut starts: Vec<usize> = keys.filter_map(|(at, _)| text.get(..at)?.rfind('{')).collect();
    starts.sort_unstable();
    starts.dedup();
    let skipped = starts.len().saturating_sub(MOST_MENDED);
    let mut found = Vec::new();
    let reason = match read_json(text, Want::Object) {
        Ok(read) => {
            found.push(read.value);
            String::new()
        }
        Err(error) => error.fault.to_string(),
    };
    let parts = starts.into_iter().skip(skipped).filter_map(|start| text.get(start..));
    found.extend(parts.filter_map(|part| read_json(part, Want::Object).ok()).map(|read| read.value));
    (found, reason)
}

enum Chosen {
    /// A plan, and what was done to get it.
    Plan(Value, Option<&'static str>),
    /// Objects, none of them a plan, and what is wrong with the likeliest.
    Fault(String),
    /// No objects.
    Nothing,
}

/// The last value that fits; else the partial plans put together.
fn choose(values: Vec<Value>, dependency: DependencyType) -> Chosen {
    let fits = |value: &Value| check_plan(value, dependency).is_ok();
    let mut parts: Vec<Value> = Vec::new();
    let mut last = None;
    for value in values {
        match value {
            Value::Array(items) => {
                let objects: Vec<Value> = items.into_iter().filter(Value::is_object).collect();
                let one = objects.len() == 1;
                let merged = merge(&objects);
                if fits(&merged) {
                    last = Some((merged, (!one).then_some("a list of parts was put together")));
                }
                parts.extend(objects);
            }
            value if fits(&value) => {
                last = Some((value.clone(), None));
                parts.push(value);
            }
            Value::Object(fields) => {
                let inner = fields.values().find(|inner| fits(inner));
                if let Some(inner) = inner {
                    last = Some((inner.clone(), Some("the plan was wrapped in an object")));
                }
                parts.push(Value::Object(fields));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    if let Some((plan, how)) = last {
        return Chosen::Plan(plan, how);
    }
    let is_part = |part: &&Value| KEYS.iter().any(|key| part.get(*key).is_some());
    let partial: Vec<Value> = parts.iter().filter(is_part).cloned().collect();
    if partial.len() > 1 {
        let merged = merge(&partial);
        if fits(&merged) {
            return Chosen::Plan(merged, Some("separate parts were put together"));
        }
    }
    match partial.last().or(parts.last()) {
        Some(part) => match check_plan(part, dependency) {
            Ok(()) => Chosen::Plan(part.clone(), Some("the plan stood in a list with other objects")),
            Err(fault) => Chosen::Fault(fault),
        },
        None => Chosen::Nothing,
    }
}

/// The objects as one: lists under the same key one after the other, of anything else the last.
fn merge(objects: &[Value]) -> Value {
    let mut merged = Map::new();
    for (key, value) in objects.iter().filter_map(Value::as_object).flatten() {
        match (merged.get_mut(key), value) {
            (Some(Value::Array(before)), Value::Array(more)) => before.extend(more.iter().cloned()),
            (_, value) => {
                merged.insert(key.clone(), value.clone());
            }
        }
    }
    Value::Object(merged)
}
