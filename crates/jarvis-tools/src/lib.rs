//! Tools by name: one contract, one registry, several transports.
//!
//! A [`Tool`] is called with a JSON object and answers with an [`Observation`] (text, data, pictures) or with a [`ToolError`];
//! a [`Registry`] holds all of them by name. Nothing here chooses a tool or performs the task of a plan.
//!
//! [`open`](open()) makes a registry of the configuration: MCP servers ([`mcp`], feature `mcp`), gRPC services ([`grpc`], feature `grpc`), OpenAPI
//! documents ([`openapi`]). [`local::add_to`] adds the tools that work in this process.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! use jarvis_tools::{Registry, Scope, local};
//!
//! let mut registry = Registry::new();
//! local::add_to(&mut registry)?;
//! let input = serde_json::json!({"expression": "0.1 + 0.2"});
//! assert_eq!(registry.call("calculator", &input, &Scope::default()).await?.text, "0.3");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
