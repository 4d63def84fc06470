//! `jarvis taskbench evaluate`: scores files of predictions, writes the metrics files, prints a table.

mod files;
mod gnn;
mod show;
mod similarity;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use jarvis_taskbench::data::{Alignment, DependencyType, Domain, Lines, SampleId, ToolList, same_file};
use jarvis_taskbench::evaluate::strict::Bootstrap;
use jarvis_taskbench::evaluate::{Grouping, Mode, Options, Predictions, Profile, Wanted, evaluate};
use jarvis_taskbench::infer::{Traces, demos_of_folder, demos_shown, known_demos};

use self::files::{file_for, jobs, save, write_samples};
use super::{ids, one_or_list, unusable};
use crate::batch_progress::bar;
use crate::cli::Global;
use crate::config::Config;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::wiring::load_config;

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/evaluate.txt").trim_end())]
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
    /// What links mean [default: resource where tools are typed, else temporal]
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
    /// roberta-large), or `local/NAME`, one that `jarvis models` knows; without it BERTScore is left out
    #[arg(long, value_name = "DIR")]
    bert_model: Option<String>,
    /// The layer of that model whose output is compared [default: 17 of 24, 10 of 12 as the package has it]
    #[arg(long, value_name = "N", requires = "bert_model")]
    bert_layer: Option<usize>,
    /// Write each sample's figures, and why it lost points, to this file as JSON Lines
    #[arg(long, value_name = "FILE")]
    per_sample: Option<PathBuf>,
    /// Print the figures as one JSON document
    #[arg(long)]
    json: bool,
    /// Only the samples with the ids in this file: one a line, or JSON
    #[arg(long, value_name = "FILE")]
    ids: Option<PathBuf>,
    /// How many examples the prompts showed; the strict figures leave those samples out [default: as the prediction
    /// folder's name says]
    #[arg(long, value_name = "N")]
    use_demos: Option<usize>,
    /// The examples' ids, where they are not the published ones of the domain
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    demo_ids: Vec<String>,
    /// Give the strict figures 95 % intervals from so many resamples; without it only ROUGE has them
    #[arg(long, alias = "bootstrap", value_name = "RESAMPLES", num_args = 0..=1, default_missing_value = "1000",
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    intervals: Option<u32>,
    /// The seed of the resamples
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Whose files and figures: the original's, or those of GNN4TaskPlan (with --splits chain or single)
    #[arg(long, value_enum, default_value_t = FormatArg::Original)]
    format: FormatArg,
    /// GNN4TaskPlan: 1 leaves samples without a prediction out, 0 takes them as empty plans
    /// [default: 1]
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1))]
    remove_non_pred: Option<u8>,
    /// Compute figures again that are newer than predictions and gold plans and were made with the same options
    #[arg(long)]
    force: bool,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    Add,
    Mul,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// TaskBench
    Original,
    /// GNN4TaskPlan
    Gnn4taskplan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProfileArg {
    /// The original's
    Legacy,
    /// Without the original's flaws
    Strict,
    /// Both, side by side
    Both,
}

pub(super) async fn run(args: EvaluateArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let config = match args.bert_model {
        Some(_) => load_config(global, printer)?.config,
        None => Config::default(),
    };
    // Reading and counting is work for all cores, and none of it waits.
    let done = tokio::task::spawn_blocking(move || evaluate_all(&args, &config, printer)).await;
    done.map_err(Failure::work)?
}

