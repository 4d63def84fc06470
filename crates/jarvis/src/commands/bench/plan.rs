//! `jarvis bench plan`: plans of one planner over planning benchmarks, scored, with floors.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use jarvis_batch::Summary;
use jarvis_plan::export::plural;
use jarvis_planner::Basis;
use jarvis_store::files::replace_derived;
use jarvis_taskbench::bench::import::read_all;
use jarvis_taskbench::bench::report::{Layout, document, main_table, notes, own_tables};
use jarvis_taskbench::bench::{BenchError, Form, Options, PlanSet, PlannedSet, Report, plan_set};
use jarvis_taskbench::data::file_stem;
use jarvis_taskbench::evaluate::strict::Bootstrap;
use jarvis_taskbench::infer::{InferOptions, Links, PlanBy};

use crate::batch_progress::{BatchProgress, Prices, kinds};
use crate::cli::Global;
use crate::commands::taskbench::infer::{at_least_one, planner};
use crate::config::Config;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::{self, BatchResult};
use crate::wiring::{Special, basis, build_special, load_config};

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/plan.txt").trim_end())]
pub(crate) struct PlanArgs {
    /// Folders or files of benchmarks; a folder of folders holds several sets
    #[arg(value_name = "DIR", required = true)]
    dirs: Vec<PathBuf>,
    /// The form of the files: auto, neutral, taskbench, ultratool, orchestrationbench, complextool-plan, seal-tools or
    /// worfbench
    #[arg(long, value_name = "FORM", default_value = "auto", value_parser = form)]
    form: FormArg,
    /// What links mean: `order` (a step that uses no result follows the one before it) or `data` (a step needs what
    /// another gives) [default: order for taskbench and ultratool, else data]
    #[arg(long, value_name = "MEANING")]
    links: Option<Links>,
    /// Only the first N samples of each set
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    limit: Option<usize>,
    /// Keep plans, samples.jsonl and report.json in this folder, and go on there after a stop
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = FormatArg::Table)]
    format: FormatArg,
    /// Add why each sample lost points: under the table, with csv on stderr, in JSON as `samples`
    #[arg(long)]
    reasons: bool,
    /// The most requests in flight
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one)]
    multiworker: usize,
    /// The seed of the bootstrap intervals
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The price of a million tokens sent, to show the cost
    #[arg(long, value_name = "USD")]
    price_in: Option<f64>,
    /// The price of a million tokens received
    #[arg(long, value_name = "USD")]
    price_out: Option<f64>,
}

/// `auto` or a form.
#[derive(Debug, Clone, Copy)]
struct FormArg(Option<Form>);

fn form(word: &str) -> Result<FormArg, String> {
    if word == "auto" { Ok(FormArg(None)) } else { word.parse().map(|form| FormArg(Some(form))) }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// Columns for a terminal
    Table,
    /// Markdown tables
    Markdown,
    /// Comma-separated values, shares from 0 to 1; what the columns mean goes to stderr
    Csv,
    /// One JSON document, shares from 0 to 1
    Json,
}

/// The sets that were planned before the run ended.
struct Planned(Vec<(PlanSet, PlannedSet)>);

impl Planned {
    fn summaries(&self) -> impl Iterator<Item = &Summary> {
        self.0.iter().map(|(_, planned)| &planned.summary)
    }

    fn plans(&self) -> usize {
        self.summaries().map(|summary| summary.already + summary.done).sum()
    }
}

impl BatchResult for Planned {
    fn ok(&self) -> bool {
        self.plans() > 0 && self.summaries().all(|summary| !summary.interrupted && !summary.gave_up)
    }

    fn cancelled(&self) -> bool {
        self.summaries().any(|summary| summary.interrupted)
    }

    fn text(&self) -> String {
        format!("{} of {}", plural(self.plans(), "plan"), plural(self.0.len(), "set"))
    }
}

pub(super) async fn run(args: PlanArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let json = args.format == FormatArg::Json;
    let ended = carry_out(args, global, printer).await;
    ended.inspect_err(|failure| {
        if json {
            printer.out(&failure.document().to_string());
        }
    })
}

