//! Tools by name: one contract, one registry, several transports.
//!
//! A [`Tool`] is called with a JSON object and answers with an [`Observation`] (text, data, pictures) or with a [`ToolError`];
//! a [`Registry`] holds all of them by name. Nothing here chooses a tool or performs the task of a plan.
#![warn(missing_docs)]
#![cfg_attr(
    not(all(feature = "grpc", feature = "mcp")),
    allow(dead_code, reason = "the transports left out share code")
)]

pub mod approvals;
mod bodies;
pub mod config;
pub mod digest;
mod documents;
mod error;
pub mod font;
#[cfg(feature = "grpc")]
pub mod grpc;
pub mod hub;
pub mod local;
#[cfg(feature = "mcp")]
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
pub use documents::{Documents, attached_texts};
pub use error::{ToolError, ToolErrorKind};
pub use open::{Env, OpenError, OpenOptions, Opened, Planned, Unavailable, open};
pub use rapid::{RapidApi, RapidConfig, RapidServer, observation_code};
pub use registry::{CALL_TIMEOUT, MAX_CHARS, Registry, RegistryError};
pub use tool::{Artifact, Observation, Scope, Tool, ToolAddress, ToolSource, ToolSpec};
