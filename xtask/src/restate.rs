//! The tests of runs on many machines, against a real Restate server.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::steps::{FEATURES, cargo_with};

/// The variable that names the server's binary to the tests.
const SERVER: &str = "JARVIS_RESTATE_SERVER";

/// The variable that lets them measure.
const FIGURES: &str = "JARVIS_RESTATE_FIGURES";

/// The binary and the library. The others have no such tests; with their default features in it the selection builds everything as the
/// whole workspace does, and so nothing again.
const PACKAGES: [&str; 4] =
    ["--package=jarvis", "--package=jarvis-restate", "--package=jarvis-tools", "--package=jarvis-workers"];

/// How the names of the binary's tests begin.
const BINARY: &str = "restate::";

/// The npm package of the server, whose platform packages hold a static binary.
const PACKAGE: &str = "@restatedev/restate-server@1.7.12";

/// What is run of the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// All of them.
    Whole,
    /// Those that take seconds: runs that nothing disturbs, one where everything is killed at once, and those of the binary.
    Short,
    /// The measurements alone, in a release build.
    Figures,
}

/// Runs the tests; prints why when there is no server.
///
/// # Errors
/// When a test fails.
pub(crate) fn prove(root: &Path, form: Form) -> Result<()> {
    let Some(server) = server(root) else { return Ok(()) };
    let env = [(SERVER, server.as_path())];
    let library = ["test", "--package=jarvis-restate", "--test=it"];
    let both = [&["test", FEATURES, "--test=it"][..], &PACKAGES, &["--", BINARY]].concat();
    match form {
        Form::Short => {
            let some = ["runs::", "people::", "all_are_killed_at_once"];
            cargo_with(root, &[&both[..], &some].concat(), env)
        }
        Form::Whole => {
            cargo_with(root, &library, env)?;
            cargo_with(root, &both, env)
        }
        Form::Figures => {
            let figures = ["--release", "--", "figures", "--nocapture"];
            cargo_with(root, &[&library[..], &figures].concat(), env.into_iter().chain([(FIGURES, Path::new("1"))]))
        }
    }
}

/// The server's binary: what [`SERVER`] names, or the package installed into `target`.
fn server(root: &Path) -> Option<PathBuf> {
    if let Some(binary) = std::env::var_os(SERVER).filter(|binary| !binary.is_empty()) {
        return Some(binary.into());
    }
    let folder = root.join("target/restate");
    // A copy that was cut short, as on a full disk, is made anew.
    let works =
        |binary: &PathBuf| Command::new(binary).arg("--version").output().is_ok_and(|told| told.status.success());
    if let Some(binary) = installed(&folder).filter(works) {
        return Some(binary);
    }
    // What is not there need not be removed.
    let _ = std::fs::remove_dir_all(&folder);
    println!("setup: installing {PACKAGE} into target/restate");
    // No code of the packages runs at installation.
    let status = Command::new("npm")
        .args(["install", "--ignore-scripts", "--no-save", "--no-audit", "--no-fund", "--silent", "--prefix"])
        .arg(&folder)
        .arg(PACKAGE)
        .status();
    let binary = installed(&folder).filter(|_| status.is_ok_and(|status| status.success()));
    if binary.is_none() {
        println!("skipped: {PACKAGE} cannot be installed, and {SERVER} names no server");
    }
    binary
}

/// The binary in the package of this platform, which is the only one that npm installs.
fn installed(folder: &Path) -> Option<PathBuf> {
    let packages = std::fs::read_dir(folder.join("node_modules/@restatedev")).ok()?;
    let binaries = packages.filter_map(|package| Some(package.ok()?.path().join("bin/restate-server")));
    let of_platform = |binary: &PathBuf| {
        let package = binary.ancestors().nth(2).and_then(Path::file_name).and_then(OsStr::to_str);
        package.is_some_and(|package| package.starts_with("restate-server-")) && binary.is_file()
    };
    binaries.filter(of_platform).min()
}
