//! `jarvis taskbench infer`.

use std::process::ExitCode;

use clap::Args;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// `jarvis taskbench infer`.
#[derive(Debug, Args)]
pub(crate) struct InferArgs {}

pub(super) async fn run(_args: InferArgs, _global: &Global, _printer: Printer) -> Result<ExitCode, Failure> {
    Err(Failure::usage("not written yet"))
}
