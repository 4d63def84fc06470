//! Models of text: encoders that judge, tag, answer from and embed texts, and encoder-decoder or decoder-only models that write.
//!
//! What a graph is fed and how its outputs are read comes from the model's own files (`config.json`, `tokenizer.json`,
//! `tokenizer_config.json`, `generation_config.json`), so that any checkpoint of an architecture works, and follows transformers'
//! pipelines. Where a text is longer than a model reads, it is read in windows; each module says how they are combined.

mod answers;
#[cfg(feature = "llm")]
mod bert;
mod classification;
mod config;
mod continuation;
mod encoder;
mod entities;
mod languages;
mod masks;
mod scores;
mod sentences;
mod seq2seq;
#[cfg(feature = "llm")]
mod states;
mod tokens;
mod translation;
mod vectors;
mod zero_shot;

#[cfg(feature = "llm")]
pub use states::{Depth, TokenEncoder, TokenStates, is_text_encoder};

use crate::{ExpertError, LocalModel, ModelFiles, Resources};
use config::TextConfig;

/// Longest text that a model is given, in bytes; a book has about a million.
const MAX_TEXT: usize = 2 << 20;

/// The model for this task type, where it is one of these.
pub(crate) fn open(
    files: &ModelFiles,
    task: &str,
    resources: &Resources,
) -> Result<Option<Box<dyn LocalModel>>, ExpertError> {
    if !TASKS.contains(&task) {
        return Ok(None);
    }
    let config = TextConfig::read(files)?;
    if !config.fits(task) {
        return Ok(None);
    }
    let model: Box<dyn LocalModel> = match task {
        "text-classification" => Box::new(classification::Classifier::open(files, &config, resources)?),
        "zero-shot-classification" => Box::new(zero_shot::ZeroShot::open(files, &config, resources)?),
        "token-classification" => Box::new(entities::Tagger::open(files, &config, resources)?),
        "question-answering" => Box::new(answers::Reader::open(files, &config, resources)?),
        "fill-mask" => Box::new(masks::MaskFiller::open(files, &config, resources)?),
        "feature-extraction" | "sentence-similarity" => {
            Box::new(vectors::Embedder::open(files, &config, task, resources)?)
        }
        "translation" => Box::new(translation::Translator::open(files, &config, resources)?),
        "summarization" | "text2text-generation" => Box::new(seq2seq::Rewriter::open(files, &config, task, resources)?),
        "text-generation" => Box::new(continuation::Continuer::open(files, &config, resources)?),
        _ => return Ok(None),
    };
    Ok(Some(model))
}

const TASKS: [&str; 11] = [
    "text-classification",
    "zero-shot-classification",
    "token-classification",
    "question-answering",
    "fill-mask",
    "feature-extraction",
    "sentence-similarity",
    "translation",
    "summarization",
    "text2text-generation",
    "text-generation",
];

/// Refuses texts that are empty or absurdly long. `what` names the text in messages.
fn require_text(text: &str, what: &str) -> Result<(), ExpertError> {
    if text.trim().is_empty() {
        return Err(ExpertError::BadInput(format!("the {what} is empty")));
    }
    require_length(text, what)
}

/// Refuses texts that are absurdly long.
fn require_length(text: &str, what: &str) -> Result<(), ExpertError> {
    if text.len() > MAX_TEXT {
        return Err(ExpertError::BadInput(format!(
            "the {what} has {} bytes, and local models take at most {MAX_TEXT}",
            text.len()
        )));
    }
    Ok(())
}

/// That this form of input does not belong to the task.
fn wrong_input(task: &str, wanted: &str) -> ExpertError {
    ExpertError::BadInput(format!("{task} takes {wanted}"))
}
