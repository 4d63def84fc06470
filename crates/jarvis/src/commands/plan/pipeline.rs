//! `jarvis plan --format pipeline` and `--evaluate`: plans of vision pipelines, and how good they are.

use std::path::Path;
use std::process::ExitCode;

use jarvis_engine::Events;
use jarvis_hugginggpt::decisions::evaluate::Sample;
use jarvis_hugginggpt::decisions::{Examples, Scenario};
use jarvis_plan::{EventKind, RunId};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{deliver, failure};
use crate::cli::{Global, PlanArgs};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::cancel_on_interrupt;
use crate::wiring::App;

const NO_MODEL: &str = "set one, for example `--llm qwen3:8b --base-url http://localhost:11434/v1`";

/// Decides for a scene and prints its pipeline.
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
    let (events, receiver) = Events::channel(RunId(App::new_run_id()));
    // The steps of each plan would drown the progress of the measurement.
    drop(receiver);
    let report = |sample: &Sample| {
        let how = match (&sample.error, sample.all_match) {
            (Some(error), _) => error.clone(),
            (None, true) => "right".to_owned(),
            (None, false) => format!("{} of {} paths right", sample.paths_matched, sample.paths_true),
        };
        printer.progress(&format!("{}: {how}", sample.id));
    };
    let cancel = CancellationToken::new();
    let interrupt = tokio::spawn(cancel_on_interrupt(cancel.clone()));
    let measured = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(Failure::work("the measurement was interrupted")),
        measured = decisions.evaluate(&examples, !args.no_few_shots, &events, report) => measured.map_err(failure)?,
    };
    interrupt.abort();
    deliver(&serde_json::to_string_pretty(&measured).map_err(Failure::work)?, args, printer)?;
    if let Some(out) = &args.out {
        for (ending, report) in [("tasks.txt", measured.tasks_report()), ("paths.txt", measured.paths_report())] {
            let path = out.with_extension(ending);
            std::fs::write(&path, report)
                .map_err(|error| Failure::work(format!("cannot write to `{}`: {error}", path.display())))?;
        }
    }
    Ok(if measured.samples > measured.failed { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
