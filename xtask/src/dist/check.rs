//! `cargo xtask dist --check`: installs each package in a clean place and tries it. A check is a function that fails with what it
//! found; all are run, and what could not be run here is printed as `skipped:`.

mod binary;
mod container;
mod debian;
mod install;
mod language;
mod place;

use anyhow::{Result, bail};

use super::options::Options;
use super::{Release, brew};

/// Runs every check.
///
/// # Errors
/// Names the checks that failed, whose reasons have been printed.
pub(super) fn run(release: &Release, options: &Options) -> Result<()> {
    let mut checks = Checks::default();
    checks.run("binary: what it is linked with, its size, offline runs", || binary::check(release));
    checks.run("archive: unpacked and run", || binary::check_archives(release));
    checks.run("install.sh: installs, upgrades, refuses, removes", || install::check(release));
    checks.run("deb: installed, upgraded and removed in a root of its own", || debian::check(release));
    checks.run("image: every digest, and run in a root of its own", || container::check(release));
    checks.run("pip and npm: installed in clean environments", || language::check(release));
    checks.run("formula: syntax and hashes", || brew::check(release));
    checks.run("cargo binstall: its metadata leads to the archives", || binary::check_binstall(release));
    if options.binary.is_none() {
        checks.run("second build: equal byte for byte", || binary::check_second_build(release));
    }
    checks.end()
}

#[derive(Default)]
struct Checks {
    run: usize,
    failed: Vec<&'static str>,
}

impl Checks {
    fn run(&mut self, name: &'static str, check: impl FnOnce() -> Result<()>) {
        self.run += 1;
        println!("dist: {name}");
        if let Err(error) = check() {
            println!("  failed: {error:#}");
            self.failed.push(name);
        }
    }

    fn end(self) -> Result<()> {
        println!("{} passed, {} failed", self.run - self.failed.len(), self.failed.len());
        if self.failed.is_empty() {
            return Ok(());
        }
        bail!("dist: {} of {} checks failed: {}", self.failed.len(), self.run, self.failed.join("; "))
    }
}
