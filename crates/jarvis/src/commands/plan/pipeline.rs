//! `jarvis plan --format pipeline` and `--evaluate`: plans of vision pipelines, and how good they are.

use std::path::Path;
use std::process::ExitCode;

use jarvis_engine::Events;
use jarvis_hugginggpt::decisions::evaluate::{EvaluationError, SampleLog};
use jarvis_hugginggpt::decisions::{Examples, Scenario};
use jarvis_plan::{EventKind, RunId};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{deliver, failure};
use crate::batch_progress::BatchProgress;
use crate::cli::{Global, PlanArgs};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::cancel_on_interrupt;
use crate::wiring::App;

const NO_MODEL: &str = "set one, for example `--llm qwen3:8b --base-url http://localhost:11434/v1`";

pub(super) async fn decide(
    args: &PlanArgs,
    text: &str,
    global: &Global,
    printer: Printer,
) -> Result<ExitCode, Failure> {
    let scenario = scenario(text)?;
    let app = App::build(global, printer).await?;
    if app.pipeline.chat.is_none() {
        return Err(Failure::usage("a pipeline is planned by a chat model, and none is configured").hint(NO_MODEL));
    }
    let decisions = app.decisions()?;
    let (events, mut receiver) = Events::channel(RunId(App::new_run_id()));
    let cancel = CancellationToken::new();
    let interrupt = tokio::spawn(cancel_on_interrupt(cancel.clone()));
    let decided = decisions.decide_pipeline(&scenario, &events, cancel).await;
    drop(events);
    interrupt.abort();
    while let Ok(event) = receiver.try_recv() {
        if let EventKind::Note { message, .. } = event.kind {
            printer.progress(&message);
        }
    }
    let decision = decided.map_err(failure)?;
    let tasks = json!({ "tasks": decision.pipeline.tasks });
    deliver(&serde_json::to_string_pretty(&tasks).map_err(Failure::work)?, args, printer)?;
    if let Some(saved) = &decision.saved {
        printer.note(&format!("the plan is kept as {saved}"));
    }
    if decision.pipeline.tasks.is_empty() {
        printer.progress("the pipeline is empty: the scene calls for no known task");
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

/// A scene: described in words, or a scenario as JSON.
fn scenario(text: &str) -> Result<Scenario, Failure> {
    if !text.trim_start().starts_with('{') {
        return Ok(Scenario::described(text));
    }
    let wrong = |why: String| {
        Failure::usage(format!("the scenario cannot be used: {why}"))
            .hint(r#"a scenario is {"objects-seen": ["…"], "sample-description": "…"}"#)
    };
    let value: Value = serde_json::from_str(text).map_err(|error| wrong(format!("it is not JSON: {error}")))?;
    Scenario::read(value.get("scenario").unwrap_or(&value)).map_err(wrong)
}

/// Plans for examples and prints how the plans compare with the known ones.
pub(super) async fn evaluate(
    args: &PlanArgs,
    file: &Path,
    global: &Global,
    printer: Printer,
) -> Result<ExitCode, Failure> {
    let examples = Examples::load(file, args.categories.as_deref()).map_err(Failure::usage)?;
    let app = App::build(global, printer).await?;
    if app.pipeline.chat.is_none() {
        return Err(Failure::usage("planning is measured with a chat model, and none is configured").hint(NO_MODEL));
    }
    let decisions = app.decisions()?;
    let log_path = args.out.as_ref().map(|out| out.with_extension("samples.jsonl"));
    let mut log = {
        let measured = measured(args, file, &app)?;
        log_path.as_deref().map(|path| open_log(path, &measured, args.resume)).transpose()?
    };
    let failures = args.out.as_deref().unwrap_or(Path::new("the figures"));
    let mut shown = BatchProgress::new(printer, app.pipeline.model_name(), ("sample", "plan"), failures);
    shown.lists_all = true;
    let stop = CancellationToken::new();
    let interrupt = tokio::spawn(cancel_on_interrupt(stop.clone()));
    let measured = decisions.evaluate(&examples, !args.no_few_shots, log.as_mut(), &shown, &stop).await;
    interrupt.abort();
    shown.clear();
    let (figures, summary) = measured.map_err(|error| match error {
        EvaluationError::Decision(error) => failure(error),
        error @ (EvaluationError::Log(_) | EvaluationError::Other { .. }) => Failure::work(error).hint(OTHER_FILE),
    })?;
    if summary.left > 0 {
        let how_to_go_on = match log_path {
            Some(_) => "run the same command with --resume to plan for what is missing",
            None => "with --out FILE, a measurement can be gone on with by --resume",
        };
        shown.end(&summary, how_to_go_on);
        return Err(Failure::work("the measurement did not come to its end"));
    }
    deliver(&serde_json::to_string_pretty(&figures).map_err(Failure::work)?, args, printer)?;
    if let Some(out) = &args.out {
        for (ending, report) in [("tasks.txt", figures.tasks_report()), ("paths.txt", figures.paths_report())] {
            let path = out.with_extension(ending);
            std::fs::write(&path, report)
                .map_err(|error| Failure::work(format!("cannot write to `{}`: {error}", path.display())))?;
        }
    }
    drop(log);
    if let Some(path) = log_path.filter(|_| figures.failed == 0) {
        // The figures hold every sample now; with failures, --resume plans for those alone.
        let _ = std::fs::remove_file(path);
    }
    Ok(if figures.samples > figures.failed { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

const OTHER_FILE: &str = "name another file with --out";

/// What is measured with what, in a line: samples of two measurements do not mix.
fn measured(args: &PlanArgs, file: &Path, app: &App) -> Result<String, Failure> {
    let bytes = std::fs::read(file).map_err(Failure::usage)?;
    let mut hasher = std::hash::DefaultHasher::new();
    std::hash::Hash::hash(&bytes, &mut hasher);
    let (digest, shots) = (std::hash::Hasher::finish(&hasher), if args.no_few_shots { "no " } else { "" });
    let (model, method) = (app.pipeline.model_name(), app.config.decisions.method);
    Ok(format!("{model}, {method:?}, {shots}few-shots, examples {digest:016x}"))
}

/// The samples beside the figures that an earlier measurement left.
fn open_log(path: &Path, measured: &str, resume: bool) -> Result<SampleLog, Failure> {
    let log = SampleLog::open(path, measured).map_err(|error| match error {
        EvaluationError::Other { .. } => Failure::usage(error).hint(OTHER_FILE),
        error => Failure::work(error).hint(OTHER_FILE),
    })?;
    if resume || log.is_empty() {
        return Ok(log);
    }
    Err(Failure::usage(format!("`{}` holds samples of an earlier measurement", path.display()))
        .hint("go on with them by --resume, remove the file, or name another one with --out"))
}
