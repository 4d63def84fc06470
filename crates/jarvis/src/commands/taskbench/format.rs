//! `jarvis taskbench format`.

use std::process::ExitCode;

use clap::Args;

use crate::failure::Failure;
use crate::printer::Printer;

/// `jarvis taskbench format`.
#[derive(Debug, Args)]
pub(crate) struct FormatArgs {}

pub(super) fn run(_args: &FormatArgs, _printer: Printer) -> Result<ExitCode, Failure> {
    Err(Failure::usage("not written yet"))
}
