//! The pictures of the documentation, made of real runs: terminals as animated SVGs, and the web page in a headless Chromium.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{doors, steps};

/// Draws what a terminal showed. Not among the packages of the tests, which draw nothing.
const DRAWS: &str = "termtosvg-ng==1.4.1";

/// The request of docs/tutorial.md whose plan is shown.
const PLANNED: &str = "find the edges of examples/house.jpg and make the result half the size";

/// Makes docs/images anew; `docs/images/flow.svg` alone is drawn by hand.
///
/// # Errors
/// When a picture cannot be made, or is larger than 300 kB.
pub(crate) fn make(root: &Path) -> Result<()> {
    doors::python_environment(root)?;
    doors::web_packages(root)?;
    let binary = match std::env::var_os("JARVIS_BINARY") {
        Some(binary) => PathBuf::from(binary),
        None => {
            // What ships, so that the times in the pictures are those of a user.
            steps::cargo(root, &["build", "--release", "--package=jarvis"])?;
            root.join("target/release/jarvis")
        }
    };
    let (python, packages, out) =
        (root.join("target/python/bin/python"), root.join("target/pictures"), root.join("docs/images"));
    if !packages.join("termtosvg").is_dir() {
        println!("pictures: installing {DRAWS} into target/pictures");
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"];
        doors::quiet(Command::new(&python).args(pip).arg(&packages).arg(DRAWS))?;
    }
    std::fs::create_dir_all(&out).with_context(|| format!("{} cannot be created", out.display()))?;
    let terminal = Command::new(&python)
        .arg(root.join("xtask/pictures/terminal.py"))
        .args([&binary, &out])
        .env("PYTHONPATH", &packages)
        .status()
        .context("python cannot start")?;
    let data = root.join("target/tmp/pictures");
    let plan = ["plan", PLANNED, "--llm", "offline", "--quiet", "--format", "svg", "--out"];
    doors::quiet(
        Command::new(&binary).args(plan).arg(out.join("graph.svg")).arg("--data-dir").arg(&data).current_dir(root),
    )?;
    println!("pictures: docs/images/graph.svg");
    let server = doors::Server::start(root, &binary)?;
    let page = Command::new("node")
        .arg(root.join("xtask/pictures/page.mjs"))
        .arg(&server.url)
        .arg(&out)
        .status()
        .context("node cannot start")?;
    if !terminal.success() || !page.success() {
        bail!("a picture could not be made");
    }
    println!("pictures: look at them before they are committed");
    Ok(())
}
