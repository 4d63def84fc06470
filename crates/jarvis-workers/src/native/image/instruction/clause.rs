//! What one clause of an editing instruction asks for.

use regex::Regex;

use super::extent::{crop, resize};
use super::{
    AROUND, BLUR, BORDER, BRIGHTER, BY_NUMBER, CONTRAST, COOL, COUNTER, CROP, Crop, DARKER, DEGREES, EDGES,
    EMPTY_SIDES, Empty, FLIP, GRAY, HALF, HORIZONTAL, INVERT, LESS, MAKE_SQUARE, METADATA, NUMBER, OF_EDGES, Op,
    PERCENT, PIXELATE, PIXELS, Place, RATIO, RESIZE, ROTATE, SATURATION, SEPIA, SHARPEN, SIZE_NOUN, SIZED, SKETCH,
    SLIGHT, STRONG, THICK, THIN, TRANSPARENT, TWO, Thickness, UNBLUR, UPRIGHT, VERTICAL, WARM,
};
use crate::native::words::Colour;

/// The operations of one clause, in the order their words stand.
pub(super) fn clause_ops(clause: &str) -> Vec<Op> {
    let at = |pattern: &Regex| pattern.find(clause).map(|found| found.start());
    let mut ops: Vec<(usize, Op)> = Vec::new();
    let mut add = |place: Option<usize>, op: Option<Op>| {
        if let (Some(place), Some(op)) = (place, op) {
            ops.push((place, op));
        }
    };
    let upside_down = at(&FLIP).is_some() && AROUND.is_match(clause) && at(&ROTATE).is_some();
    if METADATA.is_match(clause) {
        return vec![Op::StripMetadata];
    }
    if EMPTY_SIDES.is_match(clause) {
        return vec![Op::Crop(Crop::Content(empty(clause)))];
    }
    let turns = at(&ROTATE).filter(|_| !UPRIGHT.is_match(clause) || DEGREES.is_match(clause));
    add(at(&UPRIGHT).filter(|_| turns.is_none()), Some(Op::Upright));
    add(turns, Some(Op::Rotate(rotation(clause))));
    if !upside_down {
        add(at(&FLIP), Some(flip(clause)));
    }
    add(at(&GRAY), Some(Op::Grayscale));
    match at(&UNBLUR) {
        Some(place) => add(Some(place), Some(Op::Sharpen)),
        None => {
            add(at(&BLUR), Some(Op::Blur(blur(clause))));
            let sharpen = if SLIGHT.is_match(clause) { Op::SharpenSlightly } else { Op::Sharpen };
            add(at(&SHARPEN), Some(sharpen));
        }
    }
    add(at(&INVERT), Some(Op::Invert));
    // "Half as bright" is less by a half, "twice as bright" more by the whole, where no size is spoken of.
    let times = !SIZED.is_match(clause) && !SIZE_NOUN.is_match(clause) && !PERCENT.is_match(clause);
    let (sign, amount) = match (LESS.is_match(clause), times && HALF.is_match(clause), times && TWO.is_match(clause)) {
        (_, true, _) => (-1.0, 50.0),
        (false, _, true) => (1.0, 100.0),
        (true, _, _) => (-1.0, amount(clause)),
        (false, _, _) => (1.0, amount(clause)),
    };
    match (at(&BRIGHTER), at(&DARKER)) {
        // "насыщенность ярче" and the like stay two operations; "dark" beside "bright" is a contradiction.
        (Some(place), None) => add(Some(place), Some(Op::Brightness(sign * amount))),
        (None, Some(place)) => add(Some(place), Some(Op::Brightness(-sign * amount))),
        (Some(_), Some(_)) | (None, None) => {}
    }
    add(at(&CONTRAST), Some(Op::Contrast(sign * amount)));
    add(at(&SATURATION), Some(Op::Saturation(sign * amount)));
    // "Invert the edges": they are what is inverted, not another order.
    let named = OF_EDGES.is_match(clause);
    add(at(&EDGES).filter(|_| at(&CROP).is_none() && !named), Some(Op::Edges));
    add(at(&SKETCH), Some(Op::Sketch));
    add(at(&SEPIA), Some(Op::Sepia));
    add(at(&WARM), Some(Op::Warm));
    add(at(&COOL), Some(Op::Cool));
    add(at(&PIXELATE), Some(Op::Pixelate));
    if at(&CROP).is_none()
        && let Some(place) = at(&BORDER)
    {
        add(Some(place), Some(border(clause)));
        ops.sort_by_key(|(place, _)| *place);
        return ops.into_iter().map(|(_, op)| op).collect();
    }
    if let Some(place) = at(&MAKE_SQUARE)
        && at(&CROP).is_none()
    {
        let wanted =
            pair(&RATIO, clause).map_or(Crop::Square(Place(0, 0)), |(wide, high)| Crop::Ratio(wide, high, Place(0, 0)));
        add(Some(place), Some(Op::Crop(wanted)));
        return ops.into_iter().map(|(_, op)| op).collect();
    }
    match at(&CROP) {
        Some(place) => add(Some(place), crop(clause).map(Op::Crop)),
        None => {
            // In "increase the brightness by 20%" the number is not a size.
            let tone = [&BRIGHTER, &DARKER, &CONTRAST, &SATURATION, &SHARPEN, &BLUR, &UNBLUR, &PIXELATE];
            let sized = SIZED.is_match(clause) || HALF.is_match(clause) && SIZE_NOUN.is_match(clause);
            if sized || !tone.iter().any(|pattern| pattern.is_match(clause)) {
                add(at(&RESIZE), resize(clause).map(Op::Resize));
            }
        }
    }
    ops.sort_by_key(|(place, _)| *place);
    ops.into_iter().map(|(_, op)| op).collect()
}

