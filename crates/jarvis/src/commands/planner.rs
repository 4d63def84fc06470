//! `jarvis planner …`: the offline planner fitted to gold plans, and measured by plans from before.

mod curve;
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
    /// Measure what plans from before are worth, the more of them there are
    Curve(curve::CurveArgs),
}

pub(super) async fn run(command: PlannerCommand, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    match command {
        PlannerCommand::Fit(args) => fit::run(*args, global, printer).await,
        PlannerCommand::Curve(args) => curve::run(args, global, printer).await,
    }
}
