//! Edits of a whole picture: the operations of an instruction, done one after another.

use std::f32::consts::PI;

use image::imageops::FilterType;
use image::{DynamicImage, Rgb, Rgba};
use imageproc::geometric_transformations::{Border, Interpolation, rotate_about_center_no_crop};
use jarvis_plan::{ErrorCode, TaskError};

use super::super::Cancel;
use super::instruction::{Area, Crop, Op, Place, Size, Thickness};
use super::{compose, content, edges};

/// What the editor can do, for the error when an instruction asks for something else.
pub(super) const CAN: &str = "resize, crop, rotate, flip, grayscale, blur, sharpen, invert, brightness, contrast, \
                              saturation, edges, sketch, sepia, warm, cool, pixelate (also of an area: `from 10,20 to 200,120`), text or a watermark, a border, a \
                              file size (`under 50 KB`), metadata removed, save as png, jpg or webp";
/// What a crop can keep, for the error when an instruction does not say.
pub(super) const CAN_CROP: &str = "a side, half, third or corner (`the left half`, `the top right corner`), the centre, a \
                                   square, a size in pixels (`200x100`), a ratio (`16:9`), `10% from each side`, an area (`from 10,20 to 200,120`)";

/// Enlarging is done in floating point, sixteen bytes a pixel; results above this would take too much memory.
const ENLARGED: u64 = 50_000_000;
/// Pictures above this are resampled by averaging, which needs no copy in floating point.
const LARGE: u64 = 16_000_000;

/// Does the operations in order; returns the picture and what was done, in words such as `resize 320x240`. A result of
/// more than `max_pixels` pixels is refused.
pub(super) fn apply(
    picture: DynamicImage,
    ops: &[Op],
    max_pixels: u64,
    cancel: &Cancel,
) -> Result<(DynamicImage, Vec<String>), TaskError> {
    let mut picture = if picture.color().has_alpha() {
        DynamicImage::ImageRgba8(picture.into_rgba8())
    } else {
        DynamicImage::ImageRgb8(picture.into_rgb8())
    };
    let mut done = Vec::new();
    for op in ops {
        cancel.check()?;
        let (edited, words) = one(picture, op, max_pixels)?;
        picture = edited;
        done.push(words);
    }
    Ok((picture, done))
}

