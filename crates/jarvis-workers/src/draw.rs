//! Drawing on pictures: labelled boxes, coloured overlays and text. Colours follow from labels alone, so the same
//! result looks the same every time. Used by native and remote workers alike.

use std::collections::HashMap;

use image::{GrayImage, Rgb, RgbImage};
use imageproc::drawing::{draw_filled_rect_mut, draw_hollow_rect_mut, draw_text_mut, text_size};
use imageproc::rect::Rect;
use jarvis_tools::font::{font, has_glyph};

/// How strongly an overlay covers the picture, of 255.
pub const OVERLAY_ALPHA: u8 = 155;

const LABEL_PX: f32 = 14.0;

/// One thing found in a picture: what, how surely, and where, in pixels from the top left corner.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    pub label: String,
    /// How sure, 0 to 1.
    pub score: f64,
    pub xmin: f64,
    pub ymin: f64,
    pub xmax: f64,
    pub ymax: f64,
}

/// The colour of a label: any hue, each channel 100 to 255.
pub fn colour(label: &str) -> Rgb<u8> {
    let hash = hash(label);
    let [r, g, b] = hsv((hash % 360) as f32, 0.55 + (hash >> 16 & 0xff) as f32 / 255.0 * 0.45, 1.0);
    Rgb([r, g, b].map(|channel| 100 + (channel * 155.0).round().clamp(0.0, 155.0) as u8))
}

/// The same number for the same text, in every build and on every machine (FNV-1a, 64 bits, then mixed).
pub(crate) fn hash(text: &str) -> u64 {
    let fnv = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd) ^ (fnv >> 29)
}

/// Hue in degrees, saturation and value 0 to 1, to channels 0 to 1.
pub(crate) fn hsv(hue: f32, saturation: f32, value: f32) -> [f32; 3] {
    let channel = |n: f32| {
        let k = (n + hue / 60.0).rem_euclid(6.0);
        value - value * saturation * k.min(4.0 - k).clamp(0.0, 1.0)
    };
    [channel(5.0), channel(3.0), channel(1.0)]
}

/// Draws each detection as a box of 2 px in its label's colour, the label's text at (xmin + 5, ymin - 15), moved inside
/// the picture where it would stick out. Boxes are cut at the picture's edges; those that lie outside are left out.
pub fn boxes(picture: &mut RgbImage, detections: &[Detection]) {
    let (width, height) = (f64::from(picture.width()), f64::from(picture.height()));
    for found in detections {
        let corners = [found.xmin, found.ymin, found.xmax, found.ymax];
        let [left, top, right, bottom] = corners.map(|at| if at.is_finite() { at.round() } else { 0.0 });
        let (left, right) = (left.min(right).max(0.0), left.max(right).min(width - 1.0));
        let (top, bottom) = (top.min(bottom).max(0.0), top.max(bottom).min(height - 1.0));
        if right < left || bottom < top {
            continue;
        }
        let colour = colour(&found.label);
        for inset in [0.0, 1.0] {
            let (wide, high) = (right - left + 1.0 - 2.0 * inset, bottom - top + 1.0 - 2.0 * inset);
            if wide >= 1.0 && high >= 1.0 {
                let rect = Rect::at((left + inset) as i32, (top + inset) as i32).of_size(wide as u32, high as u32);
                draw_hollow_rect_mut(picture, rect, colour);
            }
        }
        label(picture, &found.label, left as i32 + 5, top as i32 - 15, colour);
    }
}

/// A label on a dark plate, readable on any ground.
fn label(picture: &mut RgbImage, text: &str, x: i32, y: i32, colour: Rgb<u8>) {
    let Some(font) = font() else { return };
    let text: String = text.chars().filter(|ch| has_glyph(*ch)).take(60).collect();
    if text.is_empty() {
        return;
    }
    let (wide, high) = text_size(LABEL_PX, font, &text);
    let x = x.min(picture.width() as i32 - wide as i32 - 1).max(0);
    let y = y.min(picture.height() as i32 - high as i32).max(0);
    draw_filled_rect_mut(picture, Rect::at(x - 1, y).of_size(wide + 2, high.max(1)), Rgb([24, 24, 24]));
    draw_text_mut(picture, colour, x, y, LABEL_PX, font, &text);
}

/// Gives the segments of one picture their colours: two with the same label get different ones.
#[derive(Debug, Default)]
pub struct Tints {
    seen: HashMap<String, usize>,
}

impl Tints {
    pub fn next(&mut self, label: &str) -> Rgb<u8> {
        let nth = self.seen.entry(label.to_owned()).or_default();
        let tint = if *nth == 0 { colour(label) } else { colour(&format!("{label} {nth}")) };
        *nth += 1;
        tint
    }
}

