//! The published samples, where they are.

use std::path::{Path, PathBuf};

/// A file of the published samples; `None`, with a note, where they are not.
#[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
pub(crate) fn published(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/easytool").join(name);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}
