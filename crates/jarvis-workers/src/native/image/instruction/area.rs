//! A part of a picture that an order gives by the coordinates of two corners.

use super::{AREA, Crop, Op};

/// From the upper left corner, in pixels; the right and lower sides lie outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::native::image) struct Area {
    pub(in crate::native::image) left: u32,
    pub(in crate::native::image) top: u32,
    pub(in crate::native::image) right: u32,
    pub(in crate::native::image) bottom: u32,
}

/// Stands for the coordinates, whose comma would part a clause and whose numbers are no sizes.
pub(super) const MARK: char = '⟪';

/// The text with a mark for each area, and the areas.
pub(super) fn extract(text: &str) -> (String, Vec<Area>) {
    let mut areas = Vec::new();
    for found in AREA.captures_iter(text) {
        let number = |at: usize| found.get(at).and_then(|number| number.as_str().parse::<u32>().ok());
        if let (Some(x1), Some(y1), Some(x2), Some(y2)) = (number(1), number(2), number(3), number(4)) {
            areas.push(Area { left: x1.min(x2), top: y1.min(y2), right: x1.max(x2), bottom: y1.max(y2) });
        }
    }
    (AREA.replace_all(text, format!(" {MARK} ").as_str()).into_owned(), areas)
}

/// The operations of a clause, done to the area alone; `None` where one of them changes the whole picture.
pub(super) fn within(area: Area, ops: Vec<Op>, crops: bool) -> Option<Vec<Op>> {
    if crops {
        return Some(vec![Op::Crop(Crop::Area(area))]);
    }
    let local = ops.iter().all(|op| {
        matches!(
            op,
            Op::Grayscale
                | Op::Blur(_)
                | Op::Sharpen
                | Op::SharpenSlightly
                | Op::Invert
                | Op::Brightness(_)
                | Op::Contrast(_)
                | Op::Saturation(_)
                | Op::Sepia
                | Op::Warm
                | Op::Cool
                | Op::Pixelate
        )
    });
    (local && !ops.is_empty()).then(|| ops.into_iter().map(|op| Op::Within(area, Box::new(op))).collect())
}
