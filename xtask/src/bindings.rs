//! The packages for Python and Node (`bindings/`): built with the debug binary in them, installed, and tested by the tools of their
//! languages.

mod lock;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::doors::{Server, binary, environment, quiet};
use crate::setup::succeeds;

/// Builds, checks and tests both packages. With `JARVIS_UPDATE_DOCS` set, first writes what is generated anew.
///
/// # Errors
/// When a part fails; its report has been printed.
pub(crate) fn run(root: &Path) -> Result<()> {
    let jarvis = binary(root);
    if !jarvis.is_file() {
        bail!("{} is missing\nhint: cargo build, or name a binary with JARVIS_BINARY", jarvis.display());
    }
    lock::check(root)?;
    let python = Python::set_up(root)?;
    node_packages(root)?;
    if std::env::var_os("JARVIS_UPDATE_DOCS").is_some_and(|set| !set.is_empty()) {
        update(root, &python)?;
    }
    let small = stripped(root, &jarvis)?;
    python.test(&small)?;
    node(root, &small)
}

/// A copy of the binary without its symbols where `strip` is there: packages with it are packed and unpacked in less time.
pub(crate) fn stripped(root: &Path, jarvis: &Path) -> Result<PathBuf> {
    let copy = root.join("target/bindings/bin/jarvis");
    std::fs::create_dir_all(root.join("target/bindings/bin")).context("target/bindings/bin cannot be created")?;
    if succeeds(&["strip", "--version"]) {
        quiet(Command::new("strip").arg("-o").args([&copy, jarvis]))?;
    } else {
        std::fs::copy(jarvis, &copy).with_context(|| format!("{} cannot be copied", jarvis.display()))?;
    }
    Ok(copy)
}

/// The types of what the server says, and the client that is made of the other one.
fn update(root: &Path, python: &Python) -> Result<()> {
    let server = Server::start(root, &binary(root))?;
    let document = format!("{}/openapi.json", server.url);
    let package = python.folder.join("python/jarvis");
    let script = |name: &str| python.folder.join("tests").join(name);
    quiet(python.run(script("generate.py")).arg(&document).arg(package.join("types.py")))?;
    quiet(python.run(script("unasync.py")).arg(&package))?;
    let node = root.join("bindings/node");
    let program = node.join("node_modules/.bin/openapi-typescript");
    quiet(Command::new(program).args([&document, "-o", "src/api.ts"]).current_dir(node))?;
    println!("bindings: wrote python/jarvis/types.py, python/jarvis/_client.py and src/api.ts");
    Ok(())
}

/// The Python package and the environment that it is tried in.
struct Python {
    /// `bindings/python`.
    folder: PathBuf,
    /// `target/bindings`.
    target: PathBuf,
    /// The environment's programs.
    bin: PathBuf,
}

impl Python {
    fn set_up(root: &Path) -> Result<Python> {
        let (folder, target) = (root.join("bindings/python"), root.join("target/bindings"));
        let venv = target.join("python");
        environment(&folder.join("tests/requirements.txt"), &venv)?;
        Ok(Python { folder, target, bin: venv.join("bin") })
    }

    fn run(&self, script: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(self.bin.join("python"));
        command.arg("-B").arg(script).current_dir(&self.folder);
        command
    }

