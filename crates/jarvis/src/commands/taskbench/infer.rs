//! `jarvis taskbench infer`: asks a planner for a plan for each request of a domain.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::BoolishValueParser;
use clap::{ArgAction, Args};
use jarvis_batch::Summary;
use jarvis_plan::export::plural;
use jarvis_planner::Basis;
use jarvis_taskbench::data::{DependencyType, Domain, file_stem};
use jarvis_taskbench::infer::{
    InferError, InferOptions, Job, Links, MENDED, Outputs, PlanBy, REFORMATTED, Sampling, prediction_dir,
};
use serde_json::{Value, json};

use super::endpoint::EndpointArgs;
use crate::batch_progress::{BatchProgress, Prices, kinds};
use crate::cli::Global;
use crate::config::Config;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session;
use crate::wiring::{basis, build_special, differs, load_config};

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/infer.txt").trim_end())]
pub(crate) struct InferArgs {
    /// The domain's folder, with tool_desc.json, user_requests.json and, for examples, data.json
    #[arg(long, value_name = "DIR", default_value = "data_huggingface")]
    data_dir: PathBuf,
    /// What links mean: `resource` (a task uses what another made) or `temporal` (a task comes after another)
    #[arg(long, value_name = "TYPE", default_value_t = DependencyType::Resource)]
    dependency_type: DependencyType,
    /// What links of temporal plans say: `order` (a step that uses no result follows the one before it) or `data` (a step
    /// needs what another gives)
    #[arg(long, value_name = "MEANING", default_value_t = Links::Order)]
    links: Links,
    /// How many examples the prompt shows, 0 to 3; their requests are not asked [default: 0, or all of --demo-ids]
    #[arg(long, value_name = "N")]
    use_demos: Option<usize>,
    /// The examples' ids in data.json, in order of priority [default: the published ones of the domain]
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    demo_ids: Vec<String>,
    /// Ask the examples' requests as well
    #[arg(long)]
    include_demos: bool,
    /// Send a reply that is no usable plan through a second call
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", default_value = "false",
        action = ArgAction::Set, value_parser = BoolishValueParser::new(), hide_default_value = true)]
    reformat: bool,
    /// The model of the second call, at the same endpoint; `self` for the same model
    #[arg(long, value_name = "MODEL", default_value = "self")]
    reformat_by: String,
    /// The most requests in flight
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one)]
    multiworker: usize,
    /// Sampling temperature
    #[arg(long, value_name = "T", default_value_t = Sampling::default().temperature)]
    temperature: f32,
    /// Nucleus sampling
    #[arg(long, value_name = "P", default_value_t = Sampling::default().top_p)]
    top_p: f32,
    /// The most tokens of a reply
    #[arg(long, value_name = "N", default_value_t = Sampling::default().max_tokens)]
    max_tokens: u32,
    /// Send the plan's JSON Schema, with the tools' names as an enum, to endpoints with structured output
    #[arg(long)]
    structured: bool,
    /// Only the first N requests
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Only the requests with the ids in this file: one a line, or JSON
    #[arg(long, value_name = "FILE")]
    ids: Option<PathBuf>,
    /// Name the folder of predictions after the features in use, such as predictions_use_demos_2_reformat_by_self
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", default_value = "false",
        action = ArgAction::Set, value_parser = BoolishValueParser::new(), hide_default_value = true)]
    tag: bool,
    /// The folder of predictions, inside --data-dir unless absolute [default: predictions]
    #[arg(long, value_name = "DIR", conflicts_with = "tag")]
    prediction_dir: Option<PathBuf>,
    /// Send the first request alone, and log its prompts and replies whole
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", default_value = "false",
        action = ArgAction::Set, value_parser = BoolishValueParser::new(), hide_default_value = true)]
    log_first_detail: bool,
    #[command(flatten)]
    endpoint: EndpointArgs,
    /// Repeats of a call after a rate limit, a server's error or a broken connection [default: llm.max_retries, 2]
    #[arg(long, value_name = "N")]
    max_retries: Option<u32>,
    /// Seconds for one try of a call [default: llm.timeout_s where it is set, else 300, and 120 for the second call]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// The price of a million tokens sent, to show the cost
    #[arg(long, value_name = "USD")]
    price_in: Option<f64>,
    /// The price of a million tokens received
    #[arg(long, value_name = "USD")]
    price_out: Option<f64>,
    /// Print the summary as one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: InferArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let json = args.json;
    let ended = carry_out(args, global, printer).await;
    ended.inspect_err(|failure| {
        if json {
            printer.out(&failure.document().to_string());
        }
    })
}

