//! `jarvis bench …`: planners measured on planning benchmarks.

mod plan;

use std::process::ExitCode;

use clap::Subcommand;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Plan the requests of planning benchmarks and score the plans
    Plan(Box<plan::PlanArgs>),
}

pub(super) async fn run(command: BenchCommand, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    match command {
        BenchCommand::Plan(args) => plan::run(*args, global, printer).await,
    }
}
