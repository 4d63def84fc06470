//! BERT and RoBERTa models read from safetensors, and BERTScore over their hidden states (package `bert-score`: no idf, no
//! rescaling). Each text goes through the model once and alone, so there is no padding to mask.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::{bert, xlm_roberta};
use serde::Deserialize;
use tokenizers::{Tokenizer, TruncationParams};

use super::{Similarity, SimilarityError};
use crate::evaluate::harmonic;

pub struct Bert {
    model: Model,
    tokenizer: Tokenizer,
    /// Words are tokenised as if a blank stood before them, as the package does for RoBERTa.
    blank_first: bool,
}

enum Model {
    Bert(Box<bert::BertModel>),
    Roberta(Box<xlm_roberta::XLMRobertaModel>),
}

/// What is read of `config.json` before it is known which model it is.
#[derive(Deserialize)]
struct Kind {
    #[serde(default)]
    model_type: String,
    num_hidden_layers: usize,
    max_position_embeddings: usize,
}

/// A text as the model sees it: unit vectors, one for each token, and which of them are special.
struct Embedded {
    vectors: Tensor,
    special: Vec<bool>,
}

impl Bert {
    pub fn load(dir: &Path, layer: Option<usize>) -> Result<Bert, SimilarityError> {
        let bad = |reason: String| SimilarityError::Model { dir: dir.display().to_string(), reason };
        let read = |name: &str| fs::read(dir.join(name)).map_err(|error| bad(format!("{name}: {error}")));
        let config = read("config.json")?;
        let json = |error: serde_json::Error| bad(format!("config.json: {error}"));
        let kind: Kind = serde_json::from_slice(&config).map_err(json)?;
        let roberta = matches!(kind.model_type.as_str(), "roberta" | "xlm-roberta" | "camembert");
        if !roberta && !matches!(kind.model_type.as_str(), "bert" | "") {
            return Err(bad(format!("its type is `{}`", kind.model_type)));
        }
        let layers = layer.unwrap_or_else(|| usual_layer(roberta, kind.num_hidden_layers));
        if layers == 0 || layers > kind.num_hidden_layers {
            return Err(bad(format!("it has layers 1 to {}, not {layers}", kind.num_hidden_layers)));
        }
        let mut tokenizer =
            Tokenizer::from_bytes(read("tokenizer.json")?).map_err(|error| bad(format!("tokenizer.json: {error}")))?;
        tokenizer.with_padding(None);
        let weights = VarBuilder::from_buffered_safetensors(read("model.safetensors")?, DType::F32, &Device::Cpu)
            .map_err(|error| bad(format!("model.safetensors: {error}")))?;
        let failed = |error: candle_core::Error| bad(format!("model.safetensors: {error}"));
        // The layers above the one that is compared are never computed.
        let model = if roberta {
            // Newer files leave out what every such model has.
            let mut given: serde_json::Map<String, serde_json::Value> =
                serde_json::from_slice(&config).map_err(json)?;
            given.entry("position_embedding_type").or_insert_with(|| "absolute".into());
            let mut config: xlm_roberta::Config = serde_json::from_value(given.into()).map_err(json)?;
            config.num_hidden_layers = layers;
            let weights = match ["roberta", "model"].into_iter().find(|name| holds(&weights, name)) {
                Some(name) => weights.pp(name),
                None => weights,
            };
            Model::Roberta(Box::new(xlm_roberta::XLMRobertaModel::new(&config, weights).map_err(failed)?))
        } else {
            let mut config: bert::Config = serde_json::from_slice(&config).map_err(json)?;
            config.num_hidden_layers = layers;
            let weights = if holds(&weights, "bert") { weights.pp("bert") } else { weights };
            Model::Bert(Box::new(bert::BertModel::load(weights, &config).map_err(failed)?))
        };
        // RoBERTa counts positions from behind the padding's.
        let positions = kind.max_position_embeddings.saturating_sub(if roberta { 2 } else { 0 });
        let cut = TruncationParams { max_length: positions.min(512), ..TruncationParams::default() };
        tokenizer.with_truncation(Some(cut)).map_err(|error| bad(error.to_string()))?;
        Ok(Bert { model, tokenizer, blank_first: kind.model_type == "roberta" })
    }

