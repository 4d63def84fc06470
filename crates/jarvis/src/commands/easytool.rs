//! `jarvis easytool …`: concise tool instructions, and the pipelines that use them. One file for each command, with its flags.

mod call;
mod embedder;
mod instruct;
mod mock;
mod retrieve;
mod score;

use std::process::ExitCode;

use clap::Subcommand;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// The commands of `jarvis easytool`.
#[derive(Debug, Subcommand)]
pub(crate) enum EasytoolCommand {
    /// Turn tool documentation into concise tool instructions
    Instruct(Box<instruct::InstructArgs>),
    /// Call a function of the function hub
    Call(call::CallArgs),
    /// Say which tools fit a text
    Retrieve(Box<retrieve::RetrieveArgs>),
    /// Score a log
    #[command(subcommand)]
    Score(score::ScoreCommand),
    /// Stand in for a tool server, or for the API of an OpenAPI file
    Mock(mock::MockArgs),
}

pub(super) async fn run(command: EasytoolCommand, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    match command {
        EasytoolCommand::Instruct(args) => instruct::run(*args, global, printer).await,
        EasytoolCommand::Call(args) => call::run(args, printer).await,
        EasytoolCommand::Retrieve(args) => retrieve::run(*args, global, printer).await,
        EasytoolCommand::Score(command) => score::run(command, global, printer).await,
        EasytoolCommand::Mock(args) => mock::run(args, printer).await,
    }
}

/// Reads a count that is not zero.
fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1".to_owned()),
        Ok(count) => Ok(count),
        Err(error) => Err(error.to_string()),
    }
}
