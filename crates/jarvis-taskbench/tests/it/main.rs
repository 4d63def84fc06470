//! The crate from outside, on small files and on the shared oracles where they are there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::print_stderr)]

#[cfg(feature = "bertscore")]
mod bertscore;
mod data;
mod gnn4taskplan;
mod format;
mod generate;
mod generate_parts;
mod graph;
mod hostile;
mod infer;
mod infer_reply;
mod infer_resume;
mod inspect;
mod legacy;
mod strict;
mod infer_support;
mod report;
