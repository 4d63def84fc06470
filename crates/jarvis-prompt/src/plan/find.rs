//! The plan in a reply, whatever it is written in: JSON, calls between marks, Python, YAML, actions.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::call::{Call, calls, is_form};
use super::{markup, python};
use crate::reader::{Candidate, Mend, ReadFault, Want, fences, values_in};

/// The calls of a reply, and what was done to get them, as sentences.
pub(super) struct Found {
    pub(super) calls: Vec<Call>,
    pub(super) mended: Vec<String>,
}

/// Finds the plan in a reply without its reasoning. Of several complete plans the last one counts, one that names only
/// known tools before one that does not.
pub(super) fn find(text: &str, knows: &dyn Fn(&str) -> bool) -> Result<Found, ReadFault> {
    let said = |calls: Vec<Call>, how: &str| Found { calls, mended: vec![how.to_owned()] };
    if is_transcript(text) {
        return Err(ReadFault::Several);
    }
    let unquoted = unquoted(text);
    let text = own_turn(unquoted.as_deref().unwrap_or(text));
    let unescaped = unescaped(text);
    let text = unescaped.as_deref().unwrap_or(text);
    let marked = markup::marked(text, knows)?;
    if !marked.is_empty() {
        return Ok(said(marked, "the tasks stood in the calls of another format"));
    }
    // A JSON text in a JSON string.
    let inner = serde_json::from_str::<String>(text).ok();
    let text = inner.as_deref().map_or(text, str::trim);
    let (values, fault) = values_in(text, Want::Array);
    // What follows a list without its bracket says that the model was done with it.
    let is_last = |value: &Candidate| text.get(value.end..).is_none_or(|rest| rest.trim().is_empty());
    let is_cut = |value: &Candidate| {
        value.mended.contains(&Mend::Cut) || (value.mended.contains(&Mend::Unclosed) && is_last(value))
    };
    let cut = fault == Some(ReadFault::Cut) || values.iter().any(is_cut);
    if let Some(found) = in_json(&values, text, knows)? {
        // Half a plan is no plan: what is missing may be what was asked for.
        return if cut { Err(ReadFault::Cut) } else { Ok(found) };
    }
    let blocks = fences(text);
    let parts = || blocks.iter().rev().copied().chain([text]);
    let calls = in_code(&blocks, text, knows);
    if !calls.is_empty() {
        // A step that could not be read may be the point of the request.
        return match unread(text, &calls, knows) {
            Some(name) => Err(ReadFault::Type { message: format!("`{name}` is named, and its call cannot be read") }),
            None => Ok(said(calls, "the tasks were written as code")),
        };
    }
    if let Some(calls) = parts().find_map(|part| in_yaml(part, knows)) {
        return Ok(said(calls, "the tasks were written as YAML"));
    }
    let calls = markup::actions(text, knows);
    if !calls.is_empty() {
        return Ok(said(calls, "the tasks were written as actions"));
    }
    Err(if cut { ReadFault::Cut } else { fault.unwrap_or(ReadFault::NoJson { want: Want::Array }) })
}

/// A reply that quotes itself, every line behind a `>`, without the marks.
fn unquoted(text: &str) -> Option<String> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let is_quoted = lines().next().is_some() && lines().all(|line| line.trim_start().starts_with("> "));
    let inner = |line: &str| line.trim_start().trim_start_matches("> ").to_owned();
    is_quoted.then(|| text.lines().map(inner).collect::<Vec<_>>().join("\n"))
}

/// A reply written for a page or in Markdown, its marks as they are meant: `&lt;GENERATED&gt;-0`, `\\<GENERATED\\>-0`.
fn unescaped(text: &str) -> Option<String> {
    const MARKS: [(&str, &str); 7] =
        [("&quot;", "\""), ("&#34;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("\\<", "<"), ("\\>", ">")];
    let is_page = text.contains("&quot;") && !text.contains('"');
    let of_marks = ["&lt;GENERATED", "\\<GENERATED"].iter().any(|mark| text.contains(mark));
    (is_page || of_marks).then(|| MARKS.iter().fold(text.to_owned(), |text, (mark, plain)| text.replace(mark, plain)))
}

/// Marks with which models end their turn or begin another's.
const TURNS: [&str; 9] = [
    "<|im_end|>",
    "<|im_start|>",
    "<|eot_id|>",
    "<|start_header_id|>",
    "<|end|>",
    "<|endoftext|>",
    "<end_of_turn>",
    "<start_of_turn>",
    "</s>",
];

/// The reply up to where the model goes on with a conversation of its own: what stands there answers nobody.
fn own_turn(text: &str) -> &str {
    let Some(first) = text.find(['[', '{', '(']) else { return text };
    let is_said = |at: usize| at > first;
    let marks = TURNS.iter().filter_map(|mark| text.match_indices(mark).map(|(at, _)| at).find(|at| is_said(*at)));
    let lines = text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    });
    // `Input:` alone may be an action's.
    let answers =
        lines.clone().filter(|(_, line)| begins_turn(line, &["output", "answer", "assistant", "response"])).last();
    let speaks = |line: &str, at: usize| {
        begins_turn(line, &["user", "human", "instruction"])
            || (begins_turn(line, &["input", "question", "request"]) && answers.is_some_and(|(answer, _)| answer > at))
    };
    let turn = lines.clone().find(|(at, line)| is_said(*at) && speaks(line, *at)).map(|(at, _)| at);
    let end = marks.chain(turn).min().unwrap_or(text.len());
    text.get(..end).unwrap_or(text).trim_end()
}

