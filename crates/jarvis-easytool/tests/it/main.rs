//! Tests of the crate as its users see it.

mod data;
#[cfg(feature = "embeddings")]
mod minilm;
mod retrieval;
