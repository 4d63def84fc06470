//! Words that are to be written on a picture. They are taken out of the instruction first, in their own letter case, so that
//! nothing in them is read as an instruction.

use std::sync::LazyLock;

use regex::Regex;

use super::{BOTTOM, CENTRE, LABEL, LEFT, Label, Place, RIGHT, TOP, WATERMARK, named};
use crate::native::words::Colour;

// A test of the instructions runs each.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| named("QUOTED"));
static UNQUOTED: LazyLock<Regex> = LazyLock::new(|| named("UNQUOTED"));
static NO_LABEL: LazyLock<Regex> = LazyLock::new(|| named("NO_LABEL"));
static PUT_ON: LazyLock<Regex> = LazyLock::new(|| named("PUT_ON"));
static SHOWN: LazyLock<Regex> = LazyLock::new(|| named("LABEL_SHOWN"));
static MARK: LazyLock<Regex> = LazyLock::new(|| named("LABEL_MARK"));

/// The first words of a text in quotation marks.
pub(in crate::native::image) fn quoted(text: &str) -> Option<String> {
    let found = QUOTED.captures(text)?;
    let words = found.iter().skip(1).flatten().next()?.as_str().trim();
    (!words.is_empty()).then(|| words.to_owned())
}

/// The instruction with `⟦0⟧`, `⟦1⟧` … for words that are to be written, and those words.
pub(super) fn extract(text: &str) -> (String, Vec<String>) {
    let mut labels = Vec::new();
    let quoted = QUOTED.captures_iter(text).filter_map(|found| found.iter().skip(1).flatten().next());
    let mut places: Vec<regex::Match<'_>> = quoted
        .filter(|words| text.get(..words.start()).is_some_and(|before| LABEL.is_match(&before.to_lowercase())))
        .collect();
    if places.is_empty() {
        let unquoted = UNQUOTED.captures(text).and_then(|found| found.iter().skip(1).flatten().next());
        places.extend(unquoted.filter(|words| !NO_LABEL.is_match(words.as_str())));
    }
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for words in places {
        kept.push_str(text.get(at..words.start()).unwrap_or_default());
        kept.push_str(&format!(" ⟦{}⟧ ", labels.len()));
        labels.push(words.as_str().trim().to_owned());
        at = words.end();
    }
    kept.push_str(text.get(at..).unwrap_or_default());
    (kept, labels)
}

/// The clause with its words in their places.
pub(super) fn shown(clause: &str, labels: &[String]) -> String {
    let words = |found: &regex::Captures<'_>| {
        let nth: Option<usize> = found.get(1).and_then(|nth| nth.as_str().parse().ok());
        nth.and_then(|nth| labels.get(nth)).map_or_else(String::new, |words| format!("\"{words}\""))
    };
    SHOWN.replace_all(clause, words).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a clause wants to be written, and where.
pub(super) fn read(clause: &str, labels: &[String]) -> Option<Label> {
    let nth: usize = MARK.captures(clause)?.get(1)?.as_str().parse().ok()?;
    let text = labels.get(nth)?.clone();
    let mark = WATERMARK.is_match(clause);
    let clause = PUT_ON.replace_all(clause, " ");
    let clause = clause.as_ref();
    let side = |low: &Regex, high: &Regex| match (low.is_match(clause), high.is_match(clause)) {
        (true, false) => -1,
        (false, true) => 1,
        (true, true) | (false, false) => 0,
    };
    let place = match (Place(side(&LEFT, &RIGHT), side(&TOP, &BOTTOM)), CENTRE.is_match(clause)) {
        (Place(0, 0), false) => Place(if mark { 1 } else { 0 }, 1),
        (place, _) => place,
    };
    Some(Label { text, place, colour: Colour::named(clause).map(Colour::rgb), mark })
}
