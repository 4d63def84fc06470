//! Commands made of steps: each runs cargo with its output shown, and the times are listed at the end.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use crate::tools::DENY;
use crate::{bindings, crates, deny, dist, docs, doors, restate, setup, tidy, weights, workflows};

/// Which checks to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    /// What needs only cargo.
    Rust,
    /// What needs programs and packages beside cargo.
    Doors,
    Both,
}

/// What checks are built with: the features that ship, and those that are off by default. One set for all of them, so that nothing
/// is built twice.
pub(crate) const FEATURES: &str = "--features=jarvis/restate";

/// Tests whose name contains this word need an installed program or a model.
const NEEDS_PROGRAMS: &str = "installed";

/// Runs the checks of `half`; stops at the first that fails.
///
/// # Errors
/// Names the step that failed.
pub(crate) fn test(root: &Path, half: Half) -> Result<()> {
    let mut steps = Steps::default();
    // First what fails soonest and installs nothing.
    if half != Half::Doors {
        steps.run("fmt", || cargo(root, &["fmt", "--all", "--check"]))?;
    }
    let installed = std::thread::scope(|scope| {
        // Waits for the network while the lints compile.
        let setup = (half != Half::Rust).then(|| scope.spawn(|| setup::run(root)));
        if half != Half::Doors {
            lints(root, &mut steps)?;
        }
        // Tests look for the programs that it installs, and must not meet half of one. Where it fails, the tests that
        // need nothing installed still run.
        anyhow::Ok(match setup {
            Some(setup) => steps.run("setup", || setup.join().map_err(|_| anyhow!("it panicked"))?),
            None => Ok(()),
        })
    })?;
    if half != Half::Doors {
        steps.run("test", || cargo(root, &["test", "--no-fail-fast", "--workspace", FEATURES]))?;
        steps.run("examples", || crates::examples(root))?;
    }
    installed?;
    if half != Half::Rust {
        doors(root, &mut steps)?;
    }
    steps.summary();
    println!("all checks passed");
    Ok(())
}

fn lints(root: &Path, steps: &mut Steps) -> Result<()> {
    let all = ["clippy", "--all-targets", "--workspace", FEATURES, "--", "-D", "warnings"];
    steps.run("clippy", || cargo(root, &all))?;
    // What ships is without the others: what is left unused there. Only the binary is looked at again.
    steps.run("shipped", || cargo(root, &["clippy", "--all-targets", "--workspace", "--", "-D", "warnings"]))?;
    // What the README runs in a clone.
    let minimal = ["clippy", "--package=jarvis", "--no-default-features", "--", "-D", "warnings"];
    steps.run("minimal", || cargo(root, &minimal))?;
    steps.run("tidy", || tidy::report(root))?;
    steps.run("package", || crates::package_only(root))
}

fn doors(root: &Path, steps: &mut Steps) -> Result<()> {
    // This also builds target/debug/jarvis for the steps below.
    steps.run("programs", || {
        let model = setup::sentence_model(root);
        let weights = weights::folder(root);
        let sentences = model.as_deref().map(|folder| (setup::SENTENCE_MODEL, folder));
        let env = sentences.into_iter().chain([(weights::TEST_MODELS, weights.as_path())]);
        cargo_with(root, &["test", "--tests", "--workspace", FEATURES, "--", NEEDS_PROGRAMS], env)
    })?;
    steps.run("docs", || docs::build(root))?;
    steps.run("python", || doors::python(root))?;
    steps.run("bindings", || bindings::run(root))?;
    steps.run("dist", || dist::trial(root))?;
    steps.run("web", || doors::web(root))?;
    steps.run("restate", || restate::prove(root, restate::Form::Short))?;
    steps.run("workflows", || workflows::lint(root))?;
    steps.run("deny", || {
        if DENY.is_installed() {
            return deny::run(root, false);
        }
        println!("skipped: cargo-deny is not installed ({})", DENY.install());
        Ok(())
    })
}

/// Runs every benchmark of the workspace.
///
/// # Errors
/// When one does not build or fails.
pub(crate) fn bench(root: &Path) -> Result<()> {
    // Asked by name, since `cargo bench` would also run the unit tests of every library.
    if tidy::Workspace::load(root)?.benches == 0 {
        println!("no crate has a benchmark");
        return Ok(());
    }
    cargo(root, &["bench", "--workspace", "--bench", "*"])
}

/// Builds jarvis for release and measures it as a server; the arguments are those of `jarvis-load`.
///
/// # Errors
/// When the build fails, or the server does not stay correct.
pub(crate) fn load(root: &Path, args: &[&str]) -> Result<()> {
    cargo(root, &["build", "--release", "--package", "jarvis", "--package", "jarvis-load"])?;
    cargo(root, &[&["run", "--quiet", "--release", "--package", "jarvis-load", "--"], args].concat())
}

/// Runs cargo in the root with its output shown.
pub(crate) fn cargo(root: &Path, args: &[&str]) -> Result<()> {
    cargo_with(root, args, [])
}

/// Like [`cargo`], with environment variables that name paths.
pub(crate) fn cargo_with<'a>(
    root: &Path,
    args: &[&str],
    env: impl IntoIterator<Item = (&'static str, &'a Path)>,
) -> Result<()> {
    let line = format!("cargo {}", args.join(" "));
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program)
        .args(args)
        .envs(env)
        .current_dir(root)
        .status()
        .with_context(|| format!("`{line}` cannot start"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Steps that were run, with their times.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<(&'static str, Duration)>,
}

impl Steps {
    pub(crate) fn run(&mut self, name: &'static str, step: impl FnOnce() -> Result<()>) -> Result<()> {
        println!("==> {name}");
        let start = Instant::now();
        let result = step();
        self.done.push((name, start.elapsed()));
        if result.is_err() {
            self.summary();
        }
        result.with_context(|| format!("step `{name}` failed"))
    }

    pub(crate) fn summary(&self) {
        println!("\nsteps:");
        for (name, time) in &self.done {
            println!("  {name:<9} {:>6.1} s", time.as_secs_f64());
        }
    }
}
