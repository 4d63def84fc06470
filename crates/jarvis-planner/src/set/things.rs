//! Things that a request names side by side: "Adidas and Puma", "from Leeds to Seville", "33139 and 33140". What is done with one of them
//! is done with the other, by a call of its own where the tool takes one at a time.

use crate::clauses::{Clause, is_name};
use crate::data;
use crate::foreign;
use crate::resources::SpanKind;
use crate::thesaurus;
use crate::words::{self, Token, slice};

/// Things of one form, joined.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    /// The clause that names them.
    pub(crate) clause: usize,
    pub(crate) things: Vec<Thing>,
    /// "From X to Y": where something begins, and where it ends.
    pub(crate) is_way: bool,
    /// The same word leads each: "to Ann and to Tom".
    pub(crate) is_led: bool,
}

/// One of them, as it stands in the request from `from` to `to`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thing {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) text: String,
    pub(crate) form: Form,
}

/// What things look like; only what looks alike stands side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// Words with capitals.
    Name,
    /// With digits, or in capitals alone.
    Code,
    Span(SpanKind),
}

/// A text of fewer bytes may be a sentence that tells what the rest is about.
const SHORT: usize = 200;
/// So many things of one group are taken.
const MOST: usize = 32;
/// Digits alone are a code from so many on.
const CODE: usize = 5;

/// The groups of all clauses, in the order written. What is taken for text to work on may name things as well.
pub(crate) fn groups(clauses: &[Clause], request: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (at, clause) in clauses.iter().enumerate() {
        for text in clause.spans.iter().filter(|span| span.what == SpanKind::Payload && span.text.len() < SHORT) {
            let tokens = words::tokens(slice(request, text.start, text.end)).into_iter();
            let tokens =
                tokens.map(|token| Token { start: token.start + text.start, end: token.end + text.start, ..token });
            let told = Clause {
                start: text.start,
                end: text.end,
                tokens: tokens.collect(),
                spans: Vec::new(),
                ..clause.clone()
            };
            groups.extend(of_clause(at, &told, request));
        }
        groups.extend(of_clause(at, clause, request));
    }
    // Every noun has a capital there.
    if foreign::language(request) == Some("German") {
        groups.retain(|group| group.is_way || group.things.iter().all(|thing| thing.form != Form::Name));
    }
    groups
}

fn of_clause(at: usize, clause: &Clause, request: &str) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut open = Open::default();
    let mut close = |open: &mut Open| {
        let Open { things, is_joined, is_way, is_doubtful } = std::mem::take(open);
        let lead =
            |thing: &Thing| slice(request, clause.start, thing.from).split_whitespace().last().map(str::to_lowercase);
        let first = things.first().and_then(lead);
        let leads = |list: &data::WordSet| first.as_deref().is_some_and(|first| list.has(first));
        // "Between 100000 and 200000" is one range.
        let is_range = leads(&data::BETWEEN) && things.first().is_some_and(|thing| thing.form == Form::Code);
        if things.len() > 1 && is_joined && !is_doubtful && !is_range {
            let is_led = leads(&data::LEADS) && things.iter().all(|thing| lead(thing) == first);
            groups.push(Group { clause: at, things, is_way, is_led });
        }
    };
    for thing in things(clause, request) {
        let joint = open.things.last().filter(|last| last.form == thing.form).map(|last| {
            let first = open.things.first().map_or(last.from, |first| first.from);
            joint(clause, slice(request, last.to, thing.from), slice(request, clause.start, first))
        });
        match joint {
            Some(Joint::Word) if !open.is_way => open.is_joined = true,
            Some(Joint::Way) if open.things.len() == 1 => (open.is_joined, open.is_way) = (true, true),
            Some(Joint::Back) if open.things.len() == 1 => {
                (open.is_joined, open.is_way) = (true, true);
                open.things.insert(0, thing);
                continue;
            }
            Some(Joint::Comma) if open.is_joined => open.is_doubtful = true,
            Some(Joint::Comma) => {}
            _ => close(&mut open),
        }
        if open.things.len() < MOST {
            open.things.push(thing);
        }
    }
    close(&mut open);
    groups
}

/// Things that are read, of which more may come.
#[derive(Default)]
struct Open {
    things: Vec<Thing>,
    /// Whether the last two are joined by a word: "A, B" alone may be a town and its country.
    is_joined: bool,
    is_way: bool,
    /// "Oslo, Norway and Rome, Italy": which of them belong together is not told.
    is_doubtful: bool,
}

