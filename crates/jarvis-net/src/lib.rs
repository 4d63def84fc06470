//! Calls over the network, as all of jarvis makes them: which addresses may be reached, how much may come back and in which
//! time, and that keys stay secret.
//!
//! Knows no service by name, no task and no tool.

pub mod http;
pub mod policy;
pub mod sniff;
pub mod text;

pub use policy::{Reach, UrlPolicy};
pub use text::Secret;
