//! Tests of the crate as its users see it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod data;
mod score;
