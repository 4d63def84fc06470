//! The server on real sockets: its pipeline is real, and the far sides of the network are scripted.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod a2a;
mod access;
mod answers;
mod decisions;
mod ends;
mod grpc;
mod harness;
mod load;
mod mcp;
mod media;
mod openai;
mod pipelines;
mod runs;
mod served;
mod users;
