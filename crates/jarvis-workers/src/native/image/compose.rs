//! What is put together: words on a picture, a border around it, several pictures in one.

use ab_glyph::{Font, PxScale, ScaleFont};
use image::imageops::FilterType;
use image::{DynamicImage, GenericImage, Rgba, RgbaImage};
use imageproc::drawing::draw_text_mut;
use jarvis_plan::{ErrorCode, TaskError};

use super::card;
use super::instruction::{Label, Place};

/// The smallest letters that can be read, in pixels.
const LEAST: f32 = 9.0;
/// How much of a watermark is seen.
const MARK: f32 = 0.55;

/// Writes words on the picture: light with a dark rim, so that they are read on any ground.
pub(super) fn label(picture: DynamicImage, label: &Label) -> Result<DynamicImage, TaskError> {
    let font = jarvis_tools::font::font()
        .ok_or_else(|| TaskError::new(ErrorCode::Internal, "the embedded font cannot be read"))?;
    if let Some(lacking) = label.text.chars().find(|ch| !jarvis_tools::font::has_glyph(*ch)) {
        let message = format!("the embedded font cannot draw `{lacking}`");
        return Err(TaskError::new(ErrorCode::CannotDo, message)
            .hint("it has Latin, Greek, Cyrillic, Chinese, Japanese and Korean"));
    }
    let alpha = picture.color().has_alpha();
    let canvas = picture.into_rgba8();
    let (width, height) = canvas.dimensions();
    let margin = (width.min(height) as f32 * 0.03).ceil();
    let (wide, high) = (width as f32 - 2.0 * margin, height as f32 * 0.6);
    let measure = |px: f32, line: &str| {
        let scaled = font.as_scaled(PxScale::from(px));
        line.chars().map(|ch| scaled.h_advance(font.glyph_id(ch))).sum::<f32>()
    };
    let step = |px: f32| px * 1.25;
    let mut px = (width.min(height) as f32 / if label.mark { 16.0 } else { 10.0 }).max(LEAST);
    let lines = loop {
        let lines = card::wrap(&label.text, wide, |line| measure(px, line));
        let whole = lines.len() == label.text.lines().count();
        if (whole || px <= width.min(height) as f32 / 24.0) && lines.len() as f32 * step(px) <= high {
            break lines;
        }
        if px <= LEAST {
            let message = format!("the text does not fit on a picture of {width} x {height} pixels");
            return Err(TaskError::new(ErrorCode::CannotDo, message).hint("shorten it, or enlarge the picture first"));
        }
        px = (px * 0.85).max(LEAST);
    };
    let Place(across, down) = label.place;
    let block = lines.len() as f32 * step(px);
    let along = |side: i8, whole: f32, part: f32| match side {
        ..=-1 => margin,
        0 => (whole - part) / 2.0,
        1.. => whole - part - margin,
    };
    let top = along(down, height as f32, block);
    let [r, g, b] = label.colour.unwrap_or([255; 3]);
    let dark = u32::from(r) * 2 + u32::from(g) * 7 + u32::from(b) < 1280;
    let rim = if dark { Rgba([255, 255, 255, 255]) } else { Rgba([0, 0, 0, 255]) };
    let reach = (px / 24.0).ceil() as i32;
    let mut written = canvas.clone();
    for (nth, line) in lines.iter().enumerate() {
        let x = along(across, width as f32, measure(px, line)).round() as i32;
        let y = (top + nth as f32 * step(px)).round() as i32;
        for (dx, dy) in [(-reach, 0), (reach, 0), (0, -reach), (0, reach)] {
            draw_text_mut(&mut written, rim, x + dx, y + dy, px, font, line);
        }
        draw_text_mut(&mut written, Rgba([r, g, b, 255]), x, y, px, font, line);
    }
    if label.mark {
        for (pixel, before) in written.pixels_mut().zip(canvas.pixels()) {
            for (new, old) in pixel.0.iter_mut().zip(before.0) {
                *new = (f32::from(*new) * MARK + f32::from(old) * (1.0 - MARK)).round() as u8;
            }
        }
    }
    let written = DynamicImage::ImageRgba8(written);
    Ok(if alpha { written } else { DynamicImage::ImageRgb8(written.into_rgb8()) })
}

