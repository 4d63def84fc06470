//! Unserved: what a request orders and no step was chosen for, so that no part of it is dropped without a word. Which tools
//! serve a clause is not decided here, and what an edit leaves undone its worker says.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::candidate::Step;
use crate::clauses::{self, Clause};
use crate::data;
use crate::lexicon::Nature;
use crate::matching;
use crate::own;
use crate::retrieval::ToolIndex;
use crate::thesaurus;
use crate::words::grammar::{gives_order, is_order_verb, is_question_word, strip_polite};
use crate::words::{self, Token, pattern, slice};

/// What holds of every result: the file that was given stays as it is, and a sound that is made faster keeps its pitch.
static ASSURED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:(?:but|and|please|just)\s+)*(?:leave|keep|do not (?:change|touch|overwrite)|don't (?:change|touch|overwrite))\s+(?:the\s+|my\s+)?(?:original(?:\s+(?:file|picture|image|photo|one))?(?:\s+(?:as it is|as is|untouched|unchanged|alone|intact))?|pitch(?:\s+(?:as it is|the same|unchanged))?)\W*$",
    )
});

/// A condition, in front of which something must end: "tell me if it is long" asks.
static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^(?:(?:but|only)\s+)*(?:if|unless|when|whenever|as|in\s+case|если)\b|^(?:如果|除非)")
});

/// A condition, or a time that is yet to come: a plan is run at once and as a whole.
static LATER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)^(?:(?:but\s+)?(?:only\s+)?(?:if|unless|when|whenever|as\ soon\ as|as\ long\ as|in\ case)\s
        | (?:every|each)\s+(?:\w+\s+)?(?:minute|hour|morning|noon|afternoon|evening|night|day|week|weekday|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b
        | at\s+\d{1,2}(?:[:.]\d\d)?\s*(?:am|pm|a\.m|p\.m|o['’]clock)
        | in\s+(?:an?|one|two|three|five|ten|\d+)\s+(?:minute|hour|day|week|month)s?\b
        | (?:on\s+)?(?:next\s+)?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b
        | (?:tomorrow|tonight|next\ (?:week|month|year))\b | at\ (?:noon|midnight)\b
        | (?:если|завтра|послезавтра)\b | кажд(?:ый|ую|ое)\s+(?:день|час|неделю|утро|вечер)\b
        | 如果|除非|每天|每周|明天)",
    )
});

/// What begins like a condition and is none: "if possible", "if you like".
static MANNER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)^(?:if|when|as\ soon\ as)\s+(?:at\ all\s+)?(?:possible|necessary|needed|required|done|finished|ready|complete|any\W*$|so\b
        | you\s+(?:can|could|like|want|wish|please|will|would|do\s*n[o'’]t\ mind|don['’]t\ mind)
        | (?:it['’]?s|it\ is|that['’]?s)\s+(?:not\ too\ much\ trouble|no\ trouble|ok|okay|all\ right|possible|fine))",
    )
});

/// The parts of a request that are left undone.
#[derive(Debug, Default)]
pub(crate) struct Unserved<'t> {
    /// Clauses that nothing serves.
    alone: Vec<&'t str>,
    /// Such clauses of a sentence with others.
    beside: Vec<&'t str>,
    /// Orders inside of clauses that something else serves.
    inside: Vec<&'t str>,
    /// Conditions, and times that are yet to come.
    later: Vec<&'t str>,
}

impl<'t> Unserved<'t> {
    /// Reads a clause beside the steps that were chosen for it; `in_one` where its sentence has others.
    pub(crate) fn read(&mut self, clause: &Clause, steps: &[Step], in_one: bool, text: &'t str) {
        if !steps.is_empty() {
            self.inside.extend(inside(clause, steps, text));
            self.later.extend(later(clause, steps, text));
            return;
        }
        let mut rest = clause.text(text).trim();
        // "If it rains, phone Anna": a condition alone is one of what follows it, and what is ordered under it is left out.
        if !clause.question && waits(rest) {
            let (condition, ordered) = rest.split_at(rest.find([',', '，']).unwrap_or(rest.len()));
            rest = ordered.trim_start_matches([',', '，', ' ']);
            if rest.is_empty() {
                self.later.push(condition);
            }
        }
        if !rest.is_empty() && !clause.tokens.is_empty() {
            let list = if in_one && clause.tokens.iter().any(tells) { &mut self.beside } else { &mut self.alone };
            list.push(rest);
        }
    }

    /// What to tell of them. In a sentence with a call of a tool of somebody's own (`calls`), every part may say how it is meant.
    pub(crate) fn told(self, calls: bool, index: &ToolIndex) -> Vec<String> {
        let (beside, kept): (Vec<&str>, Vec<&str>) = self.beside.into_iter().partition(|_| calls);
        let acts = |text: &str| {
            let own =
                |token: &Token| index.own.iter().any(|own| own.acts_as(token)) || is_order_verb(token) && tells(token);
            calls && (words::tokens(text).iter().any(own) || text.contains([':', '：']))
        };
        // Sentences that only tell something are no reason for a note; orders are.
        let is_told = |text: &&str| !ASSURED.is_match(&text.to_lowercase()) && (is_order(text, index) || acts(text));
        let orders = self.alone.into_iter().chain(kept).filter(is_told);
        let left = beside.into_iter().chain(orders).chain(self.inside);
        let left = left.map(|text| format!("no tool fits \"{}\"", short(text)));
        let later = self.later.iter().map(|text| format!("\"{}\" is not waited for: it is done at once", short(text)));
        left.chain(later).collect()
    }
}

