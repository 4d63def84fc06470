//! Image classification: one picture, all classes of the model with their scores.

use super::config::{ModelConfig, require};
use super::picture::only_picture;
use super::preprocess::Preprocessor;
use super::scores::{sigmoid, softmax};
use super::tensor::Tensor;
use crate::onnx::Session;
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources, Scored};

/// The architectures whose processing is known. All of them take a picture and give `logits`.
const ARCHITECTURES: [&str; 19] = [
    "vit",
    "deit",
    "beit",
    "swin",
    "swinv2",
    "convnext",
    "convnextv2",
    "resnet",
    "regnet",
    "mobilenet_v1",
    "mobilenet_v2",
    "mobilevit",
    "mobilevitv2",
    "dinov2",
    "data2vec-vision",
    "segformer",
    "bit",
    "hiera",
    "vit_msn",
];

/// Answers list as many classes as the reference pipeline does.
const TOP: usize = 5;

#[derive(Debug)]
struct Classifier {
    files: ModelFiles,
    config: ModelConfig,
    preprocessor: Preprocessor,
    session: Session,
}

pub(super) fn open(
    files: &ModelFiles,
    config: &ModelConfig,
    resources: &Resources,
) -> Result<Option<Box<dyn LocalModel>>, ExpertError> {
    if !ARCHITECTURES.contains(&config.model_type.as_str()) {
        return Ok(None);
    }
    let preprocessor = Preprocessor::open(files, &config.model_type)?;
    let session = Session::open(files, "model", resources)?;
    require(files, &session, &["logits"])?;
    Ok(Some(Box::new(Classifier { files: files.clone(), config: config.clone(), preprocessor, session })))
}

impl LocalModel for Classifier {
    fn memory(&self) -> u64 {
        self.session.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let picture = only_picture(input)?;
        call.check()?;
        let inputs = self.preprocessor.apply(picture)?.inputs(&self.files, &self.session)?;
        call.check()?;
        let values = self.session.run(inputs, &["logits"])?;
        let value = values.first().ok_or_else(|| self.files.failed("the engine gave no output"))?;
        let logits: Tensor<2> = Tensor::read(&self.files, "logits", value)?;
        let classes = logits.values.get(..logits.shape[1]).unwrap_or_default();
        let several = self.config.problem_type.as_deref() == Some("multi_label_classification");
        let scores: Vec<f32> = if several || classes.len() == 1 {
            classes.iter().map(|logit| sigmoid(*logit)).collect()
        } else {
            softmax(classes)
        };
        let mut labels: Vec<Scored> = scores
            .into_iter()
            .enumerate()
            .map(|(class, score)| Scored { label: self.config.label(class), score })
            .collect();
        labels.sort_by(|one, other| other.score.total_cmp(&one.score));
        labels.truncate(TOP);
        Ok(Output::Labels(labels))
    }
}
