//! Arguments: text in which the output of other tasks may stand.
//!
//! A reference is written `<GENERATED>-k`; `<GENERATED-k>`, blanks inside and any letter case are read as well.

use std::fmt;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::TaskId;

/// A reference as a planner wrote it: the id it named, or none (`<GENERATED>` alone).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DraftRef(pub Option<i64>);

/// A part of an argument: literal text, or the output of another task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<R> {
    /// Text as it stands.
    Text(String),
    /// The output of the task that `R` names.
    Output(R),
}

/// An argument: pieces in order. `R` is [`DraftRef`] before the check and [`TaskId`] after it, so a plan cannot hold a
/// reference that was not checked. Serialises as the string a planner would write.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arg<R = TaskId>(pub Vec<Piece<R>>);

impl<R: Copy + PartialEq> Arg<R> {
    /// An argument without references.
    pub fn literal(text: impl Into<String>) -> Arg<R> {
        Arg(vec![Piece::Text(text.into())])
    }

    /// An argument that is one task's output.
    pub fn output(of: R) -> Arg<R> {
        Arg(vec![Piece::Output(of)])
    }

    /// The references, in order, repeats kept.
    pub fn references(&self) -> impl Iterator<Item = R> + '_ {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Output(of) => Some(*of),
            Piece::Text(_) => None,
        })
    }

    /// The reference, when the argument is nothing but one.
    pub fn as_output(&self) -> Option<R> {
        let mut found = None;
        for piece in &self.0 {
            match piece {
                Piece::Output(of) if found.is_none() => found = Some(*of),
                Piece::Text(text) if text.trim().is_empty() => {}
                Piece::Output(_) | Piece::Text(_) => return None,
            }
        }
        found
    }

    /// The references, when the argument is a comma-separated list of two or more and nothing else.
    pub fn as_list(&self) -> Option<Vec<R>> {
        let mut list = Vec::new();
        let mut separated = true;
        for piece in &self.0 {
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

    /// The text, when there is no reference in it.
    pub fn as_literal(&self) -> Option<String> {
        let mut whole = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => whole.push_str(text),
                Piece::Output(_) => return None,
            }
        }
        Some(whole)
    }

    /// Maps each reference to pieces of another reference type; neighbouring texts are joined.
    pub fn map<S>(&self, mut replace: impl FnMut(R) -> Vec<Piece<S>>) -> Arg<S> {
        let mut pieces: Vec<Piece<S>> = Vec::with_capacity(self.0.len());
        for piece in &self.0 {
            let new = match piece {
                Piece::Text(text) => vec![Piece::Text(text.clone())],
                Piece::Output(of) => replace(*of),
            };
            for piece in new {
                match (pieces.last_mut(), piece) {
                    (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
                    (_, piece) => pieces.push(piece),
                }
            }
        }
        Arg(pieces)
    }
}

static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    // A literal pattern; the tests compile it.
    #[allow(clippy::expect_used)]
    Regex::new(r"(?i)<\s*generated\s*>\s*-\s*([0-9]+)|<\s*generated\s*-\s*([0-9]+)\s*>|<\s*generated\s*>")
        .expect("the reference pattern is valid")
});

impl Arg<DraftRef> {
    /// Reads an argument as a planner writes it. Ids too large for any plan are kept as text.
    pub fn parse(text: &str) -> Arg<DraftRef> {
        let mut pieces = Vec::new();
        let mut end = 0;
        let literal = |from: usize, to: usize, pieces: &mut Vec<Piece<DraftRef>>| {
            if let Some(text) = text.get(from..to).filter(|text| !text.is_empty()) {
                match pieces.last_mut() {
                    Some(Piece::Text(before)) => before.push_str(text),
                    _ => pieces.push(Piece::Text(text.to_owned())),
                }
            }
        };
        for found in REFERENCE.captures_iter(text) {
            let Some(whole) = found.get(0) else { continue };
            let id = found.get(1).or_else(|| found.get(2));
            let reference = match id.map(|digits| digits.as_str().parse::<u32>()) {
                None => DraftRef(None),
                Some(Ok(id)) => DraftRef(Some(i64::from(id))),
                Some(Err(_)) => continue,
            };
            literal(end, whole.start(), &mut pieces);
            pieces.push(Piece::Output(reference));
            end = whole.end();
        }
        literal(end, text.len(), &mut pieces);
        Arg(pieces)
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

impl<R: Named> fmt::Display for Arg<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pieces = self.0.iter().peekable();
        while let Some(piece) = pieces.next() {
            match piece {
                Piece::Text(text) => f.write_str(text)?,
                Piece::Output(of) => {
                    let digit_follows = matches!(pieces.peek(), Some(Piece::Text(text)) if text.starts_with(|c: char| c.is_ascii_digit()));
                    match of.id() {
                        // The other spelling, so that the digits that follow are not read as part of the id.
                        Some(id) if digit_follows => write!(f, "<GENERATED-{id}>")?,
                        Some(id) => write!(f, "<GENERATED>-{id}")?,
                        None => f.write_str("<GENERATED>")?,
                    }
                }
            }
        }
        Ok(())
    }
}

impl<R: Named> Serialize for Arg<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Arg<DraftRef> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Arg::parse(&String::deserialize(deserializer)?))
    }
}
