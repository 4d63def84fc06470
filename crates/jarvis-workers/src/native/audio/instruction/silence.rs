//! Silence that an order wants taken away at the ends of a sound, or put between sounds that are joined.

use std::ops::Range;

use super::{AT_END, AT_START, EVERYWHERE, PAUSE_BETWEEN, TRIM_SILENCE, group, seconds};

/// The ends whose silence goes, start and end, and the words that say so. Nothing where no end is named: the pauses inside stay.
pub(super) fn trimmed(text: &str) -> Option<((bool, bool), Range<usize>)> {
    let found = TRIM_SILENCE.find(text)?;
    let said = found.as_str();
    let ends = (AT_START.is_match(said), AT_END.is_match(said));
    ((ends.0 || ends.1) && !EVERYWHERE.is_match(said)).then(|| (ends, found.range()))
}

/// The seconds of silence between sounds that are joined.
pub(super) fn between(text: &str) -> Option<f64> {
    let text = text.replace("-second", " second").replace("-minute", " minute");
    seconds(&group(&PAUSE_BETWEEN.captures(&text)?)?)
}
