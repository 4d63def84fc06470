//! Ways to perform a task: native models, Hugging Face, model servers, chat and media endpoints.
//!
//! A worker performs what it is told to; which worker that is was decided before.

pub mod native;

mod inputs;

pub use inputs::{InputLimits, Inputs, UrlPolicy};
