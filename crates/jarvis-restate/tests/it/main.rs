//! Runs against a real Restate server, named by `JARVIS_RESTATE_SERVER`; without it each test prints that it is skipped.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "these are tests and their processes"
)]

mod cluster;
mod far;
mod figures;
mod kills;
mod node;
mod people;
mod proxy;
mod runs;
mod soak;
mod world;
