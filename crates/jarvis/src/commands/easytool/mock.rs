//! `jarvis easytool mock`: stands in for a tool server or an API.

use std::process::ExitCode;

use clap::Args;

use crate::failure::Failure;
use crate::printer::Printer;

/// `jarvis easytool mock`.
#[derive(Debug, Args)]
pub(crate) struct MockArgs {}

pub(super) async fn run(_args: MockArgs, _printer: Printer) -> Result<ExitCode, Failure> {
    Err(Failure::work("not built yet"))
}