enum Joint {
    Word,
    Comma,
    /// "From X to Y".
    Way,
    /// "To Y from X".
    Back,
    None,
}

/// How two things are joined by what stands between them.
fn joint(clause: &Clause, between: &str, before: &str) -> Joint {
    let lower = between.to_lowercase();
    let bare = lower.trim_matches(|letter: char| "\"'“”«»„)(（）".contains(letter));
    let words: Vec<&str> = bare.split([' ', ',', '、', '，', '.', '\n']).filter(|word| !word.is_empty()).collect();
    let comma = bare.contains([',', '、', '，']);
    if bare.contains([';', '?', '!', ':']) || bare.contains(". ") || words.len() > 3 {
        return Joint::None;
    }
    let led = before.split_whitespace().last().map(str::to_lowercase).unwrap_or_default();
    match words.as_slice() {
        [] if comma => Joint::Comma,
        [to, rest @ ..] if data::TO.has(to) && data::FROM.has(&led) && !comma && are_leads(rest) => Joint::Way,
        [from, rest @ ..] if data::FROM.has(from) && data::TO.has(&led) && !comma && are_leads(rest) => Joint::Back,
        [and, rest @ ..] if data::JOINS_THINGS.has(and) && are_leads(rest) => Joint::Word,
        [with, rest @ ..]
            if data::WITH.has(with)
                && are_leads(rest)
                && clause.tokens.iter().any(|token| data::COMPARES.has(&token.lower)) =>
        {
            Joint::Word
        }
        _ => Joint::None,
    }
}

/// What stands between two things beside what joins them: "of Picardy and of the Veneto".
fn are_leads(words: &[&str]) -> bool {
    words.iter().all(|word| data::LEADS.has(word) || data::DETERMINERS.has(word))
}

/// All that a clause names, joined or not.
pub(crate) fn things(clause: &Clause, request: &str) -> Vec<Thing> {
    let mut found: Vec<Thing> = clause
        .spans
        .iter()
        .filter(|span| span.what != SpanKind::Payload)
        .map(|span| Thing { from: span.start, to: span.end, text: span.text.clone(), form: Form::Span(span.what) })
        .collect();
    let mut at = 0;
    while let Some(token) = clause.tokens.get(at) {
        let count = run(&clause.tokens, at, request);
        if let (1.., Some(last)) = (count, clause.tokens.get(at + count.max(1) - 1)) {
            let (from, to) = (token.start, last.end);
            let text = slice(request, from, to);
            if let Some(form) = form(text) {
                found.push(Thing { from, to, text: text.to_owned(), form });
            }
        }
        at += count.max(1);
    }
    found.sort_by_key(|thing| thing.from);
    found
}

/// How many tokens from this on are one name, code or number; none where it is a common word.
fn run(tokens: &[Token], from: usize, request: &str) -> usize {
    let says = |at: usize| {
        tokens.get(at).is_some_and(|token| {
            let digits = token.lower.bytes().any(|byte| byte.is_ascii_digit());
            let name = is_name(token, request)
                && !data::CALENDAR_NAMES.has(&token.lower)
                && !token.lower.starts_with("i'")
                && !token.lower.starts_with("i’");
            digits || name && !(opens(token, request) && is_common(token))
        })
    };
    let goes_on = |at: usize| match (tokens.get(at - 1), tokens.get(at)) {
        (Some(before), Some(token)) => {
            let (one, two) = (slice(request, before.start, before.end), slice(request, token.start, token.end));
            let gap = slice(request, before.end, token.start);
            // "4 CV 1187", but neither "Puma 2023" nor "the IPs 45.33.32.156".
            let is_apart = gap == " " && is_number(one) != is_number(two) && !(is_capital(one) || is_capital(two));
            matches!(gap, " " | "-" | "'" | "’" | "." | "/") && !is_apart
        }
        _ => false,
    };
    let mut to = from;
    while says(to) && (to == from || goes_on(to)) {
        to += 1;
    }
    to - from
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b':'))
}

/// Whether a word is of capitals alone.
fn is_capital(word: &str) -> bool {
    word.chars().all(char::is_uppercase)
}

