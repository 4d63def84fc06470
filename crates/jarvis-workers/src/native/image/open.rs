//! From bytes to pixels and back, within limits: the size is read from the header before anything is decoded.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};
use jarvis_plan::{ErrorCode, TaskError};

/// A decoded picture, turned upright, and the format it came in.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) picture: DynamicImage,
    pub(crate) format: ImageFormat,
    /// Whether its EXIF orientation turned it.
    pub(crate) was_turned: bool,
}

/// What people call a format: `JPEG`.
pub(super) fn name_of(format: ImageFormat) -> String {
    let subtype = format.to_mime_type().rsplit('/').next().unwrap_or_default();
    subtype.trim_start_matches("x-").to_uppercase()
}

/// Decodes a picture of at most `max_pixels` pixels and applies its EXIF orientation.
pub(crate) fn open(bytes: &[u8], max_pixels: u64) -> Result<Opened, TaskError> {
    let Ok(format) = image::guess_format(bytes) else {
        return Err(TaskError::new(
            ErrorCode::InvalidInput,
            format!("the image is not a picture: {}", looks_like(bytes)),
        )
        .hint("give a PNG, JPEG, GIF, WebP, BMP or TIFF file"));
    };
    let broken = |cause: ImageError| match cause {
        ImageError::Limits(_) => TaskError::new(ErrorCode::TooLarge, "the picture needs more memory than is allowed"),
        ImageError::Unsupported(cause) => {
            TaskError::new(ErrorCode::InvalidInput, format!("the picture is of a kind that is not supported: {cause}"))
                .hint("convert it to PNG or JPEG")
        }
        ImageError::Decoding(_) | ImageError::Encoding(_) | ImageError::Parameter(_) | ImageError::IoError(_) => {
            let name = name(format);
            TaskError::new(ErrorCode::InvalidInput, format!("the {name} picture is damaged or cut short: {cause}"))
        }
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    // Until the header is read nothing large is allocated; the limits are set right after.
    reader.no_limits();
    let mut decoder = reader.into_decoder().map_err(broken)?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if pixels > max_pixels {
        return Err(TaskError::new(
            ErrorCode::TooLarge,
            format!("the picture has {width} x {height} = {pixels} pixels; the limit is {max_pixels}"),
        )
        .hint("make it smaller first, or raise the limit in the configuration"));
    }
    if pixels == 0 {
        return Err(TaskError::new(ErrorCode::InvalidInput, "the picture has no pixels"));
    }
    let mut limits = Limits::default();
    // Eight bytes a pixel hold 16-bit RGBA; decoders need a little beside.
    limits.max_alloc = Some(max_pixels.saturating_mul(8).saturating_add(16 << 20));
    decoder.set_limits(limits).map_err(broken)?;
    let orientation = decoder.orientation().unwrap_or(image::metadata::Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder).map_err(broken)?;
    picture.apply_orientation(orientation);
    // Eight bits a channel are enough for all that follows, at half the memory or less.
    let picture = match picture {
        DynamicImage::ImageLuma8(_)
        | DynamicImage::ImageLumaA8(_)
        | DynamicImage::ImageRgb8(_)
        | DynamicImage::ImageRgba8(_) => picture,
        deep if deep.color().has_alpha() => DynamicImage::ImageRgba8(deep.into_rgba8()),
        deep => DynamicImage::ImageRgb8(deep.into_rgb8()),
    };
    let was_turned = orientation != image::metadata::Orientation::NoTransforms;
    Ok(Opened { picture, format, was_turned })
}

/// The picture as it looks on white, without alpha.
pub(crate) fn flatten(picture: DynamicImage) -> image::RgbImage {
    if !picture.color().has_alpha() {
        return picture.into_rgb8();
    }
    let rgba = picture.into_rgba8();
    image::RgbImage::from_fn(rgba.width(), rgba.height(), |x, y| {
        let [r, g, b, a] = rgba.get_pixel(x, y).0;
        let on_white = |channel: u8| {
            let (channel, a) = (u32::from(channel), u32::from(a));
            ((channel * a + 255 * (255 - a) + 127) / 255) as u8
        };
        image::Rgb([r, g, b].map(on_white))
    })
}

/// The size that fits `width` x `height` into a square of `side`, never larger than it was.
pub(super) fn fit((width, height): (u32, u32), side: u32) -> (u32, u32) {
    let longest = width.max(height);
    if longest <= side {
        return (width, height);
    }
    let scaled = |edge: u32| ((u64::from(edge) * u64::from(side) / u64::from(longest)) as u32).max(1);
    (scaled(width), scaled(height))
}

/// A copy of at most `side` pixels a side, for measuring. Averages, so fine patterns do not alias.
pub(super) fn reduced(picture: &DynamicImage, side: u32) -> DynamicImage {
    let (width, height) = fit((picture.width(), picture.height()), side);
    if (width, height) == (picture.width(), picture.height()) {
        picture.clone()
    } else {
        picture.thumbnail_exact(width, height)
    }
}

/// Encodes as PNG, or as JPEG of quality 92 when the picture came as JPEG and is opaque. Returns the extension too.
pub(super) fn encode(picture: &DynamicImage, came_as: ImageFormat) -> Result<(&'static str, Vec<u8>), TaskError> {
    let mut bytes = Cursor::new(Vec::new());
    let failed = |cause: ImageError| TaskError::new(ErrorCode::Internal, format!("cannot encode the picture: {cause}"));
    let small_enough = picture.width() <= u32::from(u16::MAX) && picture.height() <= u32::from(u16::MAX);
    if came_as == ImageFormat::Jpeg && !picture.color().has_alpha() && small_enough {
        picture.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, 92)).map_err(failed)?;
        return Ok(("jpg", bytes.into_inner()));
    }
    picture.write_to(&mut bytes, ImageFormat::Png).map_err(failed)?;
    Ok(("png", bytes.into_inner()))
}

