//! The commands, one file each. A command turns its arguments into calls of the crates below and prints the results.

pub(crate) mod ask;
#[cfg(feature = "bench")]
pub(crate) mod bench;
mod chat;
mod completions;
mod doctor;
#[cfg(feature = "bench")]
pub(crate) mod easytool;
pub(crate) mod experience;
#[cfg(feature = "serve")]
mod health;
#[cfg(feature = "self-update")]
mod install_source;
#[cfg(feature = "serve")]
mod mcp;
pub(crate) mod models;
#[cfg(feature = "self-update")]
mod own;
mod plan;
#[cfg(feature = "bench")]
pub(crate) mod planner;
mod run;
mod runs;
#[cfg(feature = "serve")]
mod serve;
mod setup;
#[cfg(feature = "bench")]
pub(crate) mod taskbench;
pub(crate) mod tools;
#[cfg(feature = "restate")]
mod worker;

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use crate::cli::{Cli, Command};
use crate::failure::Failure;
use crate::printer::Printer;

/// Runs a command that needs no runtime; nothing for any other.
pub(crate) fn without_runtime(command: &Command, printer: Printer) -> Option<Result<ExitCode, Failure>> {
    match command {
        Command::Completions(args) => Some(completions::run(args, printer)),
        Command::Man(args) => Some(completions::man(args, printer)),
        _ => None,
    }
}

pub(crate) async fn run(cli: Cli, printer: Printer) -> Result<ExitCode, Failure> {
    match cli.command {
        Command::Run(args) => run::run(args, &cli.global, printer).await,
        Command::Chat(args) => chat::run(args, &cli.global, printer).await,
        Command::Ask(args) => ask::run(args, &cli.global, printer).await,
        Command::Tools(command) => tools::run(command, &cli.global, printer).await,
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args, &cli.global, printer).await,
        #[cfg(feature = "restate")]
        Command::Worker(args) => worker::run(args, &cli.global, printer).await,
        #[cfg(feature = "serve")]
        Command::Mcp => mcp::run(&cli.global, printer).await,
        Command::Plan(args) => plan::run(args, &cli.global, printer).await,
        Command::Models(command) => models::run(command, &cli.global, printer).await,
        Command::Experience(command) => experience::run(command, &cli.global, printer).await,
        Command::Runs(command) => runs::run(command, &cli.global, printer).await,
        #[cfg(feature = "bench")]
        Command::Bench(command) => bench::run(command, &cli.global, printer).await,
        #[cfg(feature = "bench")]
        Command::Planner(command) => planner::run(command, &cli.global, printer).await,
        #[cfg(feature = "bench")]
        Command::Taskbench(command) => taskbench::run(command, &cli.global, printer).await,
        #[cfg(feature = "bench")]
        Command::Easytool(command) => easytool::run(command, &cli.global, printer).await,
        #[cfg(not(feature = "serve"))]
        Command::Serve(_) | Command::Mcp(_) => Err(not_built("serve")),
        #[cfg(not(feature = "bench"))]
        Command::Bench(_) | Command::Planner(_) | Command::Taskbench(_) | Command::Easytool(_) => {
            Err(not_built("bench"))
        }
        Command::Doctor(args) => doctor::run(&args, &cli.global, printer).await,
        #[cfg(feature = "serve")]
        Command::Health(args) => health::run(&args, printer).await,
        Command::Setup(args) => setup::run(&args, &cli.global, printer).await,
        #[cfg(feature = "self-update")]
        Command::Own(command) => own::run(command, printer).await,
        #[cfg(not(feature = "self-update"))]
        Command::Own(_) => Err(not_built("self-update")),
        // Handled before a runtime is needed.
        Command::Completions(_) | Command::Man(_) => Ok(ExitCode::SUCCESS),
        #[cfg(feature = "documents")]
        Command::DocumentText => Ok(ExitCode::SUCCESS),
        #[cfg(any(feature = "experts", feature = "llm"))]
        Command::LocalModel => Ok(ExitCode::SUCCESS),
    }
}

/// The command needs a feature that this build lacks.
#[cfg(not(all(feature = "serve", feature = "grpc", feature = "bench", feature = "self-update")))]
fn not_built(feature: &str) -> Failure {
    Failure::usage(format!("this jarvis was built without the feature `{feature}`"))
        .hint(format!("build it with its default features, or with `--features {feature}`"))
}

/// Whether a picture can stand there, before any work.
fn picture_place(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if path.is_dir() || folder.is_some_and(|folder| !folder.is_dir()) {
        return Err(Failure::usage(format!("no picture can be written to `{}`", path.display()))
            .hint("name a file in a folder that exists, such as chart.png"));
    }
    Ok(())
}

/// The first `most` bytes of a file, or of standard input for `-`.
fn read_input(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match path == Path::new("-") {
        true => std::io::stdin().lock().take(most).read_to_end(&mut bytes)?,
        false => std::fs::File::open(path)?.take(most).read_to_end(&mut bytes)?,
    };
    Ok(bytes)
}

/// The request's text; `-` stands for standard input.
fn request_text(typed: &str) -> Result<String, Failure> {
    let text = if typed == "-" {
        let read = read_input(Path::new("-"), 4 << 20);
        read.and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other))
            .map_err(|error| Failure::usage(format!("cannot read the request from standard input: {error}")))?
    } else {
        typed.to_owned()
    };
    let text = text.trim().to_owned();
    if text.is_empty() {
        return Err(Failure::usage("the request is empty").hint("say what you want: jarvis run \"…\" --file photo.jpg"));
    }
    Ok(text)
}