fn one(mut picture: DynamicImage, op: &Op, max_pixels: u64) -> Result<(DynamicImage, String), TaskError> {
    let size = (picture.width(), picture.height());
    let words = match op {
        Op::Resize(wanted) => {
            let (width, height) = target(size, *wanted);
            check_size(width, height, max_pixels)?;
            let pixels = u64::from(size.0) * u64::from(size.1);
            let shrinks = width <= size.0 && height <= size.1;
            if !shrinks {
                check_size(width, height, ENLARGED)?;
            }
            picture = if shrinks && pixels > LARGE {
                picture.thumbnail_exact(width, height)
            } else if pixels.max(u64::from(width) * u64::from(height)) > LARGE {
                picture.resize_exact(width, height, FilterType::Triangle)
            } else {
                picture.resize_exact(width, height, FilterType::Lanczos3)
            };
            format!("resize {width}x{height}")
        }
        Op::Crop(wanted) => {
            let wanted = match *wanted {
                Crop::Content(empty) => Crop::Area(content::find(&picture, empty)?),
                other => other,
            };
            check_part(size, wanted)?;
            let (x, y, width, height) = part(size, wanted);
            picture = picture.crop_imm(x, y, width, height);
            format!("crop {width}x{height}+{x}+{y}")
        }
        Op::Rotate(degrees) => {
            picture = rotate(picture, degrees.rem_euclid(360.0), max_pixels)?;
            let counter = if *degrees < 0.0 { " counter-clockwise" } else { "" };
            format!("rotate {}{counter}", round(degrees.abs() % 360.0))
        }
        // What opens a picture turns it; a file without an orientation is refused before.
        Op::Upright => "turned upright by its EXIF orientation".to_owned(),
        Op::FlipHorizontal => {
            picture = picture.fliph();
            "flip horizontal".to_owned()
        }
        Op::FlipVertical => {
            picture = picture.flipv();
            "flip vertical".to_owned()
        }
        Op::Grayscale => {
            each(&mut picture, |rgb| [luma(rgb).round() as u8; 3]);
            "grayscale".to_owned()
        }
        Op::Blur(sigma) => {
            picture = picture.fast_blur(*sigma);
            format!("blur {}", round(*sigma))
        }
        Op::Sharpen => {
            sharpen(&mut picture, 1.0);
            "sharpen".to_owned()
        }
        Op::SharpenSlightly => {
            sharpen(&mut picture, 0.4);
            "sharpen slightly".to_owned()
        }
        Op::Invert => {
            each(&mut picture, |rgb| rgb.map(|channel| 255 - channel));
            "invert".to_owned()
        }
        Op::Brightness(percent) => {
            brighten(&mut picture, *percent);
            format!("brightness {percent:+}%")
        }
        Op::Contrast(percent) => {
            let gain = (1.0 + percent / 100.0).max(0.0);
            let middle = mean_luma(&picture);
            each(&mut picture, |rgb| rgb.map(|channel| level((f32::from(channel) - middle) * gain + middle)));
            format!("contrast {percent:+}%")
        }
        Op::Saturation(percent) => {
            let gain = (1.0 + percent / 100.0).max(0.0);
            each(&mut picture, |rgb| {
                let grey = luma(rgb);
                rgb.map(|channel| level(grey + (f32::from(channel) - grey) * gain))
            });
            format!("saturation {percent:+}%")
        }
        Op::Edges => {
            let found = edges::canny(&picture);
            picture = DynamicImage::ImageRgb8(DynamicImage::ImageLuma8(found).into_rgb8());
            "edges".to_owned()
        }
        Op::Sketch => {
            picture = sketch(&picture);
            "sketch".to_owned()
        }
        Op::Sepia => {
            each(&mut picture, |rgb| {
                let [r, g, b] = rgb.map(f32::from);
                [
                    level(0.393 * r + 0.769 * g + 0.189 * b),
                    level(0.349 * r + 0.686 * g + 0.168 * b),
                    level(0.272 * r + 0.534 * g + 0.131 * b),
                ]
            });
            "sepia".to_owned()
        }
        Op::Warm => {
            each(&mut picture, |[r, g, b]| [level(f32::from(r) * 1.1), g, level(f32::from(b) * 0.88)]);
            "warm".to_owned()
        }
        Op::Cool => {
            each(&mut picture, |[r, g, b]| [level(f32::from(r) * 0.88), g, level(f32::from(b) * 1.1)]);
            "cool".to_owned()
        }
        Op::Pixelate => {
            picture = pixelate(&picture, (size.0.max(size.1) / 48).max(2));
            "pixelate".to_owned()
        }
        Op::Label(label) => {
            picture = compose::label(picture, label)?;
            format!("{} \"{}\"", if label.mark { "watermark" } else { "text" }, label.text)
        }
        Op::Border(thickness, colour) => {
            let width = match thickness {
                Thickness::Pixels(pixels) => *pixels,
                Thickness::Share(share) => (size.0.max(size.1) as f32 * share).round() as u32,
            };
            let width = width.clamp(1, size.0.max(size.1));
            check_size(size.0.saturating_add(2 * width), size.1.saturating_add(2 * width), max_pixels)?;
            picture = compose::border(&picture, width, *colour);
            format!("border of {width} pixels")
        }
        Op::Ground(colour) => {
            picture = on_ground(picture, *colour)?;
            "see-through parts filled".to_owned()
        }
        Op::Within(area, op) => {
            check_part(size, Crop::Area(*area))?;
            let (x, y, width, height) = part(size, Crop::Area(*area));
            let before = picture.crop_imm(x, y, width, height);
            let (edited, words) = match **op {
                // What is small is hidden only by large blocks.
                Op::Pixelate => (pixelate(&before, (width.max(height) / 8).max(4)), "pixelate".to_owned()),
                ref op => one(before, op, max_pixels)?,
            };
            image::imageops::replace(&mut picture, &edited, i64::from(x), i64::from(y));
            format!("{words} {width}x{height}+{x}+{y}")
        }
        Op::StripMetadata => "metadata removed".to_owned(),
    };
    Ok((picture, words))
}

