//! What `config.json` says of a vision model.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use crate::onnx::Session;
use crate::{ExpertError, ModelFiles};

/// The fields of `config.json` that decide how answers are read.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ModelConfig {
    pub(super) model_type: String,
    /// Names of classes by number, written as text.
    id2label: HashMap<String, Value>,
    /// `multi_label_classification` where classes do not exclude each other.
    pub(super) problem_type: Option<String>,
    /// How many times wider the pictures of an upscaling model become.
    pub(super) upscale: Option<u32>,
    /// The text half of a model of pictures and texts.
    pub(super) text_config: TextConfig,
    /// The halves of a model that reads pictures and writes text.
    pub(super) encoder: Part,
}

/// The text half of a model.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct TextConfig {
    pub(super) max_position_embeddings: Option<usize>,
}

/// One of two halves.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    pub(super) model_type: String,
}

impl ModelConfig {
    /// The name of a class.
    pub(super) fn label(&self, class: usize) -> String {
        match self.id2label.get(&class.to_string()) {
            Some(Value::String(label)) => label.clone(),
            Some(other) => other.to_string(),
            None => format!("LABEL_{class}"),
        }
    }
}

/// Whether the graph has these outputs.
///
/// # Errors
/// [`ExpertError::Unsupported`] with the name of the first that it lacks.
pub(super) fn require(files: &ModelFiles, session: &Session, outputs: &[&str]) -> Result<(), ExpertError> {
    match outputs.iter().find(|output| !session.output_names().iter().any(|name| name == **output)) {
        Some(missing) => Err(files.unsupported(format!("its graph has no output `{missing}`"))),
        None => Ok(()),
    }
}
