//! How a title card is to look, read from the request: the colours of text and ground, and the size.

use std::sync::LazyLock;

use regex::Regex;

use super::super::words::Colour;
use super::card::Look;
use super::reading::{named, plain};

// A test runs each.
static TEXT_COLOUR: LazyLock<Regex> = LazyLock::new(|| named("TEXT_COLOUR"));
static GROUND_COLOUR: LazyLock<Regex> = LazyLock::new(|| named("GROUND_COLOUR"));
static CARD_SIZE: LazyLock<Regex> = LazyLock::new(|| named("CARD_SIZE"));

/// The sides that a card may have, in pixels.
const SIDES: std::ops::RangeInclusive<u32> = 64..=4000;

/// How a card is to look, and the patterns that said so. `text` is what it bears, which says nothing of its look.
pub(super) fn look(request: &str, text: &str) -> (Look, Vec<&'static Regex>) {
    let plain = plain(&request.replace(text, " "));
    let colour = |pattern: &Regex, plain: &str| {
        let found = pattern.captures(plain)?;
        let named = found.iter().skip(1).flatten().next()?;
        Colour::named(named.as_str()).map(Colour::rgb)
    };
    // "White on blue": what is on the ground is the text.
    let ground = colour(&GROUND_COLOUR, &plain);
    let letters = GROUND_COLOUR.replace_all(&plain, " on ");
    let side = |found: &regex::Captures<'_>, group: usize| {
        found.get(group)?.as_str().parse().ok().filter(|side| SIDES.contains(side))
    };
    let size = CARD_SIZE.captures(&plain).and_then(|found| Some((side(&found, 1)?, side(&found, 2)?)));
    let look = Look { text: colour(&TEXT_COLOUR, &letters), ground, size };
    let mut read: Vec<&'static Regex> = Vec::new();
    read.extend(look.text.is_some().then_some(&*TEXT_COLOUR));
    read.extend(look.ground.is_some().then_some(&*GROUND_COLOUR));
    read.extend(look.size.is_some().then_some(&*CARD_SIZE));
    (look, read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_sizes_are_read() {
        const BLUE: [u8; 3] = [30, 70, 225];
        const RED: [u8; 3] = [222, 24, 28];
        const WHITE: [u8; 3] = [255; 3];
        const BLACK: [u8; 3] = [0; 3];
        const YELLOW: [u8; 3] = [250, 230, 20];
        let check = |request: &str, text: Option<[u8; 3]>, ground: Option<[u8; 3]>, size: Option<(u32, u32)>| {
            assert_eq!(look(request, "STOP").0, Look { text, ground, size }, "{request}");
        };
        check("make a picture with the words \"STOP\" in white on blue", Some(WHITE), Some(BLUE), None);
        check("make a red picture with the white text \"STOP\"", Some(WHITE), Some(RED), None);
        check("poster saying STOP in yellow letters on black, 800x400", Some(YELLOW), Some(BLACK), Some((800, 400)));
        check("create an image with the text \"STOP\", big red letters", Some(RED), None, None);
        check("a poster \"STOP\" with a blue background", None, Some(BLUE), None);
        check("сделай плакат «STOP» белыми буквами на синем фоне", Some(WHITE), Some(BLUE), None);
        check("做一张海报，写着STOP，蓝色背景，白色文字", Some(WHITE), Some(BLUE), None);
        check("a title card that says STOP", None, None, None);
        check("a title card that says STOP, 9000x9000", None, None, None);
    }
}
