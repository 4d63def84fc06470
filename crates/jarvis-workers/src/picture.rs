//! Pictures as services take and give them: decoded within limits, turned upright, encoded again. CPU work throughout,
//! so callers run it off the runtime.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, RgbImage};
use jarvis_plan::{ErrorCode, TaskError};

use crate::native::image::open;
pub(crate) use crate::native::image::open::flatten;

/// The JPEG quality of pictures that are stored or sent, of 100.
const JPEG_QUALITY: u8 = 90;

/// Decodes a picture of at most `max_pixels` pixels and turns it upright as its EXIF data say.
///
/// # Errors
/// `InvalidInput` when it cannot be decoded, `TooLarge`.
pub(crate) fn decode(bytes: &[u8], max_pixels: u64) -> Result<DynamicImage, TaskError> {
    open::open(bytes, max_pixels).map(|opened| opened.picture)
}

pub(crate) fn png(picture: &DynamicImage) -> Result<Vec<u8>, TaskError> {
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, ImageFormat::Png).map_err(unencodable)?;
    Ok(file.into_inner())
}

pub(crate) fn jpeg(picture: &RgbImage) -> Result<Vec<u8>, TaskError> {
    let mut file = Vec::new();
    picture.write_with_encoder(JpegEncoder::new_with_quality(&mut file, JPEG_QUALITY)).map_err(unencodable)?;
    Ok(file)
}

/// The picture, made smaller if need be, so that neither side is longer than `side` pixels.
pub(crate) fn within(picture: DynamicImage, side: u32) -> DynamicImage {
    if picture.width() <= side && picture.height() <= side {
        return picture;
    }
    picture.resize(side, side, FilterType::Triangle)
}

fn unencodable(error: image::ImageError) -> TaskError {
    TaskError::new(ErrorCode::Internal, format!("the picture cannot be encoded: {error}"))
}

#[cfg(test)]
mod tests {
    use image::{Rgba, RgbaImage};

    use super::*;

    #[test]
    fn pictures_are_bounded_flattened_and_shrunk() {
        let clear = DynamicImage::ImageRgba8(RgbaImage::from_pixel(40, 20, Rgba([10, 20, 30, 0])));
        let file = png(&clear).unwrap();
        assert_eq!(decode(&file, 800).unwrap().width(), 40);
        assert_eq!(decode(&file, 799).unwrap_err().code, ErrorCode::TooLarge);
        assert_eq!(decode(&file[..40], 800).unwrap_err().code, ErrorCode::InvalidInput);
        assert_eq!(flatten(clear.clone()).get_pixel(3, 3).0, [255; 3]);
        assert_eq!(within(clear.clone(), 10).height(), 5);
        assert_eq!(within(clear, 40).height(), 20);
    }
}
