//! Questions about a document, answered by thought, action and observation: a plan that grows by one task after each
//! observation.

pub mod document;
pub mod offline;
