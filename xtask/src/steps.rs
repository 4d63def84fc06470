//! Chores made of steps: each runs a cargo command with its output shown, and the times are listed at the end.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{doors, setup, tidy};

/// Sets up what the tests need and runs every check; stops at the first that fails.
///
/// # Errors
/// Names the step that failed.
pub(crate) fn test(root: &Path) -> Result<()> {
    let mut steps = Steps::default();
    steps.run("setup", || setup::run(root))?;
    steps.run("fmt", || cargo(root, &["fmt", "--all", "--check"]))?;
    steps.run("clippy", || cargo(root, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    steps.run("tidy", || tidy::report(root))?;
    steps.run("test", || cargo(root, &["test", "--workspace", "--no-fail-fast"]))?;
    // The opt-in features: a build of their own, and only their own tests.
    steps.run("features", || {
        let features = "jarvis-taskbench/bertscore,jarvis-easytool/embeddings";
        let line = ["test", "-p", "jarvis-taskbench", "-p", "jarvis-easytool", "--features", features, "--test", "it"];
        let model = setup::sentence_model(root);
        let env = model.iter().map(|dir| (setup::SENTENCE_MODEL, dir.as_path()));
        cargo_with(root, &[line.as_slice(), &["--", "bertscore", "minilm"]].concat(), env)
    })?;
    steps.run("python", || doors::python(root))?;
    if root.join("web/package.json").is_file() {
        steps.run("web", || doors::web(root))?;
    }
    steps.summary();
    println!("all checks passed");
    Ok(())
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
/// When it does not build, or the server did not stay correct.
pub(crate) fn load(root: &Path, args: &[String]) -> Result<()> {
    cargo(root, &["build", "--release", "--package", "jarvis", "--package", "jarvis-load"])?;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    cargo(root, &[&["run", "--quiet", "--release", "--package", "jarvis-load", "--"], args.as_slice()].concat())
}

/// Runs cargo in the root with its output shown.
pub(crate) fn cargo(root: &Path, args: &[&str]) -> Result<()> {
    cargo_with(root, args, [])
}

/// The same with variables that name paths.
fn cargo_with<'a>(root: &Path, args: &[&str], env: impl IntoIterator<Item = (&'static str, &'a Path)>) -> Result<()> {
    let line = format!("cargo {}", args.join(" "));
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program)
        .args(args)
        .envs(env)
        .current_dir(root)
        .status()
        .with_context(|| format!("`{line}` does not start"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Steps that were run, with their times.
#[derive(Default)]
struct Steps {
    done: Vec<(&'static str, Duration)>,
}

impl Steps {
    fn run(&mut self, name: &'static str, step: impl FnOnce() -> Result<()>) -> Result<()> {
        println!("==> {name}");
        let start = Instant::now();
        let result = step();
        self.done.push((name, start.elapsed()));
        if result.is_err() {
            self.summary();
        }
        result.with_context(|| format!("step `{name}` failed"))
    }

    fn summary(&self) {
        println!("\nsteps:");
        for (name, time) in &self.done {
            println!("  {name:<8} {:>7.1} s", time.as_secs_f64());
        }
    }
}
