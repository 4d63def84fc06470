//! Tests of the crate as its users see it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::print_stderr)]

mod converter;
mod faults;
mod instruct;
mod mock_api;
mod outside;
mod replays;
mod retrieval;
mod scores;
