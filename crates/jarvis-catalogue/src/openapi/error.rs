//! What can be wrong with an OpenAPI document.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    #[error("cannot read {}", .path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("the document has {bytes} bytes, more than the limit of {}", super::MAX_DOCUMENT)]
    TooLarge { bytes: u64 },
    #[error("the document is neither JSON nor YAML: {reason}")]
    Syntax { reason: String },
    #[error("the document is {found}; OpenAPI 3.0 and 3.1 are read (convert it, for example with swagger2openapi)")]
    Version { found: String },
    #[error("the document is not an OpenAPI document: {reason}")]
    NotOpenApi { reason: String },
    #[error("the document has more than {} operations", super::MAX_OPERATIONS)]
    TooMany,
}
