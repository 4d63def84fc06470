//! Ways to perform a task: native models, Hugging Face, model servers, chat and media endpoints.
//!
//! A worker performs what it is told to; which worker that is was decided before.

pub mod draw;
pub mod native;
pub mod sniff;

mod http;
mod inputs;
mod policy;
mod text;

pub use inputs::{InputLimits, Inputs};
pub use policy::{Reach, UrlPolicy};
pub use text::Secret;
