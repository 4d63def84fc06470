//! The crate from outside, on small files and on the shared oracles where they are there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::print_stderr)]

mod data;
mod legacy;
mod report;
