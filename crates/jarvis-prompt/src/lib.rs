//! Templates and typed contexts to messages; model replies to values, or a typed error that keeps the reply.
//!
//! [`template::Template`] makes messages of a Markdown file and a context. [`reader::read_json`] and [`reader::read_typed`] take a value out of
//! a reply, [`plan::read_plan`] a task graph. [`literal::Literal`] keeps values as a model wrote them, and [`number::Number`] is exact.
//!
//! It knows no stage and no model: what is asked, and what an answer means, its callers decide. It does no I/O.
//!
//! ```
//! use jarvis_prompt::reader::{Mend, Want, read_json};
//!
//! let read = read_json("Here you are: {'days': 3,}", Want::Object)?;
//! assert_eq!(read.value, serde_json::json!({"days": 3}));
//! assert!(read.mended.contains(&Mend::Quotes));
//! # Ok::<(), jarvis_prompt::reader::ReadError>(())
//! ```

pub mod literal;
pub mod number;
pub mod plan;
pub mod reader;
pub mod template;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
