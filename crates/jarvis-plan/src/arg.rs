//! Arguments: JSON values in which the output of other tasks may stand.
//!
//! In text a reference is written `<GENERATED>-k`, with a path into the output behind it where only a part is meant:
//! `<GENERATED>-k.flights[0].number`. Where such a reference would run into the text behind it, it is written
//! `<GENERATED-k.flights[0].number>`. `<GENERATED>-k.flights[].number` stands for each element in turn: its task runs once for
//! each. Blanks inside and any letter case are read as well; what else models write for
//! references is put into this form by `jarvis_prompt::plan`.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use indexmap::IndexMap;
use regex::Regex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::{FieldPath, Step, TaskId, pattern};

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
    /// A part of that output.
    Part(R, FieldPath),
}

impl<R: Copy> Piece<R> {
    /// This piece with a path, where it is an output.
    fn part(self, path: &FieldPath) -> Piece<R> {
        match self {
            Piece::Output(of) => Piece::Part(of, path.clone()),
            Piece::Text(_) | Piece::Part(..) => self,
        }
    }

    /// The task that it refers to, with the path into its output; the empty path for all of it.
    pub fn place(&self) -> Option<(R, FieldPath)> {
        match self {
            Piece::Text(_) => None,
            Piece::Output(of) => Some((*of, FieldPath::default())),
            Piece::Part(of, path) => Some((*of, path.clone())),
        }
    }

    /// The task that it refers to.
    fn of(&self) -> Option<R> {
        match self {
            Piece::Text(_) => None,
            Piece::Output(of) | Piece::Part(of, _) => Some(*of),
        }
    }
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

    /// An argument that is a part of one task's output; all of it where the path is empty.
    pub fn part(of: R, path: FieldPath) -> Arg<R> {
        if path.is_empty() { Arg::output(of) } else { Arg::Text(vec![Piece::Part(of, path)]) }
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

    /// A list; a value where no element holds a reference.
    pub fn list(items: Vec<Arg<R>>) -> Arg<R> {
        match items.iter().map(Arg::as_value).collect::<Option<Vec<&Value>>>() {
            Some(values) => Arg::Value(values.into_iter().cloned().collect()),
            None => Arg::List(items),
        }
    }

    /// An object; a value where no field holds a reference.
    pub fn object(fields: IndexMap<String, Arg<R>>) -> Arg<R> {
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
            Arg::Text(pieces) => Box::new(pieces.iter().filter_map(Piece::of)),
            Arg::List(items) => Box::new(items.iter().flat_map(Arg::references)),
            Arg::Object(fields) => Box::new(fields.values().flat_map(Arg::references)),
        }
    }

