//! `jarvis easytool retrieve`: says which tools fit a text.

use std::process::ExitCode;

use clap::Args;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// `jarvis easytool retrieve`.
#[derive(Debug, Args)]
pub(crate) struct RetrieveArgs {}

pub(super) async fn run(_args: RetrieveArgs, _global: &Global, _printer: Printer) -> Result<ExitCode, Failure> {
    Err(Failure::work("not built yet"))
}
