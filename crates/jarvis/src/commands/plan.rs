//! `jarvis plan`: the plan with a model for each task; nothing is executed.

mod pipeline;

use std::process::ExitCode;
use std::sync::Arc;

use jarvis_chat::Message;
use jarvis_engine::Events;
use jarvis_hugginggpt::Counted;
use jarvis_hugginggpt::decisions::{Decision, DecisionError};
use jarvis_pipeline::unplanned;
use jarvis_plan::export::Ground;
use jarvis_plan::{Event, EventKind, Request, RunId, TaskId, export};
use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use super::request_text;
use crate::cli::{Global, PlanArgs, PlanFormat};
use crate::failure::Failure;
use crate::ingest::{self, Intake};
use crate::printer::{Printer, one_line};
use crate::progress::Progress;
use crate::session::cancel_on_interrupt;
use crate::wiring::App;

pub(super) async fn run(args: PlanArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    if let Some(file) = &args.evaluate {
        return pipeline::evaluate(&args, file, global, printer).await;
    }
    let text = request_text(args.request.as_deref().unwrap_or_default())?;
    if args.format == PlanFormat::Pipeline && !args.reply {
        return pipeline::decide(&args, &text, global, printer).await;
    }
    let app = App::build(global, printer).await?;
    let (mut request, warnings) = ingest::request(&text, &args.files, Intake::of(&app)).await?;
    request.without_experience = args.experience.no_experience;
    warnings.iter().for_each(|warning| printer.warning(warning));
    let decisions = app.decisions()?;
    if args.dry_run_prompts {
        let asked = decisions.planning_prompt(&request).await.map_err(failure)?;
        let asked = asked.ok_or_else(|| {
            Failure::usage("without a chat model nothing is asked").hint("name one with --llm; it is not called")
        })?;
        let message = |message: &Message| json!({"role": message.role, "content": message.joined_text()});
        let document = json!({"prompt_type": "parse_task", "messages": asked.iter().map(message).collect::<Vec<_>>()});
        deliver(&serde_json::to_string_pretty(&document).map_err(Failure::work)?, &args, printer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (events, receiver) = Events::channel(RunId(App::new_run_id()));
    if args.explain {
        explain(&app, &request, &events, printer).await;
    }
    let printing = tokio::spawn(print_events(receiver, printer));
    let cancel = CancellationToken::new();
    let interrupt = tokio::spawn(cancel_on_interrupt(cancel.clone()));
    let decided = decisions.decide_for(&text, Arc::new(request), &events, cancel).await;
    drop(events);
    interrupt.abort();
    let _ = printing.await;
    let decision = decided.map_err(failure)?;
    for note in decision.plan.notes() {
        printer.progress(&format!("note: {note}"));
    }
    if let Some(description) = &decision.description {
        printer.progress(description);
    }
    let written = written(&decision, &args)?;
    deliver(&written, &args, printer)?;
    if let Some(saved) = &decision.saved {
        printer.note(&format!("the plan is kept as {saved}"));
    }
    if decision.plan.tasks().is_empty() {
        printer.progress("the plan is empty: nothing in the request fits a known task type");
        return Ok(ExitCode::from(1));
    }
    // What comes after `&&` is not begun with a plan that is not all of the request.
    Ok(if unplanned(&decision.plan).is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Says what the plan comes from.
async fn explain(app: &App, request: &Request, events: &Events, printer: Printer) {
    let counted = app.pipeline.counted(request, events).await;
    if counted.is_empty() {
        printer.progress("no experience counts");
    }
    for Counted { id, likeness, request, used } in counted {
        printer.progress(&format!("{}: run {id}, likeness {likeness:.2}: {}", used.as_str(), one_line(&request, 80)));
    }
    if app.pipeline.chat.is_none() {
        app.pipeline.explained_offline(request, events).await.lines().for_each(|line| printer.progress(line));
    }
}

/// Shows how a decision comes about. The plan itself is what is printed in the end.
async fn print_events(mut events: UnboundedReceiver<Event>, printer: Printer) {
    let mut progress = Progress::new(printer);
    while let Some(event) = events.recv().await {
        if !matches!(event.kind, EventKind::Plan { .. }) {
            progress.show(&event.kind);
        }
    }
    progress.clear();
}

/// Writes what was made to the file that was asked for, or to stdout.
fn deliver(written: &str, args: &PlanArgs, printer: Printer) -> Result<(), Failure> {
    match &args.out {
        Some(path) => std::fs::write(path, format!("{written}\n")).map_err(|error| {
            Failure::usage(format!("cannot write to `{}`: {error}", path.display()))
                .hint("name another file with --out")
        }),
        None => {
            printer.out(written);
            Ok(())
        }
    }
}

fn written(decision: &Decision, args: &PlanArgs) -> Result<String, Failure> {
    if args.reply {
        return serde_json::to_string_pretty(&decision.reply()).map_err(Failure::work);
    }
    let model = |task: TaskId| {
        let chosen = decision.choice(task)?.result.as_ref();
        Some(chosen.map_or_else(|_| "no model".to_owned(), |selection| selection.chosen.id.clone()))
    };
    let diagram = || export::plan(&decision.plan, |task| model(task).into_iter().collect());
    Ok(match args.format {
        // A pipeline is decided elsewhere.
        PlanFormat::Json | PlanFormat::Pipeline => decision.message(),
        PlanFormat::Tasks => {
            serde_json::to_string_pretty(&export::tasks_json(&decision.plan)).map_err(Failure::work)?
        }
        PlanFormat::Dot => diagram().dot().trim_end().to_owned(),
        PlanFormat::Svg => diagram().svg(Ground::Transparent).trim_end().to_owned(),
        PlanFormat::Mermaid => diagram().mermaid().trim_end().to_owned(),
    })
}

fn failure(error: DecisionError) -> Failure {
    let hint = error.hint();
    Failure::work(error).maybe_hint(hint)
}
