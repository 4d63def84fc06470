//! Where values stand in a reply: after the reasoning, in fences, in prose. Total work is bounded by a budget.

use serde_json::Value;

use super::choose::{Candidate, is_final};
use super::error::ReadFault;
use super::mend::{self, Stop};
use super::text::{byte, is_word, key_ahead, quote, skip_blanks, structural};
use super::{Mend, Want};

/// How many bytes may still be looked at in vain. Attempts that fail are paid for by their length, so that a text full
/// of brackets costs no more than a few readings of it.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn new(length: usize) -> Budget {
        Budget(length * 2 + 64 * 1024)
    }

    /// Short attempts have a cost of their own.
    fn pay(&mut self, bytes: usize) {
        self.0 = self.0.saturating_sub(bytes.max(256));
    }

    fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

/// The contents of the fenced blocks, in order; the last may lack its closing fence.
pub(crate) fn fences(text: &str) -> Vec<&str> {
    let marker = if text.contains("```") { "```" } else { "~~~" };
    let marks: Vec<usize> = text.match_indices(marker).map(|(at, _)| at).collect();
    let mut blocks = Vec::new();
    let mut open = 0;
    while let Some(start) = marks.get(open).map(|at| at + marker.len()) {
        let until = |close: usize| text.get(start..marks.get(close).copied().unwrap_or(text.len())).unwrap_or_default();
        // A mark inside a string of the content closes nothing: what makes the content whole JSON does.
        let last = marks.len().min(open + 1 + MARKS_INSIDE);
        let close = (open + 1..=last).find(|close| is_json(content(until(*close)))).unwrap_or(open + 1);
        blocks.push(content(until(close)));
        open = close + 1;
    }
    blocks
}

/// The most marks that a block is taken to hold in its strings.
const MARKS_INSIDE: usize = 8;

/// The content of a block without the language's name before it.
fn content(block: &str) -> &str {
    let info = block.bytes().take_while(|byte| is_word(*byte) || *byte == b'+' || *byte == b'.').count();
    let after = block.get(info..).expect("the name of a language is ASCII");
    // A word before a blank or a bracket names the language; otherwise it belongs to the content.
    let content = if after.starts_with(['\n', '\r', ' ', '\t', '[', '{']) { after } else { block };
    content.trim()
}

fn is_json(text: &str) -> bool {
    text.starts_with(['[', '{']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// How far values are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// To the first that cannot be bettered.
    Best,
    /// To the end of the text.
    End,
}

/// Finds the values in a text, left to right, and adds them to `found`. The first thing that looked like the wanted value
/// and could not be mended goes to `fault`.
pub(super) fn values(
    text: &str,
    want: Want,
    until: Until,
    budget: &mut Budget,
    found: &mut Vec<Candidate>,
    fault: &mut Option<ReadFault>,
) {
    let mut at = 0;
    // Bare objects beside something broken are parts of it, and half a list is worse than none.
    let mut broken = false;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find(['[', '{'])).map(|offset| at + offset) {
        if budget.is_spent() {
            break;
        }
        at = start + 1;
        if !can_be_strict(text, start) && !plausible(text, start, want) {
            continue;
        }
        let error = match strict(text, start, budget) {
            Ok((value, end)) if want == Want::Array && is_list(&value) && continues(text, end) => {
                // Closed too early: the rest of the elements follow.
                match mended(text, start, want, budget) {
                    Ok((candidates, end)) => {
                        found.extend(candidates);
                        at = end;
                    }
                    Err(_) => {
                        found.push(Candidate { value, start, end, mended: Vec::new() });
                        at = end;
                    }
                }
                continue;
            }
            Ok((value, end)) => {
                let candidate = Candidate { value, start, end, mended: Vec::new() };
                let done = until == Until::Best && is_final(&candidate, want);
                found.push(candidate);
                if done {
                    break;
                }
                at = end;
                continue;
            }
            Err(error) => error,
        };
        if !plausible(text, start, want) {
            continue;
        }
        match mended(text, start, want, budget) {
            Ok((candidates, end)) => {
                found.extend(candidates);
                at = end.max(at);
            }
            Err(stop) => {
                fault.get_or_insert_with(|| match stop {
                    Stop::Cut => ReadFault::Cut,
                    Stop::TooDeep => ReadFault::TooDeep { limit: mend::MAX_DEPTH },
                    Stop::Garbage => ReadFault::syntax(text.get(start..).unwrap_or_default(), &error),
                });
                // Looking inside the broken value would take its parts for the whole.
                match stop {
                    Stop::Garbage | Stop::TooDeep => broken = true,
                    Stop::Cut => {
                        if let Some(last) = found.last_mut() {
                            last.mended.push(Mend::Cut);
                        }
                    }
                }
                break;
            }
        }
    }
    if broken && want == Want::Array {
        found.retain(|candidate| candidate.value.is_array());
    }
}

