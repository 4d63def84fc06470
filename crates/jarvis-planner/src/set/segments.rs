//! Segments: the items of a request, each of which may speak of one tool.

use jarvis_plan::{Request, Role};

use crate::clauses::{Join, Reading, is_name};
use crate::data;
use crate::matching::describes;
use crate::resources;
use crate::thesaurus::{self, Part, SenseId};
use crate::words::{self, Token, listed, slice};

use super::tools::{Word, words_of};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Segment {
    /// The clause that it is a part of; `None` where an earlier turn says it.
    pub(crate) clause: Option<usize>,
    /// Places of its words in [`Read::words`].
    pub(crate) own: Vec<usize>,
    pub(crate) text: String,
    /// Where it begins and ends in what says it.
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// What it asks to be done, small words such as "find" included.
    pub(crate) does: Vec<SenseId>,
    /// It has no verb of its own.
    pub(crate) inherits: bool,
    /// It orders something to be sent to another person.
    pub(crate) sends: bool,
    /// What it points back at.
    pub(crate) points: Points,
}

/// Whether words stand for what came of steps before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Points {
    Nowhere,
    /// "Book it", "send her the time of that".
    Last,
    /// "Send both to Petra".
    All,
}

/// A request as it is compared with tools.
#[derive(Debug, Clone, Default)]
pub(crate) struct Read {
    pub(crate) words: Vec<Word>,
    /// The clause of each word; none for words of earlier turns.
    pub(crate) clause_of: Vec<Option<usize>>,
    pub(crate) segments: Vec<Segment>,
}

/// So many items are read: four times as many as a plan has calls.
const MOST: usize = 128;
/// So much of each earlier turn is read, and so many turns.
const MOST_OF_A_TURN: usize = 600;
const TURNS: usize = 3;

pub(crate) fn read(request: &Request, reading: &Reading) -> Read {
    let mut read = Read::default();
    let carried = carried(request);
    // Elsewhere what somebody tells of themselves says what the rest is about.
    let talks = !request.history.is_empty();
    for said in &carried {
        items(&mut read, (None, false), &words::tokens(said), said);
    }
    for (at, clause) in reading.clauses.iter().enumerate() {
        if !clause.question && describes(&clause.tokens) {
            continue;
        }
        // "I'm hungry, order a pizza": only the first item is told.
        let told = talks && !clause.question && tells(&clause.tokens);
        let border = |at: &usize| is_border(&clause.tokens, *at, &request.text);
        let from = if told { (1..clause.tokens.len()).find(border).unwrap_or(clause.tokens.len()) } else { 0 };
        items(
            &mut read,
            (Some(at), clause.join == Join::And),
            clause.tokens.get(from..).unwrap_or_default(),
            &request.text,
        );
    }
    for turn in request.history.iter().rev().filter(|turn| turn.role == Role::User).take(TURNS) {
        for (_, word) in words_of(&words::tokens(words::head(&turn.content, MOST_OF_A_TURN))) {
            read.words.push(word);
            read.clause_of.push(None);
        }
    }
    read
}

/// "I am glad that it is Friday", "I have been there": somebody tells of themselves and wants nothing.
fn tells(tokens: &[Token]) -> bool {
    let lower = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let (who, is) = (lower(0), lower(1));
    let tells = listed("i we", who) && listed("am was were have had just", is)
        || listed("i'm we're i've we've i’m we’re i’ve we’ve", who);
    tells
        && !tokens.iter().any(|token| {
            listed("want need like looking searching trying wondering interested planning going supposed", &token.lower)
        })
}