/// "Fax a.txt and sum it up", "read a.png and find the days in it": orders of a clause that none of its steps was chosen for.
fn inside<'t>(clause: &Clause, steps: &[Step], text: &'t str) -> Vec<&'t str> {
    // What edits or answers takes the clause's own words, and says itself what it leaves undone of what is known to be an order.
    let takes_words =
        steps.iter().any(|step| !matches!(step.nature(), Some(Nature::Make | Nature::Label | Nature::Map)));
    let served: Vec<usize> = steps.iter().flat_map(|step| step.words.iter().copied()).collect();
    let mut left = Vec::new();
    let pieces = pieces(clause, text);
    let known = |token: &Token| is_order_verb(token) || data::TELLING_VERBS.has(&token.lower);
    let opens = |piece: &Range<usize>| {
        let tokens = clause.tokens.get(piece.clone()).unwrap_or_default();
        let verb = |token: &Token| known(token) || thesaurus::is_action(token);
        let first = tokens.first();
        first.is_some_and(|first| known(first) || words::listed("have let", &first.lower))
            || strip_polite(tokens).first().is_some_and(verb)
    };
    for (nth, piece) in pieces.iter().enumerate() {
        let tokens = clause.tokens.get(piece.clone()).unwrap_or_default();
        let [first, ..] = strip_polite(tokens) else { continue };
        if served.iter().any(|at| piece.contains(at)) || served.is_empty() && nth == 0 {
            left.extend(asked_of_another(piece, &served, clause, text));
            continue;
        }
        // "Describe how they hold the cup and drink the tea" orders one thing.
        let told = clause.tokens.get(..piece.start).unwrap_or_default().iter().any(is_question_word);
        let by_form =
            || (!told || clauses::points_back(tokens)) && clauses::orders_by_form(tokens, &clause.spans, text);
        let orders = match nth {
            // "Turn a.png, my photo, into a sketch": an order goes on until the next one begins.
            0 => pieces.iter().skip(1).any(opens) && by_form(),
            _ => !takes_words && (known(first) || asks(tokens) || by_form()),
        };
        if orders && !data::HANDLING_VERBS.has(&first.lower) && !asks_result(tokens) {
            let next = pieces.get(nth + 1).and_then(|next| clause.tokens.get(next.start)).map(|token| token.start);
            let start = tokens.first().filter(|_| asks(tokens)).unwrap_or(first).start;
            left.push(whole(start, tokens, clause, next, text));
        }
    }
    left
}

/// "Tell me whether it sounds friendly", "… who signed it": a question as an order. "Tell me what it says" may be answered by the rest.
fn asks(tokens: &[Token]) -> bool {
    let [verb, rest @ ..] = tokens else { return false };
    let asks = |token: &Token| words::listed("whether who whom whose when where", &token.lower);
    data::TELLING_VERBS.has(&verb.lower) && rest.iter().take(2).any(asks)
}

/// The text from a word on, with the files behind the last of its words.
fn whole<'t>(start: usize, tokens: &[Token], clause: &Clause, next: Option<usize>, text: &'t str) -> &'t str {
    let last = tokens.last().map_or(start, |token| token.end);
    let before = next.unwrap_or(clause.end);
    let end =
        clause.spans.iter().map(|span| span.end).filter(|end| *end <= before).max().map_or(last, |end| end.max(last));
    slice(text, start, end).trim()
}

/// "Remind me at 5pm to sum it up", "ask Bob to read it": somebody is to be told, and what the step does is what they are told.
fn asked_of_another<'t>(piece: &Range<usize>, served: &[usize], clause: &Clause, text: &'t str) -> Option<&'t str> {
    let tokens = clause.tokens.get(piece.clone()).unwrap_or_default();
    let [verb, whom, ..] = strip_polite(tokens) else { return None };
    let is_to = |at: &usize| *at > piece.start && clause.tokens.get(at - 1).is_some_and(|token| token.lower == "to");
    let order = served.iter().filter(|at| piece.contains(at)).min().filter(|at| is_to(at))?;
    if data::HANDLING_VERBS.has(&verb.lower) {
        return None;
    }
    let other = matches!(whom.lower.as_str(), "him" | "her") || clauses::is_name(whom, text);
    let reminds = whom.lower == "me" && thesaurus::is_action(verb);
    let before = clause.tokens.get(order.checked_sub(2)?)?;
    (verb.start < before.start && (other && clauses::is_bare_verb(verb) || reminds))
        .then(|| slice(text, verb.start, before.end))
}

