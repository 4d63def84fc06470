//! Local models: weights that lie on this machine, run in it. Engines for ONNX graphs (feature `experts`) and for GGUF language
//! models (feature `llm`), and the processing around them: pictures, sounds and texts to tensors and back.
//!
//! [`Keeper`] is the door: it loads a model when it is first needed, bounds memory and time, and drops what is not used. Which
//! files make a model, and where they come from, is the work of `jarvis-models`; who is asked for what, that of the workers.

#[cfg(feature = "experts")]
mod audio;
mod call;
mod error;
mod files;
#[cfg(feature = "experts")]
mod generate;
mod keeper;
#[cfg(feature = "llm")]
pub mod llm;
#[cfg(feature = "experts")]
mod onnx;
mod open;
mod task;
#[cfg(feature = "experts")]
mod text;
#[cfg(feature = "experts")]
mod vision;

pub use call::Call;
pub use error::ExpertError;
pub use files::ModelFiles;
pub use keeper::{Keeper, KeeperConfig, Loaded};
pub use open::{LocalModel, Resources, open};
pub use task::{
    ChatInput, ChatOutput, ChatTurn, Entity, Found, HeardText, Input, Output, Picture, Scored, Segment, Sound,
    SpokenPart,
};
