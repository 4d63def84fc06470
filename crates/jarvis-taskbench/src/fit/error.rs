//! Why the planner cannot be fitted.

use std::path::PathBuf;

/// What is wrong with a file of requests whose plans are to stay.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The file cannot be read.
    #[error("cannot read {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What kept it from being read.
        source: std::io::Error,
    },
    /// The file of tools beside it has another form.
    #[error("{} is no list of tools", .path.display())]
    Tools {
        /// The file.
        path: PathBuf,
        /// What is wrong there.
        source: serde_json::Error,
    },
    /// The file has another form.
    #[error("{} line {line}: {reason}", .path.display())]
    Case {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
}

impl FitError {
    /// What to try.
    pub fn hint(&self) -> &'static str {
        match self {
            FitError::Tools { .. } => {
                "it is a JSON list of {\"name\", \"description\", \"params\": [{\"name\", \"kind\", \"required\"}], \"outputs\": [kind]}"
            }
            FitError::Read { .. } | FitError::Case { .. } => {
                "such a file has a request a line, with ` | file` behind it for each file, and below each, indented, its plan, such as \
                 `summarization(text=report.txt)`, or `nothing`"
            }
        }
    }
}
