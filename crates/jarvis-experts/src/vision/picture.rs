//! Checks of what a caller gives, and arithmetic on 8-bit pictures that needs no weights.

use crate::{ExpertError, Input, Picture};

/// The picture of an input that has one and nothing else.
pub(super) fn only_picture(input: &Input) -> Result<&Picture, ExpertError> {
    match input {
        Input::Picture(picture) => checked(picture),
        _ => Err(ExpertError::BadInput("this model takes a picture".to_owned())),
    }
}

/// The picture and the labels of an input. At least one label is there, and none is empty.
pub(super) fn picture_and_labels(input: &Input) -> Result<(&Picture, &[String]), ExpertError> {
    let Input::PictureChoices { picture, labels } = input else {
        return Err(ExpertError::BadInput("this model takes a picture and labels".to_owned()));
    };
    if labels.is_empty() || labels.iter().any(|label| label.trim().is_empty()) {
        return Err(ExpertError::BadInput("this model needs at least one label, and no empty ones".to_owned()));
    }
    if labels.len() > MAX_LABELS {
        return Err(ExpertError::BadInput(format!("this model takes at most {MAX_LABELS} labels at once")));
    }
    Ok((checked(picture)?, labels))
}

/// More labels than anybody writes; each costs a run of the text half of a model.
const MAX_LABELS: usize = 1000;

pub(super) fn checked(picture: &Picture) -> Result<&Picture, ExpertError> {
    let (width, height) = size(picture);
    let expected = width.checked_mul(height).and_then(|area| area.checked_mul(3));
    if width == 0 || height == 0 {
        return Err(ExpertError::BadInput("the picture has no pixels".to_owned()));
    }
    if expected != Some(picture.pixels.len()) {
        return Err(ExpertError::BadInput(format!(
            "a picture of {width}x{height} pixels cannot have {} bytes",
            picture.pixels.len()
        )));
    }
    Ok(picture)
}

/// (width, height).
pub(super) fn size(picture: &Picture) -> (usize, usize) {
    (picture.width as usize, picture.height as usize)
}

/// Cuts or fills up to a size about the centre. What lies outside the picture is black. Where an odd number of pixels is added, the
/// odd one is before the picture or after it; where an odd number is cut, it is cut after it.
pub(super) fn centred(pixels: &[u8], from: (usize, usize), to: (usize, usize), odd_before: bool) -> Vec<u8> {
    let start = |from: usize, to: usize| {
        let added = to.saturating_sub(from);
        let before = if odd_before { added.div_ceil(2) } else { added / 2 };
        (from.saturating_sub(to) / 2) as isize - before as isize
    };
    let (left, top) = (start(from.0, to.0), start(from.1, to.1));
    let mut framed = vec![0; to.0 * to.1 * 3];
    for (y, row) in framed.chunks_exact_mut(to.0 * 3).enumerate() {
        let Some(y) = y.checked_add_signed(top).filter(|y| *y < from.1) else { continue };
        let source = pixels.get(y * from.0 * 3..(y + 1) * from.0 * 3).unwrap_or_default();
        for (x, pixel) in row.chunks_exact_mut(3).enumerate() {
            let Some(x) = x.checked_add_signed(left).filter(|x| *x < from.0) else { continue };
            pixel.copy_from_slice(source.get(x * 3..x * 3 + 3).unwrap_or(&[0; 3]));
        }
    }
    framed
}

/// The picture turned by 90 degrees clockwise.
pub(super) fn turned(pixels: &[u8], (width, height): (usize, usize)) -> Vec<u8> {
    let mut turned = Vec::with_capacity(pixels.len());
    for x in 0..width {
        for y in (0..height).rev() {
            let at = (y * width + x) * 3;
            turned.extend_from_slice(pixels.get(at..at + 3).unwrap_or(&[0; 3]));
        }
    }
    turned
}
