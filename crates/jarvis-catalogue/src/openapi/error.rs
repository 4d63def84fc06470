//! What can be wrong with an OpenAPI document.

use std::path::PathBuf;

/// A document that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The file cannot be read.
    #[error("cannot read {}", .path.display())]
    Read {
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It is larger than [`super::MAX_DOCUMENT`].
    #[error("the document has {bytes} bytes, more than the limit of {}", super::MAX_DOCUMENT)]
    TooLarge { bytes: u64 },
    /// It is neither JSON nor YAML.
    #[error("the document is neither JSON nor YAML: {reason}")]
    Syntax { reason: String },
    /// It is of another version.
    #[error("the document is {found}; OpenAPI 3.0 and 3.1 are read (convert it, for example with swagger2openapi)")]
    Version { found: String },
    /// It is something else.
    #[error("the document is not an OpenAPI document: {reason}")]
    NotOpenApi { reason: String },
    /// It has more operations than [`super::MAX_OPERATIONS`].
    #[error("the document has more than {} operations", super::MAX_OPERATIONS)]
    TooMany,
}