/// Whether a reply writes a whole conversation, somebody else's turns before its own: which answer is meant is a guess.
fn is_transcript(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(|line| begins_turn(line, &["user", "human"]))
        && text.lines().filter(|line| begins_turn(line, &["assistant", "ai", "model", "output"])).count() > 1
}

/// Whether a line begins what one of these says: `User:`, `**Assistant:**`.
fn begins_turn(line: &str, who: &[&str]) -> bool {
    let line = line.trim_start_matches(['*', '#', ' ']).to_lowercase();
    let named = |who: &&str| {
        line.strip_prefix(who).is_some_and(|rest| rest.trim_start_matches(['*', ' ']).starts_with([':', '：']))
    };
    who.iter().any(named)
}

/// The name of a tool that a text names beside those that were called.
fn unread<'t>(text: &'t str, calls: &[Call], knows: &dyn Fn(&str) -> bool) -> Option<&'t str> {
    let names = text.split(|c: char| !(c.is_alphanumeric() || "_-".contains(c)));
    let mut names = names.map(|name| name.trim_matches('-')).filter(|name| name.contains(['-', '_']));
    let last = |call: &Call| call.name.rsplit(['.', '/']).next().unwrap_or_default().to_lowercase();
    let called: HashSet<String> = calls.iter().map(last).collect();
    names.find(|name| !called.contains(&name.to_lowercase()) && knows(name))
}

/// The calls in code. Blocks that each hold a part are one program; a block that calls all that the others do is another try
/// at it, and the last one counts.
fn in_code(blocks: &[&str], text: &str, knows: &dyn Fn(&str) -> bool) -> Vec<Call> {
    let read: Vec<Vec<Call>> =
        blocks.iter().map(|part| python::calls(part, knows)).filter(|calls| !calls.is_empty()).collect();
    match read.split_last() {
        None => python::calls(text, knows),
        Some((last, before)) if before.iter().all(|calls| covers(last, calls)) => last.clone(),
        Some(_) => python::calls(&blocks.join("\n"), knows),
    }
}

/// Whether a list calls every tool as often as another does.
fn covers(list: &[Call], other: &[Call]) -> bool {
    let mut open: HashMap<&str, i64> = HashMap::new();
    list.iter().for_each(|call| *open.entry(call.name.as_str()).or_default() += 1);
    other.iter().for_each(|call| *open.entry(call.name.as_str()).or_default() -= 1);
    open.values().all(|count| *count >= 0)
}

/// Whether a value is a list without tasks, also in a wrapper.
fn is_empty(value: &Value) -> bool {
    const LISTS: [&str; 5] = ["tasks", "plan", "steps", "actions", "tool_calls"];
    let list = match value {
        Value::Object(fields) if fields.values().all(|field| !field.is_object()) => LISTS
            .iter()
            .find_map(|name| fields.get(*name))
            .filter(|_| fields.values().filter(|f| f.is_array()).count() == 1),
        other => Some(other),
    };
    list.and_then(Value::as_array).is_some_and(Vec::is_empty)
}

/// A list of calls, where it stands, and whether it was written as a list.
struct Proposal<'v> {
    calls: Vec<Call>,
    parts: Vec<&'v Candidate>,
    is_list: bool,
}

impl Proposal<'_> {
    fn ids(&self) -> Option<Vec<i64>> {
        self.calls.iter().map(|call| call.id.as_ref()?.as_i64()).collect()
    }

    /// Whether it goes on where another ends: its ids are greater than all of the other's.
    fn follows(&self, other: &Proposal<'_>) -> bool {
        match (self.ids(), other.ids()) {
            (Some(own), Some(before)) => own.iter().min() > before.iter().max(),
            _ => false,
        }
    }
}

