//! Files of a given size: first less JPEG quality, then fewer pixels.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageFormat};
use jarvis_plan::{ErrorCode, TaskError};

use super::super::Cancel;
use super::open;

/// JPEG qualities that are tried; below the least, fewer pixels look better.
const BEST: u8 = 92;
const LEAST: u8 = 40;
/// Quality for "compress it" without a size.
pub(super) const USUAL: u8 = 65;
/// The least side of a picture.
const SMALLEST: u32 = 16;

pub(super) struct Shrunk {
    pub(super) encoded: (&'static str, Vec<u8>),
    /// What was done to it.
    pub(super) words: Vec<String>,
}

pub(super) fn jpeg(picture: &DynamicImage, quality: u8) -> Result<Vec<u8>, TaskError> {
    let mut bytes = Cursor::new(Vec::new());
    let flat = open::flatten(picture.clone());
    flat.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, quality))
        .map_err(|cause| TaskError::new(ErrorCode::Internal, format!("cannot encode the picture: {cause}")))?;
    Ok(bytes.into_inner())
}

/// Encodes a picture in at most this many bytes: in the format asked for, else as it came where that fits, else as JPEG.
///
/// # Errors
/// `CannotDo` when even a tiny picture is larger.
pub(super) fn within(
    picture: DynamicImage,
    format: Option<ImageFormat>,
    came_as: ImageFormat,
    most: u64,
    cancel: &Cancel,
) -> Result<Shrunk, TaskError> {
    let fits = |bytes: &[u8]| bytes.len() as u64 <= most;
    let plain = match format {
        Some(format) => open::encode_as(picture.clone(), format)?,
        None => open::encode(&picture, came_as)?,
    };
    if fits(&plain.1) {
        let size = size(plain.1.len());
        return Ok(Shrunk { encoded: plain, words: vec![size] });
    }
    let lossless = format.filter(|format| *format != ImageFormat::Jpeg);
    let mut small = picture;
    let mut scaled = false;
    loop {
        cancel.check()?;
        let (encoded, mut words) = match lossless {
            Some(format) => (open::encode_as(small.clone(), format)?, Vec::new()),
            None => {
                let (bytes, quality) = best_quality(&small, most, cancel)?;
                (("jpg", bytes), vec![format!("JPEG quality {quality}")])
            }
        };
        if fits(&encoded.1) {
            if scaled {
                words.insert(0, format!("resize {}x{}", small.width(), small.height()));
            }
            words.push(size(encoded.1.len()));
            return Ok(Shrunk { encoded, words });
        }
        // The size of a file goes with the number of its pixels, roughly.
        let factor = (most as f64 / encoded.1.len() as f64).sqrt().clamp(0.5, 0.9);
        let side = |edge: u32| (f64::from(edge) * factor).round() as u32;
        let (width, height) = (side(small.width()), side(small.height()));
        if width.max(height) < SMALLEST || width == 0 || height == 0 {
            let message = format!("the picture cannot be made smaller than {most} bytes");
            return Err(
                TaskError::new(ErrorCode::CannotDo, message).hint("ask for a larger file, such as `under 50 KB`")
            );
        }
        small = small.thumbnail_exact(width, height);
        scaled = true;
    }
}

/// The best quality that fits; the least where none does.
fn best_quality(picture: &DynamicImage, most: u64, cancel: &Cancel) -> Result<(Vec<u8>, u8), TaskError> {
    let mut best = (jpeg(picture, LEAST)?, LEAST);
    if best.0.len() as u64 > most {
        return Ok(best);
    }
    let (mut low, mut high) = (LEAST + 1, BEST);
    while low <= high {
        cancel.check()?;
        let quality = low.midpoint(high);
        let bytes = jpeg(picture, quality)?;
        if bytes.len() as u64 <= most {
            best = (bytes, quality);
            low = quality + 1;
        } else {
            high = quality - 1;
        }
    }
    Ok(best)
}

/// A file size for people.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{:.1} KB", bytes as f64 / 1e3),
        _ => format!("{:.2} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};
    use tokio_util::sync::CancellationToken;

    use super::*;

    #[test]
    fn files_get_as_small_as_asked() {
        let cancel = Cancel(CancellationToken::new());
        let picture =
            RgbImage::from_fn(400, 300, |x, y| Rgb([(x * y % 251) as u8, (x * 7 % 255) as u8, (y * 13 % 255) as u8]));
        for (format, came_as, most, extension) in [
            (None, ImageFormat::Jpeg, 50_000, "jpg"),
            (None, ImageFormat::Jpeg, 5000, "jpg"),
            (None, ImageFormat::Png, 30_000, "jpg"),
            (Some(ImageFormat::Png), ImageFormat::Png, 20_000, "png"),
            (Some(ImageFormat::WebP), ImageFormat::Png, 20_000, "webp"),
            (None, ImageFormat::Png, 100_000_000, "png"),
        ] {
            let made = within(picture.clone().into(), format, came_as, most, &cancel).unwrap();
            assert_eq!(made.encoded.0, extension, "{format:?} {most}");
            assert!(made.encoded.1.len() as u64 <= most && image::load_from_memory(&made.encoded.1).is_ok());
        }
        let error = within(picture.into(), None, ImageFormat::Jpeg, 10, &cancel).err().unwrap();
        assert_eq!(error.code, ErrorCode::CannotDo);
    }
}
