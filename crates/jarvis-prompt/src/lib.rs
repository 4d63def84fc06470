//! Templates and typed contexts to messages; model replies to values, or a typed error that keeps the reply.
//!
//! It knows no stage and no model: what is asked, and what an answer means, is decided on higher floors. No I/O.

#![allow(missing_docs, reason = "not a public API: docs stand where a name and a type do not say enough")]

pub mod literal;
pub mod number;
pub mod reader;
pub mod template;
