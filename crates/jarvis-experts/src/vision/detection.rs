//! Object detection by models of the DETR family: a fixed number of queries, each of which finds one thing or nothing.

use super::config::{ModelConfig, require};
use super::picture::{only_picture, size};
use super::preprocess::Preprocessor;
use super::scores::{best, sigmoid, softmax};
use super::tensor::{Tensor, exactly};
use crate::onnx::Session;
use crate::{Call, Detection, ExpertError, Input, LocalModel, ModelFiles, Output, Resources};

/// Detections below this score are left out, as the reference pipeline does.
const THRESHOLD: f32 = 0.5;

/// How the classes of a query are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scoring {
    /// The classes and "nothing", the last, share 1; each query finds its best class.
    Softmax,
    /// Each pair of query and class has a score of its own; of all pairs the best are looked at, this many or, without a
    /// number, as many as there are queries.
    Sigmoid(Option<usize>),
}

fn scoring(model_type: &str) -> Option<Scoring> {
    match model_type {
        "detr" | "table-transformer" | "yolos" => Some(Scoring::Softmax),
        "conditional_detr" | "deformable_detr" => Some(Scoring::Sigmoid(Some(100))),
        "rt_detr" | "rt_detr_v2" | "d_fine" => Some(Scoring::Sigmoid(None)),
        _ => None,
    }
}

#[derive(Debug)]
struct Detector {
    files: ModelFiles,
    config: ModelConfig,
    preprocessor: Preprocessor,
    session: Session,
    scoring: Scoring,
}

pub(super) fn open(
    files: &ModelFiles,
    config: &ModelConfig,
    resources: &Resources,
) -> Result<Option<Box<dyn LocalModel>>, ExpertError> {
    let Some(scoring) = scoring(&config.model_type) else { return Ok(None) };
    let preprocessor = Preprocessor::open(files, &config.model_type)?;
    let session = Session::open(files, "model", resources)?;
    require(files, &session, &OUTPUTS)?;
    Ok(Some(Box::new(Detector { files: files.clone(), config: config.clone(), preprocessor, session, scoring })))
}

const OUTPUTS: [&str; 2] = ["logits", "pred_boxes"];

impl LocalModel for Detector {
    fn memory(&self) -> u64 {
        self.session.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let picture = only_picture(input)?;
        call.check()?;
        let inputs = self.preprocessor.apply(picture)?.inputs(&self.files, &self.session)?;
        call.check()?;
        let [logits, boxes] = exactly(&self.files, self.session.run(inputs, &OUTPUTS)?)?;
        let logits: Tensor<3> = Tensor::read(&self.files, "logits", &logits)?;
        let boxes = Boxes::read(&self.files, &boxes, logits.shape[1], size(picture))?;
        let mut found: Vec<Detection> = found(&logits, self.scoring)
            .into_iter()
            .filter(|found| found.score > THRESHOLD)
            .filter_map(|found| boxes.detection(found.query, self.config.label(found.class), found.score))
            .collect();
        found.sort_by(|one, other| other.score.total_cmp(&one.score));
        Ok(Output::Boxes(found))
    }
}

/// What a query found.
struct Found {
    query: usize,
    class: usize,
    score: f32,
}

fn found(logits: &Tensor<3>, scoring: Scoring) -> Vec<Found> {
    let [_, queries, classes] = logits.shape;
    let rows = logits.values.chunks_exact(classes).take(queries);
    match scoring {
        Scoring::Softmax => rows
            .enumerate()
            .filter_map(|(query, row)| {
                let shares = softmax(row);
                let (class, score) = best(shares.get(..classes - 1)?)?;
                Some(Found { query, class, score })
            })
            .collect(),
        Scoring::Sigmoid(most) => {
            let mut all: Vec<Found> = rows
                .enumerate()
                .flat_map(|(query, row)| {
                    row.iter().enumerate().map(move |(class, logit)| Found { query, class, score: sigmoid(*logit) })
                })
                .collect();
            all.sort_by(|one, other| other.score.total_cmp(&one.score));
            all.truncate(most.unwrap_or(queries));
            all
        }
    }
}

/// The boxes of the queries: centre and size, as shares of a picture.
pub(super) struct Boxes {
    values: Vec<f32>,
    width: f32,
    height: f32,
}

impl Boxes {
    /// Reads the output `pred_boxes` for a number of queries and a picture of (width, height).
    pub(super) fn read(
        files: &ModelFiles,
        value: &rten::Value,
        queries: usize,
        (width, height): (usize, usize),
    ) -> Result<Boxes, ExpertError> {
        let boxes: Tensor<3> = Tensor::read(files, "pred_boxes", value)?;
        if boxes.shape[1] != queries || boxes.shape[2] != 4 {
            return Err(files.failed(format!("its output `pred_boxes` has the shape {:?}", boxes.shape)));
        }
        Ok(Boxes { values: boxes.values, width: width as f32, height: height as f32 })
    }

    /// What a query found, in pixels of the picture. Boxes may reach over the edges a little, as in the reference.
    pub(super) fn detection(&self, query: usize, label: String, score: f32) -> Option<Detection> {
        let [x, y, width, height] = *self.values.get(query * 4..)?.first_chunk()?;
        Some(Detection {
            label,
            score,
            xmin: (x - 0.5 * width) * self.width,
            ymin: (y - 0.5 * height) * self.height,
            xmax: (x + 0.5 * width) * self.width,
            ymax: (y + 0.5 * height) * self.height,
        })
    }
}
