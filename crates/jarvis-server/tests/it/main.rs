//! The server on real sockets: its pipeline is real, and the far sides of the network are scripted.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod a2a;
mod access;
mod answers;
mod attacks;
mod chats;
mod decisions;
mod described;
mod ends;
mod events;
mod experience;
mod fair;
mod grpc;
mod harness;
mod load;
mod mcp;
mod me;
mod media;
mod openai;
mod pages;
mod pipelines;
mod responses;
mod runs;
mod served;
mod tls;
mod users;
