//! To which size a picture is resized before a model: the rules of the image processors of transformers.

use std::cmp::Ordering;

/// How the size follows from the size of the picture. Sizes are in pixels and at least 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sizing {
    /// This width and height, whatever becomes of the proportions.
    Exact { width: usize, height: usize },
    /// The shorter side gets this length, the other follows.
    Shortest(usize),
    /// The shorter side gets a length, unless the longer would then exceed its own; then cut to a multiple (YOLOS: 16).
    Between { shortest: usize, longest: Option<usize>, multiple: usize },
    /// As large as fits into this width and height.
    Inside { width: usize, height: usize },
    /// Shrunk to this width and height, whichever side is longer (Donut). Smaller pictures stay.
    Thumbnail { width: usize, height: usize },
    /// About this width and height in multiples; with `keep_ratio` both sides are scaled by whichever factor changes less (DPT).
    Near { width: usize, height: usize, keep_ratio: bool, multiple: usize },
    /// Each side cut to a multiple (GLPN).
    Multiple(usize),
}

impl Sizing {
    /// The (width, height) for a picture of (width, height). Sides may come out as 0 or very large; callers bound them.
    pub(super) fn apply(self, (width, height): (usize, usize)) -> (usize, usize) {
        let (w, h) = (width as f64, height as f64);
        match self {
            Sizing::Exact { width, height } => (width, height),
            Sizing::Shortest(shortest) => {
                let longest = (shortest as f64 * w.max(h) / w.min(h)) as usize;
                if width <= height { (shortest, longest) } else { (longest, shortest) }
            }
            Sizing::Between { shortest, longest, multiple } => {
                let (width, height) = between((w, h), shortest, longest);
                (width - width % multiple, height - height % multiple)
            }
            Sizing::Inside { width, height } => {
                let scale = (width as f64 / w).min(height as f64 / h);
                ((w * scale) as usize, (h * scale) as usize)
            }
            Sizing::Thumbnail { width: most_wide, height: most_high } => {
                let (wide, high) = (width.min(most_wide), height.min(most_high));
                match height.cmp(&width) {
                    _ if (wide, high) == (width, height) => (width, height),
                    Ordering::Greater => ((w * high as f64 / h) as usize, high),
                    Ordering::Less => (wide, (h * wide as f64 / w) as usize),
                    Ordering::Equal => (wide, high),
                }
            }
            Sizing::Near { width, height, keep_ratio, multiple } => {
                let (mut across, mut down) = (width as f64 / w, height as f64 / h);
                if keep_ratio {
                    let least = if (1.0 - across).abs() < (1.0 - down).abs() { across } else { down };
                    (across, down) = (least, least);
                }
                let near = |length: f64| {
                    let steps = (length / multiple as f64).round_ties_even();
                    steps as usize * multiple
                };
                (near(across * w), near(down * h))
            }
            Sizing::Multiple(multiple) => (width - width % multiple, height - height % multiple),
        }
    }
}

/// DETR's rule, with its rounding: the length of the shorter side is rounded, that of the longer is cut.
fn between((w, h): (f64, f64), shortest: usize, longest: Option<usize>) -> (usize, usize) {
    let mut scale = shortest as f64;
    let mut short = shortest;
    if let Some(longest) = longest.map(|longest| longest as f64)
        && w.max(h) / w.min(h) * scale > longest
    {
        scale = longest * w.min(h) / w.max(h);
        short = scale.round_ties_even() as usize;
    }
    if w.min(h) as usize == short {
        return (w as usize, h as usize);
    }
    if w < h { (short, (scale * h / w) as usize) } else { ((scale * w / h) as usize, short) }
}