/// The picture with a border around it: it grows by twice the width.
pub(super) fn border(picture: &DynamicImage, width: u32, [r, g, b]: [u8; 3]) -> DynamicImage {
    let alpha = picture.color().has_alpha();
    let size = (picture.width() + 2 * width, picture.height() + 2 * width);
    let mut framed = RgbaImage::from_pixel(size.0, size.1, Rgba([r, g, b, 255]));
    // It fits: the canvas was made for it.
    let _ = framed.copy_from(&picture.to_rgba8(), width, width);
    let framed = DynamicImage::ImageRgba8(framed);
    if alpha { framed } else { DynamicImage::ImageRgb8(framed.into_rgb8()) }
}

/// How pictures stand in a collage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    Row,
    Column,
    /// As many columns as rows, or one more.
    Grid,
    /// A grid with so many columns.
    Columns(u32),
}

/// What lies between the pictures of a collage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) pixels: u32,
    pub(super) colour: [u8; 3],
}

impl Default for Gap {
    fn default() -> Gap {
        Gap { pixels: 12, colour: [255; 3] }
    }
}

/// The widest gap of a collage, in pixels.
pub(super) const WIDEST_GAP: u32 = 400;

/// The longest side of a collage.
pub(super) const LONGEST: u32 = 2400;