fn evaluate_all(args: &EvaluateArgs, config: &Config, printer: Printer) -> Result<ExitCode, Failure> {
    if let Some(threads) = args.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().map_err(Failure::work)?;
    }
    let domain = Domain::open(&args.data_dir).map_err(unusable)?;
    let jobs = jobs(args, &domain)?;
    if let Some(file) = &args.per_sample {
        let of_domain = ["data.json", "tool_desc.json", "user_requests.json"].map(|name| domain.path(name));
        let mut read = jobs.iter().map(|job| &job.predictions).chain(&of_domain).chain(&args.ids);
        if read.any(|read| same_file(read, file)) {
            return Err(Failure::usage(format!("{} is read here and would be overwritten", file.display()))
                .hint("name another file with --per-sample"));
        }
    }
    if args.format == FormatArg::Gnn4taskplan {
        return gnn::evaluate(args, &domain, &jobs, printer);
    }
    if args.remove_non_pred.is_some() {
        return Err(Failure::usage("--remove-non-pred belongs to the figures of GNN4TaskPlan")
            .hint("add --format gnn4taskplan; the strict figures take a missing prediction as an empty plan"));
    }
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
        Some(model) if wanted.bertscore => Some(similarity::load(model, args.bert_layer, config)?),
        Some(_) | None => None,
    };
    if wanted.bertscore && similarity.is_none() {
        let missing = "BERTScore is left out: it needs a local model, --bert-model DIR";
        let asked = args.metric.iter().any(|word| word == "bertscore");
        if asked { printer.warning(missing) } else { printer.progress(&format!("note: {missing}")) }
    }
    let bar = bar(printer, 0, "BERTScore ");
    let progress = |done: usize, of: usize| {
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
        examples: HashSet::new(),
        no_plan: HashMap::new(),
        bootstrap: Some(Bootstrap {
            resamples: args.intervals.unwrap_or(1000),
            seed: args.seed,
            all: args.intervals.is_some(),
        }),
        similarity: similarity.as_deref(),
        progress: Some(&progress),
    };
    // Of several files without named groups one line each, so that they can be compared.
    let brief = jobs.len() > 1 && args.splits.is_empty() && args.n_tools.is_empty();
    let mut runs = Vec::new();
    let mut failed = 0;
    for job in &jobs {
        let traces = Traces::beside(&job.predictions);
        let examples = demos(args, &domain, &traces, printer);
        let options = Options { examples, no_plan: traces.no_plan, ..options.clone() };
        if batch && !args.force && args.per_sample.is_none() && job.is_done(&domain, args, &options)? {
            let current = "its figures are newer than predictions and gold plans (--force computes them again)";
            printer.progress(&format!("{}: {current}", job.name));
            runs.push((job, job.saved(&options)?));
            continue;
        }
        let lines = match Lines::read(&job.predictions) {
            Ok(lines) => lines,
            Err(error) if batch => {
                printer.warning(&format!("{}: {error}", job.name));
                failed += 1;
                continue;
            }
            Err(error) => return Err(unusable(error)),
        };
        let predictions = Predictions::of(&lines);
        let evaluation = evaluate(&gold, &predictions, &options);
        bar.finish_and_clear();
        if evaluation.coverage.gold == 0 {
            no_gold(args, &domain, printer)?;
        }
        show::basis(job, &evaluation, args, &domain, printer);
        // Figures of nothing are what the original gives, too; but that they are is said.
        if evaluation.coverage.gold > 0 && evaluation.coverage.predicted == 0 {
            show::no_overlap(job, &gold, &predictions, printer);
        }
        let (figures, kept) = match save(job, &evaluation, args, &options) {
            Ok(saved) => saved,
            Err(failure) if batch => {
                printer.warning(&format!("{}: {}", job.name, failure.error()));
                failed += 1;
                continue;
            }
            Err(failure) => return Err(failure),
        };
        if !kept.is_empty() {
            printer.progress(&format!("  groups of earlier runs stay in its files: {}", kept.join(", ")));
        }
        if let Some(file) = &args.per_sample {
            let file = file_for(file, job, jobs.len());
            write_samples(&file, &evaluation)?;
            printer.progress(&format!("  samples: {}", file.display()));
        }
        runs.push((job, figures));
    }
    if args.json {
        let documents = runs.iter().map(|(job, figures)| figures.document(&job.name)).collect();
        let document = one_or_list(documents, !batch);
        printer.out(&serde_json::to_string_pretty(&document).map_err(Failure::work)?);
    } else if brief {
        show::compare(&runs, printer);
    } else {
        show::groups(&runs, args, printer);
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The type that was asked for, or else the one that the tools have.
fn dependency(args: &EvaluateArgs, tools: &ToolList, printer: Printer) -> DependencyType {
    let own = tools.dependency();
    match args.dependency_type {
        Some(dependency) => dependency,
        None => {
            if own == DependencyType::Temporal {
                printer.progress("note: the tools have no types, so the dependencies are taken as temporal");
            }
            own
        }
    }
}

/// Says why there is nothing to score; a critic that rejects everything is not an error.
fn no_gold(args: &EvaluateArgs, domain: &Domain, printer: Printer) -> Result<(), Failure> {
    let gold = domain.path("data.json");
    match (&args.ids, args.alignment) {
        (Some(file), _) => {
            Err(Failure::usage(format!("none of the ids in {} is in {}", file.display(), gold.display()))
                .hint("name ids of gold plans"))
        }
        (None, Some(AlignmentArg(Some(kind)))) => {
            printer.warning(&format!("no gold plan in {} passed the critic `{kind}`", gold.display()));
            Ok(())
        }
        (None, Some(AlignmentArg(None)) | None) => {
            Err(Failure::usage(format!("{} holds no gold plan", gold.display()))
                .hint("each line is one plan; `jarvis taskbench inspect` lists what the folder holds"))
        }
    }
}

/// The ids that pass the alignment and are in the file of ids.
fn only(args: &EvaluateArgs, domain: &Domain) -> Result<Option<HashSet<SampleId>>, Failure> {
    let passing = match args.alignment {
        Some(AlignmentArg(Some(kind))) if kind != Alignment::Human => {
            domain.alignment().map_err(unusable)?.passing(kind).map_err(Failure::usage)?
        }
        Some(_) | None => None,
    };
    let Some(file) = &args.ids else { return Ok(passing) };
    let named = ids(file)?;
    let both = |id: &SampleId| passing.as_ref().is_none_or(|passing| passing.contains(id));
    let named = named.into_iter().flat_map(|id| {
        let id: Box<str> = id.into();
        [SampleId::Text(id.clone()), SampleId::Number(id)]
    });
    Ok(Some(named.filter(both).collect()))
}

/// The samples that the prompt had as examples: as typed, else as the folder's name says, else as the log beside
/// the predictions says.
fn demos(args: &EvaluateArgs, domain: &Domain, traces: &Traces, printer: Printer) -> HashSet<SampleId> {
    let of_folder = demos_of_folder(&args.prediction_dir.to_string_lossy());
    let of_log: Vec<&str> = traces.examples.iter().map(String::as_str).collect();
    if args.demo_ids.is_empty() && args.use_demos.is_none() && of_folder.is_none_or(|count| count == of_log.len()) {
        return demos_shown(&of_log, of_log.len());
    }
    let known: Vec<&str> = match args.demo_ids.as_slice() {
        [] => domain.known_as().map(known_demos).unwrap_or_default().to_vec(),
        ids => ids.iter().map(|id| id.trim()).collect(),
    };
    let count = args.use_demos.or(of_folder).unwrap_or(args.demo_ids.len());
    if count > known.len() {
        printer.warning(&format!(
            "{count} examples were shown, but the ids of {} are not known; the strict figures count them as missing \
             unless --demo-ids names them",
            count - known.len()
        ));
    }
    demos_shown(&known, count)
}
