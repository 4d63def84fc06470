//! The offline planner from outside: requests in three languages against tool lists, as tables.

// Helpers of tests may panic as the tests do.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod own_tools;
mod properties;
mod support;
mod tables;
