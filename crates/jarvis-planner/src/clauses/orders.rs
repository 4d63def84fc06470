//! Orders: which words give an order that a tool of the list may carry out, or ask a question. Where a request is cut is
//! not decided here.

use crate::data;
use crate::lexicon::{self, Nature};
use crate::resources;
use crate::retrieval::ToolIndex;
use crate::thesaurus;
use crate::words::Token;
use crate::words::grammar::{is_order_verb, is_question_word, strip_polite};

/// True when the words name something to be done that a tool of the list might do.
pub(crate) fn names_action(tokens: &[Token], index: &ToolIndex) -> bool {
    let core = strip_polite(tokens);
    opens_with_let(tokens)
        || core.first().is_some_and(|token| opens_action(token, index) || is_question_word(token))
        || means_tool(tokens, index)
}

/// True when the words name something that a tool of the list is known for.
pub(super) fn means_tool(tokens: &[Token], index: &ToolIndex) -> bool {
    // "… and a picture of a cat" asks for a picture, weak as the words are elsewhere.
    let start = tokens.iter().position(|token| !token.is_determiner()).unwrap_or_default();
    let creates = |hit: &lexicon::Hit| {
        hit.first() == start && hit.concepts.iter().map(|id| lexicon::concept(*id)).any(|c| c.nature == Nature::Create)
    };
    lexicon::hits(tokens, |concept| index.serves(concept)).iter().any(|hit| hit.strong || creates(hit))
        || index.names_a_tool(tokens)
}

/// "Have it delivered", "let the car drive".
pub(super) fn opens_with_let(tokens: &[Token]) -> bool {
    tokens.len() > 2 && tokens.first().is_some_and(|token| matches!(token.lower.as_str(), "have" | "let"))
}

/// True when the words begin with something to be done.
pub(crate) fn begins_with_action(tokens: &[Token], index: &ToolIndex) -> bool {
    let core = strip_polite(tokens);
    let Some(first) = core.first() else { return false };
    lexicon::hits(core, |concept| index.serves(concept)).iter().any(|hit| hit.strong && hit.first() <= 2)
        || is_question_word(first)
        || opens_action(first, index)
}

/// True for a word in front of "the", "my", "it" that is no small word: an order in English, whatever the verb.
pub(crate) fn looks_like_stray(tokens: &[Token]) -> bool {
    let [verb, object, rest @ ..] = strip_polite(tokens) else { return false };
    // "… и отправь маме": an order in another script.
    if !verb.lower.is_ascii() && !verb.is_han() && thesaurus::is_action(verb) {
        return true;
    }
    let word = verb.lower.len() > 2 && verb.lower.bytes().all(|byte| byte.is_ascii_lowercase());
    let article = matches!(object.lower.as_str(), "the" | "my" | "our" | "a" | "an") && !rest.is_empty();
    word && !data::FUNCTION_WORDS.has(&verb.lower)
        && !verb.lower.ends_with("ing")
        && !verb.lower.ends_with("ly")
        && !verb.lower.ends_with("ed")
        && (article || matches!(object.lower.as_str(), "it" | "them"))
}

pub(super) fn opens_action(token: &Token, index: &ToolIndex) -> bool {
    is_order_verb(token) || index.opens_a_name(token)
}

/// Drops "first," and the like at the start of a clause: they order and name nothing.
pub(super) fn strip_order(mut tokens: Vec<Token>) -> Vec<Token> {
    let lower = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let count = match (lower(0), lower(1), lower(2)) {
        ("first", "of", "all") => 3,
        ("to", "begin", "with") => 3,
        ("прежде", "всего", _) | ("首", "先", _) | ("в", "начале", _) => 2,
        ("first", next, _)
            if resources::pointers(tokens.get(..2).unwrap_or_default()).ordinal.is_none() && !next.is_empty() =>
        {
            1
        }
        ("firstly" | "сначала" | "сперва" | "先" | "вначале", _, _) => 1,
        _ => 0,
    };
    tokens.drain(..count);
    tokens
}

pub(super) fn is_question(tokens: &[Token], mark: bool) -> bool {
    let core = strip_polite(tokens);
    let Some(first) = core.first() else { return false };
    let opens = is_question_word(first)
        // "In which year …", "Of what colour …", "В каком году …".
        || (tokens.iter().take(2).all(|token| token.lower.len() <= 4) && core.get(1).is_some_and(is_question_word));
    if opens || core.get(1).is_some_and(|token| token.lower == "ли") {
        return true;
    }
    if data::QUESTION_AUXILIARIES.has(&first.lower) {
        return mark || data::SURE_AUXILIARIES.has(&first.lower);
    }
    let text: String = core.iter().filter(|token| token.is_han()).map(|token| token.lower.as_str()).collect();
    // "Cut into a few parts" asks for no number.
    let text = text.replace("成几", "成").replace("为几", "为").replace("好几", "好");
    // "亮不亮": a character, "not", and the same character.
    let or_not = |window: &[Token]| matches!(window, [one, not, two] if not.lower == "不" && one.is_han() && one.lower == two.lower);
    let chooses = |token: &Token| matches!(token.lower.as_str(), "или" | "or");
    data::QUESTION_PHRASES_HAN.words().any(|phrase| text.contains(phrase))
        || core.windows(3).any(or_not)
        || (mark && (text.contains("还是") || core.iter().any(chooses)))
        || (text.ends_with('吗') && !text.starts_with('能'))
        || (mark && core.iter().any(is_question_word))
}