/// Encodes in a format that was asked for: JPEG of quality 92, on white where it was clear; the others without loss.
pub(super) fn encode_as(picture: DynamicImage, format: ImageFormat) -> Result<(&'static str, Vec<u8>), TaskError> {
    let (width, height) = (picture.width(), picture.height());
    let most = match format {
        ImageFormat::WebP => 16_383,
        ImageFormat::Jpeg | ImageFormat::Gif => u32::from(u16::MAX),
        _ => u32::MAX,
    };
    if width.max(height) > most {
        let message = format!("a {} picture is at most {most} pixels a side; this is {width} x {height}", name(format));
        return Err(TaskError::new(ErrorCode::TooLarge, message).hint("make it smaller, or save it as png"));
    }
    if format == ImageFormat::Jpeg {
        return encode(&DynamicImage::ImageRgb8(flatten(picture)), format);
    }
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).map_err(|cause| {
        TaskError::new(ErrorCode::CannotDo, format!("cannot save the picture as {}: {cause}", name(format)))
    })?;
    Ok((format.extensions_str().first().copied().unwrap_or("png"), bytes.into_inner()))
}

fn name(format: ImageFormat) -> String {
    format.extensions_str().first().map_or_else(|| "unknown".to_owned(), |name| name.to_uppercase())
}

/// What bytes that are no picture seem to be.
fn looks_like(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "it is empty".to_owned();
    }
    if let Some(kind) = infer::get(bytes) {
        return format!("it looks like {}", kind.mime_type());
    }
    let start = bytes.get(..512).unwrap_or(bytes);
    let text = match std::str::from_utf8(start) {
        Ok(_) => true,
        // A sign may be cut at the end of the sample.
        Err(cause) => cause.error_len().is_none(),
    };
    if text && !start.contains(&0) {
        let start = String::from_utf8_lossy(start).trim_start().to_lowercase();
        if start.starts_with("<svg") || (start.starts_with("<?xml") && start.contains("<svg")) {
            return "it is an SVG drawing".to_owned();
        }
        return "it is a text file".to_owned();
    }
    "it is of an unknown format".to_owned()
}
