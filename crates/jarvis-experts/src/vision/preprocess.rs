//! From a picture to the tensor that a model takes, as the model's own `preprocessor_config.json` says: resize, cut, rescale,
//! normalise, pad. Follows the image processors of transformers that resize with Pillow.

use std::borrow::Cow;

use serde_json::Value;

use rten::ValueOrView;

use super::picture::{centred, size, turned};
use super::resample::{self, Filter};
use super::settings;
use super::sizes::Sizing;
use crate::onnx::{Session, floats, ints};
use crate::{ExpertError, ModelFiles, Picture};

/// The largest side that a configuration may ask for.
pub(super) const MAX_SIDE: usize = 4096;

/// The most pixels of a tensor.
const MAX_AREA: usize = MAX_SIDE * MAX_SIDE;

/// What is added around a picture that is resized and normalised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Padding {
    None,
    /// Zeros on the right and below, up to this size.
    To {
        width: usize,
        height: usize,
    },
    /// Zeros on all sides, up to a multiple.
    Centred(usize),
    /// The picture mirrored on the right and below, up to the next multiple that is larger (Swin2SR).
    Mirrored(usize),
}

/// A size, (width, height), to which a picture is cut or filled up with black about its centre.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// An odd pixel of the filling is on the left and above.
    Crop((usize, usize)),
    /// An odd pixel of the filling is on the right and below. Nothing is cut.
    Fill((usize, usize)),
}

/// The steps from a picture to a tensor.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Preprocessor {
    /// Whether a picture is first turned by 90 degrees where its longer side is not that of this (width, height).
    pub(super) align: Option<(usize, usize)>,
    pub(super) sizings: Vec<Sizing>,
    pub(super) filter: Filter,
    pub(super) frame: Option<Frame>,
    /// The value of each level of each channel, after rescaling and normalising.
    pub(super) levels: [Vec<f32>; 3],
    /// Whether the model takes blue, green, red.
    pub(super) flip: bool,
    pub(super) padding: Padding,
}

/// A picture as a tensor of 1, 3, height, width.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pixels {
    pub(super) values: Vec<f32>,
    pub(super) width: usize,
    pub(super) height: usize,
    /// The (width, height) of the picture within, at the top left unless the padding is on all sides.
    pub(super) filled: (usize, usize),
}

impl Preprocessor {
    /// Reads the steps of a model from its files.
    ///
    /// # Errors
    /// When there is no such file, or it asks for sizes or values that cannot be.
    pub(super) fn open(files: &ModelFiles, model_type: &str) -> Result<Preprocessor, ExpertError> {
        let name = "preprocessor_config.json";
        let settings: Value = match files.json_if_there::<Value>(name)? {
            Some(settings) => settings,
            // transformers 5 keeps the settings of all parts of a processor in one file.
            None => match files.json_if_there::<Value>("processor_config.json")? {
                Some(Value::Object(mut all)) => all.remove("image_processor").unwrap_or(Value::Null),
                Some(_) | None => Value::Null,
            },
        };
        if !settings.is_object() {
            files.path(name)?;
            return Err(files.bad(name, "it is not an object"));
        }
        settings::read(&settings, model_type).map_err(|reason| files.bad(name, reason))
    }

    /// Makes the tensor.
    ///
    /// # Errors
    /// When the picture would become empty or larger than a tensor may be.
    pub(super) fn apply(&self, picture: &Picture) -> Result<Pixels, ExpertError> {
        let from = size(picture);
        let mut step = (Cow::Borrowed(picture.pixels.as_slice()), from);
        if self
            .align
            .is_some_and(|(width, height)| (width < height && from.0 > from.1) || (width > height && from.0 < from.1))
        {
            step = (turned(&step.0, from).into(), (from.1, from.0));
        }
        for sizing in &self.sizings {
            let to = sizing.apply(step.1);
            bounded(to, from)?;
            if to != step.1 {
                // The second step of Donut's class does not know the filter of the settings.
                let is_thumbnail = matches!(sizing, Sizing::Thumbnail { .. });
                let filter = if is_thumbnail { Filter::Bicubic } else { self.filter };
                step = (resample::resize(&step.0, step.1, to, filter).into(), to);
            }
        }
        bounded(step.1, from)?;
        if let Some(frame) = self.frame {
            let (to, odd_before) = match frame {
                Frame::Crop(to) => (to, true),
                Frame::Fill(to) => ((to.0.max(step.1.0), to.1.max(step.1.1)), false),
            };
            step = (centred(&step.0, step.1, to, odd_before).into(), to);
        }
        let (pixels, filled) = step;
        let (size, place) = self.padding.apply(filled);
        bounded(size, from)?;
        Ok(Pixels { values: self.planes(&pixels, filled, size, place), width: size.0, height: size.1, filled })
    }

