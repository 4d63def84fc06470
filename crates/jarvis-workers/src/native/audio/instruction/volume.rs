//! How much louder or quieter: the words of an order as a factor of the amplitude.

use regex::{Captures, Regex};

use super::{
    AS_LOUD, BY_HALF, DECIBELS, LOUDER, NOT_LOUDER, PERCENT, QUIETER, SET_VOLUME, TIMES, TO_SHARE, TWICE, group,
};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Change {
    None,
    /// A factor, and whether the order says how much.
    By(f32, bool),
    /// Louder and quieter at once, or one that is denied.
    Contradictory,
}

/// Louder, and quieter, where nothing says how much.
const LOUDER_USUALLY: f32 = 1.8;

/// The change that a text in lower case asks for. "Half as loud" is half the amplitude.
pub(super) fn change(text: &str) -> Change {
    if NOT_LOUDER.is_match(text) {
        return Change::Contradictory;
    }
    let (louder, quieter) = (LOUDER.is_match(text), QUIETER.is_match(text));
    let target = share(text).or_else(|| {
        let is_volume = louder || quieter || SET_VOLUME.is_match(text);
        let percent: f32 = group(&TO_SHARE.captures(text).filter(|_| is_volume)?)?.parse().ok()?;
        Some(percent / 100.0)
    });
    match (target, louder, quieter) {
        (Some(factor), true, _) if factor < 1.0 => Change::Contradictory,
        (Some(factor), _, true) if factor > 1.0 => Change::Contradictory,
        (Some(factor), ..) => Change::By(factor, true),
        (None, true, true) => Change::Contradictory,
        (None, true, false) => by(text, true),
        (None, false, true) => by(text, false),
        (None, false, false) => Change::None,
    }
}

/// The patterns that read an amount.
pub(super) fn amounts() -> [&'static Regex; 8] {
    [&AS_LOUD, &BY_HALF, &DECIBELS, &PERCENT, &TIMES, &TO_SHARE, &TWICE, &SET_VOLUME]
}

/// "Half as loud", "three times the volume".
fn share(text: &str) -> Option<f32> {
    let found = AS_LOUD.captures(text)?;
    let before = text.get(..found.get(0)?.start()).unwrap_or_default();
    // "Increase by 50% the volume" says how much more.
    if before.trim_end().ends_with("by") {
        return None;
    }
    let number =
        |found: &Captures<'_>, name: &str| -> Option<f32> { found.name(name)?.as_str().replace(',', ".").parse().ok() };
    let by_word = || match found.name("word").or(found.name("zh"))?.as_str() {
        "twice" | "double" => Some(2.0),
        "three times" => Some(3.0),
        word if word.ends_with("third") => Some(1.0 / 3.0),
        word if word.ends_with("quarter") => Some(0.25),
        _ => Some(0.5),
    };
    number(&found, "times").or_else(|| number(&found, "percent").map(|percent| percent / 100.0)).or_else(by_word)
}

/// A change by an amount in a direction that is said.
fn by(text: &str, louder: bool) -> Change {
    let number = |pattern: &Regex| pattern.captures(text).and_then(|found| group(&found)?.parse::<f32>().ok());
    let factor = match (number(&DECIBELS), number(&PERCENT), number(&TIMES)) {
        (Some(decibels), ..) => 10_f32.powf(decibels / 20.0),
        (_, Some(percent), _) if louder => 1.0 + percent / 100.0,
        (_, Some(percent), _) => return Change::By((1.0 - percent / 100.0).max(0.0), true),
        (_, _, Some(times)) if times >= 1.0 => times,
        _ if TWICE.is_match(text) => 2.0,
        _ if BY_HALF.is_match(text) && louder => 1.5,
        _ if BY_HALF.is_match(text) => 2.0,
        _ => return Change::By(if louder { LOUDER_USUALLY } else { 1.0 / LOUDER_USUALLY }, false),
    };
    Change::By(if louder { factor } else { 1.0 / factor }, true)
}
