//! Why a set of plans cannot be measured.

use std::path::PathBuf;

use crate::DataError;
use crate::infer::InferError;

use super::Form;

/// Why sets cannot be read or planned. A record that cannot be used is a note of its set, not one of these.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A file of a set cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Planning cannot start or go on.
    #[error(transparent)]
    Infer(#[from] InferError),
    /// No file of a known form is below the path.
    #[error("no plans in {}{}", .path.display(), form.map(|form| format!(" in the form {form}")).unwrap_or_default())]
    NothingFound {
        /// The path that was searched.
        path: PathBuf,
        /// The form that was asked for.
        form: Option<Form>,
    },
    /// The file has the right form, but no record of it can be used.
    #[error("{} holds no sample that can be used{reason}", .path.display())]
    NoSamples {
        /// The file or folder.
        path: PathBuf,
        /// The first fault, behind a colon; empty when there are no records at all.
        reason: String,
    },
}

impl BenchError {
    /// What to try.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            BenchError::Data(DataError::Locked { .. }) => Some("wait until it ends, or name another folder with --out"),
            BenchError::Data(DataError::Read { .. }) => Some("name a folder that holds the files of a benchmark"),
            BenchError::Data(DataError::Write { .. }) => {
                Some("check the permissions of the folder and the free space of the disk")
            }
            BenchError::Data(DataError::NotJson { .. } | DataError::Shape { .. }) => {
                Some("compare with the samples in examples/plans, or name the form with --form")
            }
            BenchError::Infer(error) => error.hint(),
            BenchError::NothingFound { .. } => Some(
                "a set is a folder with tools.json and plans.jsonl, or the files of a benchmark; docs/bench.md lists \
                 the files of each form, and --form names one",
            ),
            BenchError::NoSamples { .. } => Some("compare with the samples in examples/plans"),
        }
    }

    /// True when the command was used wrongly, false when the work failed.
    pub fn is_usage(&self) -> bool {
        match self {
            BenchError::Data(error) => error.is_usage(),
            BenchError::Infer(error) => error.is_usage(),
            BenchError::NothingFound { .. } | BenchError::NoSamples { .. } => true,
        }
    }
}
