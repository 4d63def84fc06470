//! Place: which of several things a clause wants first: "join a.wav and b.wav, b.wav first", "a.png right, b.png left".

use crate::clauses::Clause;
use crate::data;
use crate::words::Token;

use super::Thing;

/// Where a clause says that a thing belongs; the order is that of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    First,
    Unsaid,
    Last,
}

/// So many words behind a name say where it belongs: "on the left".
const FAR: usize = 3;

/// Where the clause says that a thing belongs.
pub(super) fn said(clause: &Clause, thing: &Thing) -> Place {
    let Thing::Given { text, .. } = thing else { return Place::Unsaid };
    let name = text.rsplit(['/', '\\']).next().unwrap_or(text).to_lowercase();
    let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
    // Where each thing is spoken of: by its file, or by the name of that without its ending.
    let spans = clause.spans.iter().map(|span| (span.start, span.end, span.text.to_lowercase()));
    let words = clause.tokens.iter().map(|token| (token.start, token.end, token.lower.clone()));
    let is_it = |said: &str| said == stem || said.rsplit(['/', '\\']).next() == Some(name.as_str());
    let files: Vec<(usize, usize)> = clause.spans.iter().map(|span| (span.start, span.end)).collect();
    let mut mentions = spans.chain(words).filter(|(_, _, said)| is_it(said));
    mentions.find_map(|(start, end, _)| beside(clause, &files, start, end)).unwrap_or(Place::Unsaid)
}

/// What the words beside a name say.
fn beside(clause: &Clause, files: &[(usize, usize)], start: usize, end: usize) -> Option<Place> {
    let next = files.iter().map(|(from, _)| *from).filter(|from| *from >= end).min().unwrap_or(clause.end);
    let behind = clause.tokens.iter().filter(|token| token.start >= end && token.end <= next).take(FAR);
    let behind =
        behind.take_while(|token| !data::AND_PHRASES.has(&token.lower) && !data::THEN_PHRASES.has(&token.lower));
    let place = |token: &Token| match () {
        () if data::PLACED_FIRST.has(&token.lower) => Some(Place::First),
        () if data::PLACED_LAST.has(&token.lower) => Some(Place::Last),
        () => None,
    };
    let before: Vec<&Token> = clause.tokens.iter().filter(|token| token.end <= start).collect();
    let begins = match before.as_slice() {
        [.., verb, with] => with.lower == "with" && data::BEGINNING.has(&verb.lower),
        _ => false,
    };
    behind.into_iter().find_map(place).or(begins.then_some(Place::First))
}
