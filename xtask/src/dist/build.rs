//! The binaries: built by cargo-zigbuild against an old glibc or statically against musl, with the list of their crates inside.
//!
//! A build is equal byte for byte to another one of the same commit: paths are mapped away, and one codegen unit a crate leaves no
//! order to chance.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::options::Options;
use super::targets::{PORTS, Target};
use super::toolchain::Tools;
use super::{Binary, Release};

/// Puts the list of all crates into the binary, where `cargo audit bin` and scanners of images find it.
const AUDITABLE: (&str, &str) = ("cargo-auditable", "0.7.7");

/// Builds the binary of each target, or takes the one that was given.
///
/// # Errors
/// When a build fails, or the given binary is not there.
pub(super) fn binaries(release: &Release, options: &Options) -> Result<Vec<Binary>> {
    if let (Some(path), [target]) = (&options.binary, options.targets.as_slice()) {
        if !path.is_file() {
            bail!("{} is not a file", path.display());
        }
        // It is run from other folders.
        return Ok(vec![Binary { target, path: std::path::absolute(path)? }]);
    }
    let tools = Tools::ready(&release.root)?;
    options
        .targets
        .iter()
        .map(|target| {
            let folder = release.root.join("target/dist-build");
            Ok(Binary { target, path: build(&release.root, &tools, target, &folder, release.epoch)? })
        })
        .collect()
}

/// Builds the sources in `root` for a target into `folder`, and names the binary.
pub(super) fn build(root: &Path, tools: &Tools, target: &Target, folder: &Path, epoch: u64) -> Result<PathBuf> {
    println!("dist: building for {}", target.zig);
    tools.add_target(target.triple)?;
    tools.cargo_program(AUDITABLE.0, AUDITABLE.1)?;
    let mut cargo = Command::new("cargo");
    cargo
        .args(["auditable", "zigbuild", "--locked", "--release", "--package", "jarvis", "--bin", "jarvis", "--target"])
        .arg(target.zig)
        .arg("--target-dir")
        .arg(folder)
        .env("PATH", tools.search_path()?)
        .current_dir(root);
    reproducible(&mut cargo, root, folder, target.triple, epoch)?;
    let status = cargo.status().context("cargo cannot start")?;
    if !status.success() {
        bail!("the build for {} failed ({status})", target.zig);
    }
    Ok(folder.join(target.triple).join("release/jarvis"))
}

/// Checks the sources for the targets that nothing is published for.
///
/// # Errors
/// Names the targets that fail; all are tried.
pub(super) fn check_ports(root: &Path) -> Result<()> {
    let tools = Tools::ready(root)?;
    let mut failed = Vec::new();
    for triple in PORTS {
        println!("dist: checking {triple}");
        tools.add_target(triple)?;
        let mut cargo = Command::new(tools.program("cargo-zigbuild"));
        cargo.args(["check", "--locked", "--package", "jarvis", "--target", triple]).env("PATH", tools.search_path()?);
        // zig takes the dates in the C of mimalloc for an error where nothing is optimised.
        cargo.env("CFLAGS", "-Wno-error=date-time");
        cargo.arg("--target-dir").arg(root.join("target/dist-build")).current_dir(root);
        if !cargo.status().context("cargo-zigbuild cannot start")?.success() {
            failed.push(triple);
        }
    }
    if failed.is_empty() {
        println!("dist: the sources compile for {}; nothing was linked or run", PORTS.join(", "));
        return Ok(());
    }
    bail!("the sources do not compile for {}", failed.join(", "))
}

/// What of this machine's paths would otherwise stand in the binary, and what stands for it.
fn mapped(root: &Path, folder: &Path) -> Result<[(PathBuf, &'static str); 3]> {
    let home = match std::env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => std::env::home_dir().context("there is no home folder")?.join(".cargo"),
    };
    Ok([(root.to_owned(), "/jarvis"), (folder.to_owned(), "/build"), (home, "/cargo")])
}

/// The flags for rustc in `.cargo/config.toml`, which those of the environment replace.
fn configured(root: &Path) -> Result<Vec<OsString>> {
    let path = root.join(".cargo/config.toml");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let config: toml::Table = text.parse().with_context(|| format!("{} is not TOML", path.display()))?;
    if config.contains_key("target") {
        bail!(
            "{} has flags by target, which a release would not be built with\nhint: set build.rustflags",
            path.display()
        );
    }
    let flags = config.get("build").and_then(|build| build.get("rustflags"));
    let Some(flags) = flags else { return Ok(Vec::new()) };
    let flags = flags.as_array().with_context(|| format!("{}: build.rustflags is not a list", path.display()))?;
    let flags = flags.iter().map(|flag| flag.as_str().map(OsString::from));
    flags.collect::<Option<_>>().with_context(|| format!("{}: build.rustflags holds more than texts", path.display()))
}

/// Gives a build what makes it equal to one elsewhere and later: no path of this machine, in Rust and in C, whose asserts name their
/// files, and one time for what C calls today. Otherwise it is built as by `cargo build --release`.
pub(super) fn reproducible(command: &mut Command, root: &Path, folder: &Path, triple: &str, epoch: u64) -> Result<()> {
    let flag = |name: &str, from: &Path, to: &str| {
        let mut flag = OsString::from(name);
        flag.push(from);
        flag.push(format!("={to}"));
        flag
    };
    let mapped = mapped(root, folder)?;
    let mut rust = configured(root)?;
    rust.extend(mapped.iter().map(|(from, to)| flag("--remap-path-prefix=", from, to)));
    if triple.ends_with("musl") {
        // zig brings the start files and libc.
        rust.push("-Clink-self-contained=no".into());
    }
    let c: Vec<OsString> = mapped.iter().map(|(from, to)| flag("-ffile-prefix-map=", from, to)).collect();
    let (rust, c) = (rust.join("\u{1f}".as_ref()), c.join(" ".as_ref()));
    command
        .env("SOURCE_DATE_EPOCH", epoch.to_string())
        .env_remove("RUSTFLAGS")
        .env("CARGO_ENCODED_RUSTFLAGS", rust)
        .env("CFLAGS", &c)
        .env("CXXFLAGS", &c);
    Ok(())
}
