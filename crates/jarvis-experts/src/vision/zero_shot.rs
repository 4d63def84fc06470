//! Zero-shot image classification: how well texts fit a picture, by CLIP and SigLIP. The graph is whole, or is two halves whose
//! vectors are compared here.

use super::config::{ModelConfig, require};
use super::picture::picture_and_labels;
use super::preprocess::Preprocessor;
use super::scores::{sigmoid, softmax};
use super::tensor::{Tensor, exactly};
use super::texts::{LabelTokenizer, Rows};
use crate::onnx::{Session, ints};
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Picture, Resources, Scored};

/// Texts that SigLIP was trained with have this many tokens.
const SIGLIP_TOKENS: usize = 64;

/// What CLIP multiplies cosines with: its training stopped at this bound, and the halves do not contain it.
const CLIP_SCALE: f32 = 100.0;

#[derive(Debug)]
struct ZeroShotClassifier {
    files: ModelFiles,
    preprocessor: Preprocessor,
    tokenizer: LabelTokenizer,
    graph: Graph,
    is_siglip: bool,
}

#[derive(Debug)]
enum Graph {
    Whole(Box<Session>),
    Halves(Box<Halves>),
}

/// The part that reads texts and the part that looks at pictures.
#[derive(Debug)]
struct Halves {
    text: Session,
    vision: Session,
}

pub(super) fn open(
    files: &ModelFiles,
    config: &ModelConfig,
    resources: &Resources,
) -> Result<Option<Box<dyn LocalModel>>, ExpertError> {
    let is_siglip = match config.model_type.as_str() {
        "clip" => false,
        "siglip" => true,
        _ => return Ok(None),
    };
    let preprocessor = Preprocessor::open(files, &config.model_type)?;
    let tokenizer = LabelTokenizer::open(files, config.text_config.max_position_embeddings)?;
    let halves = files.find_onnx("text_model").zip(files.find_onnx("vision_model"));
    let graph = match (files.find_onnx("model"), halves) {
        (None, Some(_)) if is_siglip => {
            return Err(files.unsupported("SigLIP in two graphs lacks the scale of its scores; use the whole graph"));
        }
        (None, Some((text, vision))) => {
            let text = Session::open_file(files, &text, resources)?;
            let left =
                Resources { max_memory: resources.max_memory.saturating_sub(text.memory()), ..resources.clone() };
            let vision = Session::open_file(files, &vision, &left)?;
            require(files, &text, &["text_embeds"])?;
            require(files, &vision, &["image_embeds"])?;
            Graph::Halves(Box::new(Halves { text, vision }))
        }
        _ => {
            let session = Session::open(files, "model", resources)?;
            require(files, &session, &["logits_per_image"])?;
            Graph::Whole(Box::new(session))
        }
    };
    Ok(Some(Box::new(ZeroShotClassifier { files: files.clone(), preprocessor, tokenizer, graph, is_siglip })))
}

impl LocalModel for ZeroShotClassifier {
    fn memory(&self) -> u64 {
        match &self.graph {
            Graph::Whole(session) => session.memory(),
            Graph::Halves(halves) => halves.text.memory() + halves.vision.memory(),
        }
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let (picture, labels) = picture_and_labels(input)?;
        call.check()?;
        let texts: Vec<String> = labels.iter().map(|label| format!("This is a photo of {label}.")).collect();
        let rows = if self.is_siglip {
            self.tokenizer.rows(&texts, Some(SIGLIP_TOKENS))?
        } else {
            self.tokenizer.masked_rows(&texts)?
        };
        let logits = match &self.graph {
            Graph::Whole(session) => self.whole(session, picture, rows, call)?,
            Graph::Halves(halves) => self.halves(halves, picture, rows, call)?,
        };
        if logits.len() != labels.len() {
            return Err(self.files.failed("it gave another number of scores than of labels"));
        }
        let scores =
            if self.is_siglip { logits.iter().map(|logit| sigmoid(*logit)).collect() } else { softmax(&logits) };
        let mut labels: Vec<Scored> =
            labels.iter().zip(scores).map(|(label, score)| Scored { label: label.clone(), score }).collect();
        labels.sort_by(|one, other| other.score.total_cmp(&one.score));
        Ok(Output::Labels(labels))
    }
}

impl ZeroShotClassifier {
    fn whole(&self, session: &Session, picture: &Picture, rows: Rows, call: &Call) -> Result<Vec<f32>, ExpertError> {
        let mut inputs = self.preprocessor.apply(picture)?.inputs(&self.files, session)?;
        inputs.extend(texts(rows));
        call.check()?;
        let [logits] = exactly(&self.files, session.run(inputs, &["logits_per_image"])?)?;
        let logits: Tensor<2> = Tensor::read(&self.files, "logits_per_image", &logits)?;
        Ok(logits.values)
    }

    fn halves(
        &self,
        Halves { text, vision }: &Halves,
        picture: &Picture,
        rows: Rows,
        call: &Call,
    ) -> Result<Vec<f32>, ExpertError> {
        let inputs = self.preprocessor.apply(picture)?.inputs(&self.files, vision)?;
        call.check()?;
        let [seen] = exactly(&self.files, vision.run(inputs, &["image_embeds"])?)?;
        let seen: Tensor<2> = Tensor::read(&self.files, "image_embeds", &seen)?;
        call.check()?;
        let [read] = exactly(&self.files, text.run(texts(rows).into(), &["text_embeds"])?)?;
        let read: Tensor<2> = Tensor::read(&self.files, "text_embeds", &read)?;
        if read.shape[1] != seen.shape[1] {
            return Err(self.files.failed("its two graphs give vectors of different lengths"));
        }
        let rows = read.values.chunks_exact(read.shape[1]);
        Ok(rows.map(|row| CLIP_SCALE * cosine(row, &seen.values)).collect())
    }
}

/// The inputs of a graph that takes texts.
pub(super) fn texts<'a>(rows: Rows) -> [(&'static str, rten::ValueOrView<'a>); 2] {
    [("input_ids", ints(&rows.shape, rows.ids).into()), ("attention_mask", ints(&rows.shape, rows.mask).into())]
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    let dot = |one: &[f32], other: &[f32]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>();
    let lengths = (dot(one, one) * dot(other, other)).sqrt();
    if lengths > 0.0 { dot(one, other) / lengths } else { 0.0 }
}
