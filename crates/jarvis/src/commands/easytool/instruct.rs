//! `jarvis easytool instruct`: turns tool documentation into concise tool instructions.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use jarvis_easytool::instruct::{
    InstructError, InstructOptions, InstructReport, Instructions, Memo, Shape, ToolDocument, Writer, read_documents,
    write,
};
use jarvis_engine::Events;
use jarvis_store::files;
use jarvis_tools::Registry;
use jarvis_tools::openapi::{OpenApiCaller, OpenApiConfig};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::source::{address_of, key_of};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::{self, BatchResult};
use crate::wiring::{Special, build_special, load_config};
use jarvis_plan::export::plural;

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/instruct.txt").trim_end())]
pub(crate) struct InstructArgs {
    /// The documents
    #[arg(value_name = "DOC", required = true)]
    documents: Vec<PathBuf>,
    /// One instruction for each endpoint, or one for each tool [default: endpoints for OpenAPI documents, else tool]
    #[arg(long, value_name = "SHAPE")]
    shape: Option<ShapeName>,
    /// Where the instructions go [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Call the API with each example that only reads (GET); an example that errs is not kept
    #[arg(long)]
    execute: bool,
    /// The API's address for --execute [default: --base-url, where no model is asked there]
    #[arg(long, value_name = "URL", requires = "execute")]
    api_url: Option<String>,
    /// The variable that holds the API's key
    #[arg(long, value_name = "VARIABLE", requires = "execute")]
    api_key_env: Option<String>,
    /// The most calls at once [default: 4, and 1 for a replay]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: Option<u16>,
    /// Only the first N endpoints, or tools
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print the report as one JSON document; the instructions go to --out
    #[arg(long, requires = "out")]
    pub(super) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShapeName {
    /// As in RestBench's tmdb_tool.json
    Endpoints,
    /// As in toolbench_tool_instruction.json
    Tool,
}

pub(super) async fn run(args: InstructArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let mut config = load_config(global, printer)?.config;
    let chat = build_special(&mut config, global.record.as_deref(), Special::default()).await?;
    let mut documents = read(args.documents.clone()).await?;
    let shape = shape(&args, &documents)?;
    limit(&mut documents, shape, args.limit);
    // Where no model is at an endpoint, the one address given is the API's.
    let own_url = global.base_url.as_deref().filter(|_| chat.as_ref().is_none_or(|chat| chat.endpoint.is_none()));
    let tools = match args.execute {
        true => Some(Arc::new(tools_of(&documents, &args, own_url)?)),
        false => None,
    };
    let at_endpoint = chat.as_ref().is_some_and(|chat| chat.endpoint.is_some());
    let concurrency = args.concurrency.map_or(if at_endpoint { 4 } else { 1 }, usize::from);
    let memo = match (&args.out, &chat) {
        (Some(out), Some(_)) => Memo::open(&partial(out)).map_err(Failure::work)?,
        _ => Memo::none(),
    };
    let model = chat.map(|chat| chat.model);
    let (is_asked, is_kept) = (model.is_some(), model.is_some() && args.out.is_some());
    let options = InstructOptions { shape, concurrency, ..InstructOptions::default() };
    let work = async |events: &Events, stop: CancellationToken| {
        let writer = Writer { model, events: events.clone(), tools };
        let written = write(&documents, &writer, options, &memo, &stop).await;
        written.map_err(|error| failed(error, is_kept))
    };
    let ended = if is_asked {
        let request = format!("instructions of {}", plural(documents.len(), "document"));
        session::batch(&config, request, printer, work).await
    } else {
        let stop = CancellationToken::new();
        let interrupt = tokio::spawn(session::cancel_on_interrupt(stop.clone()));
        let ended = work(&Events::unread(), stop).await;
        interrupt.abort();
        ended
    };
    let (instructions, report) = match ended {
        Ok(written) => written,
        Err(failure) => {
            memo.leave();
            return Err(failure);
        }
    };
    let text = instructions.to_json();
    match args.out.clone() {
        Some(out) => {
            let written = tokio::task::spawn_blocking(move || files::replace(&out, text.as_bytes())).await;
            written.map_err(Failure::work)?.map_err(Failure::work)?;
            memo.finish();
        }
        None => printer.out_piece(&text),
    }
    if args.json {
        let mut document = serde_json::to_value(&report).map_err(Failure::work)?;
        if let Some(fields) = document.as_object_mut() {
            fields.insert("shape".into(), if shape == Shape::Endpoints { "endpoints" } else { "tool" }.into());
            fields.insert("llm".into(), config.llm.name().into());
            fields.insert("out".into(), json!(args.out));
        }
        printer.out(&serde_json::to_string_pretty(&document).map_err(Failure::work)?);
    } else {
        report_summary(&report, shape, printer);
    }
    Ok(ExitCode::SUCCESS)
}

impl BatchResult for (Instructions, InstructReport) {
    fn ok(&self) -> bool {
        true
    }

