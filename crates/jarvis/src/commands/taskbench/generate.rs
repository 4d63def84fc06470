//! `jarvis taskbench generate`: new samples by a chat model (Back-Instruct).

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use clap::builder::BoolishValueParser;
use clap::{ArgAction, Args};
use indicatif::{ProgressBar, ProgressStyle};
use jarvis_taskbench::data::{DependencyType, file_stem};
use jarvis_taskbench::generate::{
    Critics, Folder, FolderError, GenerateError, Generator, Plan, Settings, Summary, Told, prepare,
};
use jarvis_taskbench::graph::Method;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::endpoint::EndpointArgs;
use crate::cli::Global;
use crate::config::Config;
use crate::failure::Failure;
use crate::printer::{Printer, harmless};
use crate::session::cancel_on_interrupt;
use crate::wiring::{build_special, load_config};

/// `jarvis taskbench generate`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    jarvis taskbench generate --play --method dag --tool-number 3 --data-dir examples/taskbench/data_studio --llm gpt-4o-mini\n  \
    jarvis taskbench generate --data-dir my_run --graph-desc graph_desc.json --tool-desc tool_desc.json \\\n    \
      --number-of-samples 200 --multiworker 8 --check --llm qwen3:8b --base-url http://localhost:11434/v1\n  \
    jarvis taskbench format --data-dir my_run\n\n\
    A part of the tool graph is drawn at random, and the model invents the steps, the request and the calls that it\n\
    stands for. Samples go to DIR/data_raw.json, a line each, with the critics' verdicts; the lists of those that pass\n\
    to DIR/alignment_ids.json; counts to DIR/statistics.json. Run the same command again to go on after a stop: only\n\
    what is missing from --number-of-samples is made.\n\n\
    Exit status: 0 when all samples are there, 1 when some failed or are left, 2 for wrong use.")]
pub(crate) struct GenerateArgs {
    /// The run's folder: one with graph_desc.json and tool_desc.json, or a new one [default: result_TIME_MODEL_tT_pP]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The tool graph of a new folder; copied into it
    #[arg(long, value_name = "FILE")]
    graph_desc: Option<PathBuf>,
    /// The tool list of a new folder; copied into it
    #[arg(long, value_name = "FILE")]
    tool_desc: Option<PathBuf>,
    /// `resource` or `temporal` [default: resource when the tools have kinds, else temporal]
    #[arg(long, value_name = "TYPE")]
    dependency_type: Option<DependencyType>,
    /// How many samples the folder shall hold in the end
    #[arg(long, value_name = "N", default_value_t = 5000)]
    number_of_samples: usize,
    /// Draw every sample this way: single, chain, dag, random_walk, random_walk_with_restart [default: 3 : 7 : 8 of the first three]
    #[arg(long, value_name = "METHOD")]
    method: Option<Method>,
    /// Draw every sample with so many tools [default: 2 to 10, mostly 3 to 5]
    #[arg(long, value_name = "N")]
    tool_number: Option<usize>,
    /// What chance starts from; -1 for the folder's earlier seed, or a new one
    #[arg(long, default_value_t = -1, allow_negative_numbers = true)]
    seed: i64,
    /// Have the model judge its own results as a strict teacher
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", default_value = "false",
        action = ArgAction::Set, value_parser = BoolishValueParser::new(), hide_default_value = true)]
    check: bool,
    /// Make one sample, print prompt and result, and keep nothing
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", default_value = "false",
        action = ArgAction::Set, value_parser = BoolishValueParser::new(), hide_default_value = true)]
    play: bool,
    /// Draw each sampled graph into DIR/task_graphs/ID.svg
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", default_value = "false",
        action = ArgAction::Set, value_parser = BoolishValueParser::new(), hide_default_value = true)]
    save_figure: bool,
    /// The most calls at once; the samples do not depend on it
    #[arg(long, value_name = "N", default_value_t = 1)]
    multiworker: usize,
    /// Sampling temperature
    #[arg(long, value_name = "T", default_value_t = 0.7)]
    temperature: f32,
    /// Nucleus sampling
    #[arg(long, value_name = "P", default_value_t = 1.0)]
    top_p: f32,
    #[command(flatten)]
    endpoint: EndpointArgs,
    /// Taken for the original's sake: calls are always made at once
    #[arg(long, hide = true, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true",
        default_value = "false", action = ArgAction::Set, value_parser = BoolishValueParser::new())]
    use_async: bool,
    /// Print the summary as one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(mut args: GenerateArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let config = configured(&args, global, printer)?;
    let chat = build_special(&config, global.record.as_deref(), args.endpoint.special())?.ok_or_else(|| {
        Failure::usage("samples are made by a chat model, and none is configured")
            .hint("name one, for example `--llm qwen3:8b --base-url http://localhost:11434/v1`; `jarvis taskbench graph sample` draws graphs without one")
    })?;
    let llm = config.llm.model.trim().to_owned();
    let now = SystemTime::now();
    let dir = args.data_dir.clone().unwrap_or_else(|| PathBuf::from(new_folder(&args, &llm, now)));
    let folder = if args.play { open_for_play(&args, &dir) } else { open(&args, &dir) }?;
    folder.notes.iter().for_each(|note| printer.warning(note));
    let settings = Settings {
        plan: Plan { seed: seed(&args, &dir), method: args.method, size: args.tool_number },
        target: args.number_of_samples,
        temperature: args.temperature,
        top_p: args.top_p,
        check: args.check,
        save_figure: args.save_figure,
        workers: args.multiworker.max(1),
        notes: json!({"llm": llm, "start_time": humantime::format_rfc3339_seconds(now).to_string()}),
    };
    let generator = Generator::new(chat.model, folder, settings).map_err(failed)?;
    if args.play {
        return play(&generator, &args, printer).await;
    }
    let cancel = CancellationToken::new();
    let interrupt = tokio::spawn(cancel_on_interrupt(cancel.clone()));
    let mut shown = Shown::new(printer, &dir);
    let ended = generator.run(|told| shown.tell(&told), cancel).await;
    interrupt.abort();
    shown.clear();
    finish(&ended.map_err(failed)?, &args, &dir, printer)
}

