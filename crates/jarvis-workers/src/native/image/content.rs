//! The part of a picture that is not empty: what lies inside the transparent or plain space around it.

use image::{DynamicImage, GenericImageView, Rgba};
use jarvis_plan::{ErrorCode, TaskError};

use super::instruction::{Area, Empty};

/// How far a channel may be off and still be the same colour: JPEG files are never quite plain.
const TOLERANCE: u8 = 12;
/// Alpha up to this is not seen.
const CLEAR: u8 = 8;

/// # Errors
/// When there is no such space, or nothing else.
pub(super) fn find(picture: &DynamicImage, empty: Empty) -> Result<Area, TaskError> {
    let (width, height) = picture.dimensions();
    let refuse = |message: &str| TaskError::new(ErrorCode::CannotDo, message).hint("say by how many pixels to crop it");
    let (right, bottom) = (width.saturating_sub(1), height.saturating_sub(1));
    let corners = [(0, 0), (right, 0), (0, bottom), (right, bottom)].map(|(x, y)| picture.get_pixel(x, y));
    let is_clear = |pixel: &Rgba<u8>| pixel.0[3] <= CLEAR;
    let near = |pixel: &Rgba<u8>, [r, g, b]: [u8; 3]| {
        let [red, green, blue, _] = pixel.0;
        [(red, r), (green, g), (blue, b)].iter().all(|(one, other)| one.abs_diff(*other) <= TOLERANCE)
    };
    let sees_through = corners.iter().any(is_clear);
    let colour = match empty {
        Empty::Transparent if !sees_through => return Err(refuse("the corners of the picture are not transparent")),
        Empty::Transparent => None,
        Empty::Any if sees_through => None,
        Empty::Any => {
            let [r, g, b, _] = corners[0].0;
            if !corners.iter().all(|corner| near(corner, [r, g, b])) {
                return Err(refuse("the corners of the picture have different colours, so nothing around it is empty"));
            }
            Some([r, g, b])
        }
        Empty::Colour(colour) => {
            if !corners.iter().any(|corner| near(corner, colour)) {
                return Err(refuse("no corner of the picture has the colour that is to be cut off"));
            }
            Some(colour)
        }
    };
    let is_empty = |pixel: &Rgba<u8>| is_clear(pixel) || colour.is_some_and(|colour| near(pixel, colour));
    let mut found: Option<Area> = None;
    for (x, y, _) in picture.pixels().filter(|(.., pixel)| !is_empty(pixel)) {
        found = Some(match found {
            None => Area { left: x, top: y, right: x + 1, bottom: y + 1 },
            Some(area) => Area {
                left: area.left.min(x),
                top: area.top.min(y),
                right: area.right.max(x + 1),
                bottom: area.bottom.max(y + 1),
            },
        });
    }
    match found {
        None => Err(refuse("the whole picture is empty, and nothing would be left")),
        Some(Area { left: 0, top: 0, right, bottom }) if (right, bottom) == (width, height) => {
            Err(refuse("the picture has no empty space at its sides"))
        }
        Some(area) => Ok(area),
    }
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage, RgbaImage};

    use super::*;

    const INSIDE: Area = Area { left: 3, top: 5, right: 12, bottom: 9 };

    fn is_inside(x: u32, y: u32) -> bool {
        (3..12).contains(&x) && (5..9).contains(&y)
    }

    #[test]
    fn what_is_not_empty_is_found() {
        let white =
            RgbImage::from_fn(20, 20, |x, y| if is_inside(x, y) { Rgb([10, 90, 10]) } else { Rgb([252, 255, 250]) });
        let clear = RgbaImage::from_fn(20, 20, |x, y| Rgba([9, 9, 9, if is_inside(x, y) { 200 } else { 0 }]));
        let (white, clear): (DynamicImage, DynamicImage) = (white.into(), clear.into());
        for empty in [Empty::Any, Empty::Colour([255; 3])] {
            assert_eq!(find(&white, empty), Ok(INSIDE), "{empty:?}");
        }
        for empty in [Empty::Any, Empty::Transparent] {
            assert_eq!(find(&clear, empty), Ok(INSIDE), "{empty:?}");
        }
        assert!(find(&white, Empty::Transparent).is_err() && find(&white, Empty::Colour([0; 3])).is_err());
        let plain: DynamicImage = RgbImage::new(8, 8).into();
        assert!(find(&plain, Empty::Any).is_err_and(|error| error.message.contains("nothing would be left")));
        let full: DynamicImage = RgbImage::from_fn(8, 8, |x, _| Rgb([x as u8 * 30; 3])).into();
        assert!(find(&full, Empty::Any).is_err());
    }
}
