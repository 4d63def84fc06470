//! Arguments and links where tasks use what others made: a link is a `<node-j>` in an argument.
//!
//! The original reads each argument in an order of attempts and, when one fails, takes the record it had before once
//! more; that record lives on from the gold plan into the prediction of the same sample.

use std::collections::BTreeSet;

use jiter::JsonValue;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use super::{Catalogue, Node, Records};
use crate::evaluate::kind_of;
use crate::json::{Json, Look, entries};

/// A record: the argument's type, and its value.
type Record = (String, String);

/// What an item of `arguments` turned out to be.
enum Item {
    Record(Record),
    /// A node that refers to itself: nothing is recorded.
    Itself,
    Failed,
}

/// The records of each node and the links; `None` when the sample is dropped.
pub(super) fn read(
    nodes: &[Node<'_, '_>],
    names: &[String],
    gold: bool,
    catalogue: &Catalogue,
    last: &mut Option<Record>,
) -> Option<(Records, BTreeSet<(String, String)>)> {
    let mut all = Vec::with_capacity(nodes.len());
    let mut links = BTreeSet::new();
    for (at, (node, written)) in nodes.iter().zip(names).enumerate() {
        let mut records = Vec::new();
        let mut take = |item: Option<&str>| -> Option<()> {
            let read = match item {
                Some(text) => reference_or_text(text, at, written, names, catalogue, &mut links),
                None => Item::Failed,
            };
            record(read, last, &mut records)
        };
        match node.arguments {
            None if gold => return None,
            None => {}
            // A text is a list of its characters, an object one of its keys.
            Some(JsonValue::Str(text)) => {
                let mut buffer = [0; 4];
                text.chars().try_for_each(|letter| take(Some(letter.encode_utf8(&mut buffer))))?;
            }
            Some(JsonValue::Object(pairs)) => entries(pairs).keys().try_for_each(|key| take(Some(key)))?,
            Some(JsonValue::Array(items)) => {
                for item in items.iter() {
                    take(text_of(item).as_deref())?;
                }
            }
            Some(
                JsonValue::Null | JsonValue::Bool(_) | JsonValue::Int(_) | JsonValue::BigInt(_) | JsonValue::Float(_),
            ) => return None,
        }
        all.push(records);
    }
    Some((all, links))
}

/// Appends what was read, or the last record once more; `None` when there is none yet.
fn record(read: Item, last: &mut Option<Record>, records: &mut Vec<Record>) -> Option<()> {
    match read {
        Item::Itself => return Some(()),
        Item::Record(record) => *last = Some(record),
        Item::Failed => {}
    }
    records.push(last.clone()?);
    Some(())
}

/// The text of an item: an object is its first value, a list its texts with a blank between.
fn text_of<'v>(item: &'v Json<'_>) -> Option<std::borrow::Cow<'v, str>> {
    let value = match item {
        JsonValue::Object(pairs) => entries(pairs).into_iter().next()?.1,
        other => other,
    };
    match value {
        JsonValue::Str(text) => Some(text.as_ref().into()),
        JsonValue::Array(items) => {
            let texts: Option<Vec<&str>> = items.iter().map(Look::text).collect();
            Some(texts?.join(" ").into())
        }
        JsonValue::Null
        | JsonValue::Bool(_)
        | JsonValue::Int(_)
        | JsonValue::BigInt(_)
        | JsonValue::Float(_)
        | JsonValue::Object(_) => None,
    }
}

fn reference_or_text(
    text: &str,
    at: usize,
    written: &str,
    names: &[String],
    catalogue: &Catalogue,
    links: &mut BTreeSet<(String, String)>,
) -> Item {
    let Some(tag) = text.find("<node-") else {
        return Item::Record((kind_of(text).to_owned(), text.to_owned()));
    };
    // The first `>` of the whole text, even one before the tag.
    let index = text.find('>').and_then(|end| text.get(tag + "<node-".len()..end)).and_then(integer);
    let Some(index) = index else { return Item::Failed };
    if usize::try_from(index) == Ok(at) {
        return Item::Itself;
    }
    let place = if index < 0 { names.len() as i64 + index } else { index };
    let Some(source) = usize::try_from(place).ok().and_then(|place| names.get(place)) else { return Item::Failed };
    let source = source.replace('_', " ");
    let kind = catalogue.output.get(&source).map_or("other", String::as_str).to_owned();
    links.insert((source.clone(), written.to_owned()));
    Item::Record((kind, source))
}

/// An integer as Python's `int` reads it: blanks around, a sign, single `_` between digits, digits of any script.
/// Numbers beyond 64 bits are none: no list is so long.
pub(super) fn integer(text: &str) -> Option<i64> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (text.starts_with('-'), digits),
        None => (false, text),
    };
    let mut value: i64 = 0;
    let mut after_digit = false;
    for letter in digits.chars() {
        if letter == '_' && after_digit {
            after_digit = false;
            continue;
        }
        value = value.checked_mul(10)?.checked_add(i64::from(digit(letter)?))?;
        after_digit = true;
    }
    after_digit.then_some(if negative { -value } else { value })
}

/// The value of a decimal digit. Digits of a script stand in a row from zero to nine, and rows never overlap, so a
/// digit's value is its distance from the start of its row.
fn digit(letter: char) -> Option<u32> {
    if letter.is_ascii() {
        return letter.to_digit(10);
    }
    let is_digit = |code: u32| {
        char::from_u32(code).is_some_and(|letter| letter.general_category() == GeneralCategory::DecimalNumber)
    };
    let code = u32::from(letter);
    if !is_digit(code) {
        return None;
    }
    let mut before = 0;
    while is_digit(code - before - 1) {
        before += 1;
    }
    Some(before % 10)
}

#[cfg(test)]
mod tests {
    use super::integer;
    use crate::evaluate::cases;

    #[test]
    fn reads_integers_as_python_does() {
        for (text, expected) in cases::<(String, Option<i64>)>("integers") {
            assert_eq!(integer(&text), expected, "{text:?}");
        }
    }
}
