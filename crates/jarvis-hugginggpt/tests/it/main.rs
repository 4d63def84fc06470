//! The pipeline against a scripted chat endpoint and a fake Hub on real sockets.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod answers;
mod choices;
mod decided;
mod decisions;
mod durable;
mod each;
mod experience;
mod fixture;
mod grow;
mod live;
mod offline;
mod outcomes;
mod pipelines;
mod plans;
mod replies;
mod runs;
mod service;
mod trials;
