//! Calls between the marks that models are trained to put around them.

use serde_json::{Map, Value};

use super::call::{Call, calls};
use crate::reader::{ReadFault, Want, values_in};

/// Marks with JSON calls behind them, and what ends the JSON; it may be missing.
const MARKS: [(&str, &str); 8] = [
    ("<tool_call>", "</tool_call>"),
    ("<tool_calls>", "</tool_calls>"),
    ("<|tool_call|>", "<|/tool_call|>"),
    ("<function_call>", "</function_call>"),
    ("<|python_tag|>", "<|eom_id|>"),
    ("[TOOL_CALLS]", "</s>"),
    ("functools[", "\n\n"),
    ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
];

/// The most calls that are read, so that a text of nothing but marks is read in bounded time.
const MAX_CALLS: usize = 64;

/// The longest input of an action that is put together from several lines, in bytes.
const LONGEST_INPUT: usize = 16 * 1024;

/// The calls between marks, in order; empty when there are no marks.
///
/// # Errors
/// When a call is cut off.
pub(super) fn marked(text: &str, knows: &dyn Fn(&str) -> bool) -> Result<Vec<Call>, ReadFault> {
    let mut found = functions(text);
    if found.is_empty() {
        let marks = text.match_indices("[TOOL_CALLS]").take(MAX_CALLS);
        found = marks.filter_map(|(at, mark)| with_args(text.get(at + mark.len()..)?)).collect();
    }
    if !found.is_empty() {
        return Ok(found);
    }
    for (mark, end) in MARKS {
        for (at, _) in text.match_indices(mark).take(MAX_CALLS) {
            // The bracket of `functools[` is the list's.
            let start = at + mark.len() - usize::from(mark.ends_with('[') && !mark.starts_with('['));
            let Some(inside) = text.get(start..) else { continue };
            let inside = inside.split_once(end).map_or(inside, |(inside, _)| inside);
            let inside = inside.split(mark).next().unwrap_or(inside);
            let mut read: Vec<Call> = values_in(inside, Want::Array)
                .0
                .iter()
                .filter_map(|value| calls(&value.value, knows))
                .flatten()
                .collect();
            if read.is_empty() {
                read = super::python::calls(inside, knows);
            }
            if read.is_empty() && !found.is_empty() && inside.trim_start().starts_with(['{', '[']) {
                // Half a plan is no plan.
                return Err(ReadFault::Cut);
            }
            found.append(&mut read);
        }
        if !found.is_empty() {
            break;
        }
    }
    Ok(found)
}

/// `name[ARGS]{…}` behind a mark.
fn with_args(text: &str) -> Option<Call> {
    let (name, args) = text.split_once("[ARGS]")?;
    let name = name.split("[CALL_ID]").next().unwrap_or(name).trim();
    if name.is_empty() || name.contains(['[', '{', '\n']) {
        return None;
    }
    let mut call = Call { name: name.to_owned(), ..Call::default() };
    call.take(&values_in(args, Want::Object).0.into_iter().next()?.value);
    Some(call)
}

/// `<function=name><parameter=image>photo.jpg</parameter></function>`, and the same with attributes.
fn functions(text: &str) -> Vec<Call> {
    let mut found = Vec::new();
    for (open, close) in [("<function=", "</function>"), ("<invoke name=", "</invoke>")] {
        for (at, _) in text.match_indices(open).take(MAX_CALLS) {
            let Some((name, body)) = text.get(at + open.len()..).and_then(|rest| rest.split_once('>')) else {
                continue;
            };
            let body = body.split(close).next().unwrap_or(body).split(open).next().unwrap_or(body);
            let mut call = Call { name: name.trim().trim_matches(['"', '\'']).to_owned(), ..Call::default() };
            call.named = parameters(body);
            if call.named.is_empty() {
                call.take(&Value::String(body.trim().to_owned()));
            }
            found.push(call);
        }
    }
    found
}

fn parameters(body: &str) -> Map<String, Value> {
    let mut found = Map::new();
    for open in ["<parameter=", "<parameter name=", "<arg name="] {
        for (at, _) in body.match_indices(open).take(MAX_CALLS) {
            let Some((name, rest)) = body.get(at + open.len()..).and_then(|rest| rest.split_once('>')) else {
                continue;
            };
            let value = rest.split("</").next().unwrap_or(rest).split(open).next().unwrap_or(rest).trim();
            found.insert(name.trim().trim_matches(['"', '\'']).to_owned(), value.into());
        }
    }
    found
}

/// `Action: tool`, then `Action Input: …`, as agents write them.
pub(super) fn actions(text: &str, knows: &dyn Fn(&str) -> bool) -> Vec<Call> {
    let mut found: Vec<Call> = Vec::new();
    let mut lines =
        text.lines().map(|line| line.trim().trim_start_matches(['*', '-', ' ']).replace("**", "")).peekable();
    while let Some(line) = lines.next() {
        let Some((key, value)) = line.split_once(':') else { continue };
        match key.trim().to_lowercase().as_str() {
            "action" | "tool" if value.contains('(') => found.extend(super::python::calls(value, knows)),
            "action" | "tool" if !value.trim().is_empty() => {
                let name = value.trim().trim_matches(['`', '"', '[', ']']).to_owned();
                found.push(Call { name, ..Call::default() });
            }
            "action input" | "tool input" | "input" => {
                if let Some(call) = found.last_mut().filter(|call| call.named.is_empty() && call.listed.is_empty()) {
                    let mut input = value.trim().to_owned();
                    // JSON may go on over several lines.
                    while input.len() < LONGEST_INPUT
                        && input.starts_with(['{', '['])
                        && serde_json::from_str::<Value>(&input).is_err()
                    {
                        let Some(more) = lines.next_if(|line| !line.to_lowercase().starts_with("action")) else {
                            break;
                        };
                        input.push('\n');
                        input.push_str(&more);
                    }
                    call.take(&Value::String(input));
                }
            }
            _ => {}
        }
    }
    if found.iter().any(|call| knows(&call.name)) { found } else { Vec::new() }
}