    fn planes(&self, pixels: &[u8], from: (usize, usize), to: (usize, usize), place: Place) -> Vec<f32> {
        let area = to.0 * to.1;
        let mut values = vec![0.0; 3 * area];
        for (channel, (plane, levels)) in values.chunks_exact_mut(area).zip(&self.levels).enumerate() {
            let source = if self.flip { 2 - channel } else { channel };
            for (y, row) in plane.chunks_exact_mut(to.0).enumerate() {
                let Some(from_y) = place.source(y, place.top, from.1) else { continue };
                let line = pixels.get(from_y * from.0 * 3..(from_y + 1) * from.0 * 3).unwrap_or_default();
                for (x, value) in row.iter_mut().enumerate() {
                    let Some(from_x) = place.source(x, place.left, from.0) else { continue };
                    let level = line.get(from_x * 3 + source).copied().unwrap_or_default();
                    *value = levels.get(usize::from(level)).copied().unwrap_or_default();
                }
            }
        }
        values
    }
}

/// Refuses tensors without pixels and those that would fill the memory.
fn bounded(size: (usize, usize), picture: (usize, usize)) -> Result<(), ExpertError> {
    let area = size.0.checked_mul(size.1);
    match area {
        Some(1..=MAX_AREA) => Ok(()),
        _ => Err(ExpertError::BadInput(format!(
            "the model would work on {}x{} pixels of a picture of {}x{}: use a picture of more usual proportions or size",
            size.0, size.1, picture.0, picture.1
        ))),
    }
}

/// Where the picture lies in the tensor, and what is beyond it.
#[derive(Debug, Clone, Copy)]
struct Place {
    left: usize,
    top: usize,
    mirrored: bool,
}

impl Place {
    /// The pixel of the picture that stands at a place of the tensor.
    fn source(&self, at: usize, start: usize, length: usize) -> Option<usize> {
        let at = at.checked_sub(start)?;
        if at < length {
            return Some(at);
        }
        if !self.mirrored || length == 0 {
            return None;
        }
        let turn = at % (2 * length);
        Some(if turn < length { turn } else { 2 * length - 1 - turn })
    }
}

impl Padding {
    /// The size of the tensor for a picture of a size, and where the picture lies in it.
    fn apply(self, (width, height): (usize, usize)) -> ((usize, usize), Place) {
        let corner = Place { left: 0, top: 0, mirrored: false };
        match self {
            Padding::None => ((width, height), corner),
            Padding::To { width: wide, height: high } => ((width.max(wide), height.max(high)), corner),
            Padding::Centred(multiple) => {
                let padded = (width.next_multiple_of(multiple), height.next_multiple_of(multiple));
                let place = Place { left: (padded.0 - width) / 2, top: (padded.1 - height) / 2, mirrored: false };
                (padded, place)
            }
            Padding::Mirrored(multiple) => {
                let next = |length: usize| (length / multiple + 1) * multiple;
                ((next(width), next(height)), Place { mirrored: true, ..corner })
            }
        }
    }
}

impl Pixels {
    /// The inputs of a graph that takes pictures: `pixel_values`, and `pixel_mask` where it has one.
    ///
    /// # Errors
    /// When the mask that the graph announces is larger than a picture may be.
    pub(super) fn inputs<'a>(
        self,
        files: &ModelFiles,
        session: &Session,
    ) -> Result<Vec<(&'static str, ValueOrView<'a>)>, ExpertError> {
        let mut inputs = Vec::new();
        if let Some(port) = session.input("pixel_mask") {
            inputs.push(("pixel_mask", self.mask(files, &port.shape)?.into()));
        }
        let shape = [1, 3, self.height, self.width];
        inputs.push(("pixel_values", floats(&shape, self.values).into()));
        Ok(inputs)
    }

    /// 1 where the picture is, 0 where it is padded. Graphs for transformers.js have a mask of a fixed 64x64, which the model
    /// resizes; all of it is picture then.
    fn mask(&self, files: &ModelFiles, shape: &[Option<usize>]) -> Result<rten::Value, ExpertError> {
        if let [_, Some(height), Some(width)] = shape
            && (*height, *width) != (self.height, self.width)
        {
            return match height.checked_mul(*width) {
                Some(area @ 1..=MAX_AREA) => Ok(ints(&[1, *height, *width], vec![1; area])),
                _ => Err(files.unsupported(format!("its input `pixel_mask` is of {height}x{width}"))),
            };
        }
        let mut mask = vec![0; self.width * self.height];
        for row in mask.chunks_exact_mut(self.width).take(self.filled.1) {
            for value in row.iter_mut().take(self.filled.0) {
                *value = 1;
            }
        }
        Ok(ints(&[1, self.height, self.width], mask))
    }
}
