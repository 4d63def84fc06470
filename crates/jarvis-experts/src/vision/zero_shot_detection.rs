//! Zero-shot object detection: where in a picture the things are that labels name, by OWL-ViT. All labels are looked for in one
//! run; each box goes to every label that it fits.

use super::config::{ModelConfig, require};
use super::detection::Boxes;
use super::picture::{picture_and_labels, size};
use super::preprocess::Preprocessor;
use super::scores::sigmoid;
use super::tensor::{Tensor, exactly};
use super::texts::LabelTokenizer;
use super::zero_shot::texts;
use crate::onnx::Session;
use crate::{Call, Detection, ExpertError, Input, LocalModel, ModelFiles, Output, Resources};

/// Detections below this score are left out, as the reference pipeline does.
const THRESHOLD: f32 = 0.1;

const OUTPUTS: [&str; 2] = ["logits", "pred_boxes"];

/// OWL-ViT was trained with texts of at most this many tokens.
const TOKENS: usize = 16;

#[derive(Debug)]
struct ZeroShotDetector {
    files: ModelFiles,
    preprocessor: Preprocessor,
    tokenizer: LabelTokenizer,
    session: Session,
}

pub(super) fn open(
    files: &ModelFiles,
    config: &ModelConfig,
    resources: &Resources,
) -> Result<Option<Box<dyn LocalModel>>, ExpertError> {
    if config.model_type != "owlvit" {
        return Ok(None);
    }
    let preprocessor = Preprocessor::open(files, &config.model_type)?;
    let tokenizer = LabelTokenizer::open(files, config.text_config.max_position_embeddings.or(Some(TOKENS)))?;
    let session = Session::open(files, "model", resources)?;
    require(files, &session, &OUTPUTS)?;
    Ok(Some(Box::new(ZeroShotDetector { files: files.clone(), preprocessor, tokenizer, session })))
}

impl LocalModel for ZeroShotDetector {
    fn memory(&self) -> u64 {
        self.session.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let (picture, labels) = picture_and_labels(input)?;
        call.check()?;
        let rows = self.tokenizer.masked_rows(labels)?;
        let mut inputs = self.preprocessor.apply(picture)?.inputs(&self.files, &self.session)?;
        inputs.extend(texts(rows));
        call.check()?;
        let [logits, boxes] = exactly(&self.files, self.session.run(inputs, &OUTPUTS)?)?;
        let logits: Tensor<3> = Tensor::read(&self.files, "logits", &logits)?;
        if logits.shape[2] != labels.len() {
            return Err(self.files.failed("it gave another number of scores than of labels"));
        }
        let boxes = Boxes::read(&self.files, &boxes, logits.shape[1], size(picture))?;
        let mut found: Vec<Detection> = Vec::new();
        for (query, row) in logits.values.chunks_exact(labels.len()).take(logits.shape[1]).enumerate() {
            for (label, logit) in labels.iter().zip(row) {
                let score = sigmoid(*logit);
                if score > THRESHOLD {
                    found.extend(boxes.detection(query, label.clone(), score));
                }
            }
        }
        found.sort_by(|one, other| other.score.total_cmp(&one.score));
        Ok(Output::Boxes(found))
    }
}
