//! The network as every crate of jarvis uses it: the HTTP client and what it returns, the addresses it may fetch, secrets,
//! and text from outside.
//!
//! Knows no service, task or tool.

pub mod causes;
pub mod http;
pub mod policy;
pub mod retry;
pub mod text;
pub mod trace;

pub use policy::{Reach, UrlPolicy};
pub use text::Secret;
