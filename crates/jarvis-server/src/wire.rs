//! The wire twins: what callers send and get, as types of their own, so that a change inside jarvis is no change for them.

pub(crate) mod ask;
pub(crate) mod decide;
pub(crate) mod openai;
pub(crate) mod reply;