/// The configuration with this command's flags on top.
fn configured(args: &GenerateArgs, global: &Global, printer: Printer) -> Result<Config, Failure> {
    let mut config = load_config(global, printer)?.config;
    args.endpoint.configure(&mut config, global)?;
    Ok(config)
}

/// The name of a new folder: time, model, temperature and nucleus, with dots as underscores.
fn new_folder(args: &GenerateArgs, llm: &str, now: SystemTime) -> String {
    let time: String =
        humantime::format_rfc3339_seconds(now).to_string().chars().filter(char::is_ascii_digit).collect();
    let check = if args.check { "_check" } else { "" };
    let name = format!("result_{time}_{}_t{:?}_p{:?}{check}", file_stem(llm), args.temperature, args.top_p);
    name.replace('.', "_")
}

fn open(args: &GenerateArgs, dir: &Path) -> Result<Folder, Failure> {
    prepare(dir, args.graph_desc.as_deref(), args.tool_desc.as_deref(), args.dependency_type).map_err(no_folder)
}

/// A try needs no folder of its own: it keeps nothing.
fn open_for_play(args: &GenerateArgs, dir: &Path) -> Result<Folder, Failure> {
    let both = args.graph_desc.is_some() && args.tool_desc.is_some();
    if !both || args.data_dir.as_ref().is_some_and(|dir| dir.exists()) {
        return open(args, dir);
    }
    let scratch = std::env::temp_dir().join(format!("jarvis-play-{}", uuid::Uuid::now_v7()));
    let folder = open(args, &scratch);
    let _ = std::fs::remove_dir_all(&scratch);
    folder
}

fn no_folder(error: FolderError) -> Failure {
    let hint = error.hint();
    Failure::usage(error).hint(hint)
}

/// The seed: as given, else that of the folder's last run, so that a stopped run is continued, else a new one.
fn seed(args: &GenerateArgs, dir: &Path) -> u64 {
    if let Ok(seed) = u64::try_from(args.seed) {
        return seed;
    }
    let earlier = std::fs::read_to_string(dir.join("statistics.json")).unwrap_or_default();
    let of_line = |line: &str| serde_json::from_str::<Value>(line).ok()?.pointer("/options/seed")?.as_u64();
    earlier.lines().rev().find_map(of_line).unwrap_or_else(|| {
        let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
        // Small enough to be typed back with --seed.
        (high ^ low) % 1_000_000_000
    })
}

