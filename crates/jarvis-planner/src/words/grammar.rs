//! Grammar of a clause's words, whatever the tools are: politeness, orders in English, participles and nouns that tell
//! which thing is meant.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use super::{Token, stem};
use crate::data;

static ORDER_STEMS: LazyLock<FxHashSet<String>> = LazyLock::new(|| data::ORDER_VERBS.words().map(stem).collect());
static QUESTION_STEMS: LazyLock<FxHashSet<String>> = LazyLock::new(|| data::QUESTION_WORDS.words().map(stem).collect());

pub(crate) fn is_order_verb(token: &Token) -> bool {
    ORDER_STEMS.contains(&token.stem)
}

pub(crate) fn is_question_word(token: &Token) -> bool {
    opens_question(&token.stem)
}

pub(crate) fn opens_question(stem: &str) -> bool {
    QUESTION_STEMS.contains(stem)
}

/// The words without what is said before the order or question itself.
pub(crate) fn strip_polite(tokens: &[Token]) -> &[Token] {
    let polite = |at: usize| {
        let lower = |at: usize| tokens.get(at).map_or("", |token: &Token| token.lower.as_str());
        data::POLITE.has(lower(at)) || matches!((lower(at), lower(at + 1)), ("the", "question") | ("на", "вопрос"))
    };
    let start = (0..tokens.len()).find(|at| !polite(*at)).unwrap_or(tokens.len());
    tokens.get(start..).unwrap_or_default()
}

/// True when the first word, politeness aside, is an order in English.
pub(crate) fn opens_with_order(tokens: &[Token]) -> bool {
    strip_polite(tokens).first().is_some_and(is_order_verb)
}

/// True when some word is an order in English as it stands: "after lunch, draw a dog", but not "after the drawing".
pub(crate) fn gives_order(tokens: &[Token]) -> bool {
    tokens.windows(2).any(|two| match two {
        [before, token] => data::ORDER_VERBS.has(&token.lower) && !before.is_determiner(),
        _ => false,
    })
}

/// True for "translated" in "the translated text": it tells which thing is meant and orders nothing.
pub(crate) fn is_attribute(tokens: &[Token], at: usize) -> bool {
    let (Some(token), Some(next)) = (tokens.get(at), tokens.get(at + 1)) else { return false };
    let word = token.lower.as_str();
    let participle = (word.len() > 4 && word.ends_with("ed") && word.is_ascii())
        || ["нный", "нного", "нную", "нной", "нная", "нное", "нном", "нные", "нных"]
            .iter()
            .any(|end| word.ends_with(end));
    let preceded = at
        .checked_sub(1)
        .and_then(|before| tokens.get(before))
        .is_some_and(|before| before.is_determiner() || data::BEFORE_ATTRIBUTE.has(&before.lower));
    participle
        && preceded
        && next.start == token.end + 1
        && !data::FUNCTION_WORDS.has(&next.lower)
        && !matches!(next.lower.as_str(), "to" | "in" | "by" | "for" | "into")
}

/// True for "translation" in "speak the translation": what an action makes, not the action.
pub(crate) fn is_outcome(tokens: &[Token], at: usize) -> bool {
    let (Some(token), Some(before)) = (tokens.get(at), at.checked_sub(1).and_then(|before| tokens.get(before))) else {
        return false;
    };
    let formed = ["tion", "sion", "ment", "summary", "transcript", "перевод", "описание", "пересказ"];
    matches!(before.lower.as_str(), "the" | "this" | "that" | "its")
        && formed.iter().any(|end| token.lower.ends_with(end))
        && at > 1
}
