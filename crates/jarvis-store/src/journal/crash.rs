//! The end of the process at one of its writes, so that a test can end it at each of them. In builds for tests alone.

/// Which side of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// It is not written.
    Before,
    /// It is written, and nobody knows yet.
    After,
}

/// The environment variable that names the write: `before 7` or `after 7`, the first being 1.
#[cfg(debug_assertions)]
const AT: &str = "JARVIS_TEST_DIE_AT_WRITE";

/// Ends the process, as a power cut would, where that was asked for at this write.
#[cfg(debug_assertions)]
pub(super) fn at(side: Side) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static ASKED: OnceLock<Option<(Side, AtomicU64)>> = OnceLock::new();
    let asked = ASKED.get_or_init(|| {
        let asked = std::env::var(AT).ok()?;
        let (side, number) = asked.split_once(' ')?;
        let side = if side == "before" { Side::Before } else { Side::After };
        Some((side, AtomicU64::new(number.parse().ok()?)))
    });
    if asked.as_ref().is_some_and(|(wanted, left)| *wanted == side && left.fetch_sub(1, Ordering::SeqCst) == 1) {
        // Nothing is flushed or unwound, and no lock is let go but by the system.
        std::process::abort();
    }
}

#[cfg(not(debug_assertions))]
pub(super) fn at(_: Side) {}
