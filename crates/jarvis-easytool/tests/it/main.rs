//! Tests of the crate as its users see it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod converter;
mod data;
mod faults;
#[cfg(feature = "embeddings")]
mod minilm;
mod replays;
mod retrieval;
mod score;