/// Whether a word begins a sentence, where every word has a capital.
fn opens(token: &Token, request: &str) -> bool {
    let before = slice(request, 0, token.start).trim_end();
    before.chars().next_back().is_none_or(|letter| ".?!:…\"“".contains(letter))
}

fn is_common(token: &Token) -> bool {
    data::STOP_WORDS.has(&token.lower)
        || data::FUNCTION_WORDS.has(&token.lower)
        || data::POLITE.has(&token.stem)
        || !thesaurus::of_token(token).is_empty()
        || crate::meaning::is_word(&token.lower)
}

/// What a word looks like; `None` for a number, which is one of something.
fn form(text: &str) -> Option<Form> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
    match (digits, letters) {
        (0, 0) => None,
        (0, _) if letters > 1 && text.chars().all(|letter| !letter.is_lowercase()) => Some(Form::Code),
        (0, _) => Some(Form::Name),
        (_, 0) if digits >= CODE && !text.contains([',', ' ', '-', ':', '/']) => Some(Form::Code),
        (_, 0) => None,
        (_, _) if text.contains(' ') => Some(Form::Name),
        (_, _) => Some(Form::Code),
    }
}

#[cfg(test)]
mod tests {
    use jarvis_plan::{Request, Tool};

    use super::groups;
    use crate::clauses;
    use crate::retrieval::ToolIndex;

    /// Groups as "A | B", with `->` for a way.
    fn found(request: &str) -> Vec<String> {
        let index = ToolIndex::new(&[Tool::typed("search", "Searches", &[], &[])]);
        let request = Request::new(request);
        let reading = clauses::read(&request.text, &[], &index);
        let written = |group: super::Group| {
            let things: Vec<&str> = group.things.iter().map(|thing| thing.text.as_str()).collect();
            things.join(if group.is_way { " -> " } else { " | " })
        };
        groups(&reading.clauses, &request.text).into_iter().map(written).collect()
    }

    #[test]
    fn what_stands_side_by_side() {
        let cases: &[(&str, &[&str])] = &[
            ("Find Adidas and Puma", &["Adidas | Puma"]),
            ("My investment club is comparing Adidas and Puma.", &["Adidas | Puma"]),
            ("Wheat yields of Picardy and of Bavaria in 2021", &["Picardy | Bavaria"]),
            ("Trends for 33139 and 33140", &["33139 | 33140"]),
            ("Drive from Munich to Verona next Saturday", &["Munich -> Verona"]),
            ("Flights to Verona from Munich", &["Munich -> Verona"]),
            ("The weather in Munich, Germany", &[]),
            ("Quotes for AAPL, MSFT and NVDA", &["AAPL | MSFT | NVDA"]),
            ("Pay 50 euros and 30 euros", &[]),
            ("A table for 2 and a taxi at 9", &[]),
            ("Look up \"Teardrop\" and \"Porcelain\"", &["Teardrop | Porcelain"]),
            ("Find Oslo and then book a hotel", &[]),
            ("Search and Rescue", &[]),
            ("Compare Picardy with Bavaria", &["Picardy | Bavaria"]),
            ("Go to Picardy with Anna", &[]),
            ("Check the IPs 45.33.32.156 and 103.21.244.9 for threats", &["45.33.32.156 | 103.21.244.9"]),
            ("Send the address to Julien and to Amélie, each in a message.", &["Julien | Amélie"]),
            ("Convert it to Europe/Helsinki and to Australia/Sydney", &["Europe/Helsinki | Australia/Sydney"]),
            ("The rulings 4 CV 1187 and 2 CR 305", &["4 CV 1187 | 2 CR 305"]),
            ("Open from 2025-04-01 to 2025-04-30", &[]),
            ("Fares from Leeds to York and Hull", &["Leeds -> York"]),
            ("Income of Adidas and Puma 2023", &["Adidas | Puma"]),
            ("The weather in Oslo, Norway and Rome, Italy", &[]),
            (
                "Weather of Oslo, Rome, Graz, Linz, Bonn, Turin and Lyon",
                &["Oslo | Rome | Graz | Linz | Bonn | Turin | Lyon"],
            ),
            ("Flats in Graz between 100000 and 200000 euros", &[]),
            ("Ich suche für mich und meine Frau Hotels und Restaurants in Graz", &[]),
        ];
        for (request, want) in cases {
            assert_eq!(found(request), *want, "{request}");
        }
    }
}
