//! The store behind the folder, which several machines may share.

use std::fmt::{Debug, Display};
use std::fs::File;
use std::io::Write;

use super::MediaError;
use super::content::ContentId;

/// A store of contents and of the names that stand for them. A name is a display path without the leading `/`. All calls block,
/// and each ends within a bound.
pub(super) trait Shared: Debug + Display + Send + Sync {
    /// Stores content, unless it is there, and then the name that stands for it.
    fn put(&self, name: &str, content: &ContentId, file: File, size: u64) -> Result<(), MediaError>;

    /// What a name stands for.
    fn find(&self, name: &str) -> Result<Option<ContentId>, MediaError>;

    /// Writes content out. The bytes are not compared with their hash.
    fn fetch(&self, name: &str, content: &ContentId, to: &mut dyn Write) -> Result<(), MediaError>;

    /// Removes a name, and the content when it was the last one; false when there is no such name.
    fn remove(&self, name: &str) -> Result<bool, MediaError>;

    /// Makes sure that the store is there, and could be written to once.
    fn check(&self) -> Result<(), MediaError>;
}

/// What is wrong with a shared store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum StoreFault {
    #[strum(serialize = "it refuses the access")]
    Refused,
    #[strum(serialize = "there is no such bucket")]
    NoBucket,
    #[strum(serialize = "it cannot be reached")]
    Unreachable,
    #[strum(serialize = "it does not answer in time")]
    Slow,
    #[strum(serialize = "it fails")]
    Failing,
    #[strum(serialize = "what it holds is damaged")]
    Damaged,
}

impl StoreFault {
    /// What to do about it.
    pub fn hint(self) -> &'static str {
        match self {
            StoreFault::Refused => {
                "let the key read, write, list and delete in the bucket, and compare `media_store.region`, the keys and the \
                 clock of this machine with the store's"
            }
            StoreFault::NoBucket => "make the bucket, or name another with `media_store.bucket`",
            StoreFault::Unreachable => {
                "compare `media_store.endpoint` with the store's address, and look whether it runs"
            }
            StoreFault::Slow => {
                "look at the store and the way to it, or give it more time with `media_store.timeout_s`"
            }
            StoreFault::Failing => "try again later; the store's own log says more",
            StoreFault::Damaged => "remove the medium and make it again; no byte of it was used",
        }
    }
}
