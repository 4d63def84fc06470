//! The routes: each turns a wire twin into words, calls the pipeline, and turns what comes into a wire twin.

pub(crate) mod approvals;
pub(crate) mod chats;
pub(crate) mod decisions;
pub(crate) mod events;
pub(crate) mod health;
pub(crate) mod local_models;
pub(crate) mod me;
pub(crate) mod media;
pub(crate) mod model_server;
pub(crate) mod models;
pub(crate) mod openai;
pub(crate) mod page;
pub(crate) mod paging;
pub(crate) mod pipeline;
pub(crate) mod plans;
pub(crate) mod runs;
pub(crate) mod session;
pub(crate) mod tools;
pub(crate) mod upload;
