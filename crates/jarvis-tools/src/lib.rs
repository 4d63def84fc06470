//! Tools by name: one contract, one registry, several transports.
//!
//! A tool is called with a name and arguments, and answers with text and pictures, or with a typed failure. Nothing here
//! chooses a tool or performs the task of a plan.

pub mod approvals;
mod bodies;
mod call;
mod caller;
pub mod config;
pub mod font;
pub mod grpc;
pub mod hub;
pub mod local;
pub mod mcp;
pub mod names;
mod open;
pub mod openapi;
mod rapid;
mod reach;
mod registry;
pub mod service;
mod template;
mod tool;
mod untrusted;

pub use bodies::{describe_media, fault_of};
pub use call::{CallError, CallFault, ToolCall, ToolCaller};
pub use caller::RegistryCaller;
pub use open::{OpenError, OpenOptions, Opened, Planned, open};
pub use rapid::{RapidConfig, RapidServer};
pub use registry::{CALL_TIMEOUT, MAX_CHARS, Registry, RegistryError};
pub use tool::{Artifact, Callable, Observation, Scope, ToolSource, ToolSpec};
