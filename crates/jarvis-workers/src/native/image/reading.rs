//! Whether a request is about the writing in a picture: to be read, or to be made.

use std::sync::LazyLock;

use jarvis_plan::{is_path, pattern};
use regex::Regex;

use super::super::words::COLOUR_NAMES;
use super::instruction::Crop;
use crate::native::words;

pub(super) fn named(name: &str) -> Regex {
    let row = words::row(include_str!("../../../data/image_reading.tsv"), name);
    pattern(&row.replace("COLOUR", COLOUR_NAMES.as_str()))
}

// A test runs both.
static READ: LazyLock<Regex> = LazyLock::new(|| named("READ"));
static DESCRIBE: LazyLock<Regex> = LazyLock::new(|| named("DESCRIBE"));

static ALL: LazyLock<Regex> = LazyLock::new(|| named("ALL"));
static COMPARE: LazyLock<Regex> = LazyLock::new(|| named("COMPARE"));
static CARD: LazyLock<Regex> = LazyLock::new(|| named("CARD"));
static TEXT_FILE: LazyLock<Regex> = LazyLock::new(|| named("TEXT_FILE"));
static ANY: LazyLock<Regex> = LazyLock::new(|| named("ANY"));
static SHOWN: LazyLock<Regex> = LazyLock::new(|| named("SHOWN"));
static CARD_SAYS: LazyLock<Regex> = LazyLock::new(|| named("CARD_SAYS"));
static CARD_LOOK: LazyLock<Regex> = LazyLock::new(|| named("CARD_LOOK"));
static OCR: LazyLock<Regex> = LazyLock::new(|| named("OCR"));
static RESTRICT: LazyLock<Regex> = LazyLock::new(|| named("RESTRICT"));
static ONLY_WRITING: LazyLock<Regex> = LazyLock::new(|| named("ONLY_WRITING"));
static NUMBER_ONLY: LazyLock<Regex> = LazyLock::new(|| named("NUMBER_ONLY"));
static COST: LazyLock<Regex> = LazyLock::new(|| named("COST"));
static PRICE: LazyLock<Regex> = LazyLock::new(|| named("PRICE"));
static NUMERAL: LazyLock<Regex> = LazyLock::new(|| named("NUMERAL"));
static CODE: LazyLock<Regex> = LazyLock::new(|| named("CODE"));

/// The clauses of a request that ask for reading, with those that may say how.
fn clauses(plain: &str) -> impl Iterator<Item = &str> {
    let mut follows = false;
    plain.split([',', ';', '?', '!', '，', '；', '？', '。']).filter(move |clause| {
        follows = OCR.is_match(clause) || follows && RESTRICT.find(clause).is_some_and(|found| found.start() < 12);
        follows
    })
}

/// The part of the picture that is to be read.
pub(super) fn region(request: &str) -> Option<Crop> {
    let plain = plain(request);
    clauses(&plain).find_map(super::instruction::region)
}

/// What restricts the reading to something that it cannot tell apart.
pub(super) fn restriction(request: &str) -> Option<String> {
    let plain = plain(request);
    let parts = super::super::text::part::patterns();
    let found = clauses(&plain).find_map(|clause| {
        // "Only the right half", "only the first line": the part is taken.
        let taken = super::instruction::region(clause).is_some() || parts.iter().any(|part| part.is_match(clause));
        let rest = ONLY_WRITING.replace_all(clause, " ");
        let said = RESTRICT.find_iter(&rest).map(|found| found.as_str().trim());
        said.filter(|word| !(taken && ["only", "just the", "только", "лишь", "只读", "只念"].contains(word)))
            .map(str::to_owned)
            .next()
    });
    found.or_else(|| number_wanted(request).then(|| "only the number".to_owned()))
}

/// True when the number alone is the answer.
pub(super) fn number_wanted(request: &str) -> bool {
    NUMBER_ONLY.is_match(&plain(request))
}

/// True when the question is what the thing shown costs.
pub(super) fn cost_wanted(question: &str) -> bool {
    COST.is_match(&plain(question))
}

/// True when a code is to be read.
pub(super) fn is_code(request: &str) -> bool {
    CODE.is_match(&plain(request))
}

/// The numbers of a text, each once.
pub(super) fn numbers(text: &str) -> Vec<&str> {
    each(&NUMERAL, text)
}

/// The prices of a text, each once.
pub(super) fn prices(text: &str) -> Vec<&str> {
    each(&PRICE, text)
}

fn each<'a>(pattern: &Regex, text: &'a str) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for number in pattern.find_iter(text).map(|number| number.as_str().trim()) {
        if !found.contains(&number) {
            found.push(number);
        }
    }
    found
}

/// The text file that the writing is to be saved in.
pub(super) fn file_wanted(request: &str) -> Option<String> {
    let found = TEXT_FILE.captures(request)?;
    found.iter().skip(1).flatten().next().map(|name| name.as_str().to_owned())
}

/// True when the question is whether there is any writing.
pub(super) fn any_wanted(request: &str) -> bool {
    ANY.is_match(&plain(request))
}

/// True when the question is what a picture shows, which measures do not answer.
pub(super) fn asks_what_is_shown(request: &str) -> bool {
    SHOWN.is_match(&plain(request))
}

/// The words that a card is to bear: what the request quotes, or what follows "that says". A text that is not from the request (of
/// a file, of a task before) is drawn as it is; an order itself is no such text.
pub(super) fn card_words(request: &str, text: &str) -> Option<String> {
    let close = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (whole, part) = (close(request), close(text));
    if !whole.contains(&part) {
        return Some(text.to_owned());
    }
    if let Some(quoted) = super::instruction::quoted(&part).or_else(|| super::instruction::quoted(&whole)) {
        return Some(quoted);
    }
    let said = CARD_SAYS.captures(&whole).and_then(|found| found.iter().skip(1).flatten().next());
    let said =
        said.map(|said| CARD_LOOK.replace(said.as_str(), "").trim().trim_end_matches(['.', ',', ';']).to_owned());
    match said.filter(|said| !said.is_empty()) {
        // A planner may have cut it where another order begins.
        Some(said) if part.len() < said.len() && said.starts_with(&part) => Some(part),
        Some(said) => Some(said),
        None => (!card_wanted(&part)).then_some(part),
    }
}

pub(super) fn plain(request: &str) -> String {
    let words: Vec<&str> = request.split_whitespace().filter(|word| !is_path(word)).collect();
    words.join(" ").to_lowercase().replace('ё', "е").replace('’', "'").replace("whats ", "what's ")
}

/// True when a card with words on it is what was asked for.
pub(super) fn card_wanted(request: &str) -> bool {
    CARD.is_match(&plain(request))
}

/// True when all of the writing is asked for, not something that it says.
pub(super) fn all_wanted(question: &str) -> bool {
    ALL.is_match(&plain(question))
}

/// True when pictures are to be compared, which describing each is not.
pub(super) fn compares(request: &str) -> bool {
    COMPARE.is_match(&plain(request))
}

/// True when a description of the picture would be no answer.
pub(super) fn wanted(request: &str) -> bool {
    let plain = plain(request);
    READ.is_match(&plain) && !DESCRIBE.is_match(&plain)
}

#[cfg(test)]
mod tests;
