//! What can be wrong with a file of the benchmark.

use std::io;
use std::path::{Path, PathBuf};

#[cfg(feature = "planning")]
use jarvis_chat::ChatError;
#[cfg(feature = "planning")]
use jarvis_store::files::FileError;
use serde::Serialize;

use crate::words::words;

#[derive(Debug, thiserror::Error)]
pub enum DataError {
    #[error("cannot read {}", .path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot write {}", .path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("another run writes {} now", .path.display())]
    Locked { path: PathBuf },
    #[error("{} is not JSON: {reason}", .path.display())]
    NotJson { path: PathBuf, reason: String },
    #[error("{}: {reason}", .path.display())]
    Shape { path: PathBuf, reason: String },
}

impl DataError {
    pub fn read(path: &Path, source: io::Error) -> DataError {
        DataError::Read { path: path.to_owned(), source }
    }

    pub fn write(path: &Path, source: io::Error) -> DataError {
        DataError::Write { path: path.to_owned(), source }
    }

    pub fn shape(path: &Path, reason: impl Into<String>) -> DataError {
        DataError::Shape { path: path.to_owned(), reason: reason.into() }
    }

    pub fn is_missing(&self) -> bool {
        matches!(self, DataError::Read { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// True when the command was used wrongly, false when the work failed.
    pub fn is_usage(&self) -> bool {
        matches!(self, DataError::Read { .. } | DataError::NotJson { .. } | DataError::Shape { .. })
    }

    pub fn hint(&self) -> &'static str {
        match self {
            DataError::Read { .. } => {
                "name a domain folder with tool_desc.json, graph_desc.json, user_requests.json and data.json"
            }
            DataError::Write { .. } => "check the folder's permissions and the free space of the disk",
            DataError::Locked { .. } => "wait until it ends, or write into another folder",
            DataError::NotJson { .. } => {
                "check that the file is whole; *_desc.json hold one document, data.json one a line"
            }
            DataError::Shape { .. } => "compare with the sample domain, and see `jarvis taskbench inspect DIR`",
        }
    }
}

#[cfg(feature = "planning")]
impl From<FileError> for DataError {
    fn from(error: FileError) -> DataError {
        match error {
            FileError::Write { path, source } => DataError::Write { path, source },
            FileError::Locked { path } => DataError::Locked { path },
        }
    }
}

words! {
    #[derive(Serialize)]
    pub enum FailureKind {
        /// The endpoint limits the rate of calls (429), and repeats did not help.
        RateLimit,
        /// Another HTTP status than success.
        HttpStatus,
        Timeout,
        Transport,
        /// The endpoint's answer holds no text of a reply.
        BadReply,
        /// The reply holds no JSON that could be used.
        ContentFormat,
        /// The reply's JSON is not of the wanted shape.
        Schema,
        ReplayMiss,
        Recording,
        /// The call cannot be made as configured.
        Config,
        Planner,
        /// The tool graph has no such part.
        NotReachable,
    }
}

#[cfg(feature = "planning")]
impl FailureKind {
    pub(crate) fn of(error: &ChatError) -> FailureKind {
        match error {
            ChatError::RateLimited { .. } => FailureKind::RateLimit,
            ChatError::Unauthorized { .. } | ChatError::Api { .. } => FailureKind::HttpStatus,
            ChatError::Timeout { .. } => FailureKind::Timeout,
            ChatError::Unreachable { .. } => FailureKind::Transport,
            ChatError::BadReply { .. } => FailureKind::BadReply,
            ChatError::ReplayMiss { .. } => FailureKind::ReplayMiss,
            ChatError::Recording { .. } => FailureKind::Recording,
            ChatError::Config(_) | ChatError::Budget(_) | ChatError::Stopped(_) => FailureKind::Config,
        }
    }
}