/// The pictures in one, with a gap between them. In a row all are equally high, in a column equally wide; in a grid each
/// lies in the middle of its cell.
pub(super) fn collage(pictures: &[DynamicImage], layout: Layout, gap: Gap) -> DynamicImage {
    let count = pictures.len() as u32;
    let columns = match layout {
        Layout::Row => count,
        Layout::Column => 1,
        Layout::Columns(columns) => columns,
        Layout::Grid => (1..=count).find(|side| side * side >= count).unwrap_or(count),
    }
    .max(1);
    let rows = count.div_ceil(columns).max(1);
    let Gap { pixels: gap, colour: [r, g, b] } = gap;
    let gap = gap.min(WIDEST_GAP);
    let middle = |side: fn(&DynamicImage) -> u32| {
        let mut sides: Vec<u32> = pictures.iter().map(side).collect();
        sides.sort_unstable();
        sides.get(sides.len() / 2).copied().unwrap_or(1)
    };
    let least = 64;
    let cell_high = middle(|picture| picture.height()).min(LONGEST / rows).max(least);
    let cell_wide = middle(|picture| picture.width()).min(LONGEST / columns).max(least);
    let scaled = |picture: &DynamicImage| {
        let (width, height) = (f64::from(picture.width().max(1)), f64::from(picture.height().max(1)));
        let (across, down) = (f64::from(cell_wide) / width, f64::from(cell_high) / height);
        let factor = match layout {
            Layout::Row => down.min(f64::from(LONGEST) / width),
            Layout::Column => across.min(f64::from(LONGEST) / height),
            Layout::Grid | Layout::Columns(_) => across.min(down),
        };
        let side = |edge: f64| ((edge * factor).round() as u32).max(1);
        picture.resize_exact(side(width), side(height), FilterType::Triangle).into_rgba8()
    };
    let tiles: Vec<RgbaImage> = pictures.iter().map(scaled).collect();
    let (width, height) = match layout {
        Layout::Row => (tiles.iter().map(|tile| tile.width() + gap).sum::<u32>() - gap, cell_high),
        Layout::Column => (cell_wide, tiles.iter().map(|tile| tile.height() + gap).sum::<u32>() - gap),
        Layout::Grid | Layout::Columns(_) => (columns * (cell_wide + gap) - gap, rows * (cell_high + gap) - gap),
    };
    let mut canvas = RgbaImage::from_pixel(width, height, Rgba([r, g, b, 255]));
    let mut at = 0;
    for (nth, tile) in tiles.iter().enumerate() {
        let (x, y) = match layout {
            Layout::Row => (at, (height.saturating_sub(tile.height())) / 2),
            Layout::Column => ((width.saturating_sub(tile.width())) / 2, at),
            Layout::Grid | Layout::Columns(_) => {
                let (column, row) = (nth as u32 % columns, nth as u32 / columns);
                let x = column * (cell_wide + gap) + (cell_wide - tile.width().min(cell_wide)) / 2;
                (x, row * (cell_high + gap) + (cell_high - tile.height().min(cell_high)) / 2)
            }
        };
        image::imageops::overlay(&mut canvas, tile, i64::from(x), i64::from(y));
        at += gap + if layout == Layout::Row { tile.width() } else { tile.height() };
    }
    DynamicImage::ImageRgb8(DynamicImage::ImageRgba8(canvas).into_rgb8())
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;

    fn plain(width: u32, height: u32, colour: [u8; 3]) -> DynamicImage {
        RgbImage::from_pixel(width, height, Rgb(colour)).into()
    }

    #[test]
    fn a_collage_holds_every_picture() {
        let pictures = [plain(200, 100, [255, 0, 0]), plain(100, 200, [0, 255, 0]), plain(200, 100, [0, 0, 255])];
        for (layout, size) in [(Layout::Row, (474, 100)), (Layout::Column, (200, 624)), (Layout::Grid, (412, 212))] {
            let made = collage(&pictures, layout, Gap::default()).into_rgb8();
            assert_eq!(made.dimensions(), size, "{layout:?}");
            for colour in [[255, 0, 0], [0, 255, 0], [0, 0, 255]] {
                assert!(made.pixels().any(|pixel| pixel.0 == colour), "{layout:?} {colour:?}");
            }
        }
        let black = Gap { pixels: 30, colour: [0; 3] };
        let made = collage(&pictures, Layout::Columns(1), black).into_rgb8();
        assert_eq!((made.dimensions(), made.get_pixel(100, 110).0), ((200, 360), [0; 3]));
        let one = collage(&pictures[..1], Layout::Grid, Gap::default());
        assert_eq!((one.width(), one.height()), (200, 100));
    }

    #[test]
    fn a_border_grows_the_picture() {
        let framed = border(&plain(10, 20, [9; 3]), 3, [255, 0, 0]).into_rgb8();
        assert_eq!(
            (framed.dimensions(), framed.get_pixel(0, 0).0, framed.get_pixel(3, 3).0),
            ((16, 26), [255, 0, 0], [9; 3])
        );
    }

    #[test]
    fn words_stand_where_they_should() {
        let write = |text: &str, place, mark| {
            label(plain(300, 200, [90; 3]), &Label { text: text.to_owned(), place, colour: None, mark })
        };
        let changed = |picture: &DynamicImage| {
            let rgb = picture.to_rgb8();
            let rows: Vec<u32> =
                rgb.enumerate_pixels().filter(|(.., pixel)| pixel.0 != [90; 3]).map(|(_, y, _)| y).collect();
            (rows.iter().min().copied().unwrap_or(0), rows.iter().max().copied().unwrap_or(0))
        };
        let (top, bottom) = changed(&write("Hello, Мир, 你好", Place(0, 1), false).unwrap());
        assert!(top > 150 && bottom < 200, "{top} {bottom}");
        let (top, bottom) = changed(&write("Hello", Place(0, -1), false).unwrap());
        assert!(bottom < 50, "{top} {bottom}");
        let mark = write("ACME", Place(1, 1), true).unwrap().into_rgb8();
        let brightest = mark.pixels().map(|pixel| pixel.0[0]).max();
        assert!((120..250).contains(&brightest.unwrap()), "see-through: {brightest:?}");
        assert_eq!(write("שלום", Place(0, 0), false).unwrap_err().code, ErrorCode::CannotDo);
        assert!(write(&"long words ".repeat(500), Place(0, 0), false).is_err());
    }
}
