//! `jarvis taskbench evaluate`: scores files of predictions, writes the metrics files, prints a table.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jarvis_taskbench::data::{Alignment, DependencyType, Domain, Lines, SampleId, ToolList, file_stem};
use jarvis_taskbench::evaluate::table::{LEGACY_COLUMNS, Table};
use jarvis_taskbench::evaluate::{
    Evaluation, Group, Grouping, Mode, Options, Predictions, Profile, Wanted, evaluate, output,
};
use serde_json::{Map, Value, json};

use super::unusable;
use crate::failure::Failure;
use crate::printer::Printer;

/// `jarvis taskbench evaluate`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    jarvis taskbench evaluate --data-dir data_multimedia --llm gpt-4 --splits all --n-tools all\n  \
    jarvis taskbench evaluate --data-dir data_dailylifeapis --dependency-type temporal    # every file of predictions\n  \
    jarvis taskbench evaluate --data-dir data_multimedia --llm gpt-4 -m f1 -m link --profile legacy --json\n  \
    jarvis taskbench evaluate --data-dir data_multimedia --llm gpt-4 --per-sample samples.jsonl\n\n\
    `legacy` are the original's figures: what is missing or malformed is left out of them. `strict` counts every gold plan.\n\
    Figures go to SAVE_DIR/NAME.json (legacy) and SAVE_DIR/NAME.strict.json; groups that are not run now stay there.")]
pub(crate) struct EvaluateArgs {
    /// The domain folder: tool_desc.json, data.json, predictions/
    #[arg(long, value_name = "DIR")]
    data_dir: PathBuf,
    /// The predictions' name, such as the model's; without it every file of the prediction folder is scored, in all groups
    #[arg(long, value_name = "NAME")]
    llm: Option<String>,
    /// Where the predictions are, inside the domain folder unless absolute
    #[arg(long, value_name = "DIR", default_value = "predictions")]
    prediction_dir: PathBuf,
    /// Where the figures go, inside the domain folder unless absolute [default: the prediction folder's name with
    /// `metrics` for `predictions`]
    #[arg(long, value_name = "DIR")]
    save_dir: Option<PathBuf>,
    /// What links mean [default: resource; temporal where tools have parameters and no types]
    #[arg(long, value_name = "TYPE")]
    dependency_type: Option<DependencyType>,
    /// Shapes of plans: overall, single, chain, dag, or all; may be repeated
    #[arg(short, long, value_name = "SPLIT", value_delimiter = ',')]
    splits: Vec<String>,
    /// Numbers of nodes: overall, 1, 2, …, or all; may be repeated
    #[arg(short, long, value_name = "N", value_delimiter = ',')]
    n_tools: Vec<String>,
    /// add: each split, then each size; mul: each split with each size
    #[arg(long, value_enum, default_value_t = ModeArg::Add)]
    mode: ModeArg,
    /// Figures: all, f1, ed, link, argument, rouge, bertscore; may be repeated
    #[arg(short, long, value_name = "METRIC", value_delimiter = ',')]
    metric: Vec<String>,
    /// Only samples that passed a critic: node, link, both_node_link, self-check, all; human filters nothing
    #[arg(long, value_name = "KIND", value_parser = alignment)]
    alignment: Option<AlignmentArg>,
    /// How the plans were asked for; with anything but cot, `-m all` leaves the steps out
    #[arg(long, value_name = "WORD", default_value = "cot")]
    prompting: String,
    /// Whose rules
    #[arg(long, value_enum, default_value_t = ProfileArg::Both)]
    profile: ProfileArg,
    /// An embedding model for BERTScore: a directory with config.json, tokenizer.json, model.safetensors (such as
    /// roberta-large); without it BERTScore is left out
    #[arg(long, value_name = "DIR")]
    bert_model: Option<PathBuf>,
    /// The layer of that model whose output is compared [default: 17 of 24, 10 of 12 as the package has it]
    #[arg(long, value_name = "N", requires = "bert_model")]
    bert_layer: Option<usize>,
    /// Write each sample's figures, and why it lost points, to this file as JSON Lines
    #[arg(long, value_name = "FILE")]
    per_sample: Option<PathBuf>,
    /// Print the figures as one JSON document
    #[arg(long)]
    json: bool,
    /// Threads to use [default: one for each core]; the figures are the same for any number
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// `none` or a kind of alignment.
#[derive(Debug, Clone, Copy)]
struct AlignmentArg(Option<Alignment>);

fn alignment(word: &str) -> Result<AlignmentArg, String> {
    if word == "none" { Ok(AlignmentArg(None)) } else { word.parse().map(|kind| AlignmentArg(Some(kind))) }
}

/// `--mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    Add,
    Mul,
}

