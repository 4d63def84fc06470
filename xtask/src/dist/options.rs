//! The command line of `cargo xtask dist`.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::targets::{self, TARGETS, Target};
use crate::UsageError;

pub(crate) const HELP: &str = "\
Make everything that a release publishes into target/dist.

Usage: cargo xtask dist [--target TRIPLE]… [--check [--allow-skips]] [--binary FILE] [--no-sbom]
       cargo xtask dist --ports

Options:
  --target TRIPLE  build for this target only; may be repeated (default: all that are built here). One must run on this machine
  --binary FILE    package FILE as the binary of the (single) target and build nothing
  --check          install each package in a clean place and try it; without --binary, also build a second time and compare.
                   What it misses, `cargo xtask setup --dist` installs; it works as root, or by sudo without a password
  --allow-skips    succeed although something could not be checked here
  --no-sbom        leave out the bill of materials, for which cargo-cyclonedx is built
  --ports          check that the sources compile for macOS and Windows, as far as this machine can: nothing is linked or run

cargo-zigbuild, zig and maturin are installed from PyPI into target/dist-tools, cargo-auditable and cargo-cyclonedx from
crates.io, and the standard library of each target by rustup.
";

/// What to make.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) targets: Vec<&'static Target>,
    /// A binary that is there, of the only target.
    pub(super) binary: Option<PathBuf>,
    pub(super) check: bool,
    /// Whether a check that cannot be run here is no fault.
    pub(super) allow_skips: bool,
    pub(super) sbom: bool,
    pub(super) ports: bool,
}

impl Options {
    pub(super) fn parse(args: &[&str]) -> Result<Options> {
        let mut options =
            Options { targets: Vec::new(), binary: None, check: false, allow_skips: false, sbom: true, ports: false };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || match args.next() {
                Some(value) => Ok(*value),
                None => bail!(UsageError(format!("`{arg}` wants a value"))),
            };
            match *arg {
                "--target" => options.targets.push(targets::find(value()?)?),
                "--binary" => options.binary = Some(value()?.into()),
                "--check" => options.check = true,
                "--allow-skips" => options.allow_skips = true,
                "--no-sbom" => options.sbom = false,
                "--ports" => options.ports = true,
                other => bail!(UsageError(format!("unknown argument `{other}` of dist"))),
            }
        }
        if options.binary.is_some() && options.targets.is_empty() {
            options.targets.push(targets::find("x86_64-unknown-linux-musl")?);
        }
        if options.binary.is_some() && options.targets.len() > 1 {
            bail!(UsageError("`--binary` is for one target".to_owned()));
        }
        if options.allow_skips && !options.check {
            bail!(UsageError("`--allow-skips` is for `--check`".to_owned()));
        }
        if options.targets.is_empty() {
            options.targets = TARGETS.iter().collect();
        }
        let here = std::env::consts::ARCH;
        if !options.ports && options.targets.iter().all(|target| target.machine != here) {
            bail!(UsageError(format!(
                "none of the targets is for this machine's processor ({here}), where the binary writes its completions and man \
                 pages\nhint: add another `--target`"
            )));
        }
        Ok(options)
    }
}