async fn play(generator: &Generator, args: &GenerateArgs, printer: Printer) -> Result<ExitCode, Failure> {
    let done = tokio::select! {
        done = generator.play() => done.map_err(failed)?,
        _ = tokio::signal::ctrl_c() => return Err(Failure::work("interrupted")),
    };
    if args.json {
        let shown = json!({"prompt": done.prompt, "record": done.record});
        printer.out(&serde_json::to_string_pretty(&shown).map_err(Failure::work)?);
    } else {
        printer.out(&done.prompt);
        printer.out(&serde_json::to_string_pretty(&done.record).map_err(Failure::work)?);
    }
    printer.progress(&verdict(done.critics));
    Ok(ExitCode::SUCCESS)
}

fn verdict(critics: Critics) -> String {
    let graph = match (critics.node, critics.link) {
        (true, true) => "aligned",
        (false, _) => "other tools than sampled",
        (true, false) => "other links than sampled",
    };
    match critics.self_check {
        Some(true) => format!("{graph}; the teacher agrees"),
        Some(false) => format!("{graph}; the teacher does not agree"),
        None => graph.to_owned(),
    }
}

fn finish(summary: &Summary, args: &GenerateArgs, dir: &Path, printer: Printer) -> Result<ExitCode, Failure> {
    let raw = dir.join("data_raw.json");
    if args.json {
        let document = json!({
            "data_raw": raw, "found": summary.found, "made": summary.made, "failed": summary.failed,
            "missing": summary.missing, "aligned": summary.aligned, "failures": summary.failures,
            "interrupted": summary.interrupted, "gave_up": summary.gave_up,
        });
        printer.out(&serde_json::to_string_pretty(&document).map_err(Failure::work)?);
    } else {
        let have = summary.found + summary.made;
        printer.out(&format!("{have} samples in {}", raw.display()));
    }
    printer.progress(&format!(
        "made {} ({} aligned with their graph), failed {}{}",
        summary.made,
        summary.aligned,
        summary.failed,
        reasons(summary),
    ));
    if summary.missing == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    if summary.interrupted {
        printer.progress("interrupted; what is made is kept");
    }
    if summary.gave_up {
        printer.progress(&format!("gave up, since nobody answered the first {} calls", summary.failed));
    }
    printer.progress(&format!(
        "{} missing; to go on, run the same command with --data-dir {}",
        summary.missing,
        dir.display()
    ));
    Ok(ExitCode::from(1))
}

fn reasons(summary: &Summary) -> String {
    if summary.failures.is_empty() {
        return String::new();
    }
    let list: Vec<String> = summary.failures.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    format!(" ({})", list.join(", "))
}

fn failed(error: GenerateError) -> Failure {
    let hint = error.hint();
    let failure = Failure::work(error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// A run on stderr: a bar on a terminal, lines elsewhere, nothing when quiet.
struct Shown {
    printer: Printer,
    bar: Option<ProgressBar>,
    dir: PathBuf,
    todo: usize,
    done: usize,
}

impl Shown {
    fn new(printer: Printer, dir: &Path) -> Shown {
        Shown { printer, bar: None, dir: dir.to_owned(), todo: 0, done: 0 }
    }

    fn tell(&mut self, told: &Told) {
        match told {
            Told::Began { found, todo, torn, bad } => {
                self.todo = *todo;
                if *torn {
                    self.line("the last line was cut off by an earlier stop; it is made again");
                }
                if *bad > 0 {
                    self.line(&format!("warning: {bad} lines of data_raw.json are no samples; they stay"));
                }
                if *found > 0 || *todo == 0 {
                    self.line(&format!("{}: {found} samples are there, {todo} to make", self.dir.display()));
                }
                if self.printer.draws() && *todo > 0 {
                    let bar = ProgressBar::new(*todo as u64);
                    if let Ok(style) =
                        ProgressStyle::with_template("{bar:30} {pos}/{len} samples, {elapsed}, {eta} left")
                    {
                        bar.set_style(style);
                    }
                    self.bar = Some(bar);
                }
            }
            Told::Made { id, critics } => {
                self.step();
                let line = format!("{}/{} {id}: {}", self.done, self.todo, verdict(*critics));
                if self.bar.is_none() {
                    self.printer.progress(&line);
                } else {
                    self.note(&line);
                }
            }
            Told::Failed { id, kind, message } => {
                self.step();
                self.line(&format!("{}/{} {id}: {}: {message}", self.done, self.todo, kind.as_str()));
            }
        }
    }

    fn step(&mut self) {
        self.done += 1;
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(harmless(text)),
            None => self.printer.progress(text),
        }
    }

    fn note(&self, text: &str) {
        if self.printer.verbosity() >= crate::printer::Verbosity::Verbose {
            self.line(text);
        }
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
