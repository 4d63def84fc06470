//! `jarvis taskbench report`.

use std::process::ExitCode;

use clap::Args;

use crate::failure::Failure;
use crate::printer::Printer;

/// `jarvis taskbench report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {}

pub(super) async fn run(_args: ReportArgs, _printer: Printer) -> Result<ExitCode, Failure> {
    Err(Failure::usage("not written yet"))
}
