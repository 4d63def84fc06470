//! One picture laid on another: "put logo.png into the lower left corner of photo.png, half transparent".

use std::sync::LazyLock;

use image::{DynamicImage, Rgba, RgbaImage};
use jarvis_plan::{ErrorCode, Request, TaskError};
use regex::Regex;

use super::arrange::names;
use super::instruction::{Place, place};
use super::reading::named;

// A test runs each.
static OVERLAY: LazyLock<Regex> = LazyLock::new(|| named("OVERLAY"));
static OVERLAY_PLACE: LazyLock<Regex> = LazyLock::new(|| named("OVERLAY_PLACE"));
static CLEAR_SHARE: LazyLock<Regex> = LazyLock::new(|| named("CLEAR_SHARE"));
static HALF_CLEAR: LazyLock<Regex> = LazyLock::new(|| named("HALF_CLEAR"));
static OVERLAY_READ: LazyLock<Regex> = LazyLock::new(|| named("OVERLAY_READ"));

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Overlay {
    /// Whether the second picture is the one that lies on top.
    pub(super) second_on_top: bool,
    pub(super) place: Place,
    /// From 0, not seen, to 1.
    pub(super) opacity: f32,
}

/// The words that say how a picture is laid on another.
pub(super) fn patterns() -> [&'static Regex; 3] {
    [&OVERLAY_READ, &CLEAR_SHARE, &HALF_CLEAR]
}

/// How a request wants one of two pictures on the other; `None` where it wants them beside each other.
pub(super) fn asked(paths: &[&str], request: &Request) -> Option<Overlay> {
    let [first, second] = paths else { return None };
    let text = request.text.to_lowercase();
    let found = OVERLAY.captures(&text)?;
    let word = |name: &str| found.name(name).map_or("", |word| word.as_str().trim_matches(['.', ',', '!', '"', '`']));
    let (one, other) = (word("one").to_owned(), word("other").to_owned());
    let (first_names, second_names) = (names(first, request), names(second, request));
    let straight = first_names.contains(&one) && second_names.contains(&other);
    let crossed = second_names.contains(&one) && first_names.contains(&other);
    let how = word("how");
    if !straight && !crossed || !OVERLAY_PLACE.is_match(how) && found.name("over").is_none() {
        return None;
    }
    let share = CLEAR_SHARE.captures(&text).and_then(|found| {
        let number =
            |name: &str| found.name(name)?.as_str().parse::<f32>().ok().map(|percent| percent.min(100.0) / 100.0);
        number("opaque").or_else(|| number("clear").map(|clear| 1.0 - clear))
    });
    let opacity = share.unwrap_or(if HALF_CLEAR.is_match(&text) { 0.5 } else { 1.0 });
    Some(Overlay { second_on_top: crossed, place: place(how), opacity })
}

/// The picture with the other on it, in its own size and a little off the sides; and where that lies.
///
/// # Errors
/// When it is larger than the picture below.
pub(super) fn lay(
    below: &DynamicImage,
    above: &DynamicImage,
    how: Overlay,
) -> Result<(DynamicImage, (u32, u32)), TaskError> {
    let (size, top) = ((below.width(), below.height()), (above.width(), above.height()));
    if top.0 > size.0 || top.1 > size.1 {
        let message = format!(
            "the picture to lay on top has {} x {} pixels, and the one below only {} x {}",
            top.0, top.1, size.0, size.1
        );
        return Err(TaskError::new(ErrorCode::CannotDo, message).hint("make the picture on top smaller first"));
    }
    let margin = size.0.min(size.1) / 50;
    let along = |side: i8, whole: u32, part: u32| {
        let room = whole - part;
        match side {
            ..=-1 => margin.min(room),
            0 => room / 2,
            1.. => room.saturating_sub(margin),
        }
    };
    let Place(across, down) = how.place;
    let at = (along(across, size.0, top.0), along(down, size.1, top.1));
    let (mut canvas, above): (RgbaImage, RgbaImage) = (below.to_rgba8(), above.to_rgba8());
    for (x, y, pixel) in above.enumerate_pixels() {
        let [r, g, b, a] = pixel.0;
        let alpha = (f32::from(a) * how.opacity).round() as u8;
        let mut under = *canvas.get_pixel(at.0 + x, at.1 + y);
        image::Pixel::blend(&mut under, &Rgba([r, g, b, alpha]));
        canvas.put_pixel(at.0 + x, at.1 + y, under);
    }
    let laid = DynamicImage::ImageRgba8(canvas);
    let laid = if below.color().has_alpha() { laid } else { DynamicImage::ImageRgb8(laid.into_rgb8()) };
    Ok((laid, at))
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;

    #[test]
    fn one_picture_on_another_is_told_from_two_beside_each_other() {
        let paths = ["/images/1.png", "/images/2.png"];
        let check = |text: &str, want: Option<(bool, Place, f32)>| {
            let found = asked(&paths, &Request::new(text)).map(|how| (how.second_on_top, how.place, how.opacity));
            assert_eq!(found, want, "{text}");
        };
        let low = Place(-1, 1);
        check(
            "put /images/1.png into the lower left corner of /images/2.png, half transparent",
            Some((false, low, 0.5)),
        );
        check("place /images/2.png in the bottom left corner of /images/1.png", Some((true, low, 1.0)));
        check("overlay /images/2.png on /images/1.png at 30% opacity", Some((true, Place(0, 0), 0.3)));
        check("stamp /images/1.png onto the top right corner of /images/2.png", Some((false, Place(1, -1), 1.0)));
        check("put /images/1.png on top of /images/2.png", None);
        check("put /images/1.png to the left of /images/2.png", None);
        check("put /images/1.png and /images/2.png side by side", None);
    }

    #[test]
    fn what_lies_on_top_is_seen_as_far_as_it_is_opaque() {
        let below: DynamicImage = RgbImage::from_pixel(100, 100, Rgb([0; 3])).into();
        let above: DynamicImage = RgbImage::from_pixel(10, 20, Rgb([200; 3])).into();
        let how = Overlay { second_on_top: false, place: Place(-1, 1), opacity: 0.5 };
        let (laid, at) = lay(&below, &above, how).unwrap();
        let laid = laid.to_rgb8();
        assert_eq!(at, (2, 78));
        assert!(laid.get_pixel(5, 90).0[0].abs_diff(100) < 3 && laid.get_pixel(50, 50).0 == [0; 3]);
        assert!(lay(&above, &below, how).is_err());
    }
}
