//! The real binary: what it prints, where, and how it ends.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod ask;
// What is printed names figures that this feature adds.
#[cfg(not(feature = "bertscore"))]
mod cli;
mod conversations;
mod easytool_pipelines;
mod easytool_retrieve;
mod endpoints;
mod harness;
mod hostile;
mod mcp;
mod models;
mod offline;
mod pipelines;
mod plans;
mod rewoo;
mod serve;
mod taskbench_generate;
mod taskbench_infer;
mod tools;
