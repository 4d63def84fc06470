//! Integration tests: the committed sample, probing and refreshing over real sockets.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod outside;
mod probe;
mod refresh;
mod results;
mod sample;
