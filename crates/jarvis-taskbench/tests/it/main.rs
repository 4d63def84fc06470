//! The crate through its public API. Only `outside` reads data that is not in the repository.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::print_stderr)]

mod bench;
mod data;
mod fit;
mod format;
mod generate;
mod generate_parts;
mod gnn4taskplan;
mod graph;
mod hostile;
mod infer;
mod infer_reply;
mod infer_resume;
mod inspect;
mod legacy;
mod lists;
mod outside;
mod report;
mod strict;
mod support;
