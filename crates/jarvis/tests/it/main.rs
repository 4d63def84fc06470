//! The real binary: what it prints, where, and how it ends.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod ask;
mod conversations;
mod easytool_call;
mod easytool_instruct;
mod easytool_pipelines;
mod easytool_retrieve;
mod easytool_score;
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
mod taskbench_evaluate;
mod taskbench_generate;
mod taskbench_graph;
mod taskbench_infer;
mod taskbench_inspect;
mod taskbench_report;
mod tools;
