//! `jarvis plan`: the plan alone; nothing is executed.

use std::process::ExitCode;

use jarvis_engine::Events;
use jarvis_hugginggpt::Planned;
use jarvis_plan::{EventKind, RunId, export};

use super::request_text;
use crate::cli::{Global, PlanArgs, PlanFormat};
use crate::failure::Failure;
use crate::ingest;
use crate::printer::Printer;
use crate::wiring::App;

pub(super) async fn run(args: PlanArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let text = request_text(&args.request)?;
    let app = App::build(global, printer)?;
    let (request, told) = ingest::request(&text, &args.files, &app.media, app.config.limits.max_input_bytes)?;
    told.iter().for_each(|told| printer.warning(told));
    let (events, mut receiver) = Events::channel(RunId(App::new_run_id()));
    let planned = app.pipeline.plan(&request, &events).await;
    drop(events);
    while let Ok(event) = receiver.try_recv() {
        if let EventKind::Note { message, .. } = event.kind {
            printer.progress(&message);
        }
    }
    let plan = match planned {
        Ok(Planned::Tasks(plan)) => plan,
        Ok(Planned::Conversation(answer, plan)) => {
            printer.progress(&format!("answered as conversation: {}", answer.text));
            plan
        }
        Err(error) => {
            let hint = error.hint();
            let failure = Failure::work(error);
            return Err(match hint {
                Some(hint) => failure.hint(hint),
                None => failure,
            });
        }
    };
    for note in &plan.notes {
        printer.progress(&format!("note: {note}"));
    }
    match args.format {
        PlanFormat::Json => {
            printer.out(&serde_json::to_string_pretty(&export::tasks_json(&plan)).map_err(Failure::work)?);
        }
        PlanFormat::Dot => printer.out(export::dot(&plan).trim_end()),
        PlanFormat::Mermaid => printer.out(export::mermaid(&plan).trim_end()),
    }
    if plan.tasks.is_empty() {
        printer.progress("the plan is empty: nothing in the request fits a known task type");
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}
