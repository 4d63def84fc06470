//! The binary: flags, wiring, rendering, exit codes. What jarvis does is in the crates below.
#![cfg_attr(
    not(all(feature = "serve", feature = "grpc", feature = "bench")),
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
mod printer;
mod progress;
mod results;
mod retention;
mod session;
mod wiring;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::cli::{Cli, Command};
use crate::printer::Printer;

fn main() -> ExitCode {
    let cli = Cli::from_arg_matches(&command().get_matches()).unwrap_or_else(|error| error.exit());
    let printer = Printer::new(cli.global.quiet, cli.global.verbose);
    if let Command::Completions { shell } = &cli.command {
        // To memory first: the generator panics where nobody reads on, as in `jarvis completions bash | head`.
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut command(), "jarvis", &mut script);
        printer.out_piece(&String::from_utf8_lossy(&script));
        return ExitCode::SUCCESS;
    }
    #[cfg(feature = "documents")]
    if let Command::DocumentText = &cli.command {
        return wiring::document::child();
    }
    #[cfg(any(feature = "experts", feature = "llm"))]
    if let Command::LocalModel = &cli.command {
        return wiring::local_model();
    }
    start_logs(cli.global.verbose, printer);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            printer.error(&error, None);
            return ExitCode::from(1);
        }
    };
    let ended = runtime.block_on(commands::run(cli, printer));
    // Work on other threads that was cancelled is not waited for.
    runtime.shutdown_background();
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

/// Logs go to stderr: as `JARVIS_LOG` says, else warnings, else debug with `-vv`.
fn start_logs(verbose: u8, printer: Printer) {
    // jarvis reports failures of MCP servers itself.
    let default = if verbose >= 2 { "warn,jarvis=debug" } else { "error,rmcp=off" };
    let wanted = std::env::var(config::env_vars::LOG).unwrap_or_default();
    let wanted = if wanted.is_empty() { default } else { &wanted };
    let filter = tracing_subscriber::EnvFilter::try_new(wanted).unwrap_or_else(|error| {
        printer.warning(&format!("{} is not understood: {error}", config::env_vars::LOG));
        tracing_subscriber::EnvFilter::new(default)
    });
    let colours = std::io::stderr().is_terminal();
    let _ =
        tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(std::io::stderr).try_init();
}
