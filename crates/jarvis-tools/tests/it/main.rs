//! Remote tools against real servers: sockets and processes.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod everything;
mod grpc;
mod math;
mod mcp;
mod mcp_server;
mod open;
