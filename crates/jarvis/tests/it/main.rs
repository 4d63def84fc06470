//! The real binary: what it prints, where, and how it ends.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[cfg(unix)]
mod a2a;
#[cfg(unix)]
mod ag_ui;
#[cfg(unix)]
mod approvals;
mod ask;
// Its commands are those of Linux.
#[cfg(target_os = "linux")]
mod cli;
mod completions;
mod doctor;
mod documents;
mod durable;
#[cfg(unix)]
mod durable_servers;
mod easytool_pipelines;
mod easytool_retrieve;
mod endpoints;
mod experience;
mod experts;
mod growing;
mod harness;
mod local_models;
#[cfg(feature = "restate")]
mod manifests;
mod mcp;
mod models;
mod offline;
mod outside;
mod own_tools;
mod pipelines;
mod pulls;
#[cfg(all(unix, feature = "restate"))]
mod reference;
#[cfg(unix)]
mod responses;
#[cfg(all(unix, feature = "restate"))]
mod restate;
mod rewoo;
#[cfg(all(unix, feature = "self-update"))]
mod self_update;
mod serve;
mod setup;
#[cfg(target_os = "linux")]
mod site;
mod taskbench_generate;
mod taskbench_infer;
#[cfg(unix)]
mod telemetry;
mod tools;
#[cfg(unix)]
mod users;
