//! Borders: punctuation and joining words at which a request may be cut. Whether it is cut there is decided elsewhere.

use super::Join;
use crate::data::{self, WordSet};
use crate::resources::Span;
use crate::words::{Token, slice};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Force {
    Soft,
    Sentence,
    Then,
}

impl Force {
    pub(super) fn join(self) -> Join {
        match self {
            Force::Soft => Join::And,
            Force::Sentence => Join::Sentence,
            Force::Then => Join::Then,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) force: Force,
}

pub(super) fn cuts(request: &str, tokens: &[Token], spans: &[Span]) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let mut before: Option<char> = None;
    for (at, letter) in request.char_indices() {
        let previous = before.replace(letter);
        if spans.iter().any(|span| span.covers(at)) {
            continue;
        }
        let end = at + letter.len_utf8();
        let next = request.get(end..).and_then(|rest| rest.chars().next());
        let ends_word = next.is_none_or(char::is_whitespace);
        let force = match letter {
            '!' | '?' | '。' | '！' | '？' | '；' | ';' | '\n' => Some(Force::Sentence),
            '.' if ends_word
                && !is_abbreviation(request, at)
                && !(previous.is_some_and(|c| c.is_ascii_digit()) && starts_line(request, at)) =>
            {
                Some(Force::Sentence)
            }
            ':' if ends_word => Some(Force::Soft),
            ',' if ends_word || next.is_some_and(|c| !c.is_ascii_digit()) => Some(Force::Soft),
            '，' | '、' => Some(Force::Soft),
            _ => None,
        };
        if let Some(force) = force {
            cuts.push(Cut { start: at, end, force });
        }
    }
    cuts.extend(numbered(request, spans));
    let lower = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let mut at = 0;
    while at < tokens.len() {
        // Nothing stands inside a mark: "and b.png then" is none.
        let joined = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            before.zip(tokens.get(at)).is_some_and(|(one, two)| slice(request, one.end, two.start).trim().is_empty())
        };
        let phrase = |table: &WordSet| {
            // Few begin so, and only those are taken apart.
            let begin = table.words().filter(|phrase| phrase.starts_with(lower(at)));
            begin.map(|phrase| phrase.split('_')).find(|phrase| {
                phrase.clone().enumerate().all(|(i, word)| {
                    tokens.get(at + i).is_some_and(|token| token.lower == word) && (i == 0 || joined(at + i))
                })
            })
        };
        let found = phrase(&data::THEN_PHRASES)
            .map(|words| (words, Force::Then))
            .or_else(|| phrase(&data::AND_PHRASES).map(|words| (words, Force::Soft)));
        match found {
            // "next to" is a place.
            Some((_, Force::Then)) if lower(at) == "next" && lower(at + 1) == "to" => at += 1,
            // "… after translating it": what comes after is done before.
            _ if at > 0 && is_gerund_after(tokens, at) => {
                if let (Some(before), Some(after)) = (tokens.get(at - 1), tokens.get(at)) {
                    let named = spans.iter().map(|span| span.end).filter(|end| *end <= after.start).max();
                    let start = named.unwrap_or_default().max(before.end);
                    cuts.push(Cut { start, end: after.start, force: Force::Soft });
                }
                at += 1;
            }
            _ if begins_want(tokens, at) => {
                if let Some(that) = tokens.get(at) {
                    cuts.push(Cut { start: that.start, end: that.end, force: Force::Soft });
                }
                at += 1;
            }
            Some((words, force)) => {
                let count = words.count();
                if let (Some(first), Some(last)) = (tokens.get(at), tokens.get(at + count - 1)) {
                    cuts.push(Cut { start: first.start, end: last.end, force });
                }
                at += count;
            }
            None => at += 1,
        }
    }
    cuts.sort_by_key(|cut| (cut.start, cut.end));
    cuts
}

/// "1) turn it grey 2) find its edges": a list that counts from one, in its order.
fn numbered(request: &str, spans: &[Span]) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let mut word_start = 0;
    for word in request.split_inclusive(char::is_whitespace) {
        let (start, text) = (word_start, word.trim_end());
        word_start += word.len();
        let number =
            text.strip_suffix([')', '.']).map(|number| number.trim_start_matches('(')).and_then(|n| n.parse().ok());
        if number == Some(cuts.len() + 1) && !spans.iter().any(|span| span.covers(start)) {
            cuts.push(Cut { start, end: start + text.len(), force: Force::Then });
        }
    }
    if cuts.len() > 1 { cuts } else { Vec::new() }
}

fn is_gerund_after(tokens: &[Token], at: usize) -> bool {
    let lower = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    lower(at) == "after" && lower(at + 1).ends_with("ing") && lower(at + 1).len() > 5
}

/// "… a recording that I want to …": what is given, and what is wanted of it.
fn begins_want(tokens: &[Token], at: usize) -> bool {
    let lower = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    matches!(lower(at), "that" | "which")
        && (matches!((lower(at + 1), lower(at + 2)), ("i" | "we", "want" | "need" | "would"))
            || matches!(lower(at + 1), "i'd" | "we'd" | "i’d" | "we’d"))
}

fn is_abbreviation(request: &str, at: usize) -> bool {
    let word = request.get(..at).and_then(|head| head.rsplit(char::is_whitespace).next()).unwrap_or_default();
    data::ABBREVIATIONS.has(&word.to_lowercase())
}

fn starts_line(request: &str, at: usize) -> bool {
    request.get(..at).is_some_and(|head| {
        let line = head.rsplit('\n').next().unwrap_or_default().trim();
        line.len() <= 2 && line.chars().all(|c| c.is_ascii_digit())
    })
}