fn pixelate(picture: &DynamicImage, block: u32) -> DynamicImage {
    let (width, height) = (picture.width(), picture.height());
    let cells = picture.thumbnail_exact((width / block).max(1), (height / block).max(1));
    cells.resize_exact(width, height, FilterType::Nearest)
}

/// A number without useless decimals.
fn round(number: f32) -> f32 {
    (number * 100.0).round() / 100.0
}

fn level(value: f32) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}

fn luma([r, g, b]: [u8; 3]) -> f32 {
    0.2126 * f32::from(r) + 0.7152 * f32::from(g) + 0.0722 * f32::from(b)
}

/// Darker takes from every level its share. Brighter lifts luminance along a power curve and keeps the ratio of the
/// channels, so that black stays black, dark parts gain most and colours do not pale into fog.
fn brighten(picture: &mut DynamicImage, percent: f32) {
    if percent <= 0.0 {
        let gain = (1.0 + percent / 100.0).max(0.0);
        return each(picture, |rgb| rgb.map(|channel| level(f32::from(channel) * gain)));
    }
    let power = (1.0 + percent / 100.0).powf(-1.5);
    // The gain of near-black is limited: what is there is noise.
    let gains = (0..=255_u8).map(|light| (f32::from(light.max(1)) / 255.0).powf(power - 1.0).min(6.0));
    let gains: Vec<f32> = gains.collect();
    each(picture, |rgb| {
        let gain = gains.get(usize::from(level(luma(rgb)))).copied().unwrap_or(1.0);
        rgb.map(|channel| level(f32::from(channel) * gain))
    });
}

/// The mean luminance of what can be seen, 0 to 255.
fn mean_luma(picture: &DynamicImage) -> f32 {
    let small = super::open::flatten(super::open::reduced(picture, 256));
    let sum: f32 = small.pixels().map(|pixel| luma(pixel.0)).sum();
    sum / (small.width() * small.height()).max(1) as f32
}

fn each(picture: &mut DynamicImage, change: impl Fn([u8; 3]) -> [u8; 3]) {
    if let Some(rgb) = picture.as_mut_rgb8() {
        rgb.pixels_mut().for_each(|pixel| pixel.0 = change(pixel.0));
    } else if let Some(rgba) = picture.as_mut_rgba8() {
        rgba.pixels_mut().for_each(|pixel| {
            let [r, g, b, a] = pixel.0;
            let [r, g, b] = change([r, g, b]);
            pixel.0 = [r, g, b, a];
        });
    }
}

pub(super) fn check_size(width: u32, height: u32, max_pixels: u64) -> Result<(), TaskError> {
    let pixels = u64::from(width) * u64::from(height);
    if pixels > max_pixels {
        let message = format!("the result would have {width} x {height} = {pixels} pixels; the limit is {max_pixels}");
        return Err(TaskError::new(ErrorCode::TooLarge, message).hint("ask for a smaller size"));
    }
    Ok(())
}