/// What the empty space is said to consist of.
fn empty(clause: &str) -> Empty {
    let said = EMPTY_SIDES.find(clause).map_or(clause, |found| found.as_str());
    match Colour::named(said) {
        _ if TRANSPARENT.is_match(said) => Empty::Transparent,
        Some(colour) => Empty::Colour(colour.rgb()),
        None => Empty::Any,
    }
}

/// Bytes of a file as people count them: `50 KB`, `1.5 МБ`.
pub(super) fn bytes(found: &regex::Captures<'_>) -> Option<u64> {
    let number: f64 = found.get(1)?.as_str().replace(',', ".").parse().ok()?;
    let mega = found.get(2)?.as_str().starts_with(['m', 'м', '兆']);
    let bytes = number * if mega { 1_000_000.0 } else { 1000.0 };
    (bytes >= 1.0).then_some(bytes as u64)
}

fn border(clause: &str) -> Op {
    let thickness = match () {
        () if PIXELS.is_match(clause) => first::<f32>(&PIXELS, clause).map(|pixels| Thickness::Pixels(pixels as u32)),
        () if PERCENT.is_match(clause) => {
            first::<f32>(&PERCENT, clause).map(|percent| Thickness::Share(percent / 100.0))
        }
        () if THICK.is_match(clause) => Some(Thickness::Share(0.06)),
        () if THIN.is_match(clause) => Some(Thickness::Share(0.01)),
        () => None,
    };
    let colour = Colour::named(clause).map_or([0; 3], Colour::rgb);
    Op::Border(thickness.unwrap_or(Thickness::Share(0.03)), colour)
}

pub(super) fn first<T: std::str::FromStr>(pattern: &Regex, clause: &str) -> Option<T> {
    let found = pattern.captures(clause)?;
    let group = found.iter().skip(1).flatten().next().or_else(|| found.get(0))?;
    group.as_str().parse().ok()
}

pub(super) fn pair(pattern: &Regex, clause: &str) -> Option<(u32, u32)> {
    let found = pattern.captures(clause)?;
    let number = |group: usize| found.get(group)?.as_str().parse().ok().filter(|number| *number > 0);
    Some((number(1)?, number(2)?))
}

fn rotation(clause: &str) -> f32 {
    let degrees = first(&DEGREES, clause).or_else(|| {
        // A bare number, unless it belongs to a size.
        let rest = SIZED.replace_all(clause, "");
        let rest = PERCENT.replace_all(&rest, "");
        first(&NUMBER, &PIXELS.replace_all(&rest, ""))
    });
    let degrees: f32 = degrees.unwrap_or(if AROUND.is_match(clause) { 180.0 } else { 90.0 });
    if COUNTER.is_match(clause) { -degrees } else { degrees }
}

fn flip(clause: &str) -> Op {
    // "Turn it upside down" is no mirror image.
    let turned = clause.contains("upside") || clause.contains("вверх ногами");
    let mirrored = ["flip", "mirror", "отраз", "отраж", "зеркал", "vertical", "вертикал"];
    if turned && !mirrored.iter().any(|word| clause.contains(word)) {
        return Op::Rotate(180.0);
    }
    if HORIZONTAL.is_match(clause) {
        Op::FlipHorizontal
    } else if VERTICAL.is_match(clause) {
        Op::FlipVertical
    } else if clause.contains("перевер") {
        Op::Rotate(180.0)
    } else {
        Op::FlipHorizontal
    }
}

fn blur(clause: &str) -> f32 {
    let asked = first(&PIXELS, clause).or_else(|| first(&NUMBER, &PERCENT.replace_all(clause, "")));
    let by_word = match () {
        () if SLIGHT.is_match(clause) => 1.5,
        () if STRONG.is_match(clause) => 10.0,
        () => 4.0,
    };
    asked.filter(|sigma: &f32| *sigma > 0.0).unwrap_or(by_word).clamp(0.3, 200.0)
}

/// The same edit as one that is asked for slightly; `None` where its amount was said, or it has none.
pub(super) fn slightly(op: &Op) -> Option<Op> {
    let less = |percent: f32| (percent.abs() == USUAL).then(|| SLIGHTLY.copysign(percent));
    match *op {
        Op::Sharpen => Some(Op::SharpenSlightly),
        Op::Blur(4.0) => Some(Op::Blur(1.5)),
        Op::Brightness(percent) => less(percent).map(Op::Brightness),
        Op::Contrast(percent) => less(percent).map(Op::Contrast),
        Op::Saturation(percent) => less(percent).map(Op::Saturation),
        _ => None,
    }
}

/// How much brighter and so on where the order does not say, in percent; and slightly.
const USUAL: f32 = 25.0;
const SLIGHTLY: f32 = 10.0;

/// How much brighter and so on, in percent.
fn amount(clause: &str) -> f32 {
    let by_word = match () {
        () if SLIGHT.is_match(clause) => SLIGHTLY,
        () if STRONG.is_match(clause) => 50.0,
        () => USUAL,
    };
    first::<f32>(&PERCENT, clause).or_else(|| first(&BY_NUMBER, clause)).unwrap_or(by_word).clamp(0.0, 100.0)
}
