//! One value out of a whole reply, with its numbers exact: the extractor of all stages that expect data.
//!
//! It looks where a value stands: after the reasoning, in fences, after `Output:`, in prose. What a value means is decided
//! by who asked.

use std::fmt;

use super::Literal;
use super::error::{LiteralError, LiteralFault};
use super::parse::Parser;
use crate::reader::{ReadFault, Want, fences, plausible, read_json, without_reasoning};

/// Why a reply has no value of the wanted kind, in words that a model can act on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadLiteralError {
    /// There is nothing but blanks, or nothing but reasoning.
    #[error("the reply is empty")]
    Empty,
    #[error("the value cannot be read: {fault}{near}")]
    Literal { fault: LiteralFault, near: Near },
    /// There is no such value, and none that can be mended.
    #[error("{0}")]
    Reader(#[from] ReadFault),
}

/// A bit of the text around a fault; shown as `` (near `…`) ``, or as nothing when it is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Near(pub String);

impl fmt::Display for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " (near `{}`)", self.0) }
    }
}

/// The first value of the wanted kind in a reply: JSON, or a literal as [`Literal::parse`] reads it.
///
/// Reasoning before the answer, fences with or without a language, and a leading `Output:` are left out. Then the whole is
/// read; else fenced blocks, else the prose, for balanced values: one that cannot be read is passed over together with
/// what it holds, unless it is only prose in brackets.
/// - For an object: an object, or a list of one object; failing these the first object of a longer list.
/// - For a list: a list of other things than numbers (`[1]` is often a reference); failing these any list; the only field
///   of an object, when it is a list; the objects that stand there, as a list.
/// - For any: the first of both; anything at all when it is the whole reply.
///
/// When no value can be read as written, the tolerant reader mends what it can: there, whole numbers beyond 64 bits become
/// floats. What is understood and refused (names that are called, numbers beyond the limits) is never mended.
///
/// # Errors
/// Says in words that a model can act on why there is no such value.
pub fn read_literal(reply: &str, want: Want) -> Result<Literal, ReadLiteralError> {
    let answer = without_reasoning(reply.trim_start_matches('\u{feff}'));
    if answer.is_empty() {
        return Err(ReadLiteralError::Empty);
    }
    let mut refused = None;
    match whole(answer, want, true) {
        Ok(Some(value)) => return Ok(value),
        Ok(None) => {}
        // A text that is nothing but a value which must not be taken.
        Err(error) if error.fault.is_refusal() && starts_value(answer, want) => {
            refused = Some(refusal(after_label(answer), &error));
        }
        Err(_) => {}
    }
    let mut second = Second::default();
    for block in fences(answer) {
        if let Ok(Some(value)) = whole(block, want, true) {
            return Ok(value);
        }
        if let Some(value) = search(block, want, &mut second, &mut refused) {
            return Ok(value);
        }
    }
    if let Some(value) = second.take(want) {
        return Ok(value);
    }
    if let Some(value) = search(answer, want, &mut second, &mut refused) {
        return Ok(value);
    }
    if let Some(value) = second.take(want) {
        return Ok(value);
    }
    if let Some(refused) = refused {
        return Err(refused);
    }
    match read_json(answer, want) {
        Ok(read) => Ok(Literal::from(&read.value)),
        Err(error) => Err(error.fault.into()),
    }
}

fn after_label(text: &str) -> &str {
    const LABEL: &str = "output:";
    let text = text.trim();
    match text.get(..LABEL.len()) {
        Some(start) if start.eq_ignore_ascii_case(LABEL) => {
            text.get(LABEL.len()..).expect("the label was found here").trim_start()
        }
        Some(_) | None => text,
    }
}

/// The whole text as one value of the wanted kind; `None` when it is another.
fn whole(text: &str, want: Want, strings: bool) -> Result<Option<Literal>, LiteralError> {
    let text = after_label(text);
    match Literal::parse(text)? {
        Literal::Text(inner) if strings && want != Want::Any => Ok(whole(&inner, want, false).unwrap_or(None)),
        value => Ok(match (want, value) {
            (Want::Any, value) => Some(value),
            (Want::Object, value @ Literal::Map(_)) | (Want::Array, value @ Literal::List(_)) => Some(value),
            (Want::Object, Literal::List(items)) => items.into_iter().find(|item| item.as_map().is_some()),
            (Want::Array, value @ Literal::Map(_)) => Some(listed(vec![value])),
            (
                Want::Object | Want::Array,
                Literal::Null | Literal::Bool(_) | Literal::Int(_) | Literal::Float(_) | Literal::Text(_),
            ) => None,
        }),
    }
}

/// Objects where a list is wanted: the list that the only one wraps, or all of them.
fn listed(objects: Vec<Literal>) -> Literal {
    let wrapped = match objects.as_slice() {
        [Literal::Map(fields)] if fields.len() == 1 => {
            fields.values().next().filter(|value| value.as_list().is_some()).cloned()
        }
        _ => None,
    };
    wrapped.unwrap_or(Literal::List(objects))
}