fn is_list(value: &Value) -> bool {
    value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(Value::is_object))
}

/// True when more elements follow the end of an array: closing brackets, a comma, an object.
fn continues(text: &str, end: usize) -> bool {
    let mut at = skip_blanks(text, end);
    while matches!(byte(text, at), Some(b']' | b'}')) {
        at = skip_blanks(text, at + 1);
    }
    match structural(text, at) {
        Some((b',', length)) => object_ahead(text, skip_blanks(text, at + length)),
        _ => false,
    }
}

fn strict(text: &str, start: usize, budget: &mut Budget) -> Result<(Value, usize), serde_json::Error> {
    let rest = text.get(start..).unwrap_or_default();
    let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    match stream.next() {
        Some(Ok(value)) => {
            let end = start + stream.byte_offset();
            Ok((value, end))
        }
        Some(Err(error)) => {
            let lines = rest.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
            budget.pay(lines + error.column());
            Err(error)
        }
        None => serde_json::from_str::<Value>("").map(|value| (value, start)),
    }
}

/// True when strict JSON can go on as it does after this bracket.
fn can_be_strict(text: &str, start: usize) -> bool {
    let next = byte(text, skip_blanks(text, start + 1));
    match byte(text, start) {
        Some(b'{') => matches!(next, Some(b'"' | b'}')),
        _ => matches!(next, Some(b'{' | b'[' | b']' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')),
    }
}

/// True when what opens here looks like data and not like prose in brackets.
pub(crate) fn plausible(text: &str, start: usize, want: Want) -> bool {
    if byte(text, start) == Some(b'{') {
        return object_ahead(text, start);
    }
    let next = skip_blanks(text, start + 1);
    match byte(text, next) {
        Some(b'{') => true,
        Some(b'[' | b'-' | b'0'..=b'9') => want == Want::Any && start == 0,
        _ => (want == Want::Any || start == 0) && quote(text, next).is_some(),
    }
}

/// True when an object with at least one key starts at a position.
pub(super) fn object_ahead(text: &str, at: usize) -> bool {
    if byte(text, at) != Some(b'{') {
        return false;
    }
    let mut next = skip_blanks(text, at + 1);
    while text.get(next..).is_some_and(|rest| rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#'))
    {
        match mend::comment_end(text, next) {
            Some(end) => next = skip_blanks(text, end),
            None => return false,
        }
    }
    match byte(text, next) {
        Some(b'\\') => matches!(byte(text, next + 1), Some(b'"')),
        Some(_) => quote(text, next).is_some() || key_ahead(text, next),
        None => true,
    }
}

/// Mends the value that starts here, and the ones that follow it as elements of the same list.
fn mended(text: &str, start: usize, want: Want, budget: &mut Budget) -> Result<(Vec<Candidate>, usize), Stop> {
    let next = skip_blanks(text, start + 1);
    let inner = if byte(text, next) == Some(b'{') { skip_blanks(text, next + 1) } else { next };
    if byte(text, inner) == Some(b'\\') {
        return escaped(text, start, want, budget);
    }
    let result = mend::mend(text, start, want);
    if result.is_err() {
        budget.pay(text.len() - start);
    }
    let mut candidates = Vec::new();
    let end = match result {
        Ok(found) => {
            let decoded: Option<Vec<(Value, Vec<Mend>)>> = found
                .values
                .iter()
                .map(|(json, mends)| {
                    let mut mends = mends.clone();
                    let value = serde_json::from_str(json).ok().or_else(|| {
                        budget.pay(json.len() * 2);
                        mends.push(Mend::Repaired);
                        general(json)
                    })?;
                    Some((value, mends))
                })
                .collect();
            let end = found.end;
            for (value, mended) in decoded.ok_or(Stop::Garbage).or_else(|stop| fallback(text, start, stop, budget))? {
                candidates.push(Candidate { value, start, end, mended });
            }
            end
        }
        Err(Stop::Garbage) => {
            let end = mend::last_closer(text, start).ok_or(Stop::Garbage)?;
            for (value, mended) in fallback(text, start, Stop::Garbage, budget)? {
                candidates.push(Candidate { value, start, end, mended });
            }
            end
        }
        Err(stop) => return Err(stop),
    };
    if candidates.len() > 1 && candidates.first().is_some_and(|first| first.value.is_array()) {
        candidates = vec![flatten(candidates, start, end)];
    }
    Ok((candidates, end))
}

/// The general repair of the text as written, when the own one gave up.
fn fallback(text: &str, start: usize, stop: Stop, budget: &mut Budget) -> Result<Vec<(Value, Vec<Mend>)>, Stop> {
    let Some(whole) = mend::last_closer(text, start).and_then(|end| text.get(start..end)) else { return Err(stop) };
    budget.pay(whole.len() * 2);
    general(whole).map(|value| vec![(value, vec![Mend::Repaired])]).ok_or(stop)
}

fn general(json: &str) -> Option<Value> {
    serde_json::from_str(&jsonrepair_rs::jsonrepair(json).ok()?).ok().filter(is_sane)
}

/// False when some key or text shows that the repair misread the quotes. The depth is that of parsed JSON, so bounded.
fn is_sane(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().all(|(key, value)| mend::is_sane_key(key) && is_sane(value)),
        Value::Array(items) => items.iter().all(is_sane),
        Value::String(text) => !text.contains("\":"),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

fn flatten(candidates: Vec<Candidate>, start: usize, end: usize) -> Candidate {
    let mut items = Vec::new();
    let mut mended = vec![Mend::Brackets];
    for candidate in candidates {
        mended.extend(candidate.mended);
        match candidate.value {
            Value::Array(more) => items.extend(more),
            one => items.push(one),
        }
    }
    mended.sort_unstable();
    mended.dedup();
    Candidate { value: Value::Array(items), start, end, mended }
}

/// JSON whose quotes are escaped as if it stood in a string: unescaped once, then read again.
fn escaped(text: &str, start: usize, want: Want, budget: &mut Budget) -> Result<(Vec<Candidate>, usize), Stop> {
    let rest = text.get(start..).unwrap_or_default();
    budget.pay(rest.len() * 2);
    let mut plain = String::with_capacity(rest.len());
    let mut chars = rest.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some('n' | 'r' | 't') => plain.push(' '),
                Some(next) => plain.push(next),
                None => {}
            },
            char => plain.push(char),
        }
    }
    let next = skip_blanks(&plain, 1);
    let inner = if byte(&plain, next) == Some(b'{') { skip_blanks(&plain, next + 1) } else { next };
    if byte(&plain, inner) == Some(b'\\') {
        return Err(Stop::Garbage);
    }
    let (mut candidates, _) = mended(&plain, 0, want, budget)?;
    for candidate in &mut candidates {
        candidate.mended.insert(0, Mend::Unescaped);
    }
    Ok((candidates, text.len()))
}
