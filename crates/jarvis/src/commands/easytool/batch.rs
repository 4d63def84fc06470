//! Shared by the commands that run EasyTool's pipelines: flags, model, log, progress, exit status.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use jarvis_batch::Summary;
use jarvis_chat::ChatModel;
use jarvis_easytool::batch::{self, Recorded, TOOL_CALLS};
use jarvis_easytool::log::{LogFile, LogFileError};
use jarvis_easytool::stage::Limits;
use jarvis_engine::Events;
use jarvis_store::files::FileError;
use serde_json::{Value, json};

use crate::batch_progress::BatchProgress;
use crate::cli::Global;
use crate::config::Config;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session;
use crate::wiring::{Special, build_special, load_config};
use jarvis_plan::export::plural;

/// Flags of every pipeline.
#[derive(Debug, Args)]
pub(super) struct BatchArgs {
    /// The log: one line a question [default: named after the data and the model, in this folder]
    #[arg(short, long, value_name = "LOG.jsonl")]
    pub(super) out: Option<PathBuf>,
    /// Go on with the log: what it has is not asked again, what failed is
    #[arg(long)]
    pub(super) resume: bool,
    /// Only the first N questions
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Questions answered at once; 1 with a recording
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) concurrency: u16,
    /// Attempts at a reply that has a form, such as JSON
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(super) attempts: u32,
    /// Seconds for one call of the model [default: llm.timeout_s, 120]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) timeout: Option<u64>,
    /// Seconds for one call of a tool
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) tool_timeout: u64,
    /// Print the summary as one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) struct Answerer {
    pub(super) model: Arc<dyn ChatModel>,
    config: Config,
    recorded: bool,
}

impl Answerer {
    /// The chat model that the flags and the configuration name; the pipelines cannot do without.
    pub(super) async fn of(global: &Global, printer: Printer) -> Result<Answerer, Failure> {
        let mut config = load_config(global, printer)?.config;
        let Some(chat) = build_special(&mut config, global.record.as_deref(), Special::default()).await? else {
            return Err(Failure::usage("this pipeline needs a chat model").hint(
                "add --llm MODEL, with --base-url URL for a server of yours, or --llm replay:FILE for a recording",
            ));
        };
        let recorded = config.llm.name().starts_with("replay:");
        Ok(Answerer { model: chat.model, recorded, config })
    }

    fn name(&self) -> &str {
        self.config.llm.name()
    }
}

pub(super) struct Questions<'a, Q> {
    /// What the journal calls the run: `FuncQA multi-hop`.
    pub(super) title: String,
    pub(super) data: &'a Path,
    /// What the original names the log after, with `{model}` for the model.
    pub(super) stem: String,
    /// What the answers depend on, beside model and data.
    pub(super) settings: Value,
    pub(super) questions: Vec<Q>,
}

impl BatchArgs {
    /// The limits that the flags set, on top of a pipeline's own.
    pub(super) fn limits(&self, answerer: &Answerer, own: Limits) -> Limits {
        Limits {
            structured_attempts: self.attempts,
            call_timeout: self.timeout.map(Duration::from_secs),
            tool_timeout: Duration::from_secs(self.tool_timeout),
            concurrency: if answerer.recorded { 1 } else { own.concurrency },
            ..own
        }
    }

    /// Answers the questions that the log lacks, as one run of the journal. `begin` is given the run's events and returns
    /// what answers a question, given its number.
    pub(super) async fn run<Q, A, F>(
        &self,
        answerer: &Answerer,
        questions: Questions<'_, Q>,
        printer: Printer,
        begin: impl FnOnce(&Events) -> A,
    ) -> Result<ExitCode, Failure>
    where
        A: Fn(u64, Q) -> F,
        F: Future<Output: Recorded>,
    {
        let Questions { title, data, stem, settings, questions } = questions;
        let numbered: Vec<(u64, Q)> = (1..).zip(questions).take(self.limit.unwrap_or(usize::MAX)).collect();
        let path = self.out.clone().unwrap_or_else(|| {
            let model = jarvis_taskbench::data::file_stem(answerer.name());
            PathBuf::from(format!("{}.jsonl", stem.replace("{model}", &model)))
        });
        let mut config = json!({ "model": answerer.name() });
        if let (Some(config), Value::Object(settings)) = (config.as_object_mut(), settings) {
            config.extend(settings);
        }
        let mut log = LogFile::open(&path, &config, self.resume).map_err(failed)?;
        for note in log.notes() {
            printer.warning(note);
        }
        let at_once = if answerer.recorded { 1 } else { usize::from(self.concurrency) };
        let progress = BatchProgress::new(printer, answerer.name(), ("question", "answer"), &path);
        let request = format!("{title}: {} of {}", plural(numbered.len(), "question"), data.display());
        let ended = session::batch(&answerer.config, request, printer, async |events, stop| {
            let answer = begin(events);
            batch::run(numbered, at_once, answer, &mut log, &progress, &stop).await.map_err(unwritable)
        });
        let ended = ended.await;
        progress.clear();
        self.end(&ended?, &progress, &path, printer)
    }

    fn end(
        &self,
        summary: &Summary,
        progress: &BatchProgress,
        log: &Path,
        printer: Printer,
    ) -> Result<ExitCode, Failure> {
        let Summary { items, already, done, partial, failed, left, seconds, calls: model_calls, .. } = *summary;
        let (succeeded, tool_calls) = (done - partial, summary.counted(TOOL_CALLS));
        if done + failed > 0 {
            printer.progress(&format!(
                "succeeded {succeeded}, partial {partial}, failed {failed} in {seconds:.1} s; {model_calls} calls of the \
                 model, {tool_calls} of tools{}",
                progress.used(summary)
            ));
        }
        progress.end(summary, "run the same command with --resume to ask for what is missing");
        if self.json {
            let document = json!({
                "questions": items, "already": already, "succeeded": succeeded, "partial": partial, "failed": failed,
                "left": left, "interrupted": summary.interrupted, "gave_up": summary.gave_up,
                "model_calls": model_calls, "tool_calls": tool_calls, "prompt_tokens": summary.usage.prompt,
                "completion_tokens": summary.usage.completion, "seconds": seconds, "log": log.display().to_string(),
            });
            printer.out(&serde_json::to_string_pretty(&document).map_err(Failure::work)?);
        } else {
            let left = if left > 0 { format!(", {left} left") } else { String::new() };
            printer.out(&format!("{} of {items} questions answered{left}: {}", already + done, log.display()));
        }
        Ok(if summary.is_complete() { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }
}

fn failed(error: LogFileError) -> Failure {
    match error {
        LogFileError::Exists { .. } => {
            Failure::usage(error).hint("add --resume to answer what is missing, or name another file with --out")
        }
        LogFileError::File(error) => unwritable(error),
    }
}

fn unwritable(error: FileError) -> Failure {
    Failure::work(error).hint("name another file with --out")
}
