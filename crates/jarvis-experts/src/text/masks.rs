//! Fill-mask: the likeliest tokens in the place of a mask.

use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources, Scored};

use super::config::TextConfig;
use super::encoder::Encoder;
use super::scores::softmax;
use super::{require_text, wrong_input};

/// Candidates that are given.
const CANDIDATES: usize = 5;
/// How masks are written, whatever the model calls its own.
const MASKS: [&str; 2] = ["[MASK]", "<mask>"];

/// A masked language model.
#[derive(Debug)]
pub(super) struct MaskFiller {
    encoder: Encoder,
    mask: String,
    mask_id: u32,
}

impl MaskFiller {
    pub(super) fn open(
        files: &ModelFiles,
        config: &TextConfig,
        resources: &Resources,
    ) -> Result<MaskFiller, ExpertError> {
        let encoder = Encoder::open(files, config, resources)?;
        let named = encoder.tokenizer.special("mask_token").map(str::to_owned);
        let known = || MASKS.into_iter().find(|mask| encoder.tokenizer.id(mask).is_some()).map(str::to_owned);
        let no_mask = || files.unsupported("its tokenizer has no mask token");
        let mask = named.or_else(known).ok_or_else(no_mask)?;
        let mask_id = encoder.tokenizer.id(&mask).ok_or_else(no_mask)?;
        Ok(MaskFiller { encoder, mask, mask_id })
    }
}

impl LocalModel for MaskFiller {
    fn memory(&self) -> u64 {
        self.encoder.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let Input::Text(text) = input else { return Err(wrong_input("fill-mask", "a text with a mask")) };
        require_text(text, "text")?;
        let text = MASKS.iter().fold(text.clone(), |text, mask| text.replace(mask, &self.mask));
        let masks = text.matches(&self.mask).count();
        if masks != 1 {
            return Err(ExpertError::BadInput(format!("the text has {masks} masks: write one `{}`", self.mask)));
        }
        let encoder = &self.encoder;
        let limit = encoder.tokenizer.window;
        let windows = encoder.tokenizer.windows(&encoder.tokenizer.encode(&text)?, 0, limit, limit / 2)?;
        // Of the windows with the mask, the one that has most text on both sides of it.
        let place = |ids: &[u32]| ids.iter().position(|id| *id == self.mask_id);
        let window = windows
            .into_iter()
            .filter_map(|window| Some((place(&window.ids)?, window)))
            .max_by_key(|(place, window)| (*place).min(window.len() - place));
        let Some((place, window)) = window else {
            return Err(encoder.files.bad("tokenizer.json", format!("it does not read `{}` as one token", self.mask)));
        };
        let mut best: Vec<(usize, f32)> = Vec::new();
        let output = if encoder.gives("logits") { "logits" } else { encoder.first_output()? };
        encoder.run(std::slice::from_ref(&window), &[output], 3, call, |_, rows| {
            let scores = softmax(rows.first().and_then(|row| row.at(place)).unwrap_or_default());
            best = scores.into_iter().enumerate().collect();
            best.sort_by(|one, other| other.1.total_cmp(&one.1));
            best.truncate(CANDIDATES);
            Ok(())
        })?;
        let labels = best.into_iter().map(|(id, score)| {
            let label = encoder.tokenizer.decode_all(&[id as u32])?.trim().to_owned();
            Ok(Scored { label, score })
        });
        labels.collect::<Result<Vec<Scored>, ExpertError>>().map(Output::Labels)
    }
}
