//! BERTScore: how alike two texts are by the meaning of their words, as an embedding model sees it.
//!
//! The model is a local directory, in the form of the Hugging Face libraries; nothing is ever fetched. Reading one needs
//! the feature `bertscore`; without it only the interface is here.

#[cfg(feature = "bertscore")]
mod bert;

use std::path::Path;

#[cfg(feature = "bertscore")]
pub use bert::Bert;

pub trait Similarity: Sync {
    /// For each pair (gold, predicted) precision, recall and F1. `progress` is called with how many pairs are done.
    fn score(&self, pairs: &[(String, String)], progress: &dyn Fn(usize)) -> Result<Vec<[f64; 3]>, SimilarityError>;
}

#[derive(Debug, thiserror::Error)]
pub enum SimilarityError {
    #[error("this build of jarvis has no BERTScore")]
    NotBuilt,
    #[error("{dir} holds no embedding model that can be read: {reason}")]
    Model { dir: String, reason: String },
    #[error("the embedding model failed: {0}")]
    Failed(String),
}

impl SimilarityError {
    pub fn hint(&self) -> &'static str {
        match self {
            SimilarityError::NotBuilt => "build it with `cargo build --release --features bertscore`",
            SimilarityError::Model { .. } => {
                "the directory needs config.json, tokenizer.json and model.safetensors of a BERT or RoBERTa model"
            }
            SimilarityError::Failed(_) => "try another model, or leave BERTScore out with -m",
        }
    }
}

/// Loads the model in a directory. `layer` is the layer whose output is compared, counted from 1; without it the one that the
/// BERTScore package takes for models of this size.
#[cfg_attr(not(feature = "bertscore"), allow(unused_variables))]
pub fn load(dir: &Path, layer: Option<usize>) -> Result<Box<dyn Similarity>, SimilarityError> {
    #[cfg(feature = "bertscore")]
    return Bert::load(dir, layer).map(|bert| Box::new(bert) as Box<dyn Similarity>);
    #[cfg(not(feature = "bertscore"))]
    Err(SimilarityError::NotBuilt)
}
