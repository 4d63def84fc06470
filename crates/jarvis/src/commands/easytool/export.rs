//! `jarvis easytool export`: writes a log in the form of ToolBench's evaluator.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jarvis_easytool::data::{ToolbenchItem, read_toolbench};
use jarvis_easytool::instructions::{ToolInstruction, read_tools};
use jarvis_easytool::log::{LoggedAnswer, OfferedFunction, functions_of, read_answers, to_converted};

use super::{LOG, QUESTIONS, TOOLS, unusable};
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/export.txt").trim_end())]
pub(crate) struct ExportArgs {
    /// The log of a ToolBench run
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    /// The questions, which list the tools on offer
    #[arg(long, value_name = "FILE", requires = "tools")]
    data: Option<PathBuf>,
    /// The tool instructions, which list the functions of the tools
    #[arg(long, value_name = "FILE", requires = "data")]
    tools: Option<PathBuf>,
    /// The name of the method in the result
    #[arg(long, value_name = "NAME", default_value = "easytool")]
    method: String,
    /// Where the result goes; without it to stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) async fn run(args: ExportArgs, printer: Printer) -> Result<ExitCode, Failure> {
    tokio::task::spawn_blocking(move || export(&args, printer)).await.map_err(Failure::work)?
}

fn export(args: &ExportArgs, printer: Printer) -> Result<ExitCode, Failure> {
    let logged = read_answers(&args.log).map_err(|error| unusable(error, LOG))?;
    for note in &logged.notes {
        printer.warning(&format!("{}: {note}", args.log.display()));
    }
    let items = args.data.as_deref().map(read_toolbench).transpose().map_err(|error| unusable(error, QUESTIONS))?;
    let tools = args.tools.as_deref().map(read_tools).transpose().map_err(|error| unusable(error, TOOLS))?;
    let (items, tools) = (items.unwrap_or_default(), tools.unwrap_or_default());
    let document = to_converted(&logged.rows, &args.method, |answer| offered(answer, &items, &tools));
    let kept = document.as_object().map_or(0, serde_json::Map::len);
    if kept < logged.rows.len() {
        let lost = logged.rows.len() - kept;
        printer.warning(&format!("{}: {lost} left out for later ones with the same query id", args.log.display()));
    }
    let text = serde_json::to_string_pretty(&document).map_err(Failure::work)?;
    match &args.out {
        Some(file) => {
            jarvis_store::files::replace(file, format!("{text}\n").as_bytes()).map_err(Failure::work)?;
            printer.progress(&format!("{}: {kept} queries", file.display()));
        }
        None => printer.out(&text),
    }
    Ok(ExitCode::SUCCESS)
}

/// The functions of the tools that the data offers for a query.
fn offered(answer: &LoggedAnswer, items: &[ToolbenchItem], tools: &[ToolInstruction]) -> Vec<OfferedFunction> {
    let by_id = |item: &&ToolbenchItem| answer.query_id.as_ref().is_some_and(|id| item.id_text() == *id);
    let item = items.iter().find(by_id).or_else(|| items.iter().find(|item| item.query == answer.question));
    let ids = item.map(|item| item.tool_dic.as_slice()).unwrap_or_default();
    functions_of(ids.iter().filter_map(|offered| tools.iter().find(|tool| tool.id == offered.id)))
}
