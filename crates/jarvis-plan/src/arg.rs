//! Arguments: JSON values in which the output of other tasks may stand.
//!
//! In text a reference is written `<GENERATED>-k`; `<GENERATED-k>`, blanks inside and any letter case are read as well.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use indexmap::IndexMap;
use regex::Regex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::TaskId;

/// A reference as a planner wrote it: the id it named, or none (`<GENERATED>` alone).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DraftRef(pub Option<i64>);

/// A part of a text argument: literal text, or the output of another task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<R> {
    /// Text as it stands.
    Text(String),
    /// The output of the task that `R` names.
    Output(R),
}

/// An argument. `R` is [`DraftRef`] before the check and [`TaskId`] after it, so a plan cannot hold a reference that was
/// not checked. Serialises as the JSON that a planner would write.
///
/// The constructors keep one form for each value: [`Arg::Text`], [`Arg::List`] and [`Arg::Object`] hold at least one
/// reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg<R = TaskId> {
    /// A value without references.
    Value(Value),
    /// Text with references in it. A reference alone stands for the output itself, whatever its type.
    Text(Vec<Piece<R>>),
    /// An array with references in it.
    List(Vec<Arg<R>>),
    /// An object with references in it.
    Object(IndexMap<String, Arg<R>>),
}

impl<R> Default for Arg<R> {
    fn default() -> Arg<R> {
        Arg::Value(Value::String(String::new()))
    }
}

impl<R: Copy> Arg<R> {
    /// An argument without references.
    pub fn literal(value: impl Into<Value>) -> Arg<R> {
        Arg::Value(value.into())
    }

    /// An argument that is one task's output.
    pub fn output(of: R) -> Arg<R> {
        Arg::Text(vec![Piece::Output(of)])
    }

    /// A text argument; neighbouring texts are joined.
    pub fn text(pieces: impl IntoIterator<Item = Piece<R>>) -> Arg<R> {
        let mut joined: Vec<Piece<R>> = Vec::new();
        for piece in pieces {
            match (joined.last_mut(), piece) {
                (_, Piece::Text(text)) if text.is_empty() => {}
                (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
                (_, piece) => joined.push(piece),
            }
        }
        match joined.as_mut_slice() {
            [] => Arg::default(),
            [Piece::Text(text)] => Arg::Value(Value::String(std::mem::take(text))),
            _ => Arg::Text(joined),
        }
    }

    pub(crate) fn list(items: Vec<Arg<R>>) -> Arg<R> {
        match items.iter().map(Arg::as_value).collect::<Option<Vec<&Value>>>() {
            Some(values) => Arg::Value(values.into_iter().cloned().collect()),
            None => Arg::List(items),
        }
    }

    pub(crate) fn object(fields: IndexMap<String, Arg<R>>) -> Arg<R> {
        if fields.values().all(|field| field.as_value().is_some()) {
            Arg::Value(
                fields.iter().filter_map(|(name, field)| Some((name.clone(), field.as_value()?.clone()))).collect(),
            )
        } else {
            Arg::Object(fields)
        }
    }

    /// This argument after a text.
    #[must_use]
    pub fn after(self, text: &str) -> Arg<R> {
        let before = std::iter::once(Piece::Text(text.to_owned()));
        match self {
            Arg::Value(value) => Arg::literal(format!("{text}{}", text_of(&value))),
            Arg::Text(pieces) => Arg::text(before.chain(pieces)),
            Arg::List(items) => Arg::text(before.chain(items.into_iter().flat_map(Arg::into_pieces))),
            Arg::Object(fields) => Arg::text(before.chain(fields.into_values().flat_map(Arg::into_pieces))),
        }
    }

    fn into_pieces(self) -> Vec<Piece<R>> {
        match self {
            Arg::Value(value) => vec![Piece::Text(text_of(&value).into_owned())],
            Arg::Text(pieces) => pieces,
            Arg::List(items) => items.into_iter().flat_map(Arg::into_pieces).collect(),
            Arg::Object(fields) => fields.into_values().flat_map(Arg::into_pieces).collect(),
        }
    }

    /// The references, in order, repeats kept.
    pub fn references(&self) -> Box<dyn Iterator<Item = R> + '_> {
        match self {
            Arg::Value(_) => Box::new(std::iter::empty()),
            Arg::Text(pieces) => Box::new(pieces.iter().filter_map(|piece| match piece {
                Piece::Output(of) => Some(*of),
                Piece::Text(_) => None,
            })),
            Arg::List(items) => Box::new(items.iter().flat_map(Arg::references)),
            Arg::Object(fields) => Box::new(fields.values().flat_map(Arg::references)),
        }
    }

    /// The reference, when the argument is nothing but one.
    pub fn as_output(&self) -> Option<R> {
        let Arg::Text(pieces) = self else { return None };
        let mut found = None;
        for piece in pieces {
            match piece {
                Piece::Output(of) if found.is_none() => found = Some(*of),
                Piece::Text(text) if text.trim().is_empty() => {}
                Piece::Output(_) | Piece::Text(_) => return None,
            }
        }
        found
    }

    /// The references, when the argument is a list of them and nothing else: an array, or text separated by commas.
    pub fn as_list(&self) -> Option<Vec<R>> {
        match self {
            Arg::List(items) => items.iter().map(Arg::as_output).collect(),
            Arg::Text(pieces) => {
                let mut list = Vec::new();
                let mut separated = true;
                for piece in pieces {
                    match piece {
                        Piece::Output(of) if separated => {
                            list.push(*of);
                            separated = false;
                        }
                        Piece::Text(text) if text.trim() == "," && !separated => separated = true,
                        Piece::Text(text) if text.trim().is_empty() => {}
                        Piece::Output(_) | Piece::Text(_) => return None,
                    }
                }
                (list.len() >= 2 && !separated).then_some(list)
            }
            Arg::Value(_) | Arg::Object(_) => None,
        }
    }

