//! The tolerant reader: a model's reply in, a JSON value out, or a typed error that keeps the reply.
//!
//! It takes, in this order: the whole reply as strict JSON; a fenced block; the first fitting value in prose; bare
//! objects where an array is wanted; and broken JSON that can be mended without guessing at its meaning. What it did is
//! listed, so that a plan can carry it as notes. It never evaluates anything, runs in linear time and bounded depth,
//! and does not know what the value means.

mod choose;
mod error;
mod find;
mod mend;
mod text;
mod thought;

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use choose::Candidate;
pub use error::{ReadError, ReadFault};
pub(crate) use find::{fences, plausible};
pub use thought::without_reasoning;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// An array; in prose, one whose elements are objects is preferred, and bare objects become its elements.
    Array,
    /// An object; an array gives its first object.
    Object,
    /// An array or an object; a scalar only when it is the whole reply.
    Any,
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Want::Array => "a JSON array",
            Want::Object => "a JSON object",
            Want::Any => "a JSON value",
        })
    }
}

/// A value read from a reply, and what had to be done to get it.
#[derive(Debug, Clone, PartialEq)]
pub struct Read<T = Value> {
    pub value: T,
    /// What was done; empty when the whole reply was strict JSON of the wanted shape.
    pub mended: Vec<Mend>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mend {
    /// The reasoning before the answer (`<think>…</think>`) was left out.
    Thought,
    Fence,
    Prose,
    /// The value was written inside a JSON string, or with escaped quotes.
    Unescaped,
    /// The array was taken out of an object that only wraps it.
    Unwrapped,
    Wrapped,
    /// Several objects became one array.
    Joined,
    /// Quotes were mended: single or typographic ones, inner ones, missing ones, raw control characters.
    Quotes,
    Commas,
    Comments,
    /// Literals of another language (`True`, `None`, `NaN`, `.5`) were rewritten.
    Literals,
    /// Surplus closing brackets were left out, or missing brackets added.
    Brackets,
    /// The brackets of a list whose elements are complete were missing at the end: more elements may have been to come.
    Unclosed,
    /// The reply ends too early: what was not complete was left out.
    Cut,
    /// The syntax was mended by the general repair.
    Repaired,
}

impl Mend {
    /// True when something the model wrote as part of the value may be missing from it.
    pub fn is_lossy(self) -> bool {
        matches!(self, Mend::Cut)
    }
}

impl fmt::Display for Mend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mend::Thought => "the reasoning before the answer was left out",
            Mend::Fence => "the JSON stood in a fenced block",
            Mend::Prose => "the JSON stood in prose",
            Mend::Unescaped => "the JSON stood inside a string",
            Mend::Unwrapped => "the array was wrapped in an object",
            Mend::Wrapped => "a single object stood for an array, or an array for an object",
            Mend::Joined => "separate objects were joined into one array",
            Mend::Quotes => "quotes were mended",
            Mend::Commas => "commas or colons were mended",
            Mend::Comments => "comments were left out",
            Mend::Literals => "literals of another language were rewritten",
            Mend::Brackets | Mend::Unclosed => "brackets were mended",
            Mend::Cut => "the reply ends too early; its incomplete last part was left out",
            Mend::Repaired => "the JSON syntax was repaired",
        })
    }
}

/// Reads the value that `want` asks for out of a model's reply.
///
/// # Errors
/// When there is no such value, with the reason in words that a model can act on. The error keeps the reply.
pub fn read_json(reply: &str, want: Want) -> Result<Read, ReadError> {
    let fail = |fault| ReadError { fault, reply: reply.to_owned() };
    let text = reply.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(fail(ReadFault::Empty));
    }
    read_text(text, want, true).map_err(fail)
}

/// Reads a value as [`read_json`] does and decodes it as a type.
///
/// # Errors
/// As [`read_json`], and [`ReadFault::Type`] when the value is not a `T`.
pub fn read_typed<T: DeserializeOwned>(reply: &str, want: Want) -> Result<Read<T>, ReadError> {
    let Read { value, mended } = read_json(reply, want)?;
    match serde_json::from_value(value) {
        Ok(value) => Ok(Read { value, mended }),
        Err(error) => Err(ReadError { fault: ReadFault::Type { message: error.to_string() }, reply: reply.to_owned() }),
    }
}

/// Every value that stands in a text, left to right, each as strict or mended JSON; and why the first that could not be
/// mended could not.
pub(crate) fn values_in(text: &str, want: Want) -> (Vec<Candidate>, Option<ReadFault>) {
    let (mut found, mut fault) = (Vec::new(), None);
    find::values(text, want, find::Until::End, &mut find::Budget::new(text.len()), &mut found, &mut fault);
    (found, fault)
}

fn read_text(text: &str, want: Want, strings: bool) -> Result<Read, ReadFault> {
    let whole_error = match serde_json::from_str::<Value>(text) {
        Ok(Value::String(inner)) if strings && want != Want::Any && inner.contains(['[', '{']) => {
            let mut read = read_text(inner.trim(), want, false)?;
            read.mended.insert(0, Mend::Unescaped);
            return Ok(read);
        }
        Ok(value) => return choose::whole(value, want),
        Err(error) => error,
    };
    let mut before = Vec::new();
    let mut answer = text;
    if let Some(rest) = thought::after_thought(text) {
        before.push(Mend::Thought);
        answer = rest.trim();
        if let Ok(value) = serde_json::from_str::<Value>(answer) {
            return choose::whole(value, want).map(|read| read.preceded_by(&before));
        }
    }
    let mut budget = find::Budget::new(answer.len());
    let mut fenced = Vec::new();
    for block in find::fences(answer) {
        find::values(block, want, find::Until::Best, &mut budget, &mut fenced, &mut None);
    }
    if choose::is_best(&fenced, want)
        && let Some(read) = choose::best(fenced.clone(), want)
    {
        before.push(Mend::Fence);
        return Ok(read.preceded_by(&before));
    }
    let mut budget = find::Budget::new(answer.len());
    let mut found = Vec::new();
    let mut first_fault = None;
    find::values(answer, want, find::Until::Best, &mut budget, &mut found, &mut first_fault);
    let whole = found.first().is_some_and(|first| first.start == 0 && first.end == answer.len());
    let (candidates, from) = if choose::is_best(&found, want) || fenced.is_empty() {
        (found, if whole { None } else { Some(Mend::Prose) })
    } else {
        (fenced, Some(Mend::Fence))
    };
    before.extend(from);
    match choose::best(candidates, want) {
        Some(read) => Ok(read.preceded_by(&before)),
        None => Err(first_fault.unwrap_or_else(|| {
            if answer.starts_with(['[', '{']) && find::plausible(answer, 0, want) {
                ReadFault::syntax(text, &whole_error)
            } else {
                ReadFault::NoJson { want }
            }
        })),
    }
}

impl Read {
    fn preceded_by(mut self, before: &[Mend]) -> Read {
        let mut mended = before.to_vec();
        mended.extend(self.mended.iter().copied().filter(|mend| !before.contains(mend)));
        self.mended = mended;
        self
    }
}