/// What earlier turns say that this one goes on with: the offer that it agrees to ("Shall I book it?" "Yes"), or the request of which
/// it answers a question.
fn carried(request: &Request) -> Vec<String> {
    let Some((last, before)) = request.history.split_last() else { return Vec::new() };
    let tokens = words::tokens(words::head(&request.text, MOST_OF_A_TURN));
    let Some(first) = tokens.first().filter(|_| last.role == Role::Assistant) else { return Vec::new() };
    let said = words::head(&last.content, MOST_OF_A_TURN);
    let sentences: Vec<&str> = said
        .split_inclusive(['.', '!', '?', '。', '！', '？'])
        .map(str::trim)
        .filter(|said| !said.is_empty())
        .collect();
    let asks = |said: &&&str| said.ends_with(['?', '？']);
    let offer = sentences.last().filter(asks);
    if data::AGREEMENTS.has(&first.lower)
        || (first.lower == "please" && tokens.get(1).is_some_and(|next| next.lower == "do"))
    {
        return offer.map(|offer| (*offer).to_owned()).into_iter().collect();
    }
    // Where something was said beside the question, the request before was served.
    let only_asks = offer.is_some()
        && sentences.iter().all(|said| said.ends_with(['?', '？']) || said.split_whitespace().count() <= FEW);
    let orders = tokens.iter().take_while(|token| token.lower != "and").any(thesaurus::is_action);
    let orders = orders || data::REFUSALS.has(&first.lower);
    let asked = before.iter().rev().find(|turn| turn.role == Role::User).filter(|_| only_asks && !orders);
    asked.map(|turn| words::head(&turn.content, MOST_OF_A_TURN).to_owned()).into_iter().collect()
}

/// "One moment, please.", "Good morning!"
const FEW: usize = 3;

fn is_border(tokens: &[Token], at: usize, request: &str) -> bool {
    let (Some(token), Some(before)) = (tokens.get(at), at.checked_sub(1).and_then(|before| tokens.get(before))) else {
        return false;
    };
    let gap = slice(request, before.end, token.start);
    gap.contains([',', ';', ':', '(', ')', '，', '、', '；', '：', '—', '–', '\n', '/'])
        || data::BETWEEN_ITEMS.has(&token.lower)
}

/// Reads the items of a clause, and whether "and" joins it to the one before, or of what an earlier turn says; `text` is what the places of
/// the tokens are in.
fn items(read: &mut Read, clause: (Option<usize>, bool), tokens: &[Token], text: &str) {
    let mut from = 0;
    for at in (0..tokens.len()).filter(|at| is_border(tokens, *at, text)) {
        add(read, clause, tokens.get(from..at).unwrap_or_default(), text);
        from = at;
    }
    add(read, clause, tokens.get(from..).unwrap_or_default(), text);
}

fn add(read: &mut Read, (clause, is_joined): (Option<usize>, bool), tokens: &[Token], text: &str) {
    if read.segments.len() >= MOST {
        return;
    }
    let telling = |word: &Word| {
        !data::POLITE.has(&word.key)
            && !data::SMALL_STEMS.has(&word.key)
            && !word.key.chars().all(|letter| letter.is_ascii_digit())
    };
    let mut own = Vec::new();
    for (_, word) in words_of(tokens).into_iter().filter(|(_, word)| telling(word)) {
        own.push(read.words.len());
        read.words.push(word);
        read.clause_of.push(clause);
    }
    if let (false, Some(first), Some(last)) = (own.is_empty(), tokens.first(), tokens.last()) {
        // "Book nothing yet".
        let nothing = |two: &[Token]| matches!(two, [verb, none] if listed("nothing nichts ничего", &none.lower) && thesaurus::is_action(verb));
        if tokens.windows(2).any(nothing) {
            return;
        }
        let senses = tokens.iter().flat_map(|token| thesaurus::of_token(token)).copied();
        let mut does: Vec<SenseId> =
            senses.filter(|sense| thesaurus::is_a(*sense, Part::Action)).chain(phrasal(tokens)).collect();
        // "Look for a train and for a hotel": one verb for both.
        let inherits = does.is_empty();
        let goes_on =
            |before: &&Segment| before.clause == clause || is_joined && before.clause.map(|at| at + 1) == clause;
        if inherits && let Some(before) = read.segments.last().filter(|before| goes_on(before) && leads(tokens)) {
            does.clone_from(&before.does);
        }
        let sends = sends(tokens, text);
        let (from, to) = (first.start, last.end);
        let points = points(tokens, text);
        let text = slice(text, from, to).to_owned();
        read.segments.push(Segment { clause, own, text, from, to, does, inherits, sends, points });
    }
}

