//! `jarvis easytool prepare`: gives every item of a ToolBench file the descriptions of its tools.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jarvis_easytool::data::{prepare_toolbench, to_text};
use jarvis_easytool::instructions::read_tools;

use super::{QUESTIONS, TOOLS, unusable};
use crate::failure::Failure;
use crate::printer::Printer;

const SHOWN: usize = 10;

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/prepare.txt").trim_end())]
pub(crate) struct PrepareArgs {
    /// The ToolBench file, such as G2_category.json: a JSON list, or JSON Lines
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// The tool instructions, such as toolbench_tool_instruction.json
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
    /// Where the items go, as a JSON list; replaced whole
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(super) async fn run(args: PrepareArgs, printer: Printer) -> Result<ExitCode, Failure> {
    let done = tokio::task::spawn_blocking(move || prepare(&args, printer)).await;
    done.map_err(Failure::work)?
}

fn prepare(args: &PrepareArgs, printer: Printer) -> Result<ExitCode, Failure> {
    let tools = read_tools(&args.tools).map_err(|error| unusable(error, TOOLS))?;
    let (items, done) = prepare_toolbench(&args.data, &tools).map_err(|error| unusable(error, QUESTIONS))?;
    jarvis_store::files::replace(&args.out, to_text(&items).as_bytes()).map_err(Failure::work)?;
    printer.progress(&format!("{}: {} items, {} tools added", args.out.display(), done.items, done.added));
    if !done.skipped.is_empty() {
        let named: Vec<String> =
            done.skipped.iter().take(SHOWN).map(|(name, items)| format!("{name} ({items})")).collect();
        let more = done.skipped.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        printer.warning(&format!(
            "tools without an instruction are left out (items that list them): {}{more}",
            named.join(", ")
        ));
    }
    Ok(ExitCode::SUCCESS)
}
