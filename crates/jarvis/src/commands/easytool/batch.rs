//! Shared by the commands that run EasyTool's pipelines: flags, model, log, progress, exit status.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use jarvis_chat::ChatModel;
use jarvis_easytool::batch::{Summary, Watch};
use jarvis_easytool::log::{LogFile, LogFileError, Status};
use jarvis_easytool::stage::Limits;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{Printer, Verbosity, harmless};
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

    /// Says how a run ended, and chooses the exit status.
    pub(super) fn end(&self, summary: &Summary, log: &Path, printer: Printer) -> Result<ExitCode, Failure> {
        let Summary { succeeded, partial, failed, left, already, .. } = *summary;
        let Summary { model_calls, tool_calls, seconds, .. } = *summary;
        let mut line = format!(
            "succeeded {succeeded}, partial {partial}, failed {failed} in {seconds:.1} s; {model_calls} calls of the model, \
             {tool_calls} of tools"
        );
        if summary.prompt_tokens + summary.completion_tokens > 0 {
            line.push_str(&format!(", {} + {} tokens", summary.prompt_tokens, summary.completion_tokens));
        }
        if succeeded + partial + failed > 0 {
            printer.progress(&line);
        }
        if summary.gave_up {
            printer.progress("gave up, since the model answered none of the first questions");
            printer.progress(
                "hint: check the address (--base-url), the model's name, the key, and whether the server runs",
            );
        } else if !summary.is_complete() {
            printer.progress("hint: run the same command with --resume to ask for what is missing");
        }
        if self.json {
            let mut document = serde_json::to_value(summary).map_err(Failure::work)?;
            if let Some(fields) = document.as_object_mut() {
                fields.insert("log".into(), log.display().to_string().into());
            }
            printer.out(&serde_json::to_string_pretty(&document).map_err(Failure::work)?);
        } else {
            let answered = already + succeeded + partial;
            let left = if left > 0 { format!(", {left} left") } else { String::new() };
            printer.out(&format!("{answered} of {} questions answered{left}: {}", summary.questions, log.display()));
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

/// The longest time without a plain line while questions end.
const SILENCE: Duration = Duration::from_secs(30);

/// A run on stderr: a bar on a terminal, plain lines elsewhere.
pub(super) struct Shown {
    printer: Printer,
    bar: Option<ProgressBar>,
    last: Mutex<Instant>,
}

impl Shown {
    pub(super) fn new(printer: Printer, pending: usize, name: &str) -> Shown {
        if pending > 0 {
            let s = if pending == 1 { "" } else { "s" };
            printer.progress(&format!("answering {pending} question{s} with {name}"));
        }
        let bar = printer.draws().then(|| {
            let bar = ProgressBar::new(pending as u64);
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} eta {eta} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        Shown { printer, bar, last: Mutex::new(Instant::now()) }
    }

    pub(super) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Watch for Shown {
    fn ended(&self, summary: &Summary, id: u64, status: Status, errors: &[String]) {
        let told = match status {
            Status::Failed => true,
            Status::Partial | Status::Succeeded => self.printer.verbosity() >= Verbosity::Verbose && !errors.is_empty(),
        };
        let line = told.then(|| {
            let what = match status {
                Status::Failed => "failed",
                Status::Partial => "is partial",
                Status::Succeeded => "succeeded, with notes",
            };
            format!("question {id} {what}: {}", errors.join("; "))
        });
        if let Some(bar) = &self.bar {
            if let Some(line) = line {
                bar.println(harmless(&line));
            }
            bar.inc(1);
            bar.set_message(format!("{} failed", summary.failed));
            return;
        }
        if let Some(line) = line {
            self.printer.progress(&line);
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() > SILENCE && summary.left > 0 {
            *last = Instant::now();
            let done = summary.questions - summary.already - summary.left;
            self.printer.progress(&format!("{done}/{}, {} failed", done + summary.left, summary.failed));
        }
    }
}