/// Whether an item begins with what leads or marks a thing, behind the word that joins it.
fn leads(tokens: &[Token]) -> bool {
    let first = tokens.iter().find(|token| !data::BETWEEN_ITEMS.has(&token.lower));
    first.is_some_and(|first| first.is_determiner() || data::LEADS.has(&first.lower))
}

/// Verbs that a word behind them makes another of: what they then do, by the name of its sense.
const PHRASAL: &[(&str, &str, &str)] = &[
    ("take", "out off", "cancel"),
    ("call", "off", "cancel"),
    ("put push", "off back forward", "change"),
    ("put enter write note jot", "in into on down", "create"),
    ("make", "that", "change"),
    ("set", "up", "create"),
    ("look find", "up out", "search"),
    ("sign", "up", "enrol"),
];

/// "Take the fair out of my calendar", "put that off to Monday".
fn phrasal(tokens: &[Token]) -> Option<SenseId> {
    PHRASAL.iter().find_map(|(verbs, behind, sense)| {
        let verb = tokens.iter().position(|token| listed(verbs, &token.lower))?;
        let said = tokens.get(verb + 1..)?.iter().take(FAR).any(|token| listed(behind, &token.lower));
        said.then(|| thesaurus::named(sense)).flatten()
    })
}

/// So far behind its verb the other word stands.
const FAR: usize = 6;

/// "Mail her the time", "tell Ben in the chat", "let my father know": another person is to be sent something, by words that are
/// things elsewhere or that ask for an answer.
fn sends(tokens: &[Token], text: &str) -> bool {
    let small = |token: &Token| {
        data::BETWEEN_ITEMS.has(&token.lower)
            || data::POLITE.has(&token.lower) && !listed("tell let answer", &token.lower)
    };
    let core = tokens.iter().position(|token| !small(token)).unwrap_or(tokens.len());
    let Some([verb, whom, rest @ ..]) = tokens.get(core..) else { return false };
    let says = |list: &str| rest.iter().any(|token| listed(list, &token.lower));
    let person = listed("him her them my our", &whom.lower) || is_name(whom, text);
    match verb.lower.as_str() {
        "let" => person && rest.iter().take(FAR).any(|token| token.lower == "know"),
        "mail" | "email" | "e-mail" | "text" | "message" => {
            person || (whom.is_determiner() || listed("both all it them", &whom.lower)) && says("to")
        }
        // "Tell the weather" asks for it, "tell the group why" tells somebody.
        "tell" | "inform" | "notify" => person || whom.lower == "the" && says("that why what when where how whether"),
        "write" | "answer" | "chat" | "ping" => person,
        _ => false,
    }
}

fn points(tokens: &[Token], text: &str) -> Points {
    let pointers = resources::pointers(tokens);
    let lower = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    // "There are" is a place of nothing, and "all" and "each" tell of one kind.
    let there = (0..tokens.len()).any(|at| lower(at) == "there" && !listed("is are was were", lower(at + 1)));
    // "With that stop", but not "that I am late".
    let that = (0..tokens.len()).any(|at| {
        listed("that this those these", lower(at))
            && !listed("i we you he she it they there the a my our his her is are was", lower(at + 1))
            && tokens.get(at + 1).is_some_and(|next| !is_name(next, text))
    });
    let both = tokens.iter().any(|token| listed("both beide beides оба обе", &token.lower));
    match () {
        () if both => Points::All,
        () if pointers.pronoun || pointers.result || there || that => Points::Last,
        () => Points::Nowhere,
    }
}
