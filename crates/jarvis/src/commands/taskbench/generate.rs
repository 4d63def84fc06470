//! `jarvis taskbench generate`.

use std::process::ExitCode;

use clap::Args;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// `jarvis taskbench generate`.
#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {}

pub(super) async fn run(_args: GenerateArgs, _global: &Global, _printer: Printer) -> Result<ExitCode, Failure> {
    Err(Failure::usage("not written yet"))
}
