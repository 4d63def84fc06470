//! Negation: what a request says is not to be done, from the word that negates to the border after it.

use std::sync::LazyLock;

use jarvis_plan::Request;
use regex::Regex;

use super::orders::opens_action;
use crate::data;
use crate::lexicon::{self, Nature};
use crate::resources::{Span, SpanKind, files, is_file, without};
use crate::retrieval::ToolIndex;
use crate::thesaurus;
use crate::words::grammar::strip_polite;
use crate::words::{Token, pattern, slice};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Negated {
    /// Where it starts, in bytes, the word that ties it in included.
    pub(super) start: usize,
    /// Where it ends, in bytes, the word that ties the next part in included.
    pub(super) end: usize,
}

pub(super) fn find(request: &str, tokens: &[Token], index: &ToolIndex) -> Vec<Negated> {
    let mut found: Vec<Negated> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some(length) = marks(tokens, at) else {
            at += 1;
            continue;
        };
        let Some(first) = tokens.get(at) else { break };
        // It begins a part: nothing before it, punctuation, or a word such as "but".
        let mut from = at;
        while from
            .checked_sub(1)
            .and_then(|before| tokens.get(before))
            .is_some_and(|t| data::BEFORE_NEGATION.has(&t.lower))
        {
            from -= 1;
        }
        let before = from.checked_sub(1).and_then(|before| tokens.get(before));
        let gap = before.map_or("", |before| slice(request, before.end, tokens.get(from).map_or(0, |t| t.start)));
        let begins = from < at || before.is_none() || gap.contains(BORDERS);
        let mut to = at + length;
        while let (Some(last), Some(token)) = (tokens.get(to - 1), tokens.get(to)) {
            let goes_on = to > at + length && matches!(token.lower.as_str(), "then" | "затем" | "потом" | "然");
            let turns = goes_on || data::CONTRAST.has(&token.lower) && to > at + length;
            if slice(request, last.end, token.start).contains(BORDERS) || turns {
                break;
            }
            to += 1;
        }
        let order = tokens.get(at + length..to).unwrap_or_default();
        if begins && orders(order, index) {
            // "…, only turn it grey": the turning words say nothing of their own.
            let mut next = to;
            while tokens.get(next).is_some_and(|t| {
                data::CONTRAST.has(&t.lower) || (next < to + 2 && t.is_han() && data::CONTRAST_HAN.has(&t.lower))
            }) {
                next += 1;
            }
            let start = tokens.get(from).map_or(first.start, |token| token.start);
            let last = tokens.get(to - 1).map_or(first.end, |token| token.end);
            let end = if next > to { tokens.get(next - 1).map_or(last, |token| token.end) } else { last };
            found.push(Negated { start, end });
            at = next.max(to);
        } else {
            at += length;
        }
    }
    found
}

/// "… but not b.png": the thing named there is left alone.
pub(super) fn leaves_out(request: &str, tokens: &[Token], span: &Span) -> Option<Negated> {
    let mut before = tokens.iter().filter(|token| token.end <= span.start).rev();
    let last = before.next()?;
    let second = before.next().filter(|token| slice(request, token.end, last.start).trim().is_empty());
    let is_second = |words: &[&str]| second.is_some_and(|token| words.contains(&token.lower.as_str()));
    let after_comma = || slice(request, 0, last.start).trim_end().ends_with(',');
    let (excludes, two) = match last.lower.as_str() {
        "except" | "excluding" | "besides" | "кроме" => (true, false),
        "not" if is_second(&["but", "and"]) => (true, true),
        "not" => (after_comma(), false),
        "не" => (is_second(&["но", "а", "и"]), true),
        _ => (false, false),
    };
    let touches = slice(request, last.end, span.start).trim().is_empty() && span.what == SpanKind::Path;
    let start = second.filter(|_| two).map_or(last.start, |token| token.start);
    (touches && excludes).then_some(Negated { start, end: span.end })
}

