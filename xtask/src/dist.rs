//! `cargo xtask dist`: everything that a release publishes, made from the working tree into `target/dist`.
//!
//! A release is made of one binary per target. Each kind of package is a module with a function from [`Release`] to files in its
//! folder, so that every package of a target carries the same bytes. `dist/check.rs` installs each of them in a clean place.

mod archive;
mod brew;
mod build;
mod check;
mod deb;
mod installer;
mod oci;
mod options;
mod packages;
mod sbom;
mod targets;
#[cfg(test)]
mod tests;
mod toolchain;

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

pub(crate) use oci::IMAGE;
pub(crate) use options::HELP;
use options::Options;
use targets::Target;

/// Where a release is published; `releases/latest/download/FILE` and `releases/download/vVERSION/FILE` are its files.
const REPOSITORY: &str = "https://github.com/jarvis-run/jarvis";

/// One version, its binaries, and the folder that its packages are written to.
struct Release {
    root: PathBuf,
    /// The folder of the files that are published.
    out: PathBuf,
    version: String,
    /// Seconds since 1970 that every file in a package bears: the time of the commit, so that a second build is equal.
    epoch: u64,
    /// Whether a binary was given that no release would ship, as one of a debug build: packed in a hurry, and neither its size nor
    /// what it is linked with is looked at.
    trial: bool,
    binaries: Vec<Binary>,
    /// What could not be checked here, and why.
    skipped: RefCell<Vec<String>>,
}

/// What was built for one target.
struct Binary {
    target: &'static Target,
    path: PathBuf,
}

impl Release {
    /// Reads the version and the time of the commit.
    fn new(root: &Path) -> Result<Release> {
        let manifest = root.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).with_context(|| format!("cannot read {}", manifest.display()))?;
        let manifest: toml::Table = text.parse().context("Cargo.toml is not TOML")?;
        let version = manifest
            .get("workspace")
            .and_then(|workspace| workspace.get("package")?.get("version")?.as_str())
            .context("Cargo.toml has no workspace.package.version")?
            .to_owned();
        let epoch = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(epoch) => epoch.parse().context("SOURCE_DATE_EPOCH is not a number of seconds")?,
            Err(_) => commit_time(root)?,
        };
        Ok(Release {
            root: root.to_owned(),
            out: root.join("target/dist"),
            version,
            epoch,
            trial: false,
            binaries: Vec::new(),
            skipped: RefCell::default(),
        })
    }

    /// Notes what cannot be checked here; `--check` ends with the list.
    fn skip(&self, what: &str, why: &str) {
        let skipped = format!("skipped: {what} ({why})");
        println!("  {skipped}");
        self.skipped.borrow_mut().push(skipped);
    }

    /// Writes a file beside its SHA-256 (`HEX  NAME`), and says so.
    fn publish(&self, name: &str, content: &[u8]) -> Result<()> {
        let path = self.out.join(name);
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
        let sum = format!("{}  {name}\n", sha256(content));
        let beside = self.out.join(format!("{name}.sha256"));
        fs::write(&beside, sum).with_context(|| format!("cannot write {}", beside.display()))?;
        println!("  {name} ({:.1} MB)", content.len() as f64 / 1e6);
        Ok(())
    }
}

/// Makes the release, and tries it where asked.
///
/// # Errors
/// Names the package that could not be made, or what a check found.
pub(crate) fn run(root: &Path, args: &[&str]) -> Result<()> {
    let options = Options::parse(args)?;
    if options.ports {
        return build::check_ports(root);
    }
    let mut release = Release::new(root)?;
    release.trial = options.binary.is_some();
    if release.trial {
        // What no release would ship must not lie where a release is published from.
        release.out = root.join("target/dist-trial");
    }
    if release.out.exists() {
        // Nor what another version left.
        fs::remove_dir_all(&release.out).with_context(|| format!("cannot remove {}", release.out.display()))?;
    }
    fs::create_dir_all(&release.out).with_context(|| format!("cannot create {}", release.out.display()))?;
    release.binaries = build::binaries(&release, &options)?;
    pack(&release, &options)?;
    if options.check {
        check::run(&release, &options)?;
    }
    Ok(())
}

/// Packs the debug binary and installs what comes of it, so that every run of the tests tries the packaging.
///
/// # Errors
/// Names the checks that failed.
pub(crate) fn trial(root: &Path) -> Result<()> {
    if let Some(missing) = ["dpkg-deb", "npm"].into_iter().find(|program| which::which(program).is_err()) {
        println!("skipped: {missing} is not installed");
        return Ok(());
    }
    let binary = crate::bindings::stripped(root, &crate::doors::binary(root))?;
    let binary = binary.to_str().context("the path of the binary is not UTF-8")?;
    run(root, &["--binary", binary, "--no-sbom", "--check", "--allow-skips"])
}

/// Makes every package that the built targets allow.
fn pack(release: &Release, options: &Options) -> Result<()> {
    println!("dist: packages of jarvis {} into {}", release.version, release.out.display());
    archive::write(release)?;
    installer::write(release)?;
    deb::write(release)?;
    oci::write(release)?;
    packages::write(release)?;
    brew::write(release)?;
    if options.sbom {
        sbom::write(release)?;
    }
    release.publish("version.txt", format!("{}\n", release.version).as_bytes())
}

fn commit_time(root: &Path) -> Result<u64> {
    let output = output(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root))
        .context("the time of the commit is unknown; set SOURCE_DATE_EPOCH")?;
    output.trim().parse().context("git printed no time")
}

fn sha256(content: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(content);
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs a program and takes what it prints on stdout.
///
/// # Errors
/// When it cannot start or fails; with what it printed on stderr.
fn output(command: &mut Command) -> Result<String> {
    let line = shown(command);
    let output = command.output().with_context(|| format!("`{line}` cannot start"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{line}` failed ({}):\n{}", output.status, said.trim_end());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The command line of a program, for messages.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