fn target((width, height): (u32, u32), wanted: Size) -> (u32, u32) {
    let scaled = |edge: u32, factor: f64| (f64::from(edge) * factor).round().clamp(1.0, f64::from(u32::MAX)) as u32;
    let by = |factor: f64| (scaled(width, factor), scaled(height, factor));
    match wanted {
        Size::Exact(width, height) => (width, height),
        Size::Width(side) => (side, scaled(height, f64::from(side) / f64::from(width))),
        Size::Height(side) => (scaled(width, f64::from(side) / f64::from(height)), side),
        Size::Longest(side) => by(f64::from(side) / f64::from(width.max(height))),
        Size::Within(wide, high) => by((f64::from(wide) / f64::from(width)).min(f64::from(high) / f64::from(height))),
        Size::Factor(factor) => by(f64::from(factor)),
    }
}

/// Refuses a part that does not lie inside the picture.
fn check_part((width, height): (u32, u32), wanted: Crop) -> Result<(), TaskError> {
    let (is_inside, asked) = match wanted {
        Crop::Exact(wide, high, _) => (wide <= width && high <= height, format!("a part of {wide} x {high}")),
        Crop::Trim(pixels, Place(x, y)) => {
            ((x == 0 || pixels < width) && (y == 0 || pixels < height), format!("{pixels} pixels at one side"))
        }
        Crop::Area(Area { left, top, right, bottom }) => (
            left < right && top < bottom && right <= width && bottom <= height,
            format!("the area from {left},{top} to {right},{bottom}"),
        ),
        _ => return Ok(()),
    };
    if is_inside {
        return Ok(());
    }
    let message = format!("the picture has {width} x {height} pixels, which do not hold {asked}");
    Err(TaskError::new(ErrorCode::InvalidInput, message).hint("name a part that lies inside the picture"))
}

/// The part to keep: x, y, width, height, inside the picture.
pub(super) fn part((width, height): (u32, u32), wanted: Crop) -> (u32, u32, u32, u32) {
    let share = |edge: u32, share: f32| (f64::from(edge) * f64::from(share)).round() as u32;
    let (wide, high, place) = match wanted {
        Crop::Square(place) => (width.min(height), width.min(height), place),
        Crop::Exact(wide, high, place) => (wide, high, place),
        Crop::Ratio(across, down, place) => {
            let (across, down) = (u64::from(across), u64::from(down));
            let wide = (u64::from(height) * across / down).min(u64::from(width));
            (wide as u32, (wide * down / across).min(u64::from(height)) as u32, place)
        }
        Crop::Share(x, y, place) => (share(width, x), share(height, y), place),
        // The pixels go at this side, so the rest lies at the other.
        Crop::Trim(pixels, Place(x, y)) => {
            let less = |edge: u32, side: i8| if side == 0 { edge } else { edge.saturating_sub(pixels) };
            (less(width, x), less(height, y), Place(-x, -y))
        }
        Crop::Area(area) => {
            let (x, y) = (area.left.min(width - 1), area.top.min(height - 1));
            let side = |from: u32, to: u32, edge: u32| to.saturating_sub(from).clamp(1, edge - from);
            return (x, y, side(x, area.right, width), side(y, area.bottom, height));
        }
        // Where it lies depends on the pixels.
        Crop::Content(_) => (width, height, Place(0, 0)),
        Crop::Margins(margin) => (share(width, 1.0 - 2.0 * margin), share(height, 1.0 - 2.0 * margin), Place(0, 0)),
    };
    let (wide, high) = (wide.clamp(1, width), high.clamp(1, height));
    let start = |edge: u32, part: u32, side: i8| match side {
        ..=-1 => 0,
        0 => (edge - part) / 2,
        1.. => edge - part,
    };
    (start(width, wide, place.0), start(height, high, place.1), wide, high)
}