    fn test(&self, jarvis: &Path) -> Result<()> {
        let wheel = self.wheel(jarvis)?;
        let cargo = |args: &[&str]| {
            let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            command.args(args).env("CARGO_TARGET_DIR", self.target.join("cargo")).current_dir(&self.folder);
            command
        };
        quiet(&mut cargo(&["fmt", "--check"]))?;
        quiet(cargo(&["clippy", "--locked", "--quiet"]).args(["--", "-D", "warnings"]))?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall"];
        quiet(Command::new(self.bin.join("python")).args(pip).arg(&wheel))?;
        let tool = |name: &str| {
            let mut command = Command::new(self.bin.join(name));
            command.current_dir(&self.folder);
            command
        };
        quiet(tool("twine").args(["check", "--strict"]).arg(&wheel))?;
        quiet(tool("ruff").args(["format", "--check", "--no-cache", "python", "tests"]))?;
        quiet(tool("ruff").args(["check", "--no-cache", "python", "tests"]))?;
        // The sources, and then the tests against the installed package, whose `py.typed` is what a user's checker goes by.
        quiet(
            tool("mypy")
                .arg("--cache-dir")
                .arg(self.target.join("mypy"))
                .arg("python/jarvis")
                .env("MYPYPATH", "python"),
        )?;
        quiet(tool("mypy").arg("--cache-dir").arg(self.target.join("mypy-tests")).arg("tests"))?;
        let report = quiet(tool("python").args(["-B", "-m", "pytest"]).env("JARVIS_BINARY", jarvis))?;
        println!("bindings: Python: {}", report.lines().next_back().unwrap_or_default());
        Ok(())
    }

    /// A wheel with this program in it. Not compressed, since it goes nowhere.
    fn wheel(&self, jarvis: &Path) -> Result<PathBuf> {
        let scripts = self.folder.join("data/scripts");
        std::fs::create_dir_all(&scripts).with_context(|| format!("{} cannot be created", scripts.display()))?;
        std::fs::copy(jarvis, scripts.join("jarvis")).context("the program cannot be copied into the package")?;
        let out = self.target.join("wheels");
        if out.exists() {
            std::fs::remove_dir_all(&out).with_context(|| format!("{} cannot be removed", out.display()))?;
        }
        let options = ["build", "--quiet", "--locked", "--profile", "dev", "--compression-method", "stored", "--out"];
        quiet(
            Command::new(self.bin.join("maturin"))
                .args(options)
                .arg(&out)
                .arg("--target-dir")
                .arg(self.target.join("cargo"))
                .current_dir(&self.folder),
        )?;
        let mut wheels = out.read_dir().with_context(|| format!("{} cannot be listed", out.display()))?;
        let wheel = wheels.next().context("maturin made no wheel")??;
        Ok(wheel.path())
    }
}

/// Installs the pinned npm packages again after they changed. Those of the platforms are left out: they are published with the
/// package, so that a lock file cannot name them before.
fn node_packages(root: &Path) -> Result<()> {
    let node = root.join("bindings/node");
    let lock = node.join("package-lock.json");
    let noted = node.join("node_modules/.jarvis-lock.json");
    let text = std::fs::read(&lock).with_context(|| format!("{} cannot be read", lock.display()))?;
    if std::fs::read(&noted).is_ok_and(|noted| noted == text) {
        return Ok(());
    }
    println!("bindings: installing the packages of bindings/node");
    let line = ["install", "--ignore-scripts", "--omit=optional", "--no-save", "--no-audit", "--no-fund"];
    quiet(Command::new("npm").args(line).current_dir(&node))?;
    std::fs::write(&noted, text).with_context(|| format!("{} cannot be written", noted.display()))
}

/// Removes the compiled client of Node: the compiler leaves what has no source any more, and it would be packed.
///
/// # Errors
/// When it cannot be removed.
pub(crate) fn no_client(root: &Path) -> Result<()> {
    let dist = root.join("bindings/node/dist");
    if dist.exists() {
        std::fs::remove_dir_all(&dist).with_context(|| format!("{} cannot be removed", dist.display()))?;
    }
    Ok(())
}

fn node(root: &Path, jarvis: &Path) -> Result<()> {
    let node = root.join("bindings/node");
    no_client(root)?;
    let mut report = String::new();
    // The tests are checked against the declarations that are built.
    for script in ["build", "check", "test"] {
        let line = ["run", "--silent", script];
        report = quiet(Command::new("npm").args(line).env("JARVIS_BINARY", jarvis).current_dir(&node))?;
    }
    let count = |what: &str| report.lines().find_map(|line| line.strip_prefix(what)).unwrap_or("?").to_owned();
    println!("bindings: Node: {} passed, {} skipped", count("# pass "), count("# skipped "));
    Ok(())
}
