//! Templates and typed contexts to messages; model replies to values, or a typed error that keeps the reply.
//!
//! It knows no stage and no model: what is asked, and what an answer means, is decided on higher floors. No I/O.

pub mod literal;
pub mod number;
pub mod plan;
pub mod reader;
pub mod template;