/// The words of a clause between its commas and joining words, as places in [`Clause::tokens`].
fn pieces(clause: &Clause, text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let (mut from, mut end) = (0, clause.start);
    for (at, token) in clause.tokens.iter().enumerate() {
        let outside = |place: usize| !clause.spans.iter().any(|span| span.covers(place));
        let gap = slice(text, end, token.start);
        let mark = gap
            .char_indices()
            .any(|(place, c)| matches!(c, ',' | ';' | ':' | '，' | '、' | '；') && outside(end + place));
        // "Shred a.txt after you read it".
        let after = || {
            matches!(token.lower.as_str(), "after" | "before")
                && clause.tokens.get(at + 1).is_some_and(|next| next.lower == "you")
        };
        let joins = data::AND_PHRASES.has(&token.lower) || data::THEN_PHRASES.has(&token.lower) || after();
        if mark || joins {
            pieces.push(from..at);
            from = at + usize::from(joins);
        }
        end = token.end;
    }
    pieces.push(from..clause.tokens.len());
    pieces
}

/// Conditions and times at the start of a part, or behind what it is done to: "if it is long, …", "… a.txt every morning". Of what is
/// drawn they are part: "a castle, at midnight".
fn later<'t>(clause: &Clause, steps: &[Step], text: &'t str) -> Option<&'t str> {
    let asks = clause.tokens.iter().skip(1).any(|token| is_question_word(token) && token.lower != "when");
    if asks || steps.iter().any(|step| matches!(step.nature(), Some(Nature::Ask | Nature::Create))) {
        return None;
    }
    let mut starts: Vec<usize> = pieces(clause, text)
        .iter()
        .filter_map(|piece| clause.tokens.get(piece.start))
        .map(|token| token.start)
        .collect();
    let behind = clause.tokens.windows(2).filter_map(|two| match two {
        [one, two] => data::PRONOUNS.has(&one.lower).then_some(two.start),
        _ => None,
    });
    let after = clause
        .spans
        .iter()
        .filter_map(|span| clause.tokens.iter().map(|token| token.start).find(|start| *start >= span.end));
    starts.extend(behind.chain(after));
    // "Read a.txt aloud tomorrow at 8", but not "… for the meeting on Friday": behind what is to be done a time says when.
    let served = |at: usize| steps.iter().any(|step| step.words.contains(&at));
    let ends = clause.tokens.windows(2).enumerate().filter_map(|(at, two)| match two {
        [before, first] => (served(at) || words::is_language(before)).then_some(first.start),
        _ => None,
    });
    starts.extend(ends.filter(|start| !CONDITION.is_match(slice(text, *start, clause.end))));
    starts.sort_unstable();
    let start = starts.into_iter().find(|start| waits(slice(text, *start, clause.end)))?;
    let said = slice(text, start, clause.end);
    let end = said.find([',', '，', ';']).unwrap_or(said.len());
    Some(slice(said, 0, end).trim())
}

/// Whether words begin with a condition or a time that a plan does not wait for.
fn waits(said: &str) -> bool {
    let said = words::head(said, MOST);
    LATER.is_match(said) && !MANNER.is_match(said)
}

/// So much of a part tells whether it is one.
const MOST: usize = 80;

/// "… and give me the result": what every plan ends with.
fn asks_result(tokens: &[Token]) -> bool {
    let [verb, rest @ ..] = tokens else { return false };
    let given = |token: &Token| {
        words::listed("me us the a it its final result results answer output back about", &token.lower)
            || token.is_determiner()
    };
    words::listed("tell give show send return provide print", &verb.lower) && rest.len() > 1 && rest.iter().all(given)
}

/// Whether a word says something by itself.
fn tells(token: &Token) -> bool {
    let lower = &token.lower;
    !words::listed(own::ASKS, lower)
        && !data::STOP_WORDS.has(lower)
        && !data::FUNCTION_WORDS.has(lower)
        && !data::POLITE.has(lower)
}

fn is_order(text: &str, index: &ToolIndex) -> bool {
    let tokens = words::tokens(text);
    let shows = tokens.first().is_some_and(|token| data::POINTING_VERBS.has(&token.lower));
    let acts = thesaurus::begins_with_action(strip_polite(&tokens));
    // "Tell me its length" asks, whatever it asks for.
    let asks = tokens.first().is_some_and(|token| data::TELLING_VERBS.has(&token.lower));
    // "On the go", "of a meeting": what begins so is no order, unless one follows.
    let hangs = tokens.first().is_some_and(|token| data::FUNCTION_WORDS.has(&token.lower) && !is_question_word(token));
    let names = (!hangs || gives_order(&tokens)) && clauses::names_action(&tokens, index);
    // "Help me complete these tasks": the tasks themselves stand elsewhere.
    let task = tokens.iter().any(|token| token.stem == "task");
    let orders = acts || asks || names || clauses::orders_by_form(&tokens, &[], text);
    !shows && !task && !asks_result(&tokens) && !matching::states(&tokens) && !matching::is_report(&tokens) && orders
}

fn short(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