    /// The references to parts of outputs, with the paths into them.
    pub fn parts(&self) -> Box<dyn Iterator<Item = (R, &FieldPath)> + '_> {
        match self {
            Arg::Value(_) => Box::new(std::iter::empty()),
            Arg::Text(pieces) => Box::new(pieces.iter().filter_map(|piece| match piece {
                Piece::Part(of, path) => Some((*of, path)),
                Piece::Output(_) | Piece::Text(_) => None,
            })),
            Arg::List(items) => Box::new(items.iter().flat_map(Arg::parts)),
            Arg::Object(fields) => Box::new(fields.values().flat_map(Arg::parts)),
        }
    }

    /// The task, when the argument is nothing but its output.
    pub fn as_output(&self) -> Option<R> {
        match self.as_reference()? {
            Piece::Output(of) => Some(*of),
            Piece::Part(..) | Piece::Text(_) => None,
        }
    }

    /// The reference, to an output or a part of one, when the argument is nothing but one.
    pub fn as_reference(&self) -> Option<&Piece<R>> {
        let Arg::Text(pieces) = self else { return None };
        let mut found = None;
        for piece in pieces {
            match piece {
                Piece::Text(text) if text.trim().is_empty() => {}
                Piece::Output(_) | Piece::Part(..) if found.is_none() => found = Some(piece),
                Piece::Output(_) | Piece::Part(..) | Piece::Text(_) => return None,
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
                        Piece::Output(_) | Piece::Part(..) | Piece::Text(_) => return None,
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

    /// Maps each reference to pieces of another reference type; the path of a part goes to each output among them. A
    /// reference that is an element of an array becomes as many elements as there are outputs among its pieces.
    pub fn map<S: Copy>(&self, replace: &mut dyn FnMut(R) -> Vec<Piece<S>>) -> Arg<S> {
        match self {
            Arg::Value(value) => Arg::Value(value.clone()),
            Arg::Text(pieces) => Arg::text(pieces.iter().flat_map(|piece| match piece {
                Piece::Text(text) => vec![Piece::Text(text.clone())],
                Piece::Output(of) => replace(*of),
                Piece::Part(of, path) => replace(*of).into_iter().map(|piece| piece.part(path)).collect(),
            })),
            Arg::List(items) => Arg::list(
                items
                    .iter()
                    .flat_map(|item| match item.as_output() {
                        None => vec![item.map(replace)],
                        Some(of) => {
                            let pieces = replace(of);
                            if pieces.len() < 2 {
                                // Blanks around the reference stay.
                                return vec![item.map(&mut |_| pieces.clone())];
                            }
                            let outputs = pieces.into_iter().filter(|piece| piece.of().is_some());
                            outputs.map(|piece| Arg::text([piece])).collect()
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

impl<R: Copy> Arg<R> {
    /// The lists of whose elements it takes one at a time, repeats kept.
    pub fn lists(&self) -> impl Iterator<Item = (R, FieldPath)> + '_ {
        self.parts().filter_map(|(of, path)| Some((of, path.list()?)))
    }

    /// The same argument for one element of those lists, counted from 0.
    #[must_use]
    pub fn element(&self, index: usize) -> Arg<R> {
        match self {
            Arg::Value(value) => Arg::Value(value.clone()),
            Arg::Text(pieces) => Arg::Text(
                pieces
                    .iter()
                    .map(|piece| match piece {
                        Piece::Part(of, path) => Piece::Part(*of, path.element(index)),
                        Piece::Text(_) | Piece::Output(_) => piece.clone(),
                    })
                    .collect(),
            ),
            Arg::List(items) => Arg::List(items.iter().map(|item| item.element(index)).collect()),
            Arg::Object(fields) => {
                Arg::Object(fields.iter().map(|(name, field)| (name.clone(), field.element(index))).collect())
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
    pattern(r"(?i)<\s*generated\s*>\s*-\s*([0-9]+)|<\s*generated\s*-\s*([0-9]+)([\w.\[\]*]*)\s*>|<\s*generated\s*>")
});

static ELEMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)<\s*each([\w.\[\]]*)\s*>"));

impl Arg<DraftRef> {
    /// The same argument with `<EACH>`, and a path behind or in it (`<EACH>.name`, `<EACH.name>`), read as each element of a list: what a
    /// planner writes where the list stands beside the arguments.
    #[must_use]
    pub fn of_each(self, of: DraftRef, list: &FieldPath) -> Arg<DraftRef> {
        let read = |text: &str| {
            let mut pieces = Vec::new();
            let mut end = 0;
            for captures in ELEMENT.captures_iter(text) {
                let found = captures.get(0).expect("group 0 is the whole match");
                let inside = captures.get(1).map_or("", |inside| inside.as_str());
                let behind = text.get(found.end()..).expect("matches end between characters");
                let (path, length) = match FieldPath::at_start(inside) {
                    (_, 0) if inside.is_empty() => FieldPath::at_start(behind),
                    (path, length) if length == inside.len() => (path, 0),
                    // "<eachother>" is a word.
                    _ => continue,
                };
                pieces.push(Piece::Text(text.get(end..found.start()).expect("matches are in order").to_owned()));
                end = found.end() + length;
                let steps = list.0.iter().cloned().chain([Step::Each]).chain(path.0);
                pieces.push(Piece::Part(of, FieldPath(steps.collect())));
            }
            pieces.push(Piece::Text(text.get(end..).expect("matches end between characters").to_owned()));
            pieces
        };
        match self {
            Arg::Value(Value::String(text)) => Arg::text(read(&text)),
            Arg::Value(Value::Array(items)) => {
                Arg::list(items.into_iter().map(|item| Arg::Value(item).of_each(of, list)).collect())
            }
            Arg::Value(Value::Object(fields)) => Arg::object(
                fields.into_iter().map(|(name, field)| (name, Arg::Value(field).of_each(of, list))).collect(),
            ),
            Arg::Value(value) => Arg::Value(value),
            Arg::Text(pieces) => Arg::text(pieces.into_iter().flat_map(|piece| match piece {
                Piece::Text(text) => read(&text),
                Piece::Output(_) | Piece::Part(..) => vec![piece],
            })),
            Arg::List(items) => Arg::list(items.into_iter().map(|item| item.of_each(of, list)).collect()),
            Arg::Object(fields) => {
                Arg::object(fields.into_iter().map(|(name, field)| (name, field.of_each(of, list))).collect())
            }
        }
    }

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
            let before = between(end, whole.start());
            let path = match (found.get(1), found.get(3)) {
                (None, Some(inside)) => {
                    let (path, length) = FieldPath::at_start(inside.as_str());
                    if length < inside.len() {
                        continue;
                    }
                    end = whole.end();
                    path
                }
                (Some(_), _) => {
                    let behind = text.get(whole.end()..).expect("matches end between characters");
                    let (path, length) = FieldPath::at_start(behind);
                    end = whole.end() + length;
                    path
                }
                (None, None) => {
                    end = whole.end();
                    FieldPath::default()
                }
            };
            pieces.push(Piece::Text(before));
            pieces.push(if path.is_empty() { Piece::Output(reference) } else { Piece::Part(reference, path) });
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
    let whole = FieldPath::default();
    while let Some(piece) = pieces.next() {
        let (of, path) = match piece {
            Piece::Text(literal) => {
                text.push_str(literal);
                continue;
            }
            Piece::Output(of) => (of, &whole),
            Piece::Part(of, path) => (of, path),
        };
        let goes_on = match pieces.peek() {
            Some(Piece::Text(rest)) => {
                rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') || FieldPath::at_start(rest).1 > 0
            }
            Some(Piece::Output(_) | Piece::Part(..)) | None => false,
        };
        match of.id() {
            // What follows must not be read as a part of the id or of the path.
            Some(id) if goes_on => text.push_str(&format!("<GENERATED-{id}{path}>")),
            Some(id) => text.push_str(&format!("<GENERATED>-{id}{path}")),
            None => text.push_str("<GENERATED>"),
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
