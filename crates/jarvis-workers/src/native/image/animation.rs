//! Animations: one picture out of them.

use std::io::Cursor;

use image::codecs::gif::GifDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::{AnimationDecoder, DynamicImage, Frames, ImageFormat, ImageResult};
use jarvis_plan::{ErrorCode, TaskError};

use super::super::Cancel;
use super::instruction::Frame;

fn frames(bytes: &[u8]) -> Option<ImageResult<Frames<'_>>> {
    let file = Cursor::new(bytes);
    match image::guess_format(bytes).ok()? {
        ImageFormat::Gif => Some(GifDecoder::new(file).map(AnimationDecoder::into_frames)),
        ImageFormat::WebP => match WebPDecoder::new(file) {
            Ok(decoder) if !decoder.has_animation() => None,
            decoder => Some(decoder.map(AnimationDecoder::into_frames)),
        },
        ImageFormat::Png => match PngDecoder::new(file) {
            Ok(decoder) if !decoder.is_apng().unwrap_or(false) => None,
            decoder => Some(decoder.and_then(|decoder| decoder.apng().map(AnimationDecoder::into_frames))),
        },
        _ => None,
    }
}

/// Whether a file holds more than one picture.
pub(super) fn is_animated(bytes: &[u8]) -> bool {
    frames(bytes).and_then(Result::ok).is_some_and(|mut frames| frames.nth(1).is_some())
}

/// One picture of an animation. The size of the file's canvas was checked before.
///
/// # Errors
/// When it has no such picture.
pub(super) fn frame(bytes: &[u8], wanted: Frame, cancel: &Cancel) -> Result<DynamicImage, TaskError> {
    let still = || {
        TaskError::new(ErrorCode::InvalidInput, "the picture is no animation, so there are no frames to take out")
            .hint("give an animated GIF, WebP or PNG file; a border is asked for with its colour or thickness")
    };
    let broken = |cause: image::ImageError| {
        TaskError::new(ErrorCode::InvalidInput, format!("the animation is damaged or cut short: {cause}"))
    };
    let mut frames = frames(bytes).ok_or_else(still)?.map_err(broken)?;
    let (mut count, mut last) = (0_u32, None);
    while wanted != Frame::Nth(count) || count == 0 {
        cancel.check()?;
        match frames.next() {
            Some(next) => last = Some(next.map_err(broken)?),
            None => break,
        }
        count += 1;
    }
    let is_single = count == 1 && frames.next().is_none();
    match (last, wanted) {
        _ if is_single => Err(still()),
        (Some(frame), Frame::Last) => Ok(frame.into_buffer().into()),
        (Some(frame), Frame::Nth(nth)) if nth == count => Ok(frame.into_buffer().into()),
        _ => Err(TaskError::new(ErrorCode::InvalidInput, format!("the animation has {count} frames"))
            .hint("frames are counted from 1")),
    }
}

#[cfg(test)]
mod tests {
    use image::codecs::gif::GifEncoder;
    use image::{Rgba, RgbaImage};
    use tokio_util::sync::CancellationToken;

    use super::*;

    fn animation(count: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = GifEncoder::new(&mut bytes);
        for nth in 0..count {
            let picture = RgbaImage::from_pixel(4, 4, Rgba([nth * 50, 0, 0, 255]));
            encoder.encode_frame(image::Frame::new(picture)).unwrap();
        }
        drop(encoder);
        bytes
    }

    #[test]
    fn the_frame_that_is_named_is_taken() {
        let cancel = Cancel(CancellationToken::new());
        let five = animation(5);
        assert!(is_animated(&five) && !is_animated(&animation(1)) && !is_animated(b"no picture"));
        let red = |wanted| frame(&five, wanted, &cancel).map(|picture| picture.to_rgb8().get_pixel(0, 0).0[0]);
        assert_eq!([Frame::Nth(1), Frame::Nth(5), Frame::Last].map(|wanted| red(wanted).unwrap()), [0, 200, 200]);
        assert!(red(Frame::Nth(6)).is_err_and(|error| error.message.contains("5 frames")));
        assert!(red(Frame::Nth(0)).is_err());
        assert!(frame(&animation(1), Frame::Nth(1), &cancel).is_err());
        assert!(frame(&five[..five.len() / 2], Frame::Last, &cancel).is_err());
    }
}
