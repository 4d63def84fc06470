//! Remote tools against real servers: sockets and processes.

mod grpc;
mod math;
