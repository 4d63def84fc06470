//! The programs that tests call: finds them, and installs Debian packages where that is allowed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// A program that tests call, and the Debian package that brings it.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    pub(crate) for_what: &'static str,
}

/// Everything the tests call beside cargo.
pub(crate) const PROGRAMS: [Program; 2] = [
    Program { name: "espeak-ng", package: "espeak-ng", for_what: "text to speech" },
    Program { name: "tesseract", package: "tesseract-ocr", for_what: "reading text in pictures" },
];

/// Makes sure that every program is there.
///
/// # Errors
/// When one is missing and cannot be installed; the message says how to install it.
pub(crate) fn run() -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let missing = missing(&folders);
    if missing.is_empty() {
        println!("setup: {} are installed", names(&PROGRAMS.iter().collect::<Vec<_>>()));
        return Ok(());
    }
    let Some(prefix) = right_to_install(&folders) else {
        bail!("{}", advice(&missing));
    };
    println!("setup: installing {}", names(&missing));
    let packages: Vec<&str> = missing.iter().map(|program| program.package).collect();
    // One broken source among several fails the update, and the install may work all the same.
    if let Err(error) = apt(prefix, &["update"]) {
        println!("setup: {error:#}; trying with the package lists as they are");
    }
    apt(prefix, &[&["install", "-y", "--no-install-recommends"], packages.as_slice()].concat())
        .with_context(|| advice(&missing))?;
    let still = self::missing(&folders);
    if !still.is_empty() {
        bail!("apt-get succeeded, and yet {} cannot be found in PATH", names(&still));
    }
    Ok(())
}

/// The programs found in none of the folders.
pub(crate) fn missing(folders: &[PathBuf]) -> Vec<&'static Program> {
    PROGRAMS.iter().filter(|program| !has(folders, program.name)).collect()
}

/// What to tell a person who must install them.
pub(crate) fn advice(missing: &[&Program]) -> String {
    let mut text = String::from("the tests need programs that are not installed:\n");
    for program in missing {
        text.push_str(&format!("  {} ({})\n", program.name, program.for_what));
    }
    let packages: Vec<&str> = missing.iter().map(|program| program.package).collect();
    let programs: Vec<&str> = missing.iter().map(|program| program.name).collect();
    text.push_str(&format!(
        "hint: on Debian or Ubuntu: sudo apt-get install {}\n      with Homebrew: brew install {}",
        packages.join(" "),
        programs.join(" ")
    ));
    text
}

fn names(programs: &[&Program]) -> String {
    programs.iter().map(|program| program.name).collect::<Vec<_>>().join(", ")
}

fn has(folders: &[PathBuf], program: &str) -> bool {
    folders.iter().any(|folder| {
        let at = folder.join(program);
        is_executable(&at) || is_executable(&at.with_extension("exe"))
    })
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// What to put before `apt-get`: nothing for root, `sudo -n` where it asks no password; `None` where neither holds.
fn right_to_install(folders: &[PathBuf]) -> Option<&'static [&'static str]> {
    if !has(folders, "apt-get") {
        return None;
    }
    let user = Command::new("id").arg("-u").output().ok()?;
    if user.stdout.trim_ascii() == b"0" {
        return Some(&[]);
    }
    let sudo = Command::new("sudo").args(["-n", "true"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    sudo.is_ok_and(|status| status.success()).then_some(&["sudo", "-n"])
}

fn apt(prefix: &[&str], args: &[&str]) -> Result<()> {
    let words =
        [prefix, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-o", "Acquire::Retries=3"], args]
            .concat();
    let (program, rest) = words.split_first().context("an empty command")?;
    let line = words.join(" ");
    println!("setup: {line}");
    let status = Command::new(program).args(rest).status().with_context(|| format!("`{line}` does not start"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}
