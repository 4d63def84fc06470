//! `jarvis taskbench inspect`.

use std::process::ExitCode;

use clap::Args;

use crate::failure::Failure;
use crate::printer::Printer;

/// `jarvis taskbench inspect`.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {}

pub(super) fn run(_args: &InspectArgs, _printer: Printer) -> Result<ExitCode, Failure> {
    Err(Failure::usage("not written yet"))
}
