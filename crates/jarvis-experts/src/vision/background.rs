//! Cutting out: how much of each pixel belongs to the foreground, by MODNet and graphs of its interface (one picture in, one plane
//! of opacity out). Follows the `background-removal` pipeline of transformers.js, which defined the task type.

use super::config::ModelConfig;
use super::picture::{only_picture, size};
use super::preprocess::Preprocessor;
use super::resample::{self, Filter};
use super::scores::sigmoid;
use super::tensor::Tensor;
use crate::onnx::{Session, floats};
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources};

/// How far beyond 0 and 1 an opacity may be by rounding.
const ROUNDING: f32 = 1e-5;

#[derive(Debug)]
struct BackgroundRemover {
    files: ModelFiles,
    preprocessor: Preprocessor,
    session: Session,
    /// The name of the graph's only input.
    input: String,
}

pub(super) fn open(
    files: &ModelFiles,
    config: &ModelConfig,
    resources: &Resources,
) -> Result<Option<Box<dyn LocalModel>>, ExpertError> {
    let preprocessor = Preprocessor::open(files, &config.model_type)?;
    let session = Session::open(files, "model", resources)?;
    let ([input], [_]) = (session.inputs(), session.output_names()) else {
        return Err(files.unsupported("its graph does not take one picture and give one plane"));
    };
    let input = input.name.clone();
    Ok(Some(Box::new(BackgroundRemover { files: files.clone(), preprocessor, session, input })))
}

impl LocalModel for BackgroundRemover {
    fn memory(&self) -> u64 {
        self.session.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let picture = only_picture(input)?;
        call.check()?;
        let pixels = self.preprocessor.apply(picture)?;
        let values = floats(&[1, 3, pixels.height, pixels.width], pixels.values);
        call.check()?;
        let made = self.session.run_first(vec![(self.input.as_str(), values.into())])?;
        let plane: Tensor<4> = Tensor::read(&self.files, "the plane", &made)?;
        let [1, 1, high, wide] = plane.shape else {
            return Err(self
                .files
                .failed(format!("its output has the shape {:?}, not that of one plane", plane.shape)));
        };
        let levels: Vec<u8> = opacities(plane.values).into_iter().flat_map(|level| [level; 3]).collect();
        let resized = resample::resize(&levels, (wide, high), size(picture), Filter::Bilinear);
        let alpha = resized.chunks_exact(3).filter_map(|pixel| pixel.first().copied()).collect();
        Ok(Output::Matte { width: picture.width, height: picture.height, alpha })
    }
}

/// Levels of 0 to 255. Some graphs give logits, which shows by values that are no opacities.
fn opacities(mut values: Vec<f32>) -> Vec<u8> {
    if values.iter().any(|value| !(-ROUNDING..=1.0 + ROUNDING).contains(value)) {
        values.iter_mut().for_each(|value| *value = sigmoid(*value));
    }
    values.into_iter().map(|value| (value.clamp(0.0, 1.0) * 255.0) as u8).collect()
}
