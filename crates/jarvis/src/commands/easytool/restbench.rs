//! `jarvis easytool restbench`: plans paths of API endpoints for questions, and carries them out where that is wanted.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use indexmap::IndexMap;
use jarvis_easytool::data::{RestQuestion, read_restbench};
use jarvis_easytool::instruct::{Instructions, Shape};
use jarvis_easytool::instructions::{EndpointInstruction, Guideline, read_endpoints};
use jarvis_easytool::restbench::{Execution, Restbench};
use jarvis_easytool::stage::Limits;
use jarvis_engine::Events;
use serde_json::json;

use super::batch::{Answerer, BatchArgs, Questions};
use super::source::{ApiArgs, document, instructions};
use super::{QUESTIONS, TOOLS, unusable};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/restbench.txt").trim_end())]
pub(crate) struct RestbenchArgs {
    /// Whose endpoints they are
    #[arg(long, value_enum, required_unless_present = "service")]
    scenario: Option<Scenario>,
    /// The same of another API, in a few words, such as "a library"
    #[arg(long, value_name = "WORDS", conflicts_with = "scenario")]
    service: Option<String>,
    /// The questions: a list, or one a line, of {"query", "solution"}
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// The endpoints' instructions, as `instruct` writes them [default: made from --openapi]
    #[arg(long, value_name = "FILE", required_unless_present = "openapi")]
    tools: Option<PathBuf>,
    /// Carry the paths out
    #[arg(long)]
    execute: bool,
    /// The chat endpoint, where --base-url names the API
    #[arg(long, value_name = "URL", requires = "execute")]
    llm_url: Option<String>,
    /// Characters of each result that later steps see
    #[arg(long, value_name = "N", default_value_t = 4000, requires = "execute")]
    result_chars: usize,
    #[command(flatten)]
    api: ApiArgs,
    #[command(flatten)]
    batch: BatchArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Scenario {
    /// The Movie Database
    Tmdb,
    /// Spotify
    Spotify,
}

impl Scenario {
    fn service(self) -> &'static str {
        match self {
            Scenario::Tmdb => "TMDB, a database of movies, TV shows and people",
            Scenario::Spotify => "Spotify, a music service",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Scenario::Tmdb => "tmdb",
            Scenario::Spotify => "spotify",
        }
    }
}

pub(super) async fn run(args: RestbenchArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let questions = read_restbench(&args.data).map_err(|error| unusable(error, QUESTIONS))?;
    let endpoints = match (&args.tools, &args.api.openapi) {
        (Some(path), _) => read_endpoints(path).map_err(|error| unusable(error, TOOLS))?,
        (None, Some(path)) => match instructions(path, Shape::Endpoints).await? {
            Instructions::Endpoints(endpoints) => endpoints,
            Instructions::Tools(_) => Vec::new(),
        },
        (None, None) => Vec::new(),
    };
    if endpoints.is_empty() {
        return Err(Failure::usage("there are no endpoints")
            .hint("name instructions with --tools, or a document with --openapi"));
    }
    // With --execute the one address is the API's.
    let (chat, api_url) = match args.execute {
        true => (Global { base_url: args.llm_url.clone(), ..global.clone() }, global.base_url.clone()),
        false => (global.clone(), None),
    };
    let answerer = Answerer::of(&chat, printer).await?;
    let service = match (args.scenario, &args.service) {
        (Some(scenario), _) => scenario.service(),
        (None, Some(service)) => service.as_str(),
        (None, None) => "an API",
    };
    let mut pipeline = Restbench::new(Arc::clone(&answerer.model), endpoints, service);
    if args.execute {
        pipeline.execution = Some(execution(&args, api_url.as_deref(), &pipeline.endpoints).await?);
    }
    let own = Limits { result_chars: args.result_chars, ..Limits::default() };
    pipeline.limits = args.batch.limits(&answerer, own);
    let questions = Questions {
        title: format!("RestBench of {service}"),
        data: &args.data,
        stem: "restbench_{model}_Easytool".to_owned(),
        settings: json!({
            "pipeline": "restbench",
            "scenario": args.scenario.map(Scenario::name),
            "service": service,
            "data": args.data.display().to_string(),
            "endpoints": pipeline.endpoints.len(),
            "execute": args.execute,
        }),
        questions,
    };
    let begin = |events: &Events| {
        let pipeline = Arc::new(Restbench { events: events.clone(), ..pipeline });
        move |id, question: RestQuestion| {
            let pipeline = Arc::clone(&pipeline);
            async move { pipeline.answer(id, &question.query).await }
        }
    };
    args.batch.run(&answerer, questions, printer, begin).await
}

/// How paths are carried out: by the document where there is one, else by the endpoints' lines alone.
async fn execution(
    args: &RestbenchArgs,
    api_url: Option<&str>,
    endpoints: &[EndpointInstruction],
) -> Result<Execution, Failure> {
    let timeout = Duration::from_secs(args.batch.tool_timeout);
    let usages = endpoints.iter().map(|endpoint| endpoint.tool_usage.as_str());
    let Some(path) = &args.api.openapi else {
        let tools = args.api.registry(None, api_url, usages, timeout)?;
        return Ok(Execution { tools: Arc::new(tools), guidelines: IndexMap::new() });
    };
    let guidelines: IndexMap<String, Guideline> = match instructions(path, Shape::Tools).await? {
        Instructions::Tools(tools) => tools.into_iter().flat_map(|tool| tool.tool_guidelines).collect(),
        Instructions::Endpoints(_) => IndexMap::new(),
    };
    if !endpoints.iter().any(|endpoint| guidelines.contains_key(&endpoint.tool_usage)) {
        return Err(
            Failure::usage("no endpoint of --tools is in --openapi").hint("name the document that they were made from")
        );
    }
    let tools = args.api.registry(Some(document(path).await?), api_url, usages, timeout)?;
    Ok(Execution { tools: Arc::new(tools), guidelines })
}