async fn carry_out(args: PlanArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    if global.llm.as_ref().is_some_and(|llm| llm.trim().is_empty()) {
        return Err(Failure::usage("--llm is empty").hint("name a model, `offline`, or `replay:FILE`"));
    }
    let mut config = load_config(global, printer)?.config;
    let basis = basis(&config).await?;
    let (dirs, form) = (args.dirs.clone(), args.form.0);
    // Large benchmarks take seconds to read.
    let read = tokio::task::spawn_blocking(move || read_all(&dirs, form)).await;
    let mut sets = read.map_err(Failure::work)?.map_err(failed)?;
    for set in &mut sets {
        set.samples.truncate(args.limit.unwrap_or(usize::MAX));
    }
    let chat = build_special(&mut config, global.record.as_deref(), Special::default()).await?;
    let by = chat.map_or_else(|| PlanBy::Offline(basis.clone()), |chat| PlanBy::Model(chat.model));
    let (llm, who) = match &by {
        PlanBy::Model(_) => (config.llm.name().to_owned(), config.llm.name().to_owned()),
        PlanBy::Offline(_) => ("offline".to_owned(), "the offline planner".to_owned()),
    };
    let options = Options { links: args.links, infer: infer_options(&args, &config, &basis) };
    let prices = Prices::new(args.price_in, args.price_out);
    let samples: usize = sets.iter().map(|set| set.samples.len()).sum();
    let about = format!("planning benchmarks: {} of {}", plural(samples, "request"), plural(sets.len(), "set"));
    let planned = session::batch(&config, about, printer, async |events, stop| {
        let mut planned = Vec::new();
        for set in sets {
            let dir = args.out.as_ref().map(|dir| dir.join(file_stem(&set.name)));
            let name = file_stem(&llm);
            let errors = dir.clone().unwrap_or_default().join(format!("{name}.errors.jsonl"));
            let mut watch = BatchProgress::new(printer, format!("{who} on {}", set.name), ("request", "plan"), &errors);
            watch.prices = prices;
            let ended = plan_set(&set, &by, &options, (dir.as_deref(), &name), (events, &watch, &stop)).await;
            watch.clear();
            let ended = ended.map_err(failed)?;
            after_set(&ended.summary, &watch, &args, &errors, printer);
            let is_over = ended.summary.interrupted || ended.summary.gave_up;
            planned.push((set, ended));
            if is_over {
                break;
            }
        }
        Ok(Planned(planned))
    });
    let planned = planned.await?;
    if !planned.ok() {
        return Err(Failure::work(match planned.plans() {
            0 => "no request got a plan, so nothing is scored",
            _ => "planning ended before every request was asked, so nothing is scored",
        }));
    }
    let is_complete = planned.summaries().all(Summary::is_complete);
    let prices = prices.map(|_| [args.price_in.unwrap_or(0.0), args.price_out.unwrap_or(0.0)]);
    let how = Bootstrap { seed: args.seed, ..Bootstrap::default() };
    let report = tokio::task::spawn_blocking(move || Report::new(&llm, &planned.0, how, prices)).await;
    let report = report.map_err(Failure::work)?;
    write(&report, &args, printer)?;
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// What a set took, and why it is not complete.
fn after_set(summary: &Summary, watch: &BatchProgress, args: &PlanArgs, errors: &Path, printer: Printer) {
    if summary.pending() > 0 && (summary.calls > 0 || summary.failed > 0) {
        let Summary { done, failed, calls, seconds, .. } = summary;
        let used = watch.used(summary);
        printer.progress(&format!(
            "completed {done}, failed {failed}{} in {seconds:.1} s; {}{used}",
            kinds(summary),
            plural(*calls, "call")
        ));
        if *failed > 0 && args.out.is_some() {
            printer.progress(&format!("what failed and why: {}", errors.display()));
        }
    }
    let hint = match args.out {
        Some(_) => "run the same command again to ask for what is missing",
        None => "with --out DIR plans are kept, and the same command asks for what is missing",
    };
    watch.end(summary, hint);
}

fn write(report: &Report, args: &PlanArgs, printer: Printer) -> Result<(), Failure> {
    if let Some(dir) = &args.out {
        let keep = |name: &str, text: String| {
            let path = dir.join(name);
            replace_derived(&path, text.as_bytes()).map_err(Failure::work)?;
            printer.progress(&format!("wrote {}", path.display()));
            Ok::<(), Failure>(())
        };
        let samples =
            report.samples.iter().flat_map(|(set, scores)| scores.iter().map(move |score| score.to_value(set)));
        keep("samples.jsonl", samples.map(|line| format!("{line}\n")).collect())?;
        let whole = serde_json::to_string_pretty(&document(report, false)).map_err(Failure::work)?;
        keep("report.json", format!("{whole}\n"))?;
    }
    let tables = |layout: Layout, write: fn(&jarvis_taskbench::evaluate::table::Table) -> String, gap: &str| {
        let mut parts = vec![write(&main_table(report, layout))];
        parts.extend(own_tables(report, layout).iter().map(write));
        parts.push(notes(report).join(gap));
        if args.reasons {
            parts.push(report.reasons().join(gap));
        }
        parts.join("\n\n")
    };
    let text = match args.format {
        FormatArg::Table => tables(Layout::Terminal, |table| table.text(), "\n"),
        FormatArg::Markdown => tables(Layout::Markdown, |table| table.markdown(), "\n\n"),
        FormatArg::Csv => {
            printer.progress(&notes(report).join("\n"));
            if args.reasons {
                printer.progress(&report.reasons().join("\n"));
            }
            main_table(report, Layout::Csv).csv().trim_end().to_owned()
        }
        FormatArg::Json => serde_json::to_string_pretty(&document(report, args.reasons)).map_err(Failure::work)?,
    };
    printer.out(text.trim_end());
    Ok(())
}

fn infer_options(args: &PlanArgs, config: &Config, basis: &Basis) -> InferOptions {
    let defaults = InferOptions::default();
    let set = config.llm.timeout_s;
    let is_set = set != Config::default().llm.timeout_s;
    InferOptions {
        planner: planner(config, basis),
        structured: config.llm.structured.get() == Some(true),
        workers: args.multiworker,
        plan_timeout: if is_set { Duration::from_secs(set) } else { defaults.plan_timeout },
        ..defaults
    }
}

fn failed(error: BenchError) -> Failure {
    let hint = error.hint();
    if error.is_usage() { Failure::usage(error) } else { Failure::work(error) }.maybe_hint(hint)
}
