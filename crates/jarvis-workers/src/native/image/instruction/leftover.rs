//! What a clause says beside the edits that are read out of it.

use regex::Regex;

use super::{
    AROUND, BLUR, BORDER, BOTTOM, BRIGHTER, BY, BY_NUMBER, CENTRE, COMPRESS, CONTRAST, COOL, COUNTER, CROP, DARKER,
    DEGREES, EACH_SIDE, EDGES, EMPTY_SIDES, EXACTLY, FILE_SIZE, FLIP, FORMAT, FOUR, FREE_RATIO, GRAY, HALF,
    HEIGHT_FIRST, HEIGHT_LAST, HORIZONTAL, INVERT, KEEP_RATIO, LABEL, LARGER, LEFT, LESS, MAKE_SQUARE, METADATA,
    NAMED_THING, NEGATION, NUMBER, PERCENT, PIXELATE, PIXELS, QUALITY, QUARTER, QUARTER_SIZE, RATIO, READ_TOO, RESIZE,
    RIGHT, ROTATE, SATURATION, SAVE_AS, SEPIA, SHARPEN, SIZED, SKETCH, SLIGHT, SMALLER, SQUARE, STRONG, THICK, THIN,
    THIRD, THIRD_SIZE, THREE, THUMBNAIL, TIMES, TO_NUMBER, TOP, TWO, UNBLUR, UPRIGHT, VERTICAL, WARM, WATERMARK,
    WIDTH_FIRST, WIDTH_LAST, WITHOUT,
};
use crate::native::unread::rest;
use crate::native::words::COLOUR_NAMES;

/// "Grey without touching the roof": something is to be left as it is that no edit knows.
pub(super) fn leaves_alone(clause: &str) -> bool {
    !KEEP_RATIO.is_match(clause) && WITHOUT.find(clause).and_then(|not| clause.get(not.end()..)).is_some_and(says_more)
}

/// Whether something that no edit knows is not to be done: "not the house".
pub(super) fn unread_negation(clause: &str) -> bool {
    let behind = NEGATION.find(clause).and_then(|not| clause.get(not.end()..)).unwrap_or_default();
    !KEEP_RATIO.is_match(clause) && NAMED_THING.is_match(behind) && says_more(behind)
}

/// Whether a clause that only names a file or a format says something else in numbers: "as jpg with 72 dpi".
pub(super) fn says_more_than_a_format(clause: &str) -> bool {
    let rest = SAVE_AS.replace_all(clause, " ");
    let rest = QUALITY.replace_all(&rest, " ");
    NUMBER.is_match(&FORMAT.replace_all(&rest, " "))
}

/// Whether a clause says more than its edits read: "grey except the roof".
pub(super) fn says_more(clause: &str) -> bool {
    let read: &[&Regex] = &[
        &COLOUR_NAMES,
        &READ_TOO,
        &CROP,
        &ROTATE,
        &FLIP,
        &GRAY,
        &UNBLUR,
        &BLUR,
        &SHARPEN,
        &INVERT,
        &DARKER,
        &BRIGHTER,
        &CONTRAST,
        &SATURATION,
        &EDGES,
        &SKETCH,
        &SEPIA,
        &WARM,
        &COOL,
        &PIXELATE,
        &FORMAT,
        &FILE_SIZE,
        &COMPRESS,
        &METADATA,
        &QUALITY,
        &MAKE_SQUARE,
        &SAVE_AS,
        &SIZED,
        &BY,
        &RATIO,
        &PERCENT,
        &BY_NUMBER,
        &THIRD_SIZE,
        &QUARTER_SIZE,
        &TIMES,
        &DEGREES,
        &PIXELS,
        &TO_NUMBER,
        &WIDTH_FIRST,
        &WIDTH_LAST,
        &HEIGHT_FIRST,
        &HEIGHT_LAST,
        &NUMBER,
        &SMALLER,
        &LARGER,
        &HALF,
        &TWO,
        &THREE,
        &FOUR,
        &THUMBNAIL,
        &LESS,
        &SLIGHT,
        &STRONG,
        &VERTICAL,
        &HORIZONTAL,
        &COUNTER,
        &AROUND,
        &SQUARE,
        &CENTRE,
        &LEFT,
        &RIGHT,
        &TOP,
        &BOTTOM,
        &THIRD,
        &QUARTER,
        &EACH_SIDE,
        &RESIZE,
        &LABEL,
        &WATERMARK,
        &BORDER,
        &THICK,
        &THIN,
        &FREE_RATIO,
        &UPRIGHT,
        &EMPTY_SIDES,
    ];
    let clause = &*if SIZED.is_match(clause) { EXACTLY.replace_all(clause, " ") } else { clause.into() };
    rest(clause, &KEEP_RATIO, read).is_some()
}
