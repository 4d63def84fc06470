//! `jarvis easytool toolbench`: answers requests with tools of many APIs, given with the data or found by retrieval.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use jarvis_easytool::data::{ToolbenchItem, add_tool_dic, read_toolbench};
use jarvis_easytool::instruct::{Instructions, Shape, of_registry, server_registry};
use jarvis_easytool::instructions::{ToolInstruction, read_tools};
use jarvis_easytool::solve::Offer;
use jarvis_easytool::stage::Limits;
use jarvis_easytool::toolbench::{Candidates, Query, Toolbench};
use jarvis_engine::Events;
use jarvis_tools::{RapidConfig, RapidServer, Registry};
use serde_json::json;

use super::batch::{Answerer, BatchArgs, Questions};
use super::embedder::EmbedderArgs;
use super::source::{ApiArgs, address_of, document, instructions, key_of};
use super::{QUESTIONS, TOOLS, unusable};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::wiring::{Folders, load_config, open_tools};

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/toolbench.txt").trim_end())]
pub(crate) struct ToolbenchArgs {
    /// Which part of ToolBench the data is
    #[arg(long, value_enum)]
    group: Group,
    /// The requests
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// The tools' instructions [default: made from --openapi]
    #[arg(long, value_name = "FILE", required_unless_present_any = ["openapi", "registry"])]
    tools: Option<PathBuf>,
    /// Use the tools of `jarvis tools list`: built-in ones and those of the configuration
    #[arg(long, conflicts_with_all = ["tools", "openapi", "server"])]
    registry: bool,
    /// Find the tools of each subtask among all tools, whatever the data says
    #[arg(long)]
    retrieve: bool,
    /// How many tools retrieval offers
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    top_k: u16,
    /// Tools tried for one subtask
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=100))]
    retrieval_num: u8,
    /// The ToolBench server; `/rapidapi` is added
    #[arg(long, value_name = "URL", conflicts_with = "openapi", required_unless_present_any = ["openapi", "registry"])]
    server: Option<String>,
    /// The environment variable that holds the server's key
    #[arg(long, value_name = "VAR", requires = "server")]
    server_key_env: Option<String>,
    /// The most calls of the server a minute; RapidAPI allows 30
    #[arg(long, value_name = "N", requires = "server")]
    per_minute: Option<u32>,
    #[command(flatten)]
    embedder: EmbedderArgs,
    #[command(flatten)]
    api: ApiArgs,
    #[command(flatten)]
    batch: BatchArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Group {
    /// Tools of one category
    #[value(name = "G2", alias = "g2")]
    G2,
    /// Tools of several categories
    #[value(name = "G3", alias = "g3")]
    G3,
}

impl Group {
    fn name(self) -> &'static str {
        match self {
            Group::G2 => "G2",
            Group::G3 => "G3",
        }
    }
}

