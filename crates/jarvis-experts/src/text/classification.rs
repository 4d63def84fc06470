//! Text classification: sentiment, topics, toxicity.
//!
//! transformers' pipeline neither cuts nor windows a text, and fails on long ones. Here a text that is longer than the model
//! reads is read in windows, and their probabilities are averaged by length: no part of it is ignored.

use serde_json::Value;

use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources};

use super::config::{Labels, TextConfig};
use super::encoder::Encoder;
use super::scores::{Mean, ranked, sigmoid, softmax};
use super::{require_text, wrong_input};

/// A model with one score for each label.
#[derive(Debug)]
pub(super) struct Classifier {
    encoder: Encoder,
    labels: Labels,
    problem: Option<Problem>,
}

/// What the scores mean, `problem_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    /// Exactly one label holds.
    OneLabel,
    /// Each label holds or not.
    AnyLabels,
    /// The score is a quantity.
    Regression,
}

impl Classifier {
    pub(super) fn open(
        files: &ModelFiles,
        config: &TextConfig,
        resources: &Resources,
    ) -> Result<Classifier, ExpertError> {
        let problem = match config.fields.get("problem_type") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(match name.as_str() {
                "single_label_classification" => Problem::OneLabel,
                "multi_label_classification" => Problem::AnyLabels,
                "regression" => Problem::Regression,
                other => return Err(files.bad("config.json", format!("unknown problem_type `{other}`"))),
            }),
            Some(other) => return Err(files.bad("config.json", format!("problem_type is {other}, not a name"))),
        };
        let labels = config.labels(files)?;
        Ok(Classifier { encoder: Encoder::open(files, config, resources)?, labels, problem })
    }

    fn scores(&self, logits: &[f32]) -> Vec<f32> {
        match self.problem {
            Some(Problem::Regression) => logits.to_vec(),
            Some(Problem::AnyLabels) => logits.iter().copied().map(sigmoid).collect(),
            // The score of a single label is a probability by itself, whatever the problem is called.
            Some(Problem::OneLabel) | None if logits.len() == 1 => logits.iter().copied().map(sigmoid).collect(),
            Some(Problem::OneLabel) | None => softmax(logits),
        }
    }
}

impl LocalModel for Classifier {
    fn memory(&self) -> u64 {
        self.encoder.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let Input::Text(text) = input else { return Err(wrong_input("text classification", "a text")) };
        require_text(text, "text")?;
        let encoder = &self.encoder;
        let limit = encoder.tokenizer.window;
        let windows = encoder.tokenizer.windows(&encoder.tokenizer.encode(text)?, 0, limit, 0)?;
        let mut mean = Mean::default();
        let output = encoder.first_output()?;
        encoder.run(&windows, &[output], 2, call, |number, rows| {
            let length = windows.get(number).map_or(1, |window| window.len());
            for row in rows {
                mean.add(&self.scores(row.values), length as f32);
            }
            Ok(())
        })?;
        let scores = mean.get();
        Ok(Output::Labels(ranked(self.labels.of(&encoder.files, scores.len())?, scores)))
    }
}
