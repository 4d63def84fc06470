//! Sizes and parts: what a resize or a crop is to give.

use regex::Regex;

use super::clause::{first, pair};
use super::{
    BOTTOM, BY, BY_WORD, CENTRE, Crop, EACH_SIDE, FOUR, HALF, HEIGHT_FIRST, HEIGHT_LAST, LARGER, LEFT, NUMBER, OFF,
    PART_OF, PERCENT, PIXELS, Place, QUARTER, QUARTER_SIZE, RATIO, RIGHT, SIZED, SMALLER, SQUARE, Size, THIRD,
    THIRD_SIZE, THREE, THUMBNAIL, TIMES, TO, TO_NUMBER, TOP, TWO, WIDTH_FIRST, WIDTH_LAST, ZERO_SIZE,
};

/// The size that a clause asks for.
pub(super) fn resize(clause: &str) -> Option<Size> {
    if ZERO_SIZE.is_match(clause) {
        return None;
    }
    if let Some((width, height)) = pair(&SIZED, clause).or_else(|| pair(&BY, clause)) {
        return Some(Size::Exact(width, height));
    }
    let (smaller, larger) = (SMALLER.is_match(clause), LARGER.is_match(clause));
    if let Some(percent) = first::<f32>(&PERCENT, clause) {
        let share = percent / 100.0;
        let (to, by) = (TO.is_match(clause), BY_WORD.is_match(clause));
        let factor = match (smaller, larger) {
            (true, _) if !to && share < 1.0 => 1.0 - share,
            (false, true) if !to && (by || share < 1.0) => 1.0 + share,
            _ => share,
        };
        return (factor > 0.0).then_some(Size::Factor(factor));
    }
    let width: Option<u32> = first(&WIDTH_LAST, clause).or_else(|| first(&WIDTH_FIRST, clause));
    let height: Option<u32> = first(&HEIGHT_LAST, clause).or_else(|| first(&HEIGHT_FIRST, clause));
    match (width.filter(|side| *side > 0), height.filter(|side| *side > 0)) {
        (Some(width), Some(height)) => return Some(Size::Exact(width, height)),
        (Some(width), None) => return Some(Size::Width(width)),
        (None, Some(height)) => return Some(Size::Height(height)),
        (None, None) => {}
    }
    let times = match () {
        () if FOUR.is_match(clause) => Some(4.0),
        () if THREE.is_match(clause) => Some(3.0),
        () if TWO.is_match(clause) => Some(2.0),
        () => first::<f32>(&TIMES, clause),
    };
    if let Some(times) = times.filter(|times| *times > 0.0) {
        return Some(Size::Factor(if smaller { 1.0 / times } else { times }));
    }
    if THIRD_SIZE.is_match(clause) {
        return Some(Size::Factor(1.0 / 3.0));
    }
    if QUARTER_SIZE.is_match(clause) {
        return Some(Size::Factor(0.25));
    }
    if HALF.is_match(clause) {
        return Some(Size::Factor(if larger && !smaller { 1.5 } else { 0.5 }));
    }
    if let Some(side) = first::<f32>(&PIXELS, clause).or_else(|| first(&TO_NUMBER, clause)).filter(|side| *side >= 1.0)
    {
        return Some(Size::Longest(side as u32));
    }
    match () {
        () if THUMBNAIL.is_match(clause) => Some(Size::Longest(256)),
        () if smaller => Some(Size::Factor(0.5)),
        () if larger => Some(Size::Factor(2.0)),
        () => None,
    }
}

/// Whether a clause asks for another size without saying which.
pub(super) fn is_vague(clause: &str) -> bool {
    let said = [&HALF, &TWO, &THREE, &FOUR, &THIRD_SIZE, &QUARTER_SIZE, &THUMBNAIL, &NUMBER];
    !said.iter().any(|pattern| pattern.is_match(clause))
}

/// The part of a picture that a question is about: "on the right half".
pub(in crate::native::image) fn region(question: &str) -> Option<Crop> {
    let lower = question.to_lowercase().replace('ё', "е");
    crop(PART_OF.find(&lower)?.as_str())
}

/// The side or corner that a text in lower case names.
pub(in crate::native::image) fn place(text: &str) -> Place {
    let side = |low: &Regex, high: &Regex| match (low.is_match(text), high.is_match(text)) {
        (true, false) => -1,
        (false, true) => 1,
        (true, true) | (false, false) => 0,
    };
    Place(side(&LEFT, &RIGHT), side(&TOP, &BOTTOM))
}

/// The part that a clause wants kept.
pub(super) fn crop(clause: &str) -> Option<Crop> {
    let place = place(clause);
    if ZERO_SIZE.is_match(clause) {
        return None;
    }
    if let Some((width, height)) = pair(&SIZED, clause).or_else(|| pair(&BY, clause)) {
        return Some(Crop::Exact(width, height, place));
    }
    if let Some((width, height)) = pair(&RATIO, clause) {
        return Some(Crop::Ratio(width, height, place));
    }
    if SQUARE.is_match(clause) {
        return Some(Crop::Square(place));
    }
    if let Some(percent) = first::<f32>(&PERCENT, clause).filter(|percent| *percent > 0.0 && *percent < 100.0) {
        let share = percent / 100.0;
        if EACH_SIDE.is_match(clause) {
            return (share < 0.5).then_some(Crop::Margins(share));
        }
        let off = OFF.is_match(clause);
        return Some(match place {
            Place(0, 0) => Crop::Share(share, share, place),
            // What is cut off one side leaves the other.
            Place(x, 0) if off => Crop::Share(1.0 - share, 1.0, Place(-x, 0)),
            Place(0, y) if off => Crop::Share(1.0, 1.0 - share, Place(0, -y)),
            Place(_, 0) => Crop::Share(share, 1.0, place),
            Place(0, _) => Crop::Share(1.0, share, place),
            Place(..) => Crop::Share(share, share, place),
        });
    }
    if let Some(pixels) = first::<f32>(&PIXELS, clause)
        && place != Place(0, 0)
        && OFF.is_match(clause)
    {
        return Some(Crop::Trim(pixels as u32, place));
    }
    let share = if THIRD.is_match(clause) { 1.0 / 3.0 } else { 0.5 };
    match place {
        Place(0, 0) if CENTRE.is_match(clause) => Some(Crop::Share(share, share, place)),
        Place(0, 0) => None,
        Place(_, 0) => Some(Crop::Share(if QUARTER.is_match(clause) { 0.25 } else { share }, 1.0, place)),
        Place(0, _) => Some(Crop::Share(1.0, if QUARTER.is_match(clause) { 0.25 } else { share }, place)),
        Place(..) => Some(Crop::Share(share, share, place)),
    }
}
