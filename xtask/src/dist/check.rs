//! `cargo xtask dist --check`: installs each package in a clean place and tries it. A check is a function that fails with what it
//! found; all are run. What cannot be run here is noted by [`Release::skip`], listed at the end, and a fault unless it is allowed.

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
    checks.skipped = release.skipped.take();
    checks.end(options.allow_skips)
}

#[derive(Default)]
struct Checks {
    run: usize,
    failed: Vec<&'static str>,
    /// As [`Release::skip`] noted it.
    skipped: Vec<String>,
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

    fn end(self, allow_skips: bool) -> Result<()> {
        println!(
            "{} passed, {} failed, {} skipped",
            self.run - self.failed.len(),
            self.failed.len(),
            self.skipped.len()
        );
        self.skipped.iter().for_each(|skipped| println!("  {skipped}"));
        if !self.failed.is_empty() {
            bail!("dist: {} of {} checks failed: {}", self.failed.len(), self.run, self.failed.join("; "));
        }
        if !self.skipped.is_empty() && !allow_skips {
            bail!(
                "dist: {} parts of the checks were skipped, so what they look at is not known to work\n\
                 hint: `cargo xtask setup --dist` installs what is missing; root is needed, or sudo without a password\n\
                 hint: `--allow-skips` goes on without them",
                self.skipped.len()
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_skipped_is_a_fault_unless_it_is_allowed() {
        let said = |failed: &[&'static str], skipped: &[&str], allowed| {
            let skipped = skipped.iter().map(|skipped| (*skipped).to_owned()).collect();
            let checks = Checks { run: 2, failed: failed.to_vec(), skipped };
            checks.end(allowed).map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())
        };
        assert_eq!(said(&[], &[], false), Ok(()));
        assert_eq!(said(&[], &["skipped: deb (it wants root)"], true), Ok(()));
        let error = "dist: 1 parts of the checks were skipped, so what they look at is not known to work";
        assert_eq!(said(&[], &["skipped: deb (it wants root)"], false), Err(error.to_owned()));
        let error = "dist: 1 of 2 checks failed: image";
        assert_eq!(said(&["image"], &["skipped: deb (it wants root)"], true), Err(error.to_owned()));
    }
}
