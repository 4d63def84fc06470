//! A value found in a clause: its form, its place and the words beside it.

use super::measures::Measure;
use crate::clauses::Clause;
use crate::data;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Date,
    Time,
    /// A number, with or without a currency sign.
    Number,
    /// Digits that are no quantity: the number of a phone, a card or an account.
    Phone,
    Address,
    Email,
    Url,
    Path,
    /// Text in quotation marks, or after a colon or "saying".
    Quote,
    /// Other words: a name, what an order is about, or what stands after "from", "about" and the like.
    Words,
    /// Something to do: "to clean the floor".
    Deed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) shape: Shape,
    pub(crate) text: String,
    /// Bytes of the request where it begins and ends.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The word that introduces it ("from", "about", "named"), in lower case; empty for what an order is about.
    pub(crate) cue: String,
    /// Stems of the few words before it, the nearest first.
    pub(crate) before: Vec<String>,
    /// Stem of the word right after it.
    pub(crate) after: Option<String>,
    /// What it is a number of.
    pub(crate) measure: Option<Measure>,
}

pub(super) fn is_cue(word: &str) -> bool {
    data::CUES.has(word)
}

pub(super) fn add(
    found: &mut Vec<Found>,
    clause: &Clause,
    shape: Shape,
    text: String,
    start: usize,
    end: usize,
    cue: Option<&str>,
) {
    let words = matches!(shape, Shape::Words | Shape::Deed);
    let over = |other: &Found| {
        other.start < end && start < other.end && !(words && matches!(other.shape, Shape::Number | Shape::Words | Shape::Deed))
            // A deed may speak of anything.
            && shape != Shape::Deed
    };
    if start >= end || found.iter().any(over) {
        return;
    }
    let before: Vec<_> = clause.tokens.iter().filter(|token| token.end <= start).collect();
    let cue = cue.map_or_else(
        || {
            before
                .iter()
                .rev()
                .take(3)
                .take_while(|token| token.start + 24 > start)
                .find(|token| is_cue(&token.lower))
                .map_or_else(String::new, |token| token.lower.clone())
        },
        str::to_owned,
    );
    let after = clause.tokens.iter().find(|token| token.start >= end).filter(|token| token.start <= end + 1);
    found.push(Found {
        shape,
        text,
        start,
        end,
        cue,
        before: before.iter().rev().take(3).map(|token| token.stem.clone()).collect(),
        after: after.map(|token| token.stem.clone()),
        measure: None,
    });
}
