//! Integration tests of the reader and the templates.

// Helpers of tests may panic as the tests do.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod damaged_plans;
mod literal;
mod literal_properties;
mod reader_corpus;
mod reader_properties;
mod replies;
mod template;
