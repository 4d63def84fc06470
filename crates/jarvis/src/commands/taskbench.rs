//! `jarvis taskbench …`: the planning benchmark. One file for each command, with its flags.

mod endpoint;
mod evaluate;
mod format;
mod generate;
mod graph;
pub(crate) mod infer;
mod inspect;
mod report;

use std::collections::HashSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use jarvis_taskbench::DataError;
use jarvis_taskbench::data::Domain;
use serde_json::Value;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Subcommand)]
pub(crate) enum TaskbenchCommand {
    /// Say what a domain folder holds, and what is odd about it
    Inspect(inspect::InspectArgs),
    /// Ask a planner for a plan for each request
    Infer(Box<infer::InferArgs>),
    /// Score plans against the gold plans
    Evaluate(Box<evaluate::EvaluateArgs>),
    /// Compare runs with each other and with the published leaderboards
    Report(report::ReportArgs),
    /// Build, sample, draw and describe tool graphs
    #[command(subcommand)]
    Graph(graph::GraphCommand),
    /// Make new samples with a chat model (Back-Instruct)
    Generate(Box<generate::GenerateArgs>),
    /// Turn generated samples into gold plans and requests
    Format(format::FormatArgs),
}

pub(super) async fn run(command: TaskbenchCommand, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    // Here `--data-dir` is the benchmark's.
    let global = &Global { data_dir: None, ..global.clone() };
    match command {
        TaskbenchCommand::Inspect(args) => inspect::run(&args, printer),
        TaskbenchCommand::Infer(args) => infer::run(*args, global, printer).await,
        TaskbenchCommand::Evaluate(args) => evaluate::run(*args, global, printer).await,
        TaskbenchCommand::Report(args) => report::run(args, printer).await,
        TaskbenchCommand::Graph(command) => graph::run(command, printer).await,
        TaskbenchCommand::Generate(args) => generate::run(*args, global, printer).await,
        TaskbenchCommand::Format(args) => format::run(&args, printer),
    }
}

/// The original's option names have underscores; they are taken as well.
pub(crate) fn with_original_names(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| match arg.get_long() {
        Some(long) if long.contains('-') => {
            let original = long.replace('-', "_");
            arg.alias(original)
        }
        Some(_) | None => arg,
    });
    command.mut_subcommands(with_original_names)
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct DomainArg {
    /// The domain folder
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The domain folder, named as the other commands have it
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl DomainArg {
    fn open(&self) -> Result<Domain, Failure> {
        let dir = self.dir.as_ref().or(self.data_dir.as_ref()).expect("clap demands one of them");
        Domain::open(dir).map_err(unusable)
    }
}

/// A file of the benchmark that cannot be used is wrong use; one that cannot be written is work that failed.
fn unusable(error: DataError) -> Failure {
    let hint = error.hint();
    if error.is_usage() { Failure::usage(error) } else { Failure::work(error) }.hint(hint)
}

/// Wrong use, with the hint of its error.
fn wrong_use<E: Error + Send + Sync + 'static>(hint: fn(&E) -> &'static str) -> impl Fn(E) -> Failure {
    move |error| {
        let hint = hint(&error);
        Failure::usage(error).hint(hint)
    }
}

/// One document for one file, a list for several.
fn one_or_list(mut documents: Vec<Value>, one: bool) -> Value {
    match documents.pop() {
        Some(only) if one => only,
        last => Value::Array(documents.into_iter().chain(last).collect()),
    }
}

/// The ids of a file: every text and number of a JSON document, or one a line.
fn ids(path: &Path) -> Result<HashSet<String>, Failure> {
    fn collect(value: &Value, ids: &mut HashSet<String>) {
        match value {
            Value::String(id) => drop(ids.insert(id.clone())),
            Value::Number(id) => drop(ids.insert(id.to_string())),
            Value::Array(items) => items.iter().for_each(|item| collect(item, ids)),
            Value::Object(fields) => match fields.get("id") {
                Some(id) => collect(id, ids),
                None => fields.values().for_each(|value| collect(value, ids)),
            },
            Value::Null | Value::Bool(_) => {}
        }
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read the ids in {}: {error}", path.display())))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut ids = HashSet::new();
    match serde_json::from_str::<Value>(text) {
        Ok(value) => collect(&value, &mut ids),
        Err(_) => {
            for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
                // A line may be JSON, such as `"12"` or a whole sample.
                match serde_json::from_str::<Value>(line) {
                    Ok(value) => collect(&value, &mut ids),
                    Err(_) => drop(ids.insert(line.to_owned())),
                }
            }
        }
    }
    if ids.is_empty() {
        return Err(Failure::usage(format!("there are no ids in {}", path.display()))
            .hint("write one id a line, or a JSON list of ids"));
    }
    Ok(ids)
}