pub(super) async fn run(args: ToolbenchArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let mut items = read_toolbench(&args.data).map_err(|error| unusable(error, QUESTIONS))?;
    let registry = match args.registry {
        true => Some(registry(global, printer).await?),
        false => None,
    };
    let tools = match (&registry, &args.tools, &args.api.openapi) {
        (Some(registry), _, _) => of_registry(registry),
        (None, Some(path), _) => read_tools(path).map_err(|error| unusable(error, TOOLS))?,
        (None, None, Some(path)) => match instructions(path, Shape::Tools).await? {
            Instructions::Tools(tools) => tools,
            Instructions::Endpoints(_) => Vec::new(),
        },
        (None, None, None) => Vec::new(),
    };
    if tools.is_empty() {
        return Err(
            Failure::usage("there are no tools").hint("name instructions with --tools, or a document with --openapi")
        );
    }
    offer_tools(&mut items, &tools, printer);
    let answerer = Answerer::of(global, printer).await?;
    let queries: Vec<Query> = items.into_iter().map(query).collect();
    let called = match registry {
        Some(registry) => registry,
        None => called(&args, &tools, &queries).await?,
    };
    let mut pipeline = Toolbench::new(Arc::clone(&answerer.model), Arc::new(called), tools.clone());
    let own = Limits { tool_attempts: usize::from(args.retrieval_num), ..pipeline.limits };
    pipeline.limits = args.batch.limits(&answerer, own);
    let mut searched = None;
    if args.retrieve {
        let described = tools.iter().map(|tool| (tool.id, tool.tool_description.clone())).collect();
        let retriever = args.embedder.retriever(described, global, printer).await?;
        pipeline.candidates =
            Candidates::Retrieved { retriever: Arc::clone(&retriever), top_k: usize::from(args.top_k) };
        searched = Some(retriever);
    }
    let retrieve = if args.retrieve { "_retrieve" } else { "" };
    let questions = Questions {
        title: format!("ToolBench {}", args.group.name()),
        data: &args.data,
        stem: format!("{}_{{model}}{retrieve}_Easytool", args.group.name()),
        settings: json!({
            "pipeline": "toolbench",
            "group": args.group.name(),
            "data": args.data.display().to_string(),
            "tools": tools.len(),
            "retrieve": args.retrieve,
            "embedder": args.retrieve.then(|| args.embedder.name()),
            "top_k": args.retrieve.then_some(args.top_k),
            "retrieval_num": args.retrieval_num,
        }),
        questions: queries,
    };
    let begin = |events: &Events| {
        let pipeline = Arc::new(Toolbench { events: events.clone(), ..pipeline });
        move |id, query: Query| {
            let pipeline = Arc::clone(&pipeline);
            async move { pipeline.answer(id, query).await }
        }
    };
    let ended = args.batch.run(&answerer, questions, printer, begin).await;
    if let Some(retriever) = searched
        && let Err(error) = retriever.keep().await
    {
        printer.warning(&format!("the vectors of the subtasks are not kept: {error}"));
    }
    ended
}

/// Gives items without tools the tools of their `api_list`, or all tools if they have no such list.
fn offer_tools(items: &mut [ToolbenchItem], tools: &[ToolInstruction], printer: Printer) {
    let (mut skipped, mut all) = (0, 0);
    for item in items.iter_mut().filter(|item| item.tool_dic.is_empty()) {
        let (offered, unknown) = add_tool_dic(&item.api_list, tools);
        skipped += unknown.len();
        item.tool_dic = offered;
        if item.api_list.is_empty() {
            all += 1;
            item.tool_dic = tools.iter().map(Offer::from).collect();
        }
    }
    if skipped > 0 {
        printer.warning(&format!("{skipped} tools that the data lists are not among the instructions"));
    }
    if all > 0 {
        printer.note(&format!("{all} requests list no tools and are offered all {}", tools.len()));
    }
}

fn query(item: ToolbenchItem) -> Query {
    let categories: HashMap<String, String> =
        item.api_list.into_iter().map(|api| (api.tool_name, api.category_name)).collect();
    Query { query_id: Some(item.query_id), text: item.query, tools: item.tool_dic, categories }
}

/// The tools of this machine: built-in ones and those of the configuration.
async fn registry(global: &Global, printer: Printer) -> Result<Registry, Failure> {
    let loaded = load_config(global, printer)?;
    let tools = open_tools(&loaded, &Folders::of(&loaded.config)?, printer).await?;
    Ok(tools.registry.only(|spec| spec.name != jarvis_tools::local::ATTACHED_FILES))
}

/// The tools of the server, or of the API, that instructions describe.
async fn called(args: &ToolbenchArgs, tools: &[ToolInstruction], queries: &[Query]) -> Result<Registry, Failure> {
    let timeout = Duration::from_secs(args.batch.tool_timeout);
    let Some(server) = &args.server else {
        let Some(path) = &args.api.openapi else {
            return Err(
                Failure::usage("there is nothing to call the tools with").hint("name --server URL or --openapi FILE")
            );
        };
        let apis = tools.iter().flat_map(|tool| tool.tool_guidelines.keys()).map(String::as_str);
        return args.api.registry(Some(document(path).await?), None, apis, timeout);
    };
    let key = args.server_key_env.as_deref().map(|name| key_of(name, "the server's key")).transpose()?;
    let mut config = RapidConfig::new(address_of(server, "--server")?, key);
    config.timeout = Duration::from_secs(args.batch.tool_timeout.min(15));
    config.per_minute = args.per_minute;
    let server = Arc::new(RapidServer::new(config).map_err(Failure::usage)?);
    Ok(server_registry(&server, tools, queries, timeout))
}