async fn carry_out(mut args: InferArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    if global.llm.as_ref().is_some_and(|llm| llm.trim().is_empty()) {
        return Err(Failure::usage("--llm is empty").hint("name a model, `offline`, or `replay:FILE`"));
    }
    let mut config = configured(&args, global, printer)?;
    let basis = basis(&config).await?;
    let chat = build_special(&mut config, global.record.as_deref(), args.endpoint.special()).await?;
    if args.reformat_by != "self" && !args.reformat {
        printer.warning("--reformat-by does nothing without --reformat");
    }
    let options = options(&args, &config, &basis)?;
    let domain = Domain::open(&args.data_dir).map_err(super::unusable)?;
    let (demos, reformat) = (options.demos, options.reformat);
    let job = Job::prepare(&domain, options).map_err(failed)?;
    let shown_demos: Vec<String> = job.demos().iter().map(|demo| demo.id.to_string()).collect();

    let by = chat.map_or_else(|| PlanBy::Offline(basis.clone()), |chat| PlanBy::Model(chat.model));
    let llm = match &by {
        PlanBy::Model(_) => config.llm.name(),
        PlanBy::Offline(_) => "offline",
    };

    let dir = match &args.prediction_dir {
        Some(dir) => domain.path(dir),
        None => domain.path(prediction_dir(args.tag, demos, reformat, &args.reformat_by)),
    };
    let mut outputs = Outputs::open(&dir, &file_stem(llm)).map_err(|error| failed(error.into()))?;
    let prices = Prices::new(args.price_in, args.price_out);
    let who = if llm == "offline" { "the offline planner" } else { llm };
    let mut shown = BatchProgress::new(printer, who, ("request", "plan"), outputs.errors_path());
    shown.prices = prices;
    let request = format!("TaskBench inference: {} of {}", plural(job.requests().len(), "request"), domain.name());
    let ended = session::batch(&config, request, printer, async |events, stop| {
        job.reporting_to(events).run(&by, &mut outputs, &shown, &stop).await.map_err(failed)
    });
    let ended = ended.await;
    shown.clear();
    let summary = ended?;

    let Summary { items, already, done, failed, left, calls, seconds, .. } = summary;
    let (mended, reformatted) = (summary.counted(MENDED), summary.counted(REFORMATTED));
    if summary.pending() > 0 {
        let mut line = format!("completed {done}, failed {failed}{} in {seconds:.1} s", kinds(&summary));
        if mended + reformatted > 0 {
            line.push_str(&format!("; mended {mended}, reformatted {reformatted}"));
        }
        if calls > 0 {
            line.push_str(&format!("; {}{}", plural(calls, "call"), shown.used(&summary)));
        }
        printer.progress(&line);
        let (errors, log) = (outputs.errors_path().display(), outputs.log_path().display());
        if failed > 0 {
            printer.progress(&format!("what failed and why: {errors}; log: {log}"));
        }
        shown.end(&summary, "run the same command again to ask for what is missing");
    }
    let have = already + done;
    if args.json {
        let document = json!({
            "dependency_type": args.dependency_type.as_str(), "predictions": outputs.path(),
            "errors": outputs.has_errors().then(|| outputs.errors_path()), "requests": items, "already": already,
            "completed": done, "failed": failed, "left": left, "interrupted": left > 0, "gave_up": summary.gave_up,
            "failures": summary.failures, "mended": mended, "reformatted": reformatted, "demos": shown_demos, "calls": calls,
            "prompt_tokens": summary.usage.prompt, "completion_tokens": summary.usage.completion, "seconds": seconds,
            "llm": llm, "cost": prices.map_or(Value::Null, |prices| prices.of(&summary).into()),
        });
        printer.out(&serde_json::to_string_pretty(&document).map_err(Failure::work)?);
    } else if summary.is_complete() {
        printer.out(&format!("all completed: {have} predictions in {}", outputs.path().display()));
    } else {
        printer.out(&format!("{have} of {items} requests have a prediction in {}", outputs.path().display()));
    }
    Ok(if summary.is_complete() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The configuration with this command's flags on top.
fn configured(args: &InferArgs, global: &Global, printer: Printer) -> Result<Config, Failure> {
    let mut config = load_config(global, printer)?.config;
    args.endpoint.configure(&mut config, global)?;
    if args.reformat_by != "self" {
        config.llm.stages.insert(jarvis_taskbench::infer::REFORMAT_STAGE.into(), args.reformat_by.clone());
    }
    if let Some(max) = args.max_retries {
        config.llm.max_retries = max;
    }
    Ok(config)
}

/// Who plans, for logs: a model and where it is, never a key; the offline planner with what tells other weights apart.
pub(crate) fn planner(config: &Config, basis: &Basis) -> String {
    let llm = &config.llm;
    match (llm.name(), &llm.base_url) {
        (model, _) if llm.is_offline() => {
            std::iter::once(model.to_owned()).chain(differs(basis)).collect::<Vec<_>>().join(" with ")
        }
        (model, None) => model.to_owned(),
        (model, Some(_)) if model.starts_with("replay:") => model.to_owned(),
        (model, Some(url)) => match url::Url::parse(url) {
            Ok(url) => format!("{model} at {}", url.origin().ascii_serialization()),
            Err(_) => model.to_owned(),
        },
    }
}

fn options(args: &InferArgs, config: &Config, basis: &Basis) -> Result<InferOptions, Failure> {
    let defaults = InferOptions::default();
    let demos = args.use_demos.unwrap_or(args.demo_ids.len());
    if demos > 3 && args.demo_ids.is_empty() {
        return Err(Failure::usage(format!("--use-demos takes 0 to 3, not {demos}"))
            .hint("name more examples with --demo-ids a,b,c,d"));
    }
    let set = config.llm.timeout_s;
    let timeout = args.timeout.or((set != Config::default().llm.timeout_s).then_some(set));
    let seconds = |default: Duration| timeout.map_or(default, Duration::from_secs);
    Ok(InferOptions {
        dependency: args.dependency_type,
        links: args.links,
        demos,
        planner: planner(config, basis),
        demo_ids: args.demo_ids.iter().map(|id| id.trim().to_owned()).collect(),
        include_demos: args.include_demos,
        reformat: args.reformat,
        structured: args.structured || config.llm.structured.get() == Some(true),
        sampling: Sampling {
            temperature: args.temperature,
            top_p: args.top_p,
            max_tokens: args.max_tokens,
            ..Sampling::default()
        },
        workers: args.multiworker,
        limit: args.limit,
        ids: args.ids.as_deref().map(super::ids).transpose()?,
        log_first_detail: args.log_first_detail,
        plan_timeout: seconds(defaults.plan_timeout),
        reformat_timeout: seconds(defaults.reformat_timeout),
    })
}

pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".into()),
        Ok(number) => Ok(number),
        Err(_) => Err("it must be a whole number".into()),
    }
}

fn failed(error: InferError) -> Failure {
    let hint = error.hint();
    if error.is_usage() { Failure::usage(error) } else { Failure::work(error) }.maybe_hint(hint)
}
