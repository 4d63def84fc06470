//! Media on disk under one confined folder, and the run journal in SQLite.

mod media;

pub use media::{Media, MediaError};
