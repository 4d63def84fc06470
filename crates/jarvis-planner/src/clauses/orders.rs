//! Orders: which words give an order that a tool of the list may carry out, or ask a question. Where a request is cut is
//! not decided here.

use crate::data;
use crate::flow::kind_at;
use crate::lexicon::{self, Nature};
use crate::resources::{self, Span, SpanKind};
use crate::retrieval::ToolIndex;
use crate::thesaurus;
use crate::words::grammar::{is_order_verb, is_question_word, strip_polite};
use crate::words::{self, Token, is_language, listed, slice};

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
pub(super) fn begins_with_action(tokens: &[Token], index: &ToolIndex) -> bool {
    let core = strip_polite(tokens);
    let Some(first) = core.first() else { return false };
    lexicon::hits(core, |concept| index.serves(concept)).iter().any(|hit| hit.strong && hit.first() <= 2)
        || is_question_word(first)
        || opens_action(first, index)
}

/// True for an order by its form, whatever its verb: a word that may be one in front of "the", "it", a file, a name or a number of things.
pub(crate) fn orders_by_form(tokens: &[Token], spans: &[Span], request: &str) -> bool {
    let core = strip_polite(tokens);
    let [verb, rest @ ..] = core else { return false };
    let before = slice(request, 0, verb.start).trim_end();
    let opens = before.is_empty() || before.ends_with(['.', '!', '?', ';', ':', '\n']);
    let adjacent = |start: usize| {
        let gap = slice(request, verb.end, start);
        start > verb.end && !gap.is_empty() && gap.chars().all(char::is_whitespace)
    };
    let file =
        || spans.iter().any(|span| span.what != SpanKind::Quote && span.start >= verb.end && adjacent(span.start));
    let object = rest.first().filter(|object| adjacent(object.start));
    // "… и отправь маме": an order in another script.
    if !verb.lower.is_ascii() {
        // "把它打印出来": Chinese tells by no form what orders, so what is done must be known.
        if verb.is_han() {
            let does = |sense: &(thesaurus::SenseId, usize, usize)| {
                thesaurus::is_a(sense.0, thesaurus::Part::Action) && !thesaurus::sense(sense.0).is_pale
            };
            return core.iter().any(|token| matches!(token.lower.as_str(), "把" | "将" | "它" | "给"))
                && thesaurus::of_tokens(core).iter().any(does);
        }
        let led = || object.is_some_and(|object| !listed("на в с к по из от для и до за о", &object.lower));
        return thesaurus::is_action(verb)
            || is_russian_imperative(&verb.lower) && (opens || !is_name(verb, request)) && (file() || led());
    }
    if !is_bare_verb(verb) || kind_at(core, 0).is_some() || !opens && is_name(verb, request) {
        return false;
    }
    let known = || is_order_verb(verb) || thesaurus::is_action(verb);
    let joined =
        || before.rsplit(' ').next().is_some_and(|word| data::AND_PHRASES.has(word) || data::THEN_PHRASES.has(word));
    // A noun stands before a file as well, most of all in a list: "merge a.mp4 and voiceover b.wav".
    let in_list = || {
        let last = spans.iter().map(|span| span.end).filter(|end| *end <= verb.start).max();
        last.is_some_and(|end| words::lowers(slice(request, end, verb.start)).all(|word| data::AND_PHRASES.has(&word)))
    };
    // Where files are not told from words, a point is inside of their names.
    if file() || object.is_some_and(|object| object.lower.contains('.')) {
        return opens || known() || !in_list();
    }
    let Some(object) = object else { return false };
    let next = rest.get(1).filter(|next| !data::FUNCTION_WORDS.has(&next.lower));
    let article = object.is_determiner() || matches!(object.lower.as_str(), "all" | "every" | "each" | "both" | "any");
    let counts = object.lower.bytes().all(|byte| byte.is_ascii_digit());
    match object.lower.as_str() {
        "it" | "them" => true,
        "me" | "him" | "us" => rest.len() > 1,
        _ if article => rest.len() > 1,
        _ if counts => next.is_some() && (opens || joined() || known()),
        // "Traditional Chinese" is no order.
        _ => is_name(object, request) && !is_language(object) && (opens || joined() || known()),
    }
}

/// "Laminate it", "put that into Portuguese": the word behind the first points back.
pub(crate) fn points_back(tokens: &[Token]) -> bool {
    let object = strip_polite(tokens).get(1);
    object.is_some_and(|object| matches!(object.lower.as_str(), "it" | "them" | "that" | "this"))
}

/// True for a word that may be a verb as it stands in a dictionary: no small word, and no form of one.
pub(crate) fn is_bare_verb(token: &Token) -> bool {
    let word = token.lower.as_str();
    let has_vowel = |stem: &str| stem.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    // "Ring" and "bleed" are no forms of others.
    let formed = word.strip_suffix("ing").is_some_and(has_vowel)
        || word.strip_suffix("ed").is_some_and(|stem| has_vowel(stem) && !stem.ends_with('e'))
        || word.ends_with("ly") && !thesaurus::is_action(token)
        || word.ends_with('s') && !word.ends_with("ss")
        || word.ends_with("ever");
    word.len() > 2
        && word.bytes().all(|byte| byte.is_ascii_lowercase())
        && !formed
        && !data::FUNCTION_WORDS.has(word)
        && !data::PRONOUNS.has(word)
        && !data::BEFORE_ORDERS.has(word)
        && !token.is_determiner()
}

/// True for a word that the request writes with a capital, as it does names.
pub(crate) fn is_name(token: &Token, request: &str) -> bool {
    token.lower != "i" && slice(request, token.start, token.end).starts_with(char::is_uppercase)
}

/// "Зашифруй", "прочитайте": the endings that order and that few other words have.
fn is_russian_imperative(word: &str) -> bool {
    const ENDINGS: [&str; 6] = ["уй", "ай", "яй", "йте", "ите", "ьте"];
    word.chars().count() > 4 && ENDINGS.iter().any(|ending| word.ends_with(ending))
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
