//! Larger pictures from small ones, by Swin2SR. The whole picture is worked on at once: time and memory grow with its area.

use super::config::{ModelConfig, require};
use super::picture::{only_picture, size};
use super::preprocess::Preprocessor;
use super::tensor::{Tensor, exactly};
use crate::onnx::Session;
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Picture, Resources};

/// The most times that a picture may become wider.
const MAX_SCALE: u32 = 8;

#[derive(Debug)]
struct Upscaler {
    files: ModelFiles,
    preprocessor: Preprocessor,
    session: Session,
    scale: u32,
}

pub(super) fn open(
    files: &ModelFiles,
    config: &ModelConfig,
    resources: &Resources,
) -> Result<Option<Box<dyn LocalModel>>, ExpertError> {
    if config.model_type != "swin2sr" {
        return Ok(None);
    }
    let scale = config.upscale.unwrap_or(2);
    if !(1..=MAX_SCALE).contains(&scale) {
        return Err(files.bad("config.json", format!("`upscale` is {scale}, not from 1 to {MAX_SCALE}")));
    }
    let preprocessor = Preprocessor::open(files, &config.model_type)?;
    let session = Session::open(files, "model", resources)?;
    require(files, &session, &["reconstruction"])?;
    Ok(Some(Box::new(Upscaler { files: files.clone(), preprocessor, session, scale })))
}

impl LocalModel for Upscaler {
    fn memory(&self) -> u64 {
        self.session.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let picture = only_picture(input)?;
        call.check()?;
        let inputs = self.preprocessor.apply(picture)?.inputs(&self.files, &self.session)?;
        call.check()?;
        let [made] = exactly(&self.files, self.session.run(inputs, &["reconstruction"])?)?;
        let made: Tensor<4> = Tensor::read(&self.files, "reconstruction", &made)?;
        let [_, channels, high, wide] = made.shape;
        let scale = self.scale as usize;
        let (width, height) = size(picture);
        let (width, height) = (width * scale, height * scale);
        if channels != 3 || wide < width || high < height {
            return Err(self.files.failed(format!("its output `reconstruction` has the shape {:?}", made.shape)));
        }
        // The reference leaves the mirrored padding in the picture; here it is cut off.
        let mut pixels = vec![0; width * height * 3];
        for (channel, plane) in made.values.chunks_exact(wide * high).take(3).enumerate() {
            for (row, line) in pixels.chunks_exact_mut(width * 3).zip(plane.chunks_exact(wide)) {
                for (pixel, value) in row.chunks_exact_mut(3).zip(line) {
                    if let Some(pixel) = pixel.get_mut(channel) {
                        *pixel = (value.clamp(0.0, 1.0) * 255.0).round_ties_even() as u8;
                    }
                }
            }
        }
        Ok(Output::Picture(Picture { width: picture.width * self.scale, height: picture.height * self.scale, pixels }))
    }
}
