//! Local models: weights on this machine, run here, in this process or in one of their own ([`process`]). Two engines (ONNX graphs
//! with the feature `experts`, GGUF language models with `llm`) and the processing around them: pictures, sounds and texts to
//! tensors and back.
//!
//! [`LocalModels`] loads a model on first use, bounds memory and time, and drops models that are idle. Which files make up a
//! model, and where they come from, belongs to `jarvis-models`; which task goes to which model, to the workers.

#[cfg(feature = "experts")]
mod audio;
mod call;
mod error;
mod files;
#[cfg(feature = "experts")]
mod generate;
#[cfg(feature = "llm")]
pub mod llm;
mod manager;
#[cfg(feature = "experts")]
mod ocr;
#[cfg(feature = "experts")]
mod onnx;
mod open;
pub mod process;
mod task;
#[cfg(feature = "experts")]
mod text;
#[cfg(feature = "experts")]
mod vision;

#[cfg(feature = "experts")]
pub use audio::espeak_voice;
pub use call::Call;
pub use error::ExpertError;
pub use files::ModelFiles;
pub use manager::{Loaded, LocalModels, LocalModelsConfig, memory_needed};
pub use open::{LocalModel, Resources, open};
pub use task::{
    ChatInput, ChatOutput, ChatTurn, Detection, Entity, Input, Output, Picture, Scored, Segment, Sound, Transcript,
    TranscriptSegment,
};
#[cfg(all(feature = "experts", feature = "llm"))]
pub use text::{Depth, TokenEncoder, TokenStates, is_text_encoder};

/// Whether vectors of texts can be made with the safetensors of a model: not in a build without the features `experts` and `llm`.
#[cfg(not(all(feature = "experts", feature = "llm")))]
pub fn is_text_encoder(_: &ModelFiles) -> bool {
    false
}

/// The voice of espeak-ng whose phonemes a model reads in the place of letters; no model here reads any.
///
/// # Errors
/// Never in a build without the feature `experts`.
#[cfg(not(feature = "experts"))]
pub fn espeak_voice(_: &ModelFiles, _: Option<&str>) -> Result<Option<String>, ExpertError> {
    Ok(None)
}
