//! The agent against a fake chat endpoint on a real socket.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod contract;
mod faults;
mod formats;
mod harness;
mod many;
mod pipeline;
mod results;
