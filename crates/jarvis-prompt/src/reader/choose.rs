//! Which of the values found in a reply is the one that is wanted, and how it takes the wanted shape.

use serde_json::Value;

use super::error::{Found, ReadFault};
use super::{Mend, Read, Want};

#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) value: Value,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// What was mended in it; empty when it is strict JSON.
    pub(crate) mended: Vec<Mend>,
}

/// How well a value fits; lower is better, `None` not at all.
fn rank(value: &Value, want: Want) -> Option<u8> {
    match (value, want) {
        (Value::Array(items), Want::Array) => match items.as_slice() {
            [] => Some(3),
            _ if items.iter().all(Value::is_object) => Some(0),
            _ if items.iter().any(Value::is_object) => Some(1),
            _ if items.iter().all(Value::is_string) => Some(4),
            _ => None,
        },
        (Value::Object(fields), Want::Array) => match wrapped(value) {
            Some(items) if !items.is_empty() => Some(0),
            Some(_) => Some(3),
            None if fields.is_empty() => None,
            None => Some(2),
        },
        (Value::Object(fields), Want::Object) => Some(if fields.is_empty() { 3 } else { 0 }),
        (Value::Array(items), Want::Object) => items.first().filter(|first| first.is_object()).map(|_| 2),
        (Value::Object(fields), Want::Any) => Some(if fields.is_empty() { 3 } else { 0 }),
        (Value::Array(items), Want::Any) => match items.as_slice() {
            [] => Some(3),
            _ if items.iter().all(Value::is_object) => Some(0),
            _ if items.iter().all(Value::is_number) => Some(4),
            _ => Some(1),
        },
        (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_), _) => None,
    }
}

/// True when one of the candidates fits as well as a value can.
pub(super) fn is_best(found: &[Candidate], want: Want) -> bool {
    found.iter().any(|candidate| rank(&candidate.value, want) == Some(0))
}

/// True when looking further cannot give a better value.
pub(super) fn is_final(candidate: &Candidate, want: Want) -> bool {
    candidate.mended.is_empty() && rank(&candidate.value, want) == Some(0)
}

/// The best candidate in the wanted shape: the best rank, then what is strict JSON, then what stands first.
pub(super) fn best(found: Vec<Candidate>, want: Want) -> Option<Read> {
    let ranks: Vec<Option<u8>> = found.iter().map(|candidate| rank(&candidate.value, want)).collect();
    let top = (ranks.iter().enumerate())
        .filter_map(|(at, rank)| rank.map(|rank| (rank, found.get(at).is_some_and(|c| !c.mended.is_empty()), at)))
        .min()?;
    if want == Want::Array && top.0 == 2 {
        return Some(join(found));
    }
    let Candidate { value, mended, .. } = found.into_iter().nth(top.2)?;
    shape(value, want).ok().map(|read| Read { value: read.value, mended: [mended, read.mended].concat() })
}

/// Bare objects as one array. Where they differ, those that share the commonest field (the earliest on a tie) are taken.
fn join(found: Vec<Candidate>) -> Read {
    let objects: Vec<Candidate> = found.into_iter().filter(|candidate| candidate.value.is_object()).collect();
    let mut counts: Vec<(&String, usize)> = Vec::new();
    for field in objects.iter().filter_map(|candidate| candidate.value.as_object()).flat_map(|fields| fields.keys()) {
        match counts.iter().position(|(name, _)| *name == field) {
            Some(at) => counts.iter_mut().skip(at).take(1).for_each(|(_, count)| *count += 1),
            // Objects with hundreds of distinct fields are not elements of anything.
            None if counts.len() < 64 => counts.push((field, 1)),
            None => {}
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let common = counts.iter().find(|(_, count)| *count == most).map(|(name, _)| (*name).clone()).unwrap_or_default();
    let mut mended = Vec::new();
    let mut items = Vec::new();
    for candidate in objects {
        if candidate.value.get(&common).is_some() {
            mended.extend(candidate.mended);
            items.push(candidate.value);
        }
    }
    mended.push(if items.len() == 1 { Mend::Wrapped } else { Mend::Joined });
    mended.sort_unstable();
    mended.dedup();
    Read { value: Value::Array(items), mended }
}

/// The array that an object only wraps: in its single field, or in `tasks` when it is not a task itself.
fn wrapped(value: &Value) -> Option<&Vec<Value>> {
    let fields = value.as_object()?;
    let inner = match fields.get("tasks") {
        Some(tasks) if !fields.contains_key("task") => tasks,
        _ if fields.len() == 1 => fields.values().next()?,
        _ => return None,
    };
    inner.as_array().filter(|items| items.iter().all(Value::is_object))
}

pub(super) fn whole(value: Value, want: Want) -> Result<Read, ReadFault> {
    shape(value, want)
}

fn shape(value: Value, want: Want) -> Result<Read, ReadFault> {
    let read = |value, mended: &[Mend]| Ok(Read { value, mended: mended.to_vec() });
    match (want, value) {
        (Want::Any, value) | (Want::Array, value @ Value::Array(_)) | (Want::Object, value @ Value::Object(_)) => {
            read(value, &[])
        }
        (Want::Array, value @ Value::Object(_)) => match wrapped(&value) {
            Some(items) => read(Value::Array(items.clone()), &[Mend::Unwrapped]),
            None => read(Value::Array(vec![value]), &[Mend::Wrapped]),
        },
        (Want::Object, Value::Array(items)) => match items.into_iter().next() {
            Some(first @ Value::Object(_)) => read(first, &[Mend::Wrapped]),
            Some(_) | None => Err(ReadFault::Shape { want, found: Found::Array }),
        },
        (_, Value::Null) => Err(ReadFault::Shape { want, found: Found::Null }),
        (_, Value::Bool(_)) => Err(ReadFault::Shape { want, found: Found::Bool }),
        (_, Value::Number(_)) => Err(ReadFault::Shape { want, found: Found::Number }),
        (_, Value::String(_)) => Err(ReadFault::Shape { want, found: Found::String }),
    }
}
