//! Shared by the commands that run EasyTool's pipelines: flags, model, log, progress, exit status.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use jarvis_batch::Summary;
use jarvis_chat::ChatModel;
use jarvis_easytool::batch::TOOL_CALLS;
use jarvis_easytool::log::{LogFile, LogFileError};
use jarvis_easytool::stage::Limits;
use serde_json::{Value, json};

use crate::batch_progress::BatchProgress;
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::wiring::{Special, build_special, load_config};

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

pub(super) struct Asked {
    pub(super) model: Arc<dyn ChatModel>,
    /// Its name, for the log.
    pub(super) name: String,
    /// Whether it is a recording, which is answered from in order.
    pub(super) recorded: bool,
}

/// The chat model that the flags and the configuration name; the pipelines cannot do without.
pub(super) fn asked(global: &Global, printer: Printer) -> Result<Asked, Failure> {
    let config = load_config(global, printer)?.config;
    let Some(chat) = build_special(&config, global.record.as_deref(), Special::default())? else {
        return Err(Failure::usage("this pipeline needs a chat model")
            .hint("add --llm MODEL, with --base-url URL for a server of yours, or --llm replay:FILE for a recording"));
    };
    let name = config.llm.model.trim().to_owned();
    Ok(Asked { model: chat.model, recorded: name.starts_with("replay:"), name })
}

impl BatchArgs {
    /// The limits that the flags set, on top of a pipeline's own.
    pub(super) fn limits(&self, asked: &Asked, own: Limits) -> Limits {
        Limits {
            structured_attempts: self.attempts,
            call_timeout: self.timeout.map(Duration::from_secs),
            tool_timeout: Duration::from_secs(self.tool_timeout),
            // A recording answers in order.
            concurrency: if asked.recorded { 1 } else { own.concurrency },
            ..own
        }
    }

    pub(super) fn at_once(&self, asked: &Asked) -> usize {
        if asked.recorded { 1 } else { usize::from(self.concurrency) }
    }

    /// The questions with their numbers, as many as are wanted.
    pub(super) fn numbered<Q>(&self, questions: Vec<Q>) -> Vec<(u64, Q)> {
        (1..).zip(questions).take(self.limit.unwrap_or(usize::MAX)).collect()
    }

    /// Opens the log. `stem` is what the original names it after, with `{model}` for the model.
    pub(super) fn log(&self, stem: &str, asked: &Asked, settings: Value, printer: Printer) -> Result<LogFile, Failure> {
        let path = self.out.clone().unwrap_or_else(|| {
            let stem = stem.replace("{model}", &jarvis_taskbench::data::file_stem(&asked.name));
            PathBuf::from(format!("{stem}.jsonl"))
        });
        let mut config = json!({ "model": asked.name });
        if let (Some(config), Value::Object(settings)) = (config.as_object_mut(), settings) {
            config.extend(settings);
        }
        let log = LogFile::open(&path, &config, self.resume).map_err(failed)?;
        for note in log.notes() {
            printer.warning(note);
        }
        Ok(log)
    }

    /// Shows a run.
    pub(super) fn shown(&self, asked: &Asked, log: &LogFile, printer: Printer) -> BatchProgress {
        BatchProgress::new(printer, &asked.name, ("question", "answer"), log.path())
    }

    /// Says how a run ended, and chooses the exit status.
    pub(super) fn end(
        &self,
        summary: &Summary,
        shown: &BatchProgress,
        log: &Path,
        printer: Printer,
    ) -> Result<ExitCode, Failure> {
        let Summary { items, already, done, partial, failed, left, seconds, calls: model_calls, .. } = *summary;
        let (succeeded, tool_calls) = (done - partial, summary.counted(TOOL_CALLS));
        if done + failed > 0 {
            printer.progress(&format!(
                "succeeded {succeeded}, partial {partial}, failed {failed} in {seconds:.1} s; {model_calls} calls of the \
                 model, {tool_calls} of tools{}",
                shown.used(summary)
            ));
        }
        shown.end(summary, "run the same command with --resume to ask for what is missing");
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

pub(super) fn failed(error: LogFileError) -> Failure {
    match &error {
        LogFileError::Exists { .. } => {
            Failure::usage(error).hint("go on with it by --resume, or name another file with --out")
        }
        LogFileError::File(_) => Failure::work(error).hint("name another file with --out"),
        LogFileError::Record { .. } => Failure::work(error),
    }
}
