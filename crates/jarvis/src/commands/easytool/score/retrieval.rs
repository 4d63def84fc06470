//! `jarvis easytool score retrieval`: how well retrieval finds the tools that the data names.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgGroup, Args};
use jarvis_easytool::data::{ToolbenchItem, read_toolbench};
use jarvis_easytool::retrieval::TOP_K;
use jarvis_easytool::score::retrieval::{Query, RetrievalScore, read_log, score};
use serde_json::{Value, json};

use crate::cli::Global;
use crate::commands::easytool::embedder::{EmbedderArgs, failed};
use crate::commands::easytool::retrieve::read_catalogue;
use crate::commands::easytool::{QUESTIONS, unusable};
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").args(["data", "log"]).required(true)))]
#[command(after_help = include_str!("../help/score_retrieval.txt").trim_end())]
pub(crate) struct RetrievalArgs {
    /// ToolBench's questions: G2_category.json, G3_instruction.json
    #[arg(long, value_name = "FILE", requires = "tools")]
    data: Option<PathBuf>,
    /// A log of `jarvis easytool toolbench --retrieve`
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// The tools to search, as `jarvis easytool retrieve` reads them
    #[arg(long, value_name = "FILE", conflicts_with = "log")]
    tools: Option<PathBuf>,
    /// How many found tools count
    #[arg(long, value_name = "K", default_value_t = TOP_K, value_parser = crate::commands::easytool::at_least_one)]
    top_k: usize,
    #[command(flatten)]
    embedder: EmbedderArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn run(args: RetrievalArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let (queries, embedder) = match (&args.log, &args.data, &args.tools) {
        (Some(log), _, _) => {
            let log = log.clone();
            let read = tokio::task::spawn_blocking(move || read_log(&log)).await.map_err(Failure::work)?;
            (read.map_err(|error| unusable(error, "give a log of `jarvis easytool toolbench --retrieve`"))?, None)
        }
        (None, Some(data), Some(tools)) => {
            let data = data.clone();
            let items = tokio::task::spawn_blocking(move || read_toolbench(&data)).await.map_err(Failure::work)?;
            let items = items.map_err(|error| unusable(error, QUESTIONS))?;
            let (queries, id) = ask(&args, items, tools.clone(), global, printer).await?;
            (queries, Some(id))
        }
        (None, _, _) => {
            return Err(Failure::usage("there is nothing to score").hint("give --log, or --data and --tools"));
        }
    };
    let RetrievalScore { n, skipped, k, recall, ndcg, recall_all } = score(&queries, args.top_k);
    if skipped > 0 {
        printer.warning(&format!("{skipped} questions name no gold tool, and were not counted"));
    }
    if args.json {
        let document = json!({
            "embedder": embedder.map_or(Value::Null, Value::String),
            "n": n, "skipped": skipped, "k": k, "recall": recall, "ndcg": ndcg, "recall_all": recall_all,
        });
        printer.out(&serde_json::to_string_pretty(&document).map_err(Failure::work)?);
    } else {
        printer.out(&format!("questions  {n}"));
        printer.out(&format!("recall@{k}   {:5.1} %", recall * 100.0));
        printer.out(&format!("NDCG@{k}     {:5.1} %", ndcg * 100.0));
        if recall_all > recall {
            printer.out(&format!("recall     {:5.1} % of all that was found", recall_all * 100.0));
        }
    }
    if n == 0 {
        return Err(Failure::work("no question could be scored"));
    }
    Ok(ExitCode::SUCCESS)
}

async fn ask(
    args: &RetrievalArgs,
    items: Vec<ToolbenchItem>,
    tools: PathBuf,
    global: &Global,
    printer: Printer,
) -> Result<(Vec<Query>, String), Failure> {
    let tools = read_catalogue(tools).await?;
    let texts = tools.iter().map(|tool| (tool.id, tool.description.clone())).collect();
    let retriever = args.embedder.retriever(texts, global, printer).await?;
    let id_of = |name: &str| tools.iter().find(|tool| tool.name == name).map(|tool| tool.id);
    let questions: Vec<String> = items.iter().map(|item| item.query.clone()).collect();
    retriever.prepare(&questions).await.map_err(failed)?;
    let mut queries = Vec::with_capacity(items.len());
    let mut unknown = 0;
    for item in items {
        let (gold, without) = item.gold_tools(id_of);
        unknown += without;
        let found = retriever.retrieve(&item.query, args.top_k).await.map_err(failed)?;
        queries.push(Query { found: found.iter().map(|found| found.id).collect(), gold });
    }
    if unknown > 0 {
        printer
            .warning(&format!("{unknown} gold tools of the questions are not in the file of tools, and were left out"));
    }
    if let Err(error) = retriever.keep().await {
        printer.warning(&format!("the questions' vectors are not kept: {error}"));
    }
    Ok((queries, retriever.id()))
}