fn starts_value(answer: &str, want: Want) -> bool {
    let text = after_label(answer);
    text.starts_with('(') || (text.starts_with(['[', '{']) && (plausible(text, 0, want) || text.starts_with('[')))
}

fn refusal(text: &str, error: &LiteralError) -> ReadLiteralError {
    let near = text.get(error.at..).unwrap_or_default().chars().take(30).collect();
    ReadLiteralError::Literal { fault: error.fault.clone(), near: Near(near) }
}

#[derive(Default)]
struct Second {
    /// Lists that may be references, or that hold several objects where one is wanted.
    lists: Vec<Literal>,
    /// Objects where a list is wanted.
    objects: Vec<Literal>,
}

impl Second {
    /// More are not kept.
    const MOST: usize = 4096;

    fn take(&mut self, want: Want) -> Option<Literal> {
        let list = self.lists.drain(..).next();
        match want {
            Want::Object => list.and_then(|list| match list {
                Literal::List(items) => items.into_iter().find(|item| item.as_map().is_some()),
                _ => None,
            }),
            Want::Any => list,
            // A wrapped list is more than a list of numbers beside it.
            Want::Array if self.objects.is_empty() => list,
            Want::Array => Some(listed(std::mem::take(&mut self.objects))),
        }
    }
}

/// Whether a found value is what is wanted; others go to the second row, or are dropped.
fn sort(value: Literal, want: Want, second: &mut Second) -> Option<Literal> {
    let room = second.lists.len() + second.objects.len() < Second::MOST;
    let objects = |items: &[Literal]| items.iter().filter(|item| item.as_map().is_some()).count();
    match (&value, want) {
        (Literal::Map(_), Want::Object | Want::Any) => return Some(value),
        (Literal::Map(_), Want::Array) => {
            if room {
                second.objects.push(value);
            }
        }
        (Literal::List(items), Want::Object) => match (items.len(), objects(items)) {
            (1, 1) => {
                let Literal::List(mut items) = value else { return None };
                return items.pop();
            }
            (_, 0) => {}
            _ => {
                if room {
                    second.lists.push(value);
                }
            }
        },
        (Literal::List(items), Want::Array | Want::Any) => {
            let is_number = |item: &Literal| matches!(item, Literal::Int(_) | Literal::Float(_));
            if !items.iter().all(is_number) {
                return Some(value);
            }
            if room {
                second.lists.push(value);
            }
        }
        (Literal::Null | Literal::Bool(_) | Literal::Int(_) | Literal::Float(_) | Literal::Text(_), _) => {}
    }
    None
}

/// Looks through a text for balanced values. The first that looked like the wanted one and is refused goes to `refused`.
fn search(text: &str, want: Want, second: &mut Second, refused: &mut Option<ReadLiteralError>) -> Option<Literal> {
    // Attempts that fail are paid for by their length, so that a text full of brackets costs a few readings of it.
    let mut left = text.len() * 4 + 64 * 1024;
    let mut parser = Parser::new(text, 0);
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find(['[', '{'])).map(|offset| at + offset) {
        if left == 0 {
            break;
        }
        parser.move_to(start);
        let error = match parser.bracketed() {
            Ok(value) => {
                at = parser.at;
                if let Some(value) = sort(value, want, second) {
                    return Some(value);
                }
                continue;
            }
            Err(error) => error,
        };
        left = left.saturating_sub((error.at.saturating_sub(start)).max(64));
        let looks_right = plausible(text, start, want) || (want != Want::Object && plausible(text, start, Want::Any));
        let refuses = error.fault.is_refusal();
        if !looks_right && !refuses {
            at = start + 1;
            continue;
        }
        if refuses && looks_right && refused.is_none() {
            *refused = Some(refusal(text, &error));
        }
        // Looking inside a broken value would take its parts for the whole.
        let end = balanced(text, start);
        left = left.saturating_sub(end.unwrap_or(text.len()) - start);
        match end {
            Some(end) => at = end,
            None => break,
        }
    }
    None
}

/// Where the brackets that open here are closed again; those within quotes do not count.
fn balanced(text: &str, start: usize) -> Option<usize> {
    let mut open = Vec::new();
    let mut quote = None;
    let mut escaped = false;
    for (offset, byte) in text.as_bytes().get(start..)?.iter().enumerate() {
        if let Some(closing) = quote {
            if escaped {
                escaped = false;
            } else if *byte == b'\\' {
                escaped = true;
            } else if *byte == closing {
                quote = None;
            }
            continue;
        }
        match byte {
            b'"' | b'\'' => quote = Some(*byte),
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            b'(' => open.push(b')'),
            b']' | b'}' | b')' => {
                if open.pop() != Some(*byte) {
                    return None;
                }
                if open.is_empty() {
                    return Some(start + offset + 1);
                }
            }
            _ => {}
        }
    }
    None
}
