//! The pipeline against a scripted chat endpoint and a fake Hub on real sockets.

mod answers;
mod choices;
mod house;
mod offline;
mod outcomes;
mod runs;