/// `--profile`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProfileArg {
    /// The original's
    Legacy,
    /// Without the original's flaws
    Strict,
    /// Both, side by side
    Both,
}

/// A file of predictions and where its figures go.
struct Job {
    name: String,
    predictions: PathBuf,
    legacy: PathBuf,
    strict: PathBuf,
    log: PathBuf,
}

pub(super) async fn run(args: EvaluateArgs, printer: Printer) -> Result<ExitCode, Failure> {
    // Reading and counting is work for all cores, and none of it waits.
    let done = tokio::task::spawn_blocking(move || evaluate_all(&args, printer)).await;
    done.map_err(Failure::work)?
}

fn evaluate_all(args: &EvaluateArgs, printer: Printer) -> Result<ExitCode, Failure> {
    if let Some(threads) = args.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().map_err(Failure::work)?;
    }
    let domain = Domain::open(&args.data_dir).map_err(unusable)?;
    let jobs = jobs(args, &domain)?;
    let tools = domain.tools().map_err(unusable)?;
    let gold = domain.gold().map_err(unusable)?;
    let batch = args.llm.is_none();
    let mode = if args.mode == ModeArg::Add { Mode::Add } else { Mode::Mul };
    let whole = ["all".to_owned()];
    // As the original's batch script: all groups unless some are named.
    let groups_asked = |asked: &[String]| if batch && asked.is_empty() { whole.to_vec() } else { asked.to_vec() };
    let grouping = Grouping::from_words(&groups_asked(&args.splits), &groups_asked(&args.n_tools), mode)
        .map_err(Failure::usage)?;
    let metrics = if args.metric.is_empty() { vec!["all"] } else { args.metric.iter().map(String::as_str).collect() };
    let wanted = Wanted::from_words(metrics, &args.prompting).map_err(Failure::usage)?;
    let similarity = match &args.bert_model {
        Some(dir) if wanted.bertscore => Some(similarity::load(dir, args.bert_layer).map_err(|error| {
            let hint = error.hint();
            Failure::usage(error).hint(hint)
        })?),
        Some(_) | None => None,
    };
    let bar = ProgressBar::hidden();
    if similarity.is_some() && printer.draws() {
        bar.set_draw_target(ProgressDrawTarget::stderr());
    }
    if let Ok(style) = ProgressStyle::with_template("BERTScore {bar:30} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    let told = |done: usize, of: usize| {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    };
    let options = Options {
        tools: &tools,
        dependency: dependency(args, &tools, printer),
        profile: match args.profile {
            ProfileArg::Legacy => Profile::Legacy,
            ProfileArg::Strict => Profile::Strict,
            ProfileArg::Both => Profile::Both,
        },
        wanted,
        groups: grouping.groups(),
        only: only(args, &domain)?,
        similarity: similarity.as_deref(),
        told: Some(&told),
    };
    let mut documents = Vec::new();
    for job in &jobs {
        let lines = Lines::read(&job.predictions).map_err(unusable)?;
        let evaluation = evaluate(&gold, &Predictions::of(&lines), &options);
        documents.push(save(job, &evaluation, args, printer)?);
    }
    if args.json {
        let document = if let [only] = documents.as_slice() { only.clone() } else { Value::Array(documents) };
        printer.out(&serde_json::to_string_pretty(&document).map_err(Failure::work)?);
    }
    Ok(ExitCode::SUCCESS)
}

