//! `jarvis easytool call`: calls a function of the function hub.

use std::process::ExitCode;

use clap::Args;

use crate::failure::Failure;
use crate::printer::Printer;

/// `jarvis easytool call`.
#[derive(Debug, Args)]
pub(crate) struct CallArgs {}

pub(super) async fn run(_args: CallArgs, _printer: Printer) -> Result<ExitCode, Failure> {
    Err(Failure::work("not built yet"))
}