const BORDERS: [char; 13] = [',', '.', ';', '!', '?', '\n', '，', '。', '；', '！', '？', '—', '、'];

/// The number of words that negate an order there.
fn marks(tokens: &[Token], at: usize) -> Option<usize> {
    let lower = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let next = lower(at + 1);
    // "Not only", "не могли бы вы …", "不过": these negate no order.
    if data::NO_NEGATION.has(next) {
        return None;
    }
    match (lower(at), next) {
        ("don't" | "don’t" | "dont" | "never" | "не" | "别", _) => Some(1),
        ("do" | "please", "not") if !data::NO_NEGATION.has(lower(at + 2)) => Some(2),
        ("not", "a" | "an" | "the") => None,
        ("not", _) => Some(1),
        ("neither", _) => Some(1),
        ("no", "need") => Some(2),
        ("without", doing) if doing.ends_with("ing") => Some(1),
        ("不", "要" | "用" | "需" | "必") | ("无", "需") => Some(2),
        ("不", word) if !word.is_empty() && !data::NO_NEGATION_HAN.has(word) => Some(1),
        _ => None,
    }
}

/// True when the words would be an order, whoever might carry it out.
fn orders(order: &[Token], index: &ToolIndex) -> bool {
    let Some(first) = order.first() else { return false };
    let knows = data::MENTAL_VERBS.has(&first.lower);
    let core = strip_polite(order);
    let offset = order.len() - core.len();
    let opens = || core.first().is_some_and(|verb| opens_action(verb, index));
    let deed = || thesaurus::begins_with_action(core);
    let phrase = || {
        lexicon::hits(order, |concept| index.serves(concept)).iter().any(|hit| {
            let ask = |id: &usize| lexicon::concept(*id).nature == Nature::Ask;
            hit.first() <= offset + 3 && !hit.asks && !hit.concepts.iter().all(ask)
        })
    };
    !knows && (opens() || deed() || phrase())
}

/// Words before a file that take it out of what is to be done, and behind one in Chinese.
static TAKEN_OUT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:\b(?:except(?:ing| for)?|besides|apart from|other than|excluding|all but|everything but|every (?:one|file|picture|image|photo) but)\s+(?:the\s+)?|\b(?:кроме|исключая)\s+|除了\s*)⟨⟩|⟨⟩\s*(?:除外|以外|之外)|\bleave\s+⟨⟩",
    )
});

/// The same beside files that are named, which are what is meant; alone it takes a file out of others that nothing names.
static NOT_THIS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:but|and) not\s+(?:the\s+)?⟨⟩|\b(?:но|а) не\s+⟨⟩|(?:但不要|不要动|不包括)\s*⟨⟩"));

/// The file that a request takes out of what is to be done with the others.
pub(crate) fn taken_out(request: &Request) -> Option<String> {
    let said = request.text.as_str();
    let files = files(said, request);
    let plain = without(said, &files);
    let found = TAKEN_OUT.is_match(&plain) || files.len() == 1 && NOT_THIS.is_match(&plain);
    let file = files.last().filter(|_| found && files.iter().all(is_file))?;
    let named = request.attachments.iter().find(|resource| resource.as_arg() == file.text);
    Some(named.and_then(|resource| resource.name.clone()).unwrap_or_else(|| file.text.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_be_taken_out() {
        for text in [
            "make all of them grey except b.jpg",
            "turn every jpg here grey, but not b.jpg",
            "сделай все серыми, кроме b.jpg",
            "把图片缩小一半，b.jpg除外",
        ] {
            assert_eq!(taken_out(&Request::new(text)).as_deref(), Some("b.jpg"), "{text}");
        }
        for text in ["make b.jpg grey", "b.jpg, but not too dark", "describe b.jpg, but not in detail"] {
            assert_eq!(taken_out(&Request::new(text)), None, "{text}");
        }
    }
}