/// The files to score.
fn jobs(args: &EvaluateArgs, domain: &Domain) -> Result<Vec<Job>, Failure> {
    let folder = domain.path(&args.prediction_dir);
    let save = match &args.save_dir {
        Some(folder) => domain.path(folder),
        None => {
            let mut name = args.prediction_dir.to_string_lossy().replace("predictions", "metrics");
            if let Some(AlignmentArg(Some(kind))) = args.alignment {
                name = format!("{name}_alignment_{kind}");
            }
            domain.path(name)
        }
    };
    let there = names(&folder);
    let names = match &args.llm {
        Some(llm) => vec![file_stem(llm)],
        None if there.is_empty() => {
            return Err(Failure::usage(format!("there are no predictions in {}", folder.display()))
                .hint("make some with `jarvis taskbench infer`, or name their folder with --prediction-dir"));
        }
        None => there.clone(),
    };
    if save == folder {
        return Err(Failure::usage("the figures would be written over the predictions")
            .hint("name another folder with --save-dir"));
    }
    let job = |name: String| {
        let predictions = folder.join(format!("{name}.json"));
        if !predictions.is_file() {
            let known = if there.is_empty() { "none".into() } else { there.join(", ") };
            return Err(Failure::usage(format!("there is no {}", predictions.display()))
                .hint(format!("predictions in this folder: {known}")));
        }
        let file = |ending: &str| save.join(format!("{name}.{ending}"));
        Ok(Job { predictions, legacy: file("json"), strict: file("strict.json"), log: file("log"), name })
    };
    names.into_iter().map(job).collect()
}

/// The names of the predictions in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json") && path.is_file())
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
}

/// The type that was asked for, or else the one that the tools have.
fn dependency(args: &EvaluateArgs, tools: &ToolList, printer: Printer) -> DependencyType {
    match args.dependency_type {
        Some(dependency) => dependency,
        None if !tools.is_typed() && tools.has_parameters() => {
            printer.progress("note: the tools have parameters and no types, so the dependencies are taken as temporal");
            DependencyType::Temporal
        }
        None => DependencyType::Resource,
    }
}

/// The ids that pass the alignment.
fn only(args: &EvaluateArgs, domain: &Domain) -> Result<Option<HashSet<SampleId>>, Failure> {
    match args.alignment {
        Some(AlignmentArg(Some(kind))) if kind != Alignment::Human => {
            domain.alignment().map_err(unusable)?.passing(kind).map_err(Failure::usage)
        }
        Some(_) | None => Ok(None),
    }
}

/// Writes the files of one job and prints its table; the document is what `--json` prints.
fn save(job: &Job, evaluation: &Evaluation, args: &EvaluateArgs, printer: Printer) -> Result<Value, Failure> {
    let groups: Map<String, Value> =
        evaluation.legacy.iter().map(|(group, figures)| (group.to_string(), figures.to_value())).collect();
    if args.profile != ProfileArg::Strict {
        output::update_metrics(&job.legacy, groups.clone()).map_err(unusable)?;
    }
    if let (Some(why), true) = (&evaluation.no_bertscore, args.metric.iter().any(|word| word == "bertscore")) {
        printer.warning(&format!("BERTScore is left out: {why}; give a local directory with --bert-model"));
    } else if let Some(why) = &evaluation.no_bertscore {
        printer.note(&format!("BERTScore is left out: {why}"));
    }
    let coverage = &evaluation.coverage;
    for bad in coverage.bad_gold.iter().take(5) {
        printer.warning(&format!("data.json {bad}"));
    }
    for bad in coverage.bad_predictions.iter().take(5) {
        printer.warning(&format!("{} {bad}", job.predictions.display()));
    }
    if !args.json {
        printer.out(&format!("{}: {} of {} gold plans have a prediction", job.name, coverage.predicted, coverage.gold));
        printer.out(&Table::of_groups(&groups, &LEGACY_COLUMNS).text());
    }
    let _ = (&job.strict, &job.log, Group::OVERALL);
    Ok(json!({"name": job.name, "legacy": groups}))
}
