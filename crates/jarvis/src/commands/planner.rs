//! `jarvis planner …`: the offline planner fitted to gold plans.

mod fit;

use std::process::ExitCode;

use clap::Subcommand;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Subcommand)]
pub(crate) enum PlannerCommand {
    /// Learn from gold plans, and search the weights with which plans come nearest to them
    Fit(Box<fit::FitArgs>),
}

pub(super) async fn run(command: PlannerCommand, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    match command {
        PlannerCommand::Fit(args) => fit::run(*args, global, printer).await,
    }
}
