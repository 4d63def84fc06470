//! How the pictures of a collage are to stand, and what lies between them.

use regex::Regex;

use super::clause::{first, pair};
use super::{GAP, GRID_SIZE, IN_COLUMN, IN_COLUMN_PLAINLY, IN_GRID, IN_ROW, NO_GAP, PIXELS, SAVE_AS, TITLE_ABOVE};
use crate::native::image::compose::{Gap, Layout};
use crate::native::words::Colour;

/// What is read of how a collage is to be, for what of its order is not.
pub(in crate::native::image) fn collage_patterns() -> [&'static Regex; 5] {
    [&IN_COLUMN_PLAINLY, &IN_COLUMN, &IN_ROW, &IN_GRID, &SAVE_AS]
}

/// How the pictures of a collage are to stand; two stand side by side unless something else is said.
pub(in crate::native::image) fn layout(text: &str, count: usize) -> Layout {
    let plain = text.to_lowercase();
    // A title above them is no way to stand.
    let plain = TITLE_ABOVE.replace_all(&plain, " ");
    match () {
        () if IN_COLUMN_PLAINLY.is_match(&plain) => Layout::Column,
        () if IN_ROW.is_match(&plain) => Layout::Row,
        () if IN_COLUMN.is_match(&plain) => Layout::Column,
        () if IN_GRID.is_match(&plain) || count > 2 => Layout::Grid,
        () => Layout::Row,
    }
}

/// Columns and rows of a grid ("2x2"), and the pattern that read them.
pub(in crate::native::image) fn grid(text: &str) -> Option<((u32, u32), &'static Regex)> {
    Some((pair(&GRID_SIZE, &text.to_lowercase())?, &*GRID_SIZE))
}

/// The gap that an order asks for in pixels, and the patterns that read it. A colour alone keeps the usual width.
pub(in crate::native::image) fn gap(text: &str) -> Option<(Gap, Vec<&'static Regex>)> {
    let plain = text.to_lowercase().replace('ё', "е");
    if NO_GAP.is_match(&plain) {
        return Some((Gap { pixels: 0, ..Gap::default() }, vec![&NO_GAP]));
    }
    let said = GAP.find(&plain)?.as_str();
    let pixels = first::<f32>(&PIXELS, said).map(|pixels| pixels as u32);
    let colour = Colour::named(said).map(Colour::rgb);
    let usual = Gap::default();
    let gap = Gap { pixels: pixels.unwrap_or(usual.pixels), colour: colour.unwrap_or(usual.colour) };
    (pixels.is_some() || colour.is_some()).then(|| (gap, vec![&*GAP]))
}

/// Whether a request is about the space between pictures.
pub(in crate::native::image) fn is_about_gaps(text: &str) -> bool {
    let plain = text.to_lowercase().replace('ё', "е");
    GAP.is_match(&plain) || NO_GAP.is_match(&plain)
}