    fn embed(&self, text: &str) -> Result<Embedded, SimilarityError> {
        let failed = |error: candle_core::Error| SimilarityError::Failed(error.to_string());
        let text = text.trim();
        let text = if self.blank_first && !text.is_empty() { format!(" {text}") } else { text.to_owned() };
        let encoding = self.tokenizer.encode(text, true).map_err(|error| SimilarityError::Failed(error.to_string()))?;
        let device = Device::Cpu;
        let ids = Tensor::new(encoding.get_ids(), &device).and_then(|ids| ids.unsqueeze(0)).map_err(failed)?;
        let types = ids.zeros_like().map_err(failed)?;
        let states = match &self.model {
            Model::Bert(model) => model.forward(&ids, &types, None),
            Model::Roberta(model) => {
                let mask = ids.ones_like().map_err(failed)?;
                model.forward(&ids, &mask, &types, None, None, None)
            }
        };
        let unit = |states: Tensor| -> candle_core::Result<Tensor> {
            let states = states.squeeze(0)?;
            states.broadcast_div(&states.sqr()?.sum_keepdim(1)?.sqrt()?)
        };
        let vectors = states.and_then(unit).map_err(failed)?;
        Ok(Embedded { vectors, special: encoding.get_special_tokens_mask().iter().map(|mask| *mask == 1).collect() })
    }
}

impl Similarity for Bert {
    fn score(&self, pairs: &[(String, String)], progress: &dyn Fn(usize)) -> Result<Vec<[f64; 3]>, SimilarityError> {
        // Gold texts come back for each run, and many predictions are equal to them.
        let mut seen: HashMap<&str, Embedded> = HashMap::new();
        let mut scores = Vec::with_capacity(pairs.len());
        for (done, (gold, predicted)) in pairs.iter().enumerate() {
            for text in [gold, predicted] {
                if !seen.contains_key(text.as_str()) {
                    seen.insert(text, self.embed(text)?);
                }
            }
            if let (Some(gold), Some(predicted)) = (seen.get(gold.as_str()), seen.get(predicted.as_str())) {
                scores.push(compare(gold, predicted)?);
            }
            // One pair's vectors are some megabytes at most; they are kept while there is hope to meet them again.
            if seen.len() > 64 {
                seen.clear();
            }
            progress(done + 1);
        }
        Ok(scores)
    }
}

/// Each token meets the most similar one of the other text; special tokens are met, but not counted.
fn compare(gold: &Embedded, predicted: &Embedded) -> Result<[f64; 3], SimilarityError> {
    let similar = || -> candle_core::Result<(Vec<f32>, Vec<f32>)> {
        let all = predicted.vectors.matmul(&gold.vectors.t()?)?;
        Ok((all.max(1)?.to_vec1()?, all.max(0)?.to_vec1()?))
    };
    // A text without words is like nothing.
    if gold.special.iter().all(|special| *special) || predicted.special.iter().all(|special| *special) {
        return Ok([0.0; 3]);
    }
    let (of_predicted, of_gold) = similar().map_err(|error| SimilarityError::Failed(error.to_string()))?;
    let precision = mean(&of_predicted, &predicted.special);
    let recall = mean(&of_gold, &gold.special);
    Ok([precision, recall, harmonic(precision, recall)])
}

#[allow(clippy::cast_precision_loss, reason = "texts have some hundred tokens")]
fn mean(best: &[f32], special: &[bool]) -> f64 {
    let counted: Vec<f64> =
        best.iter().zip(special).filter(|(_, special)| !**special).map(|(value, _)| f64::from(*value)).collect();
    if counted.is_empty() { 0.0 } else { counted.iter().sum::<f64>() / counted.len() as f64 }
}

/// The layer that the package takes: 17 of the 24 of `roberta-large`, 10 of 12, 5 of 6; 9 of BERT's 12, 18 of its 24.
fn usual_layer(roberta: bool, layers: usize) -> usize {
    match (roberta, layers) {
        (true, 24) => 17,
        (true, 12) => 10,
        (false, 24) => 18,
        (false, 12) => 9,
        (_, 6) => 5,
        (_, layers) => layers,
    }
}

fn holds(weights: &VarBuilder<'_>, name: &str) -> bool {
    weights.contains_tensor(&format!("{name}.embeddings.word_embeddings.weight"))
}
