//! `jarvis easytool score toolbench`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use jarvis_ask::Ask;
use jarvis_easytool::data::{ToolbenchItem, read_toolbench};
use jarvis_easytool::log::{Logged, LoggedAnswer, read_answers};
use jarvis_easytool::score::toolbench::{Judge, Judging, Seed, ToolbenchScore, score};

use crate::cli::Global;
use crate::commands::easytool::{LOG, QUESTIONS, unusable};
use crate::config::Config;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::{self, BatchResult};
use crate::wiring::{Special, build_special, load_config};
use jarvis_plan::export::plural;

#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/score_toolbench.txt").trim_end())]
pub(crate) struct ToolbenchArgs {
    /// The log
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    /// The questions, such as G2_category.json; without them the log's own rows are all there is
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Another log to compare with
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// How often each question is judged
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeats: u32,
    /// What decides where the rules do not
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The most questions judged at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    multiworker: u16,
    /// Print the figures as one JSON document
    #[arg(long)]
    json: bool,
    /// Write each question's verdict to this file as JSON Lines
    #[arg(long, value_name = "FILE")]
    per_question: Option<PathBuf>,
}

struct Files {
    data: Option<Vec<ToolbenchItem>>,
    log: Logged<LoggedAnswer>,
    reference: Option<Logged<LoggedAnswer>>,
}

pub(super) async fn run(args: ToolbenchArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let mut config = configured(global, printer)?;
    let chat = build_special(&mut config, global.record.as_deref(), Special::default()).await?;
    let (data, log, reference) = (args.data.clone(), args.log.clone(), args.reference.clone());
    let files = tokio::task::spawn_blocking(move || read(data.as_deref(), &log, reference.as_deref()));
    let files = files.await.map_err(Failure::work)??;
    super::warn_of_notes(&args.log, &files.log.notes, printer);
    if let (Some(path), Some(reference)) = (&args.reference, &files.reference) {
        super::warn_of_notes(path, &reference.notes, printer);
    }
    let reference = files.reference.as_ref().map(|reference| reference.rows.as_slice());
    let judged = async |judging: Option<Judging<'_>>| {
        let score = Box::pin(score(files.data.as_deref(), &files.log.rows, reference, judging.as_ref())).await;
        score.map_err(|error| Failure::work(error).hint("check the judge: --llm, --base-url and the key"))
    };
    let score = match chat {
        Some(chat) => {
            let request = format!("ToolBench judge: {}", args.log.display());
            let ended = session::batch(&config, request, printer, async |events, stop| {
                let judge = Judge(Ask::new(chat.model, events));
                let (seed, parallel) = (Seed(args.seed), args.multiworker.into());
                tokio::select! {
                    score = judged(Some(Judging { judge: &judge, repeats: args.repeats, seed, parallel })) => score,
                    () = stop.cancelled() => Err(Failure::work("interrupted")),
                }
            });
            ended.await?
        }
        None if args.reference.is_some() || args.per_question.is_some() => {
            return Err(Failure::usage("there is no judge, and only a judge compares runs and judges questions")
                .hint("name a chat model with --llm MODEL, or a recording with --llm replay:FILE"));
        }
        None => {
            printer.progress("note: without a judge (--llm MODEL) there are error rates only");
            judged(None).await?
        }
    };
    super::warn_of_gaps(&args.log, &score.coverage, printer);
    if let (Some(file), Some(judged)) = (&args.per_question, &score.judged) {
        super::write_questions(file, &[(args.log.as_path(), judged.questions.as_slice())])?;
    }
    super::show(&[(args.log.as_path(), &score)], args.json, table, printer)?;
    Ok(ExitCode::SUCCESS)
}

impl BatchResult for ToolbenchScore {
    fn ok(&self) -> bool {
        true
    }

    fn text(&self) -> String {
        let passed = self.judged.as_ref().map_or(0, |judged| judged.pass.count);
        format!("{passed} of {} passed", plural(self.coverage.n, "question"))
    }
}

/// The configuration, in which `none` is another word for `offline`: there is no judge.
fn configured(global: &Global, printer: Printer) -> Result<Config, Failure> {
    let is_none = global.llm.as_deref().is_some_and(|llm| llm.trim() == "none");
    let llm = if is_none { Some("offline".to_owned()) } else { global.llm.clone() };
    Ok(load_config(&Global { llm, ..global.clone() }, printer)?.config)
}

fn read(data: Option<&Path>, log: &Path, reference: Option<&Path>) -> Result<Files, Failure> {
    Ok(Files {
        data: data.map(read_toolbench).transpose().map_err(|error| unusable(error, QUESTIONS))?,
        log: read_answers(log).map_err(|error| unusable(error, LOG))?,
        reference: reference.map(read_answers).transpose().map_err(|error| unusable(error, LOG))?,
    })
}

fn table(score: &ToolbenchScore) -> String {
    let judged = score.judged.as_ref();
    super::table(&[
        ("pass", judged.map(|judged| judged.pass)),
        ("success", judged.map(|judged| judged.success)),
        ("win", judged.and_then(|judged| judged.win)),
        ("lose", judged.and_then(|judged| judged.lose)),
        ("tie", judged.and_then(|judged| judged.tie)),
        ("reference's pass", judged.and_then(|judged| judged.reference_pass)),
        ("undecided repeats", judged.map(|judged| judged.undecided)),
        ("tied questions", judged.map(|judged| judged.tied)),
        ("answered", Some(score.answered)),
        ("tool errors", Some(score.errors.tool)),
        ("parameter errors", Some(score.errors.parameter)),
        ("failed calls", Some(score.errors.call)),
    ])
}
