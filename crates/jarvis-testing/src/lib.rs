//! Development only: fake chat servers, hubs and model servers that speak the true protocols on real sockets; tables of
//! test cases.

pub mod cases;
pub mod catalogue;
pub mod chat;
pub mod hub;
pub mod inference;
pub mod model_server;
pub mod stub;
