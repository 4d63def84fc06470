//! The targets that a release has a binary for.

use anyhow::{Context, Result};

/// A target, and its names elsewhere.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) triple: &'static str,
    /// What cargo-zigbuild is asked for: the triple, and the oldest glibc.
    pub(super) zig: &'static str,
    /// The architecture as Debian, OCI and Homebrew name it.
    pub(super) debian: &'static str,
    /// As Node names it (`process.arch`).
    pub(super) node: &'static str,
    /// As `uname -m` names it.
    pub(super) machine: &'static str,
    /// Whether the binary needs nothing of the system. Packages that run anywhere carry a static one.
    pub(super) is_static: bool,
}

pub(super) const TARGETS: [Target; 3] = [
    Target {
        triple: "x86_64-unknown-linux-musl",
        zig: "x86_64-unknown-linux-musl",
        debian: "amd64",
        node: "x64",
        machine: "x86_64",
        is_static: true,
    },
    Target {
        triple: "x86_64-unknown-linux-gnu",
        zig: "x86_64-unknown-linux-gnu.2.17",
        debian: "amd64",
        node: "x64",
        machine: "x86_64",
        is_static: false,
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        zig: "aarch64-unknown-linux-musl",
        debian: "arm64",
        node: "arm64",
        machine: "aarch64",
        is_static: true,
    },
];

/// Targets whose sources are checked and for which nothing is published yet.
pub(super) const PORTS: [&str; 3] = ["aarch64-apple-darwin", "x86_64-apple-darwin", "x86_64-pc-windows-gnu"];

/// A target by its triple.
///
/// # Errors
/// When there is no such target; the message lists them.
pub(super) fn find(triple: &str) -> Result<&'static Target> {
    TARGETS.iter().find(|target| target.triple == triple).with_context(|| {
        let known: Vec<&str> = TARGETS.iter().map(|target| target.triple).collect();
        format!("no release is made for `{triple}`; one of {}", known.join(", "))
    })
}
