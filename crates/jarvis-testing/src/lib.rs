//! Development only: fake chat servers, hubs and model servers that speak the true protocols on real sockets.

#![allow(missing_docs, reason = "not a public API: docs stand where a name and a type do not say enough")]

pub mod catalogue;
pub mod chat;
pub mod hub;
pub mod inference;
pub mod model_server;
pub mod stub;
