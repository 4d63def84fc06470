//! `jarvis easytool funcqa`: answers questions of arithmetic with the functions of the hub.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use jarvis_easytool::data::{FuncqaQuestion, read_funcqa};
use jarvis_easytool::funcqa::{Funcqa, Kind};
use jarvis_easytool::instructions::{read_functions, read_tool_dic};
use jarvis_easytool::solve::Offer;
use jarvis_easytool::stage::Limits;
use jarvis_engine::Events;
use jarvis_tools::hub::Mode;
use jarvis_tools::local::HubFunction;
use serde_json::json;

use super::batch::{Answerer, BatchArgs, Questions};
use super::{QUESTIONS, TOOLS, unusable};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/funcqa.txt").trim_end())]
pub(crate) struct FuncqaArgs {
    /// `multi-hop`: the question is split into subtasks; `one-hop`: one call answers it
    #[arg(long, value_name = "KIND")]
    kind: Kind,
    /// The questions
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// `precise` hands on what the functions give; `compat` rounds each result to two decimals, as the original does
    #[arg(long, value_name = "MODE", default_value_t = Mode::Precise)]
    mode: Mode,
    /// Tools tried for one subtask
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=100))]
    retrieval_num: u8,
    /// The functions' instructions [default: those that come with jarvis]
    #[arg(long, value_name = "functions_data.json")]
    functions: Option<PathBuf>,
    /// What the model reads of each function while choosing [default: those of the instructions]
    #[arg(long, value_name = "tool_dic.jsonl")]
    tools: Option<PathBuf>,
    #[command(flatten)]
    batch: BatchArgs,
}

pub(super) async fn run(args: FuncqaArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let questions = read_funcqa(&args.data).map_err(|error| unusable(error, QUESTIONS))?;
    let answerer = Answerer::of(global, printer).await?;
    let hub = Arc::new(HubFunction::registry(args.mode));
    let mut pipeline = Funcqa::new(Arc::clone(&answerer.model), hub);
    if let Some(path) = &args.functions {
        pipeline.functions = read_functions(path).map_err(|error| unusable(error, TOOLS))?;
        pipeline.offers = pipeline.functions.iter().map(Offer::from).collect();
    }
    if let Some(path) = &args.tools {
        let rows = read_tool_dic(path).map_err(|error| unusable(error, TOOLS))?;
        pipeline.offers = rows.into_iter().map(|(id, description)| Offer { id, description }).collect();
    }
    let own = Limits { tool_attempts: usize::from(args.retrieval_num), ..Limits::default() };
    pipeline.limits = args.batch.limits(&answerer, own);
    let kind = args.kind;
    let questions = Questions {
        title: format!("FuncQA {kind}"),
        data: &args.data,
        stem: format!("FuncQA_{}_{{model}}_easytool", kind.data_type()),
        settings: json!({
            "pipeline": "funcqa",
            "kind": kind.to_string(),
            "data": args.data.display().to_string(),
            "mode": args.mode.to_string(),
            "retrieval_num": args.retrieval_num,
        }),
        questions,
    };
    let begin = |events: &Events| {
        let pipeline = Arc::new(Funcqa { events: events.clone(), ..pipeline });
        move |id, question: FuncqaQuestion| {
            let pipeline = Arc::clone(&pipeline);
            async move { pipeline.answer(id, &question.question, kind).await }
        }
    };
    args.batch.run(&answerer, questions, printer, begin).await
}
