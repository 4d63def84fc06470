//! `jarvis taskbench generate`: new samples by a chat model (Back-Instruct).

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use clap::builder::BoolishValueParser;
use clap::{ArgAction, Args};
use jarvis_batch::Summary;
use jarvis_plan::export::plural;
use jarvis_taskbench::data::{DependencyType, file_stem};
use jarvis_taskbench::generate::{
    ALIGNED, Done, Folder, FolderError, GenerateError, Generator, SampleSpec, Settings, prepare,
};
use jarvis_taskbench::graph::Method;
use serde_json::{Value, json};

use super::endpoint::EndpointArgs;
use super::wrong_use;
use crate::batch_progress::{BatchProgress, kinds};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::{self, BatchResult};
use crate::wiring::{build_special, load_config};

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/generate.txt").trim_end())]
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
    /// Draw every sample this way: single, chain, dag, random_walk or random_walk_with_restart
    /// [default: 3 : 7 : 8 of the first three]
    #[arg(long, value_name = "METHOD")]
    method: Option<Method>,
    /// Draw every sample with so many tools [default: 2 to 10, mostly 3 to 5]
    #[arg(long, value_name = "N")]
    tool_number: Option<usize>,
    /// Seed of the random draws; -1 for the folder's earlier seed, or a new one
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
    let mut config = load_config(global, printer)?.config;
    args.endpoint.configure(&mut config, global)?;
    let chat = build_special(&mut config, global.record.as_deref(), args.endpoint.special()).await?;
    let chat = chat.ok_or_else(|| {
        Failure::usage("samples are made by a chat model, and none is configured")
            .hint("name one, for example `--llm qwen3:8b --base-url http://localhost:11434/v1`; `jarvis taskbench graph sample` draws graphs without one")
    })?;
    let llm = config.llm.name().to_owned();
    let now = SystemTime::now();
    let dir = args.data_dir.clone().unwrap_or_else(|| PathBuf::from(new_folder(&args, &llm, now)));
    let folder = if args.play { open_for_play(&args, &dir) } else { open(&args, &dir) }?;
    folder.notes.iter().for_each(|note| printer.warning(note));
    let settings = Settings {
        spec: SampleSpec { seed: seed(&args, &dir), method: args.method, size: args.tool_number },
        target: args.number_of_samples,
        temperature: args.temperature,
        top_p: args.top_p,
        check: args.check,
        save_figure: args.save_figure,
        workers: args.multiworker.max(1),
        notes: json!({"llm": llm, "start_time": humantime::format_rfc3339_seconds(now).to_string()}),
    };
    for note in sizes(&args).into_iter().chain(differences(&settings, &dir)) {
        printer.warning(&note);
    }
    let errors = folder.errors();
    let generator = Generator::new(chat.model, folder, settings).map_err(failed)?;
    generator.check().await.map_err(|error| {
        let hint = error.hint();
        Failure::usage(error).maybe_hint(hint)
    })?;
    if args.play {
        let request = format!("TaskBench generation: one sample in {}", dir.display());
        let done = session::batch(&config, request, printer, async |events, stop| {
            let generator = generator.reporting_to(events);
            tokio::select! {
                done = generator.play() => done.map_err(|error| unplayed(error, printer)),
                () = stop.cancelled() => Err(Failure::work("interrupted")),
            }
        });
        return show_sample(&done.await?, &args, printer);
    }
    let mut shown = BatchProgress::new(printer, llm, ("sample", "sample"), &errors);
    shown.lists_all = true;
    let request = format!("TaskBench generation: {} in {}", plural(args.number_of_samples, "sample"), dir.display());
    let ended = session::batch(&config, request, printer, async |events, stop| {
        generator.reporting_to(events).run(&shown, &stop).await.map_err(failed)
    });
    let ended = ended.await;
    shown.clear();
    finish(&ended?, &shown, &args, &dir, &errors, printer)
}

/// What becomes of a number of tools that the method does not take.
fn sizes(args: &GenerateArgs) -> Option<String> {
    let (method, n) = (args.method?, args.tool_number?);
    let drawn = method.size(n);
    let tools = if drawn == 1 { "1 tool".to_owned() } else { format!("{drawn} tools or more") };
    (drawn != n).then(|| format!("a {method} has {tools}; --tool-number {n} draws {drawn}"))
}

