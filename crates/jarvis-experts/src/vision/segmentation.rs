//! Image segmentation: panoptic by DETR (a mask for each thing found, no two of them over one pixel), semantic by Segformer (a
//! mask for each class that some pixel is of).

use super::config::{ModelConfig, require};
use super::interpolate::{Interpolation, Mode};
use super::picture::{only_picture, size};
use super::preprocess::Preprocessor;
use super::scores::{best, sigmoid, softmax};
use super::tensor::{Tensor, exactly};
use crate::onnx::Session;
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources, Segment};

/// Things below this score are left out.
const THRESHOLD: f32 = 0.9;

/// From which value on a pixel belongs to a mask.
const MASK_THRESHOLD: f32 = 0.5;

/// A thing is left out where others cover all but this share of its mask.
const OVERLAP: f32 = 0.5;

/// How the outputs become masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Panoptic,
    Semantic,
}

#[derive(Debug)]
struct Segmenter {
    files: ModelFiles,
    config: ModelConfig,
    preprocessor: Preprocessor,
    session: Session,
    kind: Kind,
}

pub(super) fn open(
    files: &ModelFiles,
    config: &ModelConfig,
    resources: &Resources,
) -> Result<Option<Box<dyn LocalModel>>, ExpertError> {
    let kind = match config.model_type.as_str() {
        "detr" => Kind::Panoptic,
        "segformer" => Kind::Semantic,
        _ => return Ok(None),
    };
    let preprocessor = Preprocessor::open(files, &config.model_type)?;
    let session = Session::open(files, "model", resources)?;
    require(files, &session, kind.outputs())?;
    Ok(Some(Box::new(Segmenter { files: files.clone(), config: config.clone(), preprocessor, session, kind })))
}

impl Kind {
    fn outputs(self) -> &'static [&'static str] {
        match self {
            Kind::Panoptic => &["logits", "pred_masks"],
            Kind::Semantic => &["logits"],
        }
    }
}

impl LocalModel for Segmenter {
    fn memory(&self) -> u64 {
        self.session.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let picture = only_picture(input)?;
        call.check()?;
        let inputs = self.preprocessor.apply(picture)?.inputs(&self.files, &self.session)?;
        call.check()?;
        let values = self.session.run(inputs, self.kind.outputs())?;
        let mut segments = match self.kind {
            Kind::Panoptic => {
                let [logits, masks] = exactly(&self.files, values)?;
                let logits: Tensor<3> = Tensor::read(&self.files, "logits", &logits)?;
                let masks: Tensor<4> = Tensor::read(&self.files, "pred_masks", &masks)?;
                if masks.shape[1] != logits.shape[1] {
                    return Err(self.files.failed("it gave another number of masks than of things"));
                }
                self.panoptic(&logits, &masks, size(picture), call)?
            }
            Kind::Semantic => {
                let [logits] = exactly(&self.files, values)?;
                let logits: Tensor<4> = Tensor::read(&self.files, "logits", &logits)?;
                self.semantic(&logits, size(picture), call)?
            }
        };
        segments
            .sort_by_cached_key(|segment| std::cmp::Reverse(segment.mask.iter().filter(|pixel| **pixel != 0).count()));
        Ok(Output::Segments(segments))
    }
}

/// A thing that a query found, and the part of the picture that is its own.
struct Thing<'a> {
    class: usize,
    score: f32,
    /// Its logits, of the size that the model gave.
    mask: &'a [f32],
    /// Pixels where it is ahead of all others.
    own: usize,
    /// Pixels where its value times its score is above the threshold.
    claimed: usize,
}

impl Segmenter {
    fn panoptic(
        &self,
        logits: &Tensor<3>,
        masks: &Tensor<4>,
        to: (usize, usize),
        call: &Call,
    ) -> Result<Vec<Segment>, ExpertError> {
        let classes = logits.shape[2];
        let from = (masks.shape[3], masks.shape[2]);
        let rows = logits.values.chunks_exact(classes).zip(masks.values.chunks_exact(from.0 * from.1));
        let mut things: Vec<Thing<'_>> = rows
            .filter_map(|(row, mask)| {
                let (class, score) = best(&softmax(row))?;
                let is_thing = class + 1 < classes && score > THRESHOLD;
                is_thing.then_some(Thing { class, score, mask, own: 0, claimed: 0 })
            })
            .collect();
        if things.is_empty() {
            return Ok(Vec::new());
        }
        let probabilities: Vec<Vec<f32>> =
            things.iter().map(|thing| thing.mask.iter().map(|logit| sigmoid(*logit)).collect()).collect();
        let owners = owners(from, to, &probabilities, call, |at, value| {
            let thing = things.get_mut(at)?;
            let value = value * thing.score;
            thing.claimed += usize::from(value >= MASK_THRESHOLD);
            Some(value)
        })?;
        for owner in &owners {
            if let Some(thing) = things.get_mut(usize::from(*owner)) {
                thing.own += 1;
            }
        }
        let segments = things.iter().enumerate().filter(|(_, thing)| {
            thing.own > 0 && thing.claimed > 0 && thing.own as f32 / thing.claimed as f32 > OVERLAP
        });
        Ok(segments
            .map(|(at, thing)| Segment {
                label: self.config.label(thing.class),
                score: Some(thing.score),
                mask: mask(&owners, at),
            })
            .collect())
    }

    fn semantic(&self, logits: &Tensor<4>, to: (usize, usize), call: &Call) -> Result<Vec<Segment>, ExpertError> {
        let [_, classes, height, width] = logits.shape;
        let planes: Vec<&[f32]> = logits.values.chunks_exact(width * height).take(classes).collect();
        let owners = owners((width, height), to, &planes, call, |_, value| Some(value))?;
        let mut present = vec![false; classes];
        for owner in &owners {
            if let Some(present) = present.get_mut(usize::from(*owner)) {
                *present = true;
            }
        }
        let classes = present.iter().enumerate().filter(|(_, present)| **present);
        Ok(classes
            .map(|(class, _)| Segment { label: self.config.label(class), score: None, mask: mask(&owners, class) })
            .collect())
    }
}

/// For each pixel, the plane that has the largest value there after resizing, the first of equals. `weigh` sees each value of
/// each plane (by number) and may change it.
fn owners<P: AsRef<[f32]>>(
    from: (usize, usize),
    to: (usize, usize),
    planes: &[P],
    call: &Call,
    mut weigh: impl FnMut(usize, f32) -> Option<f32>,
) -> Result<Vec<u16>, ExpertError> {
    let mut interpolation = Interpolation::new(from, to, Mode::Bilinear);
    let mut owners = vec![0_u16; to.0 * to.1];
    let mut row = vec![0.0; to.0];
    let mut ahead = vec![0.0; to.0];
    for (y, owners) in owners.chunks_exact_mut(to.0).enumerate() {
        call.check()?;
        ahead.fill(f32::NEG_INFINITY);
        for (at, plane) in planes.iter().enumerate().take(usize::from(u16::MAX)) {
            interpolation.row(plane.as_ref(), y, &mut row);
            for ((value, ahead), owner) in row.iter().zip(&mut ahead).zip(owners.iter_mut()) {
                let value = weigh(at, *value).unwrap_or(f32::NEG_INFINITY);
                if value > *ahead {
                    *ahead = value;
                    *owner = at as u16;
                }
            }
        }
    }
    Ok(owners)
}

/// 255 where the owner is this one.
fn mask(owners: &[u16], at: usize) -> Vec<u8> {
    owners.iter().map(|owner| if usize::from(*owner) == at { 255 } else { 0 }).collect()
}
