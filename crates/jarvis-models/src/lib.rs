//! Weights on this machine: the cache in the Hub's layout, downloads that resume and are verified, and the pinned catalogue of
//! models that jarvis knows how to run. Loads and runs nothing: that is the work of `jarvis-experts`.
//!
//! [`Store`] is the entry point. [`Store::plan`] says what a pull would fetch, [`Store::pull`] fetches it, and
//! [`Store::local_models`] lists what is complete on this machine, whoever downloaded it.

mod cache;
mod catalogue;
mod choose;
mod disk;
mod download;
mod environment;
mod error;
mod hash;
mod hub;
mod ids;
mod import;
mod kept;
mod layout;
mod ledger;
mod lock;
mod pins;
mod pull;
mod reference;
mod store;
mod suggest;

pub use cache::{Cache, RepoFolder};
pub use catalogue::{Catalogue, Entry, Pin};
pub use choose::Precision;
pub use disk::{free_space, total_memory};
pub use environment::Environment;
pub use error::ModelError;
pub use hub::{Hub, HubOptions, RemoteFile, RevisionInfo};
pub use ids::{BlobId, Commit, FilePath, RepoId, Revision};
pub use import::{ImportOptions, Importable};
pub use kept::{Checked, Removed, State as FileState};
pub use layout::Engine;
pub use ledger::{Record, RecordFile, Source, Stamp};
pub use pins::pin;
pub use pull::{PlannedFile, PullEvent, PullPlan};
pub use reference::{Reference, Selector};
pub use store::{Local, Origin, Store};
pub use suggest::{Suggestion, suggest};
