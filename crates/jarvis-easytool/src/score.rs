//! To come.

pub mod retrieval;
