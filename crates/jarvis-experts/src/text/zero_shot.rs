//! Zero-shot classification by a model of natural-language inference: how well does the text entail "This example is {label}."?
//!
//! All labels are run in one batch. A text that is longer than the model reads is read in windows, whose logits are averaged by
//! length before they are compared; transformers' pipeline cuts it.

use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources};

use super::config::TextConfig;
use super::encoder::Encoder;
use super::scores::{Mean, ranked, softmax};
use super::{require_text, wrong_input};

/// Most labels of one call.
const MAX_LABELS: usize = 500;
/// Most pairs of window and label of one call.
const MAX_PAIRS: usize = 4_000;

/// A model that judges whether one text follows from another.
#[derive(Debug)]
pub(super) struct ZeroShot {
    encoder: Encoder,
    /// The number of the label "entailment"; the last where no label is called so.
    entailment: Option<usize>,
}

impl ZeroShot {
    pub(super) fn open(
        files: &ModelFiles,
        config: &TextConfig,
        resources: &Resources,
    ) -> Result<ZeroShot, ExpertError> {
        let entailment = config.labels(files)?.position(|name| name.to_lowercase().starts_with("entail"));
        Ok(ZeroShot { encoder: Encoder::open(files, config, resources)?, entailment })
    }
}

impl LocalModel for ZeroShot {
    fn memory(&self) -> u64 {
        self.encoder.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let Input::Choices { text, labels, several } = input else {
            return Err(wrong_input("zero-shot classification", "a text and labels"));
        };
        require_text(text, "text")?;
        if labels.is_empty() || labels.len() > MAX_LABELS || labels.iter().any(|label| label.trim().is_empty()) {
            return Err(ExpertError::BadInput(format!(
                "zero-shot classification takes 1 to {MAX_LABELS} labels, none of them empty"
            )));
        }
        let encoder = &self.encoder;
        let mut windows = Vec::new();
        let mut of_label = Vec::new();
        for (number, label) in labels.iter().enumerate() {
            call.check()?;
            let pair = encoder.tokenizer.encode_pair(text, &format!("This example is {label}."))?;
            let pieces = encoder.tokenizer.windows(&pair, 0, encoder.tokenizer.window, 0)?;
            of_label.resize(of_label.len() + pieces.len(), number);
            windows.extend(pieces);
            if windows.len() > MAX_PAIRS {
                return Err(ExpertError::BadInput("the text is too long for so many labels".to_owned()));
            }
        }
        let mut means: Vec<Mean> = labels.iter().map(|_| Mean::default()).collect();
        let output = encoder.first_output()?;
        encoder.run(&windows, &[output], 2, call, |number, rows| {
            let length = windows.get(number).map_or(1, |window| window.len());
            let mean = of_label.get(number).and_then(|label| means.get_mut(*label));
            if let (Some(mean), Some(row)) = (mean, rows.first()) {
                mean.add(row.values, length as f32);
            }
            Ok(())
        })?;
        let logits: Vec<Vec<f32>> = means.into_iter().map(Mean::get).collect();
        let width = logits.first().map_or(0, Vec::len);
        let entailment = self.entailment.unwrap_or(width.saturating_sub(1));
        let contradiction = if entailment == 0 { width.saturating_sub(1) } else { 0 };
        if width < 2 || entailment >= width {
            return Err(encoder.files.unsupported("it does not judge whether one text entails another"));
        }
        let at = |row: &[f32], index: usize| row.get(index).copied().unwrap_or(f32::NEG_INFINITY);
        let scores = if *several || labels.len() == 1 {
            let both = |row: &Vec<f32>| softmax(&[at(row, contradiction), at(row, entailment)]);
            logits.iter().map(|row| both(row).last().copied().unwrap_or_default()).collect()
        } else {
            softmax(&logits.iter().map(|row| at(row, entailment)).collect::<Vec<f32>>())
        };
        Ok(Output::Labels(ranked(labels.clone(), scores)))
    }
}
