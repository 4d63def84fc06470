//! `jarvis taskbench graph …`.

use std::process::ExitCode;

use clap::Subcommand;

use crate::failure::Failure;
use crate::printer::Printer;

/// `jarvis taskbench graph …`.
#[derive(Debug, Subcommand)]
pub(crate) enum GraphCommand {
    /// Build a tool graph from a tool list
    Build,
}

pub(super) async fn run(_command: GraphCommand, _printer: Printer) -> Result<ExitCode, Failure> {
    Err(Failure::usage("not written yet"))
}
