//! Depth estimation: a value for each pixel. DPT and Depth Anything give inverse depth without a unit, larger where things are
//! nearer; GLPN and the metric checkpoints of Depth Anything give metres, larger where things are farther.

use super::config::{ModelConfig, require};
use super::interpolate::{Interpolation, Mode};
use super::picture::{only_picture, size};
use super::preprocess::Preprocessor;
use super::tensor::Tensor;
use crate::onnx::Session;
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources};

#[derive(Debug)]
struct DepthEstimator {
    files: ModelFiles,
    preprocessor: Preprocessor,
    session: Session,
}

pub(super) fn open(
    files: &ModelFiles,
    config: &ModelConfig,
    resources: &Resources,
) -> Result<Option<Box<dyn LocalModel>>, ExpertError> {
    if !matches!(config.model_type.as_str(), "dpt" | "depth_anything" | "glpn") {
        return Ok(None);
    }
    let preprocessor = Preprocessor::open(files, &config.model_type)?;
    let session = Session::open(files, "model", resources)?;
    require(files, &session, &["predicted_depth"])?;
    Ok(Some(Box::new(DepthEstimator { files: files.clone(), preprocessor, session })))
}

impl LocalModel for DepthEstimator {
    fn memory(&self) -> u64 {
        self.session.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let picture = only_picture(input)?;
        call.check()?;
        let inputs = self.preprocessor.apply(picture)?.inputs(&self.files, &self.session)?;
        call.check()?;
        let values = self.session.run(inputs, &["predicted_depth"])?;
        let value = values.first().ok_or_else(|| self.files.failed("the engine gave no output"))?;
        let depth: Tensor<3> = Tensor::read(&self.files, "predicted_depth", value)?;
        call.check()?;
        let [_, height, width] = depth.shape;
        let values = Interpolation::new((width, height), size(picture), Mode::Bicubic).plane(&depth.values);
        Ok(Output::Depth { width: picture.width, height: picture.height, values })
    }
}