/// What the folder's samples were made with and would not be now: they would be a mixture.
fn differences(settings: &Settings, dir: &Path) -> Option<String> {
    let started = std::fs::metadata(dir.join("data_raw.json")).is_ok_and(|file| file.len() > 0);
    let earlier = earlier_options(dir).filter(|_| started)?;
    let mut changed = Vec::new();
    let seed = earlier.get("seed").and_then(Value::as_u64);
    if let Some(seed) = seed.filter(|seed| *seed != settings.spec.seed) {
        changed.push(format!("--seed {seed} (now {})", settings.spec.seed));
    }
    let word = |check: bool| if check { "with --check" } else { "without --check" };
    let check = earlier.get("check").and_then(Value::as_bool);
    if let Some(check) = check.filter(|check| *check != settings.check) {
        changed.push(format!("{} (now {})", word(check), word(settings.check)));
    }
    let llm = |notes: &Value| notes.get("llm").and_then(Value::as_str).map(str::to_owned);
    if let (Some(was), Some(now)) = (earlier.get("run").and_then(llm), llm(&settings.notes))
        && was != now
    {
        changed.push(format!("--llm {was} (now {now})"));
    }
    let differ = !changed.is_empty();
    differ.then(|| {
        format!("{} holds samples made {}", dir.display(), changed.join(", ").replacen("--seed", "with --seed", 1))
    })
}

fn earlier_options(dir: &Path) -> Option<Value> {
    let earlier = std::fs::read_to_string(dir.join("statistics.json")).ok()?;
    let of_line = |line: &str| serde_json::from_str::<Value>(line).ok()?.get("options").cloned();
    earlier.lines().rev().find_map(of_line)
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
    prepare(dir, args.graph_desc.as_deref(), args.tool_desc.as_deref(), args.dependency_type)
        .map_err(wrong_use(FolderError::hint))
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

/// The seed: as given, else that of the folder's last run, so that a stopped run is continued, else a new one.
fn seed(args: &GenerateArgs, dir: &Path) -> u64 {
    if let Ok(seed) = u64::try_from(args.seed) {
        return seed;
    }
    let earlier = earlier_options(dir).and_then(|options| options.get("seed")?.as_u64());
    earlier.unwrap_or_else(|| {
        let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
        // Small enough to be typed back with --seed.
        (high ^ low) % 1_000_000_000
    })
}

impl BatchResult for Done {
    fn ok(&self) -> bool {
        true
    }

    fn text(&self) -> String {
        self.critics.verdict()
    }
}

/// Why there is no sample; the reply that cannot be used is shown whole.
fn unplayed(error: GenerateError, printer: Printer) -> Failure {
    if let GenerateError::Sample { raw: Some(raw), .. } = &error {
        printer.progress(&format!("the reply:\n{raw}\n"));
    }
    failed(error)
}

fn show_sample(done: &Done, args: &GenerateArgs, printer: Printer) -> Result<ExitCode, Failure> {
    if args.json {
        let shown = json!({"prompt": done.prompt, "record": done.record});
        printer.out(&serde_json::to_string_pretty(&shown).map_err(Failure::work)?);
    } else {
        printer.out(&done.prompt);
        printer.out(&serde_json::to_string_pretty(&done.record).map_err(Failure::work)?);
    }
    printer.progress(&done.critics.verdict());
    Ok(ExitCode::SUCCESS)
}

fn finish(
    summary: &Summary,
    shown: &BatchProgress,
    args: &GenerateArgs,
    dir: &Path,
    errors: &Path,
    printer: Printer,
) -> Result<ExitCode, Failure> {
    let Summary { already: found, done: made, failed, left, interrupted, gave_up, .. } = *summary;
    let (raw, aligned, missing) = (dir.join("data_raw.json"), summary.counted(ALIGNED), failed + left);
    if summary.pending() == 0 {
        printer.progress(&format!("nothing to make: {} has {}", dir.display(), plural(found, "sample")));
    }
    if args.json {
        let document = json!({
            "data_raw": raw, "found": found, "made": made, "failed": failed, "missing": missing, "aligned": aligned,
            "failures": summary.failures, "interrupted": interrupted, "gave_up": gave_up,
            "errors": (failed > 0).then_some(errors),
        });
        printer.out(&serde_json::to_string_pretty(&document).map_err(Failure::work)?);
    } else {
        printer.out(&format!("{} in {}", plural(found + made, "sample"), raw.display()));
    }
    let kinds = kinds(summary);
    printer.progress(&format!("made {made} ({aligned} aligned with their graph), failed {failed}{kinds}"));
    if failed > 0 {
        printer.progress(&format!("what failed and why: {}", errors.display()));
    }
    if missing == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    if interrupted {
        printer.progress("interrupted; what is made is kept");
    }
    if gave_up {
        shown.end(summary, "");
    }
    printer.progress(&format!("{missing} missing; to go on, run the same command with --data-dir {}", dir.display()));
    Ok(ExitCode::from(1))
}

fn failed(error: GenerateError) -> Failure {
    let hint = error.hint();
    Failure::work(error).maybe_hint(hint)
}
