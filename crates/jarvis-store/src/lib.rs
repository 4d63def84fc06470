//! Media on disk under one confined folder, what their bytes are, the run journal in SQLite, and files that survive being
//! stopped.

pub mod files;
pub mod sniff;

mod blocking;
mod journal;
mod media;

pub use blocking::blocking;
pub use journal::{
    Changed, Chat, ChatFilter, ChatSummary, ChatWrite, Claim, CostRow, Due, ExperienceRow, ExperienceStamp, Journal,
    JournalError, Prune, Pruned, RunFilter, RunRecord, RunStatus, RunSummary, Stored, Sweep, Swept, Synchronous,
    UserUsage, Verdict, named,
};
pub use media::{Incoming, Made, Media, MediaError, StoreFault, StoredMedium};
#[cfg(feature = "s3")]
pub use media::{StoreKeys, StoreSettings};
