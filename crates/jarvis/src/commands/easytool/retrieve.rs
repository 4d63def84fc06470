//! `jarvis easytool retrieve`: lists the tools that fit a text.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use jarvis_easytool::input::InputError;
use jarvis_easytool::instructions::{read_functions, read_tool_dic, read_tools};
use jarvis_easytool::retrieval::TOP_K;
use serde::Serialize;
use serde_json::json;

use super::embedder::{EmbedderArgs, failed};
use super::{TOOLS, unusable};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/retrieve.txt").trim_end())]
pub(crate) struct RetrieveArgs {
    /// What is to be done, in your own words
    text: String,
    /// The tools: toolbench_tool_instruction.json, tmdb_tool.json, functions_data.json, tool_dic.jsonl, or what
    /// `jarvis easytool instruct` wrote
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
    /// The most tools to find
    #[arg(long, value_name = "K", default_value_t = TOP_K, value_parser = super::at_least_one)]
    top_k: usize,
    #[command(flatten)]
    embedder: EmbedderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tool {
    pub(super) id: i64,
    /// Empty in files that hold none.
    pub(super) name: String,
    pub(super) description: String,
}

#[derive(Serialize)]
struct Row<'a> {
    id: i64,
    score: f64,
    name: &'a str,
    description: &'a str,
}

pub(super) async fn run(args: RetrieveArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let tools = read_catalogue(args.tools).await?;
    let texts = tools.iter().map(|tool| (tool.id, tool.description.clone())).collect();
    let retriever = args.embedder.retriever(texts, global, printer).await?;
    let found = retriever.retrieve(&args.text, args.top_k).await.map_err(failed)?;
    if let Err(error) = retriever.keep().await {
        printer.warning(&format!("the text's vector is not kept: {error}"));
    }
    let rows = found.iter().filter_map(|found| {
        let tool = tools.iter().find(|tool| tool.id == found.id)?;
        Some(Row { id: found.id, score: found.score, name: &tool.name, description: &tool.description })
    });
    let rows: Vec<Row<'_>> = rows.collect();
    if args.json {
        let document = json!({"embedder": retriever.id(), "top_k": args.top_k, "tools": rows});
        printer.out(&serde_json::to_string_pretty(&document).map_err(Failure::work)?);
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        printer.progress("no tool shares a word with the text");
    }
    let id_width = rows.iter().map(|row| row.id.to_string().len()).max().unwrap_or_default();
    let name_width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or_default();
    for Row { id, score, name, description } in rows {
        let line = description.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        printer.out(format!("{id:>id_width$}  {score:7.4}  {name:<name_width$}  {line}").trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads the tools of a file of any of the published shapes.
pub(super) async fn read_catalogue(path: PathBuf) -> Result<Vec<Tool>, Failure> {
    let read = tokio::task::spawn_blocking(move || read_any(&path)).await.map_err(Failure::work)?;
    read.map_err(|error| unusable(error, TOOLS))
}

fn read_any(path: &Path) -> Result<Vec<Tool>, InputError> {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl")) {
        let rows = read_tool_dic(path)?.into_iter();
        return Ok(rows.map(|(id, description)| Tool { id, name: String::new(), description }).collect());
    }
    // Endpoints have what is read of tools here.
    let first = match read_tools(path) {
        Ok(tools) => {
            let tool = |tool: jarvis_easytool::instructions::ToolInstruction| Tool {
                id: tool.id,
                name: tool.tool_name,
                description: tool.tool_description,
            };
            return Ok(tools.into_iter().map(tool).collect());
        }
        Err(error) => error,
    };
    match read_functions(path) {
        Ok(functions) => {
            let tool = |function: jarvis_easytool::instructions::FunctionInstruction| Tool {
                id: function.id,
                name: function.standardized_name,
                description: function.description,
            };
            Ok(functions.into_iter().map(tool).collect())
        }
        Err(_) => Err(first),
    }
}
