//! Place: which of several things a clause wants first: "join a.wav and b.wav, b.wav first", "a.png right, b.png left".

use jarvis_plan::Request;

use crate::clauses::Clause;
use crate::data;
use crate::words::Token;

use super::{Thing, file_name};

/// Where a clause says that a thing belongs; the order is that of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    First,
    Unsaid,
    Last,
}

/// So many words behind a name say where it belongs: "on the left".
const FAR: usize = 3;

/// Where the clause says that a thing belongs. A thing is spoken of by its file, as it stands or as it was called when it was given, or by
/// the name of that without its ending.
pub(super) fn said(clause: &Clause, thing: &Thing, request: &Request) -> Place {
    let Thing::Given { text, .. } = thing else { return Place::Unsaid };
    let given = request.attachments.iter().filter(|file| file.as_arg() == text).filter_map(|file| file.name.as_deref());
    let mut names: Vec<String> = given.chain([text.as_str()]).map(file_name).collect();
    let bare = |name: &String| name.rsplit_once('.').map(|(bare, _)| bare.to_owned());
    names.extend(names.iter().filter_map(bare).collect::<Vec<_>>());
    let spans = clause.spans.iter().map(|span| (span.start, span.end, file_name(&span.text)));
    let words = clause.tokens.iter().map(|token| (token.start, token.end, token.lower.clone()));
    let mut mentions = spans.chain(words).filter(|(_, _, said)| names.contains(said));
    mentions.find_map(|(start, end, _)| beside(clause, start, end)).unwrap_or(Place::Unsaid)
}

/// What the words beside a name say.
fn beside(clause: &Clause, start: usize, end: usize) -> Option<Place> {
    let next = clause.spans.iter().map(|span| span.start).filter(|from| *from >= end).min().unwrap_or(clause.end);
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
