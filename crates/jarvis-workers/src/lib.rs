//! Ways to perform a task: native models, local models, Hugging Face, model servers, chat and media endpoints.
//!
//! A worker performs a task that has been assigned to it; it chooses neither the task nor the model.
#![cfg_attr(not(feature = "denoise"), allow(dead_code, reason = "what is left out shares code"))]

pub mod draw;
pub mod native;

mod attach;
mod chat;
mod heavy;
mod huggingface;
mod inputs;
mod local;
mod media_endpoint;
mod model_server;
mod owned;
mod picture;
mod results;
mod router;
#[cfg(test)]
mod testkit;
mod tool;

pub use attach::{Arriving, AttachError, Attached, MAX_TEXT, attach};
pub use chat::{ChatWorker, PICTURE_TASKS, TASK_STAGE, TaskPrompt};
pub use huggingface::{HF_INFERENCE, HuggingFace, HuggingFaceConfig};
pub use inputs::{InputLimits, Inputs};
pub use local::{
    ASKED_FOR_AS, LanguageModels, LocalFiles, LocalReader, LocalWorker, OCR, SmallLanguageModel, task_error,
};
pub use media_endpoint::{MediaEndpoint, MediaEndpointConfig};
pub use model_server::{ModelServer, ModelServerConfig, Sharing};
pub use owned::OwnFiles;
pub use router::Workers;
pub use tool::{ToolWorker, call_failed, inference_of, planned_tool};

#[cfg(test)]
mod settings_tests;
