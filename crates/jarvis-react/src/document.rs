//! placeholder
use std::sync::Arc;
/// A document.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its text.
    pub text: Arc<str>,
    /// Warnings.
    pub warnings: Vec<String>,
}
/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Not text.
    #[error("the document is not text")]
    NotText,
}