    /// The value, when there is no reference in it.
    pub fn as_value(&self) -> Option<&Value> {
        match self {
            Arg::Value(value) => Some(value),
            Arg::Text(_) | Arg::List(_) | Arg::Object(_) => None,
        }
    }

    /// The text of a value without references: a string as it is, anything else as JSON.
    pub fn as_literal(&self) -> Option<Cow<'_, str>> {
        self.as_value().map(text_of)
    }

    /// Maps each reference to pieces of another reference type. A reference that is an element of an array becomes as many
    /// elements as there are outputs among its pieces.
    pub fn map<S: Copy>(&self, replace: &mut dyn FnMut(R) -> Vec<Piece<S>>) -> Arg<S> {
        match self {
            Arg::Value(value) => Arg::Value(value.clone()),
            Arg::Text(pieces) => Arg::text(pieces.iter().flat_map(|piece| match piece {
                Piece::Text(text) => vec![Piece::Text(text.clone())],
                Piece::Output(of) => replace(*of),
            })),
            Arg::List(items) => Arg::list(
                items
                    .iter()
                    .flat_map(|item| match item.as_output() {
                        None => vec![item.map(replace)],
                        Some(of) => {
                            let pieces = replace(of);
                            let several = pieces.len() > 1;
                            pieces
                                .into_iter()
                                .filter(|piece| !several || matches!(piece, Piece::Output(_)))
                                .map(|piece| Arg::text([piece]))
                                .collect()
                        }
                    })
                    .collect(),
            ),
            Arg::Object(fields) => {
                Arg::object(fields.iter().map(|(name, field)| (name.clone(), field.map(replace))).collect())
            }
        }
    }
}

/// A value as text: a string as it is, null as nothing, anything else as JSON.
pub fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Cow::Owned(value.to_string()),
    }
}

static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)<\s*generated\s*>\s*-\s*([0-9]+)|<\s*generated\s*-\s*([0-9]+)\s*>|<\s*generated\s*>")
        .expect("the reference pattern is valid")
});

impl Arg<DraftRef> {
    /// Reads a text as a planner writes it. Ids too large for any plan are kept as text.
    pub fn parse(text: &str) -> Arg<DraftRef> {
        let between = |from: usize, to: usize| {
            text.get(from..to).expect("matches are in order and end between characters").to_owned()
        };
        let mut pieces = Vec::new();
        let mut end = 0;
        for found in REFERENCE.captures_iter(text) {
            let whole = found.get(0).expect("group 0 is the whole match");
            let id = found.get(1).or_else(|| found.get(2));
            let reference = match id.map(|digits| digits.as_str().parse::<u32>()) {
                None => DraftRef(None),
                Some(Ok(id)) => DraftRef(Some(i64::from(id))),
                Some(Err(_)) => continue,
            };
            pieces.push(Piece::Text(between(end, whole.start())));
            pieces.push(Piece::Output(reference));
            end = whole.end();
        }
        pieces.push(Piece::Text(between(end, text.len())));
        Arg::text(pieces)
    }

    /// Reads a value as a planner writes it: references stand in its strings.
    pub fn of(value: &Value) -> Arg<DraftRef> {
        match value {
            Value::String(text) => Arg::parse(text),
            Value::Array(items) => Arg::list(items.iter().map(Arg::of).collect()),
            Value::Object(fields) => {
                Arg::object(fields.iter().map(|(name, field)| (name.clone(), Arg::of(field))).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Arg::Value(value.clone()),
        }
    }
}

/// A reference that can be written down: the id it names, if any.
pub trait Named: Copy {
    /// The id.
    fn id(self) -> Option<i64>;
}

impl Named for DraftRef {
    fn id(self) -> Option<i64> {
        self.0
    }
}

impl Named for TaskId {
    fn id(self) -> Option<i64> {
        Some(i64::from(self.0))
    }
}

impl<R: Named> Arg<R> {
    /// The JSON that a planner would write.
    pub fn to_value(&self) -> Value {
        match self {
            Arg::Value(value) => value.clone(),
            Arg::Text(pieces) => Value::String(written(pieces)),
            Arg::List(items) => items.iter().map(Arg::to_value).collect(),
            Arg::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), field.to_value())).collect(),
        }
    }
}

fn written<R: Named>(pieces: &[Piece<R>]) -> String {
    let mut text = String::new();
    let mut pieces = pieces.iter().peekable();
    while let Some(piece) = pieces.next() {
        match piece {
            Piece::Text(literal) => text.push_str(literal),
            Piece::Output(of) => {
                let digit_follows =
                    matches!(pieces.peek(), Some(Piece::Text(text)) if text.starts_with(|c: char| c.is_ascii_digit()));
                match of.id() {
                    // The other spelling, so that the digits that follow are not read as part of the id.
                    Some(id) if digit_follows => text.push_str(&format!("<GENERATED-{id}>")),
                    Some(id) => text.push_str(&format!("<GENERATED>-{id}")),
                    None => text.push_str("<GENERATED>"),
                }
            }
        }
    }
    text
}

impl<R: Named> fmt::Display for Arg<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text_of(&self.to_value()))
    }
}

impl<R: Named> Serialize for Arg<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Arg<DraftRef> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Arg::of(&Value::deserialize(deserializer)?))
    }
}
