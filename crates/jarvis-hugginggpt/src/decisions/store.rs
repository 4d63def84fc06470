//! Saved plans: one file each, in a folder that no client can name.

use std::path::PathBuf;

use serde_json::Value;

/// The saved plans of one folder.
#[derive(Debug)]
pub struct PlanStore {
    folder: PathBuf,
    keep: usize,
}

/// A plan that was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// The file.
    pub path: PathBuf,
    /// The file as the reply names it: the folder's own name and the file's.
    pub shown: String,
}

/// Why a plan could not be saved or loaded.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No saved plan has this id.
    #[error("there is no saved plan `{0}`")]
    Unknown(String),
    /// The disk refused.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file holds no plan.
    #[error("{} holds no plan: {reason}", .path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl PlanStore {
    /// A store in a folder, which is made when the first plan is saved. At most `keep` plans are kept, the newest ones;
    /// 0 keeps all.
    pub fn new(folder: impl Into<PathBuf>, keep: usize) -> PlanStore {
        PlanStore { folder: folder.into(), keep }
    }

    /// Saves a plan's document under its id.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn save(&self, _id: &str, _document: &str) -> Result<Saved, StoreError> {
        let _ = self.keep;
        Err(StoreError::Unknown(String::new()))
    }

    /// Loads a plan by its id, or an unambiguous end of it.
    ///
    /// # Errors
    /// When there is none, or its file cannot be read.
    pub fn load(&self, id: &str) -> Result<Value, StoreError> {
        let _ = &self.folder;
        Err(StoreError::Unknown(id.to_owned()))
    }
}
