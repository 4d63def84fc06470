//! What can be wrong with a file of instructions.

use std::path::PathBuf;

/// A file of instructions that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InstructionError {
    /// It cannot be read.
    #[error("cannot read {}", .path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// It is not what it should be.
    #[error("{}: {reason}", .path.display())]
    Shape { path: PathBuf, reason: String },
}
