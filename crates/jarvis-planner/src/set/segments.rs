//! Segments: the items of a request, each of which may speak of one tool.

use jarvis_plan::{Request, Role};

use crate::clauses::{Clause, Reading};
use crate::data;
use crate::matching::describes;
use crate::thesaurus::{self, Part, SenseId};
use crate::words::{self, Token, listed, slice};

use super::tools::{Word, words_of};

/// Words between which items of an enumeration stand.
const BETWEEN: &str =
    "and or plus also then but while as including along и а или также затем потом und oder sowie dann 和 及 与 并 还";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Segment {
    /// The clause that it is a part of.
    pub(crate) clause: usize,
    /// Places of its words in [`Read::words`].
    pub(crate) own: Vec<usize>,
    /// Where it begins and ends in the request.
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// What it asks to be done, small words such as "find" included.
    pub(crate) does: Vec<SenseId>,
}

/// A request as it is compared with tools.
#[derive(Debug, Clone, Default)]
pub(crate) struct Read {
    pub(crate) words: Vec<Word>,
    /// The clause of each word; none for words of earlier turns.
    pub(crate) clause_of: Vec<Option<usize>>,
    pub(crate) segments: Vec<Segment>,
}

/// Stems that say nothing of what is wanted.
const SMALL: &str = "i'm i'v i'd we'r we'v they'v it won't can't don't do did doe thing what's whatev addit addition additionally moreov furthermor besid well abl us know tell show give need want look see some any their them they one two first second final like love interest curious wonder plan current right now help let great thank also provid get find out about";

/// So much of each earlier turn is read, and so many turns.
const MOST_OF_A_TURN: usize = 600;
const TURNS: usize = 3;

pub(crate) fn read(request: &Request, reading: &Reading) -> Read {
    let mut read = Read::default();
    for (at, clause) in reading.clauses.iter().enumerate() {
        let mut from = 0;
        for (token, borders) in
            clause.tokens.iter().enumerate().map(|(at, _)| (at, is_border(&clause.tokens, at, &request.text)))
        {
            if borders {
                add(&mut read, at, clause, clause.tokens.get(from..token).unwrap_or_default());
                from = token;
            }
        }
        add(&mut read, at, clause, clause.tokens.get(from..).unwrap_or_default());
    }
    for turn in request.history.iter().rev().filter(|turn| turn.role == Role::User).take(TURNS) {
        for (_, word) in words_of(&words::tokens(words::head(&turn.content, MOST_OF_A_TURN))) {
            read.words.push(word);
            read.clause_of.push(None);
        }
    }
    read
}

fn is_border(tokens: &[Token], at: usize, request: &str) -> bool {
    let (Some(token), Some(before)) = (tokens.get(at), at.checked_sub(1).and_then(|before| tokens.get(before))) else {
        return false;
    };
    let gap = slice(request, before.end, token.start);
    gap.contains([',', ';', ':', '(', ')', '，', '、', '；', '：', '—', '–', '\n', '/'])
        || listed(BETWEEN, &token.lower)
}

fn add(read: &mut Read, clause: usize, of: &Clause, tokens: &[Token]) {
    if !of.question && describes(&of.tokens) {
        return;
    }
    let telling = |word: &Word| {
        !data::POLITE.has(&word.key)
            && !listed(SMALL, &word.key)
            && !word.key.chars().all(|letter| letter.is_ascii_digit())
    };
    let mut own = Vec::new();
    for (_, word) in words_of(tokens).into_iter().filter(|(_, word)| telling(word)) {
        own.push(read.words.len());
        read.words.push(word);
        read.clause_of.push(Some(clause));
    }
    if let (false, Some(first), Some(last)) = (own.is_empty(), tokens.first(), tokens.last()) {
        let (from, to) = (first.start, last.end);
        let senses = tokens.iter().flat_map(|token| thesaurus::of_token(token)).copied();
        let does = senses.filter(|sense| thesaurus::is_a(*sense, Part::Action)).collect();
        read.segments.push(Segment { clause, own, from, to, does });
    }
}
