//! `jarvis easytool score`: scores a log.

mod retrieval;

use std::process::ExitCode;

use clap::Subcommand;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// The commands of `jarvis easytool score`.
#[derive(Debug, Subcommand)]
pub(crate) enum ScoreCommand {
    /// How well retrieval finds the tools that the data names: recall@k, NDCG@k
    Retrieval(Box<retrieval::RetrievalArgs>),
}

pub(super) async fn run(command: ScoreCommand, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    match command {
        ScoreCommand::Retrieval(args) => retrieval::retrieval(*args, global, printer).await,
    }
}
