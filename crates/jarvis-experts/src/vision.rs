//! Models that look at pictures: classes, boxes, masks, depth, captions, answers, cut-outs. Each takes pixels and gives numbers or words; drawing on
//! pictures belongs to the workers. Processing follows the reference pipelines of transformers, with their thresholds.

mod background;
mod caption;
mod classification;
mod config;
mod depth;
mod detection;
mod document;
mod interpolate;
mod picture;
mod preprocess;
mod resample;
mod scores;
mod segmentation;
mod settings;
mod sizes;
mod tensor;
mod texts;
mod upscaling;
mod writer;
mod zero_shot;
mod zero_shot_detection;

pub(crate) use interpolate::{Corners, Interpolation, Mode};
pub(crate) use texts::LabelTokenizer;

use crate::{ExpertError, LocalModel, ModelFiles, Resources};
use config::ModelConfig;

/// The model for this task type, where it is one of these.
pub(crate) fn open(
    files: &ModelFiles,
    task: &str,
    resources: &Resources,
) -> Result<Option<Box<dyn LocalModel>>, ExpertError> {
    let open = match task {
        "image-classification" => classification::open,
        "object-detection" => detection::open,
        "image-segmentation" => segmentation::open,
        "depth-estimation" => depth::open,
        "image-to-image" => upscaling::open,
        "image-to-text" => caption::open,
        "background-removal" => background::open,
        "document-question-answering" => document::open,
        "zero-shot-image-classification" => zero_shot::open,
        "zero-shot-object-detection" => zero_shot_detection::open,
        _ => return Ok(None),
    };
    if !files.has("config.json") {
        return Ok(None);
    }
    let config: ModelConfig = files.json("config.json")?;
    open(files, &config, resources)
}

#[cfg(test)]
mod tests;