/// The plan among the JSON values of a reply.
///
/// # Errors
/// When there are several that differ in what they do.
fn in_json(values: &[Candidate], text: &str, knows: &dyn Fn(&str) -> bool) -> Result<Option<Found>, ReadFault> {
    let mut proposals: Vec<Proposal<'_>> = Vec::new();
    let mut empty = None;
    for value in values {
        if is_empty(&value.value) {
            empty = Some(value);
            continue;
        }
        let read = calls(&value.value, knows).filter(|calls| !calls.is_empty() && !is_form(calls));
        let Some(mut read) = read else { continue };
        // Bare objects beside each other are one list.
        let is_list = value.value.is_array() || read.len() > 1;
        match proposals.last_mut().filter(|last| !is_list && !last.is_list) {
            Some(last) => {
                last.calls.append(&mut read);
                last.parts.push(value);
            }
            None => proposals.push(Proposal { calls: read, parts: vec![value], is_list }),
        }
    }
    let known = |proposal: &Proposal<'_>| proposal.calls.iter().filter(|call| knows(&call.name)).count();
    let rank = |proposal: &Proposal<'_>| {
        let known = known(proposal);
        (known > 0, known == proposal.calls.len(), proposal.is_list)
    };
    let Some(best) = proposals.iter().map(rank).max() else {
        let empty = empty.filter(|empty| is_alone(empty, text) || (values.len() == 1 && is_at_end(empty, text)));
        return Ok(empty.map(|empty| Found { calls: Vec::new(), mended: how(&[empty], text) }));
    };
    let mut equals: Vec<Proposal<'_>> = Vec::new();
    for mut next in proposals.into_iter().filter(|proposal| rank(proposal) == best) {
        match equals.last_mut().filter(|last| next.follows(last)) {
            Some(last) => {
                last.calls.append(&mut next.calls);
                last.parts.append(&mut next.parts);
            }
            None => equals.push(next),
        }
    }
    let plan = equals.pop().expect("one has the best rank");
    // Drafts stand before the plan. What comes last and does less may be an example, or another's.
    let is_draft = |other: &Proposal<'_>| covers(&plan.calls, &other.calls) || plan.calls.len() > other.calls.len();
    if !equals.iter().all(is_draft) {
        return Err(ReadFault::Several);
    }
    let mended = how(&plan.parts, text);
    Ok(Some(Found { calls: plan.calls, mended }))
}

/// Whether a reply begins or ends with a value, but for a fence.
fn is_at_end(value: &Candidate, text: &str) -> bool {
    let before = text.get(..value.start).unwrap_or_default();
    let after = text.get(value.end..).unwrap_or_default();
    [before, after].iter().any(|part| {
        let part = part.trim().trim_matches(['`', '~']);
        part.is_empty() || part == "json"
    })
}

/// Whether a value is all that a reply says, but for a fence.
fn is_alone(value: &Candidate, text: &str) -> bool {
    let before = text.get(..value.start).unwrap_or_default();
    let after = text.get(value.end..).unwrap_or_default();
    let is_fence = |part: &str| part.trim().trim_matches(['`', '~']).trim().chars().all(char::is_alphanumeric);
    is_fence(before) && after.trim().trim_matches(['`', '~']).is_empty()
}

fn how(parts: &[&Candidate], text: &str) -> Vec<String> {
    let mut mends: Vec<Mend> = parts.iter().flat_map(|part| part.mended.iter().copied()).collect();
    match parts {
        [only] if only.start == 0 && only.end == text.len() => {
            // The form that structured output and first parts have.
            let is_form = |fields: &serde_json::Map<String, Value>| {
                fields.keys().all(|key| ["tasks", "more"].contains(&key.as_str()))
            };
            if !only.value.is_array() && !only.value.as_object().is_some_and(is_form) {
                mends.push(Mend::Unwrapped);
            }
        }
        [only] => mends.push(if is_alone(only, text) { Mend::Fence } else { Mend::Prose }),
        _ => mends.push(Mend::Joined),
    }
    mends.sort_unstable();
    mends.dedup();
    mends.into_iter().map(|mend| mend.to_string()).collect()
}

/// A list of calls as YAML: from its first line, which is an element of a list or names one, to the last that may belong
/// to it.
fn in_yaml(text: &str, knows: &dyn Fn(&str) -> bool) -> Option<Vec<Call>> {
    let begins = |line: &str| {
        let line = line.trim_end();
        let item = line.strip_prefix("- ").unwrap_or(line);
        let key = item.split_once(':').map(|(key, _)| key.trim());
        key.is_some_and(|key| !key.is_empty() && !key.contains(' ')) && (item.len() < line.len() || line.ends_with(':'))
    };
    let belongs =
        |line: &str| line.trim().is_empty() || line.starts_with([' ', '-', '\t']) || line.trim_end().ends_with(':');
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().position(|line| begins(line))?;
    let block: Vec<&str> = lines.iter().skip(start).take_while(|line| belongs(line)).copied().collect();
    let value: Value = serde_saphyr::from_str(&block.join("\n")).ok()?;
    let read = calls(&value, knows)?;
    read.iter().any(|call| knows(&call.name)).then_some(read)
}
