//! Models pulled from a Hub on loopback sockets, and what is done with them afterwards.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod catalogue;
mod found;
mod kept;
mod machine;
mod pull;
mod refused;
mod trouble;
