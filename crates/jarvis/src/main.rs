//! The binary: flags, wiring, rendering, exit codes. What jarvis does is in the crates below.
#![cfg_attr(
    not(all(feature = "serve", feature = "grpc", feature = "bench", feature = "self-update")),
    allow(dead_code, unused_imports, reason = "the commands left out share code")
)]

mod approval;
mod batch_progress;
mod budget;
mod cli;
mod commands;
mod config;
mod failure;
mod hint;
mod ingest;
mod logs;
mod printer;
mod progress;
mod questions;
mod results;
mod retention;
mod session;
mod signals;
#[cfg(feature = "otel")]
mod telemetry;
mod wiring;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::cli::{Cli, Command, LogFormat};
use crate::failure::Failure;
use crate::logs::Logs;
use crate::printer::Printer;

/// Serves an eighth more requests in a second than glibc's, in a little more memory (docs/performance.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// For children whose address space is limited: the allocator takes 64 MiB of it at first, where it would begin with a GiB.
const SMALL_ARENAS: (&str, &str) = ("MIMALLOC_ARENA_RESERVE", "64MiB");

fn main() -> ExitCode {
    if std::env::args_os().skip(1).eq(["--version"]) {
        return version();
    }
    let cli = Cli::from_arg_matches(&command().get_matches()).unwrap_or_else(|error| error.exit());
    let printer = Printer::new(cli.global.quiet, cli.global.verbose);
    let printer = match cli.global.log_format {
        LogFormat::Json => printer.in_json(),
        LogFormat::Text => printer,
    };
    if let Some(ended) = commands::without_runtime(&cli.command, printer) {
        return exit_code(ended, printer);
    }
    #[cfg(feature = "documents")]
    if let Command::DocumentText = &cli.command {
        return wiring::document::child();
    }
    #[cfg(any(feature = "experts", feature = "llm"))]
    if let Command::LocalModel = &cli.command {
        return wiring::local_model();
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            printer.error(&error, None);
            return ExitCode::from(1);
        }
    };
    let logs = {
        let _within = runtime.enter();
        Logs::start(&cli, printer)
    };
    let ended = runtime.block_on(commands::run(cli, printer));
    // What is left to be sent is sent while the runtime still is there.
    logs.end();
    // Work on other threads that was cancelled is not waited for.
    runtime.shutdown_background();
    exit_code(ended, printer)
}

/// What clap says to `--version`, without all the commands it would put together first: that takes longer than the rest of the start,
/// and installers, package managers and health checks ask for nothing else.
fn version() -> ExitCode {
    use std::io::Write as _;

    match writeln!(std::io::stdout(), concat!("jarvis ", env!("CARGO_PKG_VERSION"))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn exit_code(ended: Result<ExitCode, Failure>, printer: Printer) -> ExitCode {
    match ended {
        Ok(code) => code,
        Err(failure) => {
            printer.error(failure.error(), failure.advice());
            failure.exit_code()
        }
    }
}

fn command() -> clap::Command {
    let command = Cli::command();
    #[cfg(feature = "bench")]
    let command = command
        .mut_subcommand("taskbench", commands::taskbench::with_original_names)
        .mut_subcommand("easytool", commands::taskbench::with_original_names);
    command
}
