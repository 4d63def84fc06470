//! `jarvis easytool score`: scores a log.

use std::process::ExitCode;

use clap::Subcommand;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// The commands of `jarvis easytool score`.
#[derive(Debug, Subcommand)]
pub(crate) enum ScoreCommand {
    /// To come
    Funcqa,
}

pub(super) async fn run(_args: ScoreCommand, _global: &Global, _printer: Printer) -> Result<ExitCode, Failure> {
    Err(Failure::work("not built yet"))
}
