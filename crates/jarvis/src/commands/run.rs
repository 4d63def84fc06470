//! `jarvis run`: the main job.

use std::process::ExitCode;

use jarvis_hugginggpt::{About, RunDocument};

use super::{copy_out, make_out, request_text};
use crate::cli::{Global, RunArgs};
use crate::failure::Failure;
use crate::ingest;
use crate::printer::Printer;
use crate::session::{self, Finished, Live};
use crate::wiring::App;

pub(super) async fn run(args: RunArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let text = request_text(&args.request)?;
    if let Some(folder) = &args.out {
        make_out(folder)?;
    }
    let app = App::build(global, printer)?;
    let (request, told) = ingest::request(&text, &args.files, &app.media, app.config.limits.max_input_bytes)?;
    told.iter().for_each(|told| printer.warning(told));
    let live = if args.events {
        Live::Events
    } else if args.json {
        Live::Nothing
    } else {
        Live::Tokens
    };
    let finished = match session::run(&app, request, live, printer).await {
        Ok(finished) => finished,
        Err(failure) => {
            if args.json {
                printer.out(&failure.document().to_string());
            }
            return Err(failure);
        }
    };
    if args.json {
        let document = document(&app, &text, &finished);
        let json = serde_json::to_string_pretty(&document).map_err(Failure::work)?;
        printer.out(&json);
    } else if !args.events {
        show(&app, &finished, printer);
    }
    // The answer is told before a copy can fail.
    if let Some(folder) = &args.out {
        copy_out(&finished.run.answer, folder, |url| app.media.disk_path(url).ok())?;
    }
    Ok(if finished.run.ok() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The JSON document of a finished run.
pub(super) fn document(app: &App, text: &str, finished: &Finished) -> RunDocument {
    let about = About {
        run_id: &finished.run_id.0,
        request: text,
        planner: app.pipeline.planner_name(),
        model: &app.pipeline.model_name(),
        usage: finished.usage.clone(),
        ms: finished.ms,
    };
    RunDocument::new(&finished.run, about, |url| app.media.disk_path(url).ok())
}

/// Prints the answer, the files it is about, and who planned and worked.
pub(super) fn show(app: &App, finished: &Finished, printer: Printer) {
    let answer = &finished.run.answer;
    if finished.streamed {
        printer.out("");
    } else {
        printer.out(&answer.text);
    }
    for resource in &answer.resources {
        let path = app.media.disk_path(&resource.url).map(|path| path.display().to_string()).unwrap_or_default();
        // The template names files on disk; a model names display paths, which a person cannot open.
        if !answer.text.contains(&path) {
            printer.out(&format!("{}: {path}", resource.url));
        }
    }
    printer.out(&footer(app, finished));
    printer.note(&format!("run {} took {} ms", finished.run_id, finished.ms));
}

/// Which planner and models were at work.
fn footer(app: &App, finished: &Finished) -> String {
    let mut models: Vec<String> = Vec::new();
    for performer in finished.run.outcomes.iter().filter(|outcome| outcome.succeeded()).filter_map(|o| o.performer()) {
        if !models.contains(&performer.id) {
            models.push(performer.id.clone());
        }
    }
    let planner = match app.pipeline.planner_name() {
        "offline" => "offline planner".to_owned(),
        _ => app.pipeline.model_name(),
    };
    let models = if models.is_empty() { String::new() } else { format!("; done by {}", models.join(", ")) };
    format!("— planned by {planner}{models}")
}
