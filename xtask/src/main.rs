//! The chores of the workspace: `cargo xtask COMMAND`. Needs nothing but cargo; not part of what jarvis ships.

// A chore talks to the person who ran it; there is no printer to go through here.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod deny;
mod doors;
mod setup;
mod steps;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};

const HELP: &str = "\
The chores of the jarvis workspace.

Usage: cargo xtask COMMAND

Commands:
  test    sets up what the tests need, then runs every check: format, clippy, tidy, all tests,
          Python clients and the web page against the binary
  tidy    the house rules that a program can check: floors, headers, panics, printing, manifests, licences
  setup   the programs that the tests call and the packages of tests/python and tests/node; installs Debian packages
          where it may
  python  the Python tests alone (tests/python), against target/debug/jarvis
  web     the tests of the web page alone, by itself and against target/debug/jarvis
  bench   every benchmark of the workspace
  load    builds jarvis for release and measures `jarvis serve` from outside; `cargo xtask load --help` says what of it
  deny    cargo-deny with deny.toml: licences, bans, sources, and advisories where the database is at hand
  help    this text

Before a commit:    cargo xtask test
While writing:      cargo xtask tidy
One crate's tests:  cargo test -p jarvis-engine

tidy prints each finding as `path:line: what — rule`. A warning is printed and does not fail.
A panicking call that cannot happen may stay under `#[allow(clippy::expect_used)]` with a comment above that says why.
A file over 800 lines may stay when its `//!` header says why, after the word `Long:`.
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match command(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(if error.is::<WrongUse>() { 2 } else { 1 })
        }
    }
}

/// The command line makes no sense.
#[derive(Debug)]
struct WrongUse(String);

impl std::fmt::Display for WrongUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n\n{HELP}", self.0)
    }
}

impl std::error::Error for WrongUse {}

fn command(args: &[String]) -> Result<()> {
    let root = root()?;
    let name = match args {
        [] => "help",
        [name, rest @ ..] if name == "load" => return steps::load(&root, rest),
        [name] => name.as_str(),
        [_, extra, ..] if extra == "--help" || extra == "-h" => "help",
        [name, extra, ..] => bail!(WrongUse(format!("`{name}` takes no argument, and `{extra}` was given"))),
    };
    match name {
        "test" => steps::test(&root),
        "tidy" => tidy::report(&root),
        "setup" => setup::run(&root),
        "python" => doors::python(&root),
        "web" => doors::web(&root),
        "bench" => steps::bench(&root),
        "deny" => deny::run(&root),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => bail!(WrongUse(format!("there is no chore called `{other}`"))),
    }
}

/// The workspace root: the folder above this crate.
fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    match here.parent() {
        Some(root) if root.join("Cargo.toml").is_file() => Ok(root.to_path_buf()),
        _ => bail!("the workspace is no longer at {}; build xtask again", here.display()),
    }
}
