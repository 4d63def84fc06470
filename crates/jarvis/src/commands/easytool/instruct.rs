//! `jarvis easytool instruct`: turns tool documentation into concise tool instructions.

use std::process::ExitCode;

use clap::Args;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// `jarvis easytool instruct`.
#[derive(Debug, Args)]
pub(crate) struct InstructArgs {}

pub(super) async fn run(_args: InstructArgs, _global: &Global, _printer: Printer) -> Result<ExitCode, Failure> {
    Err(Failure::work("not built yet"))
}
