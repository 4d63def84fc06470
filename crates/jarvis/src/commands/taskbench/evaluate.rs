//! `jarvis taskbench evaluate`.

use std::process::ExitCode;

use clap::Args;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// `jarvis taskbench evaluate`.
#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {}

pub(super) async fn run(_args: EvaluateArgs, _global: &Global, _printer: Printer) -> Result<ExitCode, Failure> {
    Err(Failure::usage("not written yet"))
}
