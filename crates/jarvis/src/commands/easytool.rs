//! `jarvis easytool …`: concise tool instructions, and the pipelines that use them. One file for each command, with its flags.

mod batch;
mod call;
mod embedder;
mod export;
mod funcqa;
mod instruct;
mod mock;
mod prepare;
mod restbench;
mod retrieve;
mod score;
mod source;
mod toolbench;

use std::process::ExitCode;

use clap::Subcommand;
use jarvis_easytool::input::InputError;

use crate::cli::Global;
use crate::commands::taskbench::infer::at_least_one;
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Subcommand)]
pub(crate) enum EasytoolCommand {
    /// Turn tool documentation into concise tool instructions
    Instruct(Box<instruct::InstructArgs>),
    /// Answer questions of arithmetic with the functions of the hub
    Funcqa(Box<funcqa::FuncqaArgs>),
    /// Answer requests with tools of many APIs
    Toolbench(Box<toolbench::ToolbenchArgs>),
    /// Plan paths of API endpoints for questions, and carry them out
    Restbench(Box<restbench::RestbenchArgs>),
    /// Call a function of the function hub
    Call(call::CallArgs),
    /// Say which tools fit a text
    Retrieve(Box<retrieve::RetrieveArgs>),
    /// Score a log
    #[command(subcommand)]
    Score(score::ScoreCommand),
    /// Give the items of a ToolBench file the descriptions of their tools
    Prepare(prepare::PrepareArgs),
    /// Write a log in the form of ToolBench's evaluator
    Export(export::ExportArgs),
    /// Stand in for a tool server, or for the API of an OpenAPI file
    Mock(mock::MockArgs),
}

pub(super) async fn run(command: EasytoolCommand, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    match command {
        EasytoolCommand::Instruct(args) => with_json(args.json, printer, instruct::run(*args, global, printer)).await,
        EasytoolCommand::Funcqa(args) => funcqa::run(*args, global, printer).await,
        EasytoolCommand::Toolbench(args) => toolbench::run(*args, global, printer).await,
        EasytoolCommand::Restbench(args) => restbench::run(*args, global, printer).await,
        EasytoolCommand::Call(args) => call::run(args, printer).await,
        EasytoolCommand::Retrieve(args) => with_json(args.json, printer, retrieve::run(*args, global, printer)).await,
        EasytoolCommand::Score(command) => score::run(command, global, printer).await,
        EasytoolCommand::Prepare(args) => prepare::run(args, printer).await,
        EasytoolCommand::Export(args) => export::run(args, printer).await,
        EasytoolCommand::Mock(args) => mock::run(args, printer).await,
    }
}

/// Forms of files, for hints.
const QUESTIONS: &str = "give a JSON list of questions, or JSON Lines, in the form that the benchmark publishes";
const LOG: &str =
    "give a log of `jarvis easytool`, one of the original, or results in the form of ToolBench's evaluator";
const TOOLS: &str = "give tool instructions: a list, or an object, of tools with ID and tool_description";

/// A file that cannot be used is wrong use; `form` says what it should be.
fn unusable(error: InputError, form: &str) -> Failure {
    let is_unread = matches!(error, InputError::Read { .. });
    Failure::usage(error).hint(if is_unread { "give the path of a file that exists and can be read" } else { form })
}

/// Runs a command; with `json` its failure is printed as a document, too.
async fn with_json(
    json: bool,
    printer: Printer,
    command: impl Future<Output = Result<ExitCode, Failure>>,
) -> Result<ExitCode, Failure> {
    command.await.inspect_err(|failure| {
        if json {
            printer.out(&failure.document().to_string());
        }
    })
}