    fn text(&self) -> String {
        let documents = plural(self.1.documents, "document");
        format!("{} of {documents} described", plural(self.1.apis_out, "function"))
    }
}

async fn read(paths: Vec<PathBuf>) -> Result<Vec<ToolDocument>, Failure> {
    let work = move || -> Result<Vec<ToolDocument>, InstructError> {
        let mut all = Vec::new();
        for path in &paths {
            all.extend(read_documents(path)?);
        }
        Ok(all)
    };
    tokio::task::spawn_blocking(work).await.map_err(Failure::work)?.map_err(|error| failed(error, false))
}

fn shape(args: &InstructArgs, documents: &[ToolDocument]) -> Result<Shape, Failure> {
    let openapi = documents.iter().filter(|document| document.api.is_some()).count();
    match args.shape {
        Some(ShapeName::Endpoints) => Ok(Shape::Endpoints),
        Some(ShapeName::Tool) => Ok(Shape::Tools),
        None if openapi == documents.len() => Ok(Shape::Endpoints),
        None if openapi == 0 => Ok(Shape::Tools),
        None => Err(Failure::usage("the documents are of two kinds: OpenAPI documents and lists of APIs")
            .hint("say what the instructions should look like: --shape endpoints or --shape tool")),
    }
}

fn limit(documents: &mut Vec<ToolDocument>, shape: Shape, limit: Option<usize>) {
    let Some(mut left) = limit else { return };
    match shape {
        Shape::Tools => documents.truncate(left),
        Shape::Endpoints => documents.retain_mut(|document| {
            document.apis.truncate(left);
            left -= document.apis.len();
            !document.apis.is_empty()
        }),
    }
}

/// Where accepted replies are kept until all is written.
fn partial(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".partial.jsonl");
    PathBuf::from(name)
}

fn failed(error: InstructError, kept: bool) -> Failure {
    match &error {
        InstructError::Document { .. } | InstructError::Shape { .. } => Failure::usage(error).hint(
            "a document is an OpenAPI 3.0 or 3.1 file (JSON or YAML), a RapidAPI tool, or {name, description, api_list}",
        ),
        InstructError::Chat { .. } | InstructError::Stopped if kept => {
            Failure::work(error).hint("run the same command again to go on; what is done is kept")
        }
        InstructError::Chat { source, .. } => {
            let hint = source.hint().unwrap_or("with --out FILE what is done is kept for another run");
            Failure::work(error).hint(hint)
        }
        InstructError::Stopped | InstructError::File(_) => Failure::work(error),
    }
}

fn report_summary(report: &InstructReport, shape: Shape, printer: Printer) {
    for fallback in &report.fallbacks {
        let what = if fallback.api.is_empty() { &fallback.tool } else { &fallback.api };
        printer.warning(&format!(
            "{what}: no usable reply in stage {}, the document stands in: {}",
            fallback.stage, fallback.reason
        ));
    }
    for dropped in &report.dropped {
        printer.warning(&format!("{dropped}: its example gave an error when it was executed, and was left out"));
    }
    let noun = if shape == Shape::Endpoints { "endpoints" } else { "functions" };
    let documents = plural(report.documents, "document");
    printer.progress(&format!("{noun}: {} of {} in {documents}", report.apis_out, report.apis_in));
    let change = if report.saved_percent < 0.0 { "more" } else { "fewer" };
    printer.progress(&format!(
        "tokens: {} before, {} after, {:.1} % {change} ({}); bytes: {} before, {} after",
        report.tokens_before,
        report.tokens_after,
        report.saved_percent.abs(),
        report.tokenizer,
        report.bytes_before,
        report.bytes_after
    ));
    if report.calls + report.resumed > 0 {
        printer.progress(&format!(
            "model calls: {}, refused replies: {}, kept from before: {}",
            report.calls, report.refused, report.resumed
        ));
    }
    if report.executed + report.untested > 0 || !report.dropped.is_empty() {
        printer.progress(&format!(
            "examples executed: {}, left out: {}, not expressible: {}",
            report.executed,
            report.dropped.len(),
            report.untested
        ));
    }
}

/// The time for one call of an Example.
const EXECUTE_TIMEOUT: Duration = Duration::from_secs(150);

/// The tools of the one document's API. Its address comes from the command line, since a document could name any.
fn tools_of(documents: &[ToolDocument], args: &InstructArgs, own_url: Option<&str>) -> Result<Registry, Failure> {
    let [ToolDocument { api: Some(api), .. }] = documents else {
        return Err(Failure::usage("--execute takes one OpenAPI document").hint("run the command for each document"));
    };
    let base = match (args.api_url.as_deref(), own_url) {
        (Some(url), _) => address_of(url, "--api-url")?,
        (None, Some(url)) => address_of(url, "--base-url")?,
        (None, None) => {
            let known = OpenApiCaller::address(api).map_or("https://…".into(), String::from);
            return Err(Failure::usage("--execute needs the address of the API").hint(format!("--api-url {known}")));
        }
    };
    let key = args.api_key_env.as_deref().map(|name| key_of(name, "the API's key")).transpose()?;
    let caller = Arc::new(OpenApiCaller::new(Some(Arc::clone(api)), OpenApiConfig { key, ..OpenApiConfig::new(base) }));
    let mut registry = Registry::new();
    caller.add_to(&mut registry, [], EXECUTE_TIMEOUT).map_err(Failure::work)?;
    Ok(registry)
}
