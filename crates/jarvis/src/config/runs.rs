//! What becomes of runs: when they count as kept, when they go on, and for how long they stay.

use jarvis_store::Synchronous;
use serde::Deserialize;

/// The run journal.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct RunsConfig {
    /// Whether `jarvis serve` goes on by itself with runs that were cut off: `auto`, or `never`, when `jarvis runs resume` does.
    pub(crate) resume: Resume,
    /// When a result counts as kept: `full`, when it is on the disk, so that a power cut loses nothing; or `normal`, when the system
    /// has it, so that a killed process loses nothing.
    pub(crate) synchronous: Sync,
    /// Days after which runs that have ended are removed when `jarvis serve` starts and once a day. Default: never.
    pub(crate) keep_days: Option<u32>,
    /// Megabytes that runs may take; beyond, the oldest that have ended are removed. Default: no limit.
    pub(crate) keep_mb: Option<u64>,
}

/// How long something is kept that nobody deletes.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct RetentionConfig {
    /// Days: of media those since nothing speaks of them (no run, chat or saved plan), of logs those since they were written. What is older
    /// is removed when `jarvis serve` starts and once a day. Default: never.
    pub(crate) keep_days: Option<u32>,
    /// Megabytes that they may take; beyond, the oldest are removed: of media those that nothing speaks of. Default: no limit.
    pub(crate) keep_mb: Option<u64>,
}

/// Whether runs that were cut off go on by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Resume {
    #[default]
    Auto,
    Never,
}

/// When what is written counts as kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sync {
    #[default]
    Full,
    Normal,
}

impl From<Sync> for Synchronous {
    fn from(sync: Sync) -> Synchronous {
        match sync {
            Sync::Full => Synchronous::Full,
            Sync::Normal => Synchronous::Normal,
        }
    }
}
