//! Pictures as services take and give them: decoded within limits, turned upright, encoded again. CPU work throughout,
//! so callers run it off the runtime.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::imageops::{self, FilterType};
use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits, RgbImage, Rgba, RgbaImage};
use jarvis_plan::{ErrorCode, TaskError};

/// The JPEG quality of pictures that are stored or sent, of 100.
const JPEG_QUALITY: u8 = 90;

/// Decodes a picture of at most `max_pixels` pixels and turns it upright as its EXIF data say.
///
/// # Errors
/// `InvalidInput` when it cannot be decoded, `TooLarge`.
pub(crate) fn decode(bytes: &[u8], max_pixels: u64) -> Result<DynamicImage, TaskError> {
    let broken = |error: image::ImageError| {
        TaskError::new(ErrorCode::InvalidInput, format!("the picture cannot be decoded: {error}"))
    };
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|error| TaskError::new(ErrorCode::InvalidInput, format!("the picture cannot be read: {error}")))?;
    let mut limits = Limits::default();
    // Eight bytes a pixel is the widest common format; decoders need some room of their own.
    limits.max_alloc = Some(max_pixels.saturating_mul(8).saturating_add(64 << 20));
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(broken)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > max_pixels {
        return Err(TaskError::new(
            ErrorCode::TooLarge,
            format!("the picture has {width} × {height} pixels; the limit is {max_pixels} in all"),
        ));
    }
    let orientation = decoder.orientation().unwrap_or(image::metadata::Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder).map_err(broken)?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

/// The picture as a PNG file.
pub(crate) fn png(picture: &DynamicImage) -> Result<Vec<u8>, TaskError> {
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, ImageFormat::Png).map_err(unencodable)?;
    Ok(file.into_inner())
}

/// The picture as a JPEG file.
pub(crate) fn jpeg(picture: &RgbImage) -> Result<Vec<u8>, TaskError> {
    let mut file = Vec::new();
    picture.write_with_encoder(JpegEncoder::new_with_quality(&mut file, JPEG_QUALITY)).map_err(unencodable)?;
    Ok(file)
}

/// The picture without transparency, on white.
pub(crate) fn opaque(picture: DynamicImage) -> RgbImage {
    if !picture.color().has_alpha() {
        return picture.into_rgb8();
    }
    let mut ground = RgbaImage::from_pixel(picture.width(), picture.height(), Rgba([255; 4]));
    imageops::overlay(&mut ground, &picture.into_rgba8(), 0, 0);
    DynamicImage::ImageRgba8(ground).into_rgb8()
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
    use super::*;

    #[test]
    fn pictures_are_bounded_flattened_and_shrunk() {
        let clear = DynamicImage::ImageRgba8(RgbaImage::from_pixel(40, 20, Rgba([10, 20, 30, 0])));
        let file = png(&clear).unwrap();
        assert_eq!(decode(&file, 800).unwrap().width(), 40);
        assert_eq!(decode(&file, 799).unwrap_err().code, ErrorCode::TooLarge);
        assert_eq!(decode(&file[..40], 800).unwrap_err().code, ErrorCode::InvalidInput);
        assert_eq!(opaque(clear.clone()).get_pixel(3, 3).0, [255; 3]);
        assert_eq!(within(clear.clone(), 10).height(), 5);
        assert_eq!(within(clear, 40).height(), 20);
    }
}
