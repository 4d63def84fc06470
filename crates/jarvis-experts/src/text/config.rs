//! Fields of `config.json` that text models share.

use serde_json::{Map, Value};

use crate::{ExpertError, ModelFiles};

/// Most labels that a classifier may name.
const MAX_LABELS: usize = 100_000;
/// Window length where no file names one.
const DEFAULT_WINDOW: usize = 512;
/// Longest window that is ever run: attention takes memory by the square of it.
const MAX_WINDOW: usize = 8192;

/// `config.json` of a text model.
#[derive(Debug, Clone, Default)]
pub(super) struct TextConfig {
    pub(super) model_type: String,
    pub(super) fields: Map<String, Value>,
}

impl TextConfig {
    pub(super) fn read(files: &ModelFiles) -> Result<TextConfig, ExpertError> {
        let fields: Map<String, Value> = files.json("config.json")?;
        let model_type = fields.get("model_type").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(TextConfig { model_type, fields })
    }

    /// Whether the heads that the file names, if it names any, serve the task.
    pub(super) fn fits(&self, task: &str) -> bool {
        let names = self.fields.get("architectures").and_then(Value::as_array);
        let names: Vec<&str> = names.into_iter().flatten().filter_map(Value::as_str).collect();
        let has = |head: &str| names.iter().any(|name| name.ends_with(head));
        let is_other = |heads: &[&str]| !names.is_empty() && !heads.iter().any(|head| has(head));
        match task {
            "text-classification" | "zero-shot-classification" => !is_other(&["ForSequenceClassification"]),
            "token-classification" => !is_other(&["ForTokenClassification"]),
            "question-answering" => !is_other(&["ForQuestionAnswering", "ForQuestionAnsweringSimple"]),
            "fill-mask" => !is_other(&["ForMaskedLM", "ForPreTraining", "WithLMHeadModel"]),
            "translation" | "summarization" | "text2text-generation" => {
                !is_other(&["ForConditionalGeneration", "MTModel", "Seq2SeqLM", "WithLMHeadModel"])
                    && self.model_type != "whisper"
            }
            "text-generation" => !is_other(&["ForCausalLM", "LMHeadModel"]),
            // Any text encoder gives vectors, whatever head it was trained with.
            _ => !names
                .iter()
                .any(|name| ["CLIP", "Siglip", "Clap", "ViT", "Wav2Vec2"].iter().any(|other| name.starts_with(other))),
        }
    }

    pub(super) fn count(&self, name: &str) -> Option<usize> {
        self.fields.get(name)?.as_u64().and_then(|number| usize::try_from(number).ok())
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str()
    }

    /// The tokens that the encoder reads at once, special tokens included: the smaller of what the tokenizer and the position
    /// table allow.
    pub(super) fn window(&self, tokenizer_limit: Option<usize>) -> usize {
        // RoBERTa's family counts positions from the padding token on.
        let offset = match self.model_type.as_str() {
            "roberta"
            | "xlm-roberta"
            | "xlm-roberta-xl"
            | "camembert"
            | "mpnet"
            | "longformer"
            | "roberta-prelayernorm" => self.count("pad_token_id").unwrap_or(1).saturating_add(1),
            _ => 0,
        };
        // Relative positions have no end; T5 names the length of its training texts `n_positions`.
        let positions = ["max_position_embeddings", "max_encoder_position_embeddings", "n_positions"]
            .iter()
            .find_map(|name| self.count(name))
            .map(|positions| positions.saturating_sub(offset))
            .filter(|positions| *positions > 0);
        let limit = match (positions, tokenizer_limit) {
            (Some(one), Some(other)) => one.min(other),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => DEFAULT_WINDOW,
        };
        limit.clamp(1, MAX_WINDOW)
    }

    /// The names of the labels by number.
    pub(super) fn labels(&self, files: &ModelFiles) -> Result<Labels, ExpertError> {
        let bad = |reason: String| files.bad("config.json", reason);
        let Some(value) = self.fields.get("id2label") else { return Ok(Labels(Vec::new())) };
        let map = value.as_object().ok_or_else(|| bad("id2label is not a map".to_owned()))?;
        if map.len() > MAX_LABELS {
            return Err(bad(format!("id2label has {} entries", map.len())));
        }
        let mut names = vec![None; map.len()];
        for (number, name) in map {
            let place = number.parse::<usize>().ok().and_then(|number| names.get_mut(number));
            let place =
                place.ok_or_else(|| bad(format!("id2label has an entry `{number}` among {} labels", map.len())))?;
            // Some checkpoints have numbers for names.
            *place = Some(name.as_str().map_or_else(|| name.to_string(), str::to_owned));
        }
        names
            .into_iter()
            .collect::<Option<Vec<String>>>()
            .map(Labels)
            .ok_or_else(|| bad("id2label has gaps".to_owned()))
    }
}

/// The names of the labels by number; empty where the file has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Labels(Vec<String>);

impl Labels {
    /// The names of so many scores; `LABEL_0` and so on where the file names none.
    pub(super) fn of(&self, files: &ModelFiles, scores: usize) -> Result<Vec<String>, ExpertError> {
        if self.0.is_empty() {
            return Ok((0..scores).map(|number| format!("LABEL_{number}")).collect());
        }
        if self.0.len() != scores {
            return Err(files.bad(
                "config.json",
                format!("id2label names {} labels, and the graph gives {scores} scores", self.0.len()),
            ));
        }
        Ok(self.0.clone())
    }

    /// The number of the first label that satisfies this.
    pub(super) fn position(&self, is_it: impl Fn(&str) -> bool) -> Option<usize> {
        self.0.iter().position(|name| is_it(name))
    }
}
