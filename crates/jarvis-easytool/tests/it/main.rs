//! Tests of the crate as its users see it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::print_stderr)]

mod data;
mod instruct;
mod mock_api;