/// Turns clockwise. The canvas grows to hold the corners; what is new is white, or see-through where there is alpha.
fn rotate(picture: DynamicImage, degrees: f32, max_pixels: u64) -> Result<DynamicImage, TaskError> {
    let right_angles = [(0.0, 0), (90.0, 1), (180.0, 2), (270.0, 3)];
    if let Some((_, turns)) = right_angles.into_iter().find(|(angle, _)| (degrees - angle).abs() < 0.01) {
        return Ok(match turns {
            1 => picture.rotate90(),
            2 => picture.rotate180(),
            3 => picture.rotate270(),
            _ => picture,
        });
    }
    let theta = degrees * PI / 180.0;
    let (sin, cos) = (theta.sin().abs(), theta.cos().abs());
    let (width, height) = (picture.width() as f32, picture.height() as f32);
    check_size((width * cos + height * sin).ceil() as u32, (width * sin + height * cos).ceil() as u32, max_pixels)?;
    let smooth = Interpolation::Bilinear;
    Ok(match picture {
        DynamicImage::ImageRgba8(rgba) => {
            let clear = Border::Constant(Rgba([255, 255, 255, 0]));
            DynamicImage::ImageRgba8(rotate_about_center_no_crop(&rgba, theta, smooth, clear))
        }
        other => {
            let white = Border::Constant(Rgb([255; 3]));
            DynamicImage::ImageRgb8(rotate_about_center_no_crop(&other.into_rgb8(), theta, smooth, white))
        }
    })
}

/// The picture with a colour behind what is see-through.
fn on_ground(picture: DynamicImage, colour: [u8; 3]) -> Result<DynamicImage, TaskError> {
    let rgba = match picture {
        DynamicImage::ImageRgba8(rgba) if rgba.pixels().any(|pixel| pixel.0[3] < 255) => rgba,
        _ => {
            let message = "the picture has nothing see-through, and its background is not recognised here";
            return Err(
                TaskError::new(ErrorCode::CannotDo, message).hint("another background needs an image-to-image model")
            );
        }
    };
    Ok(DynamicImage::ImageRgb8(image::RgbImage::from_fn(rgba.width(), rgba.height(), |x, y| {
        let [r, g, b, a] = rgba.get_pixel(x, y).0;
        let alpha = f32::from(a) / 255.0;
        let [ground_r, ground_g, ground_b] = colour.map(f32::from);
        let mix = |level_of: u8, ground: f32| level(f32::from(level_of) * alpha + ground * (1.0 - alpha));
        Rgb([mix(r, ground_r), mix(g, ground_g), mix(b, ground_b)])
    })))
}

fn sharpen(picture: &mut DynamicImage, strength: f32) {
    let soft = picture.fast_blur(1.5);
    let beyond = |sharp: &mut [u8], soft: &[u8], colours: usize| {
        for (sharp, soft) in sharp.iter_mut().zip(soft).take(colours) {
            *sharp = level(f32::from(*sharp) + strength * (f32::from(*sharp) - f32::from(*soft)));
        }
    };
    if let (Some(sharp), Some(soft)) = (picture.as_mut_rgb8(), soft.as_rgb8()) {
        sharp.pixels_mut().zip(soft.pixels()).for_each(|(sharp, soft)| beyond(&mut sharp.0, &soft.0, 3));
    } else if let (Some(sharp), Some(soft)) = (picture.as_mut_rgba8(), soft.as_rgba8()) {
        sharp.pixels_mut().zip(soft.pixels()).for_each(|(sharp, soft)| beyond(&mut sharp.0, &soft.0, 3));
    }
}

/// A pencil drawing: the picture divided by its blurred self.
fn sketch(picture: &DynamicImage) -> DynamicImage {
    let grey = picture.to_luma8();
    let sigma = (grey.width().max(grey.height()) as f32 / 200.0).clamp(1.0, 12.0);
    let soft = DynamicImage::ImageLuma8(grey.clone()).fast_blur(sigma).into_luma8();
    let mut drawn = image::RgbImage::new(grey.width(), grey.height());
    for ((out, sharp), soft) in drawn.pixels_mut().zip(grey.pixels()).zip(soft.pixels()) {
        let [sharp] = sharp.0;
        let [soft] = soft.0;
        *out = Rgb([level(f32::from(sharp) * 255.0 / f32::from(soft).max(1.0)); 3]);
    }
    DynamicImage::ImageRgb8(drawn)
}
