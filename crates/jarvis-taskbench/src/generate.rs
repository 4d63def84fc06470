//! Back-Instruct.
pub(crate) mod files;
