//! Identifiers that cannot be mixed up with other numbers and strings.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Names one task inside one [`crate::Plan`]; ids of a plan of n tasks are exactly `0..n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub u32);

impl TaskId {
    /// The id as an index into tables that have one row per task.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The task's number as people count: from 1.
    pub fn number(self) -> u32 {
        self.0.saturating_add(1)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Names one run. Made by whoever starts the run (a UUIDv7 in practice, so that ids sort by time).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