/// Lays a mask over the picture in a colour: 0 outside the segment, up to 255 inside. A mask of another size than the
/// picture is stretched over it.
pub fn overlay_mask(picture: &mut RgbImage, tint: Rgb<u8>, mask: &GrayImage) {
    let (width, height) = picture.dimensions();
    // The nearest pixel: what is stretched this way takes no memory.
    let nearest = |at: u32, from: u32, to: u32| (u64::from(at) * u64::from(to) / u64::from(from.max(1))) as u32;
    for (x, y, pixel) in picture.enumerate_pixels_mut() {
        let at = (nearest(x, width, mask.width()), nearest(y, height, mask.height()));
        if let Some(cover) = mask.get_pixel_checked(at.0, at.1) {
            let alpha = u32::from(OVERLAY_ALPHA) * u32::from(cover.0[0]) / 255;
            blend(pixel, tint, alpha as u8);
        }
    }
}

/// Mixes a colour into a pixel, `alpha` of 255.
pub(crate) fn blend(pixel: &mut Rgb<u8>, tint: Rgb<u8>, alpha: u8) {
    let alpha = u32::from(alpha);
    for (below, above) in pixel.0.iter_mut().zip(tint.0) {
        *below = ((u32::from(*below) * (255 - alpha) + u32::from(above) * alpha + 127) / 255) as u8;
    }
}

#[cfg(test)]
mod tests {
    use image::Luma;

    use super::*;

    #[test]
    fn the_font_covers_the_languages_served() {
        for ch in "Az0?éßЖёЇΩ日本語汉字かなカナ한글".chars() {
            assert!(has_glyph(ch), "{ch}");
        }
        for ch in "مन🌞\u{0}\u{200b}".chars() {
            assert!(!has_glyph(ch), "{ch:?}");
        }
    }

    #[test]
    fn colours_depend_on_the_label_only_and_stay_bright() {
        assert_eq!(colour("cat"), colour("cat"));
        let labels = ["cat", "dog", "person", "car", "猫", "собака", ""];
        for (at, label) in labels.iter().enumerate() {
            assert!(colour(label).0.iter().all(|channel| *channel >= 100), "{label}");
            assert!(labels[..at].iter().all(|earlier| colour(earlier) != colour(label)), "{label}");
        }
    }

    fn found(label: &str, [xmin, ymin, xmax, ymax]: [f64; 4]) -> Detection {
        Detection { label: label.to_owned(), score: 0.9, xmin, ymin, xmax, ymax }
    }

    #[test]
    fn boxes_are_two_pixels_wide_and_filled_with_nothing() {
        let mut picture = RgbImage::new(100, 100);
        boxes(&mut picture, &[found("cat", [20.0, 40.0, 80.0, 90.0])]);
        let tint = colour("cat");
        for (x, y) in [(20, 60), (21, 60), (80, 60), (79, 60), (50, 90), (50, 89), (20, 40), (80, 90)] {
            assert_eq!(*picture.get_pixel(x, y), tint, "{x},{y}");
        }
        for (x, y) in [(22, 60), (19, 60), (78, 60), (81, 60), (50, 65), (50, 91)] {
            assert_eq!(*picture.get_pixel(x, y), Rgb([0, 0, 0]), "{x},{y}");
        }
        // The label stands at (25, 25) and reaches some pixels down and right.
        let lit = (25..60).flat_map(|x| (25..40).map(move |y| (x, y)));
        assert!(lit.filter(|(x, y)| picture.get_pixel(*x, *y) == &tint).count() > 3);
    }

    #[test]
    fn odd_boxes_do_not_panic() {
        let mut picture = RgbImage::new(10, 8);
        let odd = [
            [f64::NAN, 0.0, 5.0, 5.0],
            [f64::NEG_INFINITY, -1e300, f64::INFINITY, 1e300],
            [9.0, 7.0, 2.0, 1.0],
            [50.0, 50.0, 60.0, 60.0],
            [3.0, 3.0, 3.0, 3.0],
        ];
        for corners in odd {
            boxes(&mut picture, &[found("a\u{0}\u{1F600}", corners)]);
        }
        boxes(&mut RgbImage::new(0, 0), &[found("x", [0.0, 0.0, 1.0, 1.0])]);
    }

    #[test]
    fn overlays_mix_by_alpha_and_keep_the_rest() {
        let mut picture = RgbImage::from_pixel(4, 2, Rgb([10, 20, 30]));
        let mask = GrayImage::from_fn(2, 1, |x, _| Luma([if x == 0 { 255 } else { 0 }]));
        overlay_mask(&mut picture, colour("sky"), &mask);
        let tint = colour("sky").0[0] as f32;
        let expected = (10.0 * 100.0 + tint * 155.0) / 255.0;
        assert!((f32::from(picture.get_pixel(0, 1).0[0]) - expected).abs() <= 1.0);
        assert_eq!(*picture.get_pixel(3, 1), Rgb([10, 20, 30]));
    }

    #[test]
    fn segments_of_one_label_differ() {
        let mut picture = RgbImage::new(2, 1);
        let half = |lit: u32| GrayImage::from_fn(2, 1, |x, _| Luma([if x == lit { 255 } else { 0 }]));
        let mut tints = Tints::default();
        for lit in [0, 1] {
            overlay_mask(&mut picture, tints.next("wall"), &half(lit));
        }
        assert_ne!(picture.get_pixel(0, 0), picture.get_pixel(1, 0));
    }
}
