//! `jarvis run`: plans a request, runs the plan and prints the answer.

use std::path::Path;
use std::process::ExitCode;

use jarvis_hugginggpt::decisions::{Executable, read_plan};
use jarvis_hugginggpt::{About, RunDocument};
use jarvis_pipeline::Run;
use jarvis_plan::{ErrorCode, Outcome};
use serde_json::Value;

use super::{read_input, request_text};
use crate::cli::{Global, RunArgs};
use crate::failure::Failure;
use crate::hint::Hint;
use crate::ingest::{self, Intake};
use crate::printer::Printer;
use crate::results::make_folder;
use crate::session::{self, Finished, Live, Work};
use crate::wiring::{App, Flags};

/// The largest plan that is read, in bytes.
const MAX_PLAN: u64 = 4 << 20;

pub(super) async fn run(args: RunArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let ended = carry_out(&args, global, printer).await;
    if let (true, Err(failure)) = (args.json, &ended) {
        printer.out(&failure.document().to_string());
    }
    ended
}

async fn carry_out(args: &RunArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let asked = args.request.as_deref().map(request_text).transpose()?;
    let given = args.plan.as_deref().map(plan_document).transpose()?;
    if let Some(folder) = &args.out {
        make_folder(folder)?;
    }
    let flags = Flags {
        approval: args.approval.clone(),
        budget: args.budget,
        replan: args.replan,
        out: args.out.as_deref(),
        ..Flags::default()
    };
    let app = App::build_with(flags, global, printer).await?;
    let hint = Hint::look(&app.config, app.local().map(AsRef::as_ref), printer);
    let pipeline = app.pipeline_named(&args.pipeline)?;
    let plan = given.map(|given| executable(&given, &app)).transpose()?;
    let of_plan = plan.as_ref().and_then(|plan| plan.request.clone());
    let text = asked.or(of_plan).unwrap_or_default();
    let (mut request, warnings) = ingest::request(&text, &args.files, Intake::of(&app)).await?;
    request.without_experience = args.experience.no_experience;
    let work = match plan {
        Some(mut plan) => {
            let request = ingest::plan(&mut plan, request, Intake::of(&app)).await?;
            Work::Plan(request, Box::new(plan))
        }
        None => {
            warnings.iter().for_each(|warning| printer.warning(warning));
            Work::Request(request, pipeline)
        }
    };
    let planner = if args.plan.is_some() { "plan" } else { app.pipeline.planner_name() };
    let live = if args.events {
        Live::Events
    } else if args.json {
        Live::Nothing
    } else {
        Live::Tokens
    };
    let finished = session::run(&app, work, live, printer).await.inspect_err(|_| hint.tell(printer))?;
    if args.json {
        printer.json(&document(&app, planner, &text, &finished))?;
    } else if !args.events {
        show(&app, planner, &finished, printer);
    }
    hint.tell(printer);
    all_put(&app, &finished)?;
    Ok(if finished.run.ok() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The plan file, as JSON; `-` stands for standard input.
fn plan_document(path: &Path) -> Result<Value, Failure> {
    let name = if path == Path::new("-") { "standard input".to_owned() } else { format!("`{}`", path.display()) };
    let read = read_input(path, MAX_PLAN).and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other));
    let text = read.map_err(|error| {
        Failure::usage(format!("cannot read the plan from {name}: {error}"))
            .hint("make one with `jarvis plan \"…\" --out plan.json`")
    })?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::usage(format!("the plan in {name} is not valid JSON: {error}"))
            .hint("a plan is what `jarvis plan` writes, for example with --out plan.json")
    })
}

/// The plan of a document, wholly checked: nothing is executed unless all of it can be.
fn executable(document: &Value, app: &App) -> Result<Executable, Failure> {
    let (vocabulary, sources) = (&app.pipeline.vocabulary, &app.pipeline.sources);
    read_plan(document, vocabulary, sources, app.pipeline.settings.plan).map_err(|error| {
        let hint = error.hint();
        Failure::usage(error).hint(hint)
    })
}

pub(super) fn document(app: &App, planner: &str, text: &str, finished: &Finished) -> RunDocument {
    let about = About {
        run_id: &finished.run_id.0,
        request: text,
        planner,
        model: &app.pipeline.model_name(),
        usage: finished.usage.clone(),
        ms: finished.ms,
    };
    RunDocument::new(&finished.run, about, |url| app.media.disk_path(url).ok())
}

/// Whether all files are where the person looks for them. The answer is printed even where they are not.
pub(super) fn all_put(app: &App, finished: &Finished) -> Result<(), Failure> {
    let (missing, results) = (finished.run.answer.resources.iter().any(|made| made.path.is_none()), &app.results);
    match results.as_ref().filter(|_| missing) {
        Some(results) => {
            Err(Failure::work(format!("not all files could be put into `{}`", results.folder().display()))
                .hint("name another folder with --out, or with the configuration key `output.dir`"))
        }
        None => Ok(()),
    }
}

/// Prints the answer, the files it is about, and who planned and worked.
pub(super) fn show(app: &App, planner: &str, finished: &Finished, printer: Printer) {
    let answer = &finished.run.answer;
    if finished.streamed {
        printer.out("");
    } else {
        printer.out(&answer.text);
    }
    for resource in &answer.resources {
        let path = resource.path.clone().or_else(|| app.media.disk_path(&resource.url).ok());
        let path = path.map(|path| path.display().to_string()).unwrap_or_default();
        // The template names files on disk; a model is told their names alone.
        if !answer.text.contains(&path) {
            printer.out(&format!("{}: {path}", resource.name));
        }
    }
    printer.out(&footer(app, planner, finished));
    printer.note(&format!("run {} took {} ms", finished.run_id, finished.ms));
}

/// Whether something was asked for that nothing at hand can do.
fn is_beyond(run: &Run) -> bool {
    let beyond = |outcome: &Outcome| {
        outcome.error.as_ref().is_some_and(|error| matches!(error.code, ErrorCode::NoModel | ErrorCode::CannotDo))
    };
    run.reason() == Some("no_plan") || run.outcomes.iter().any(beyond)
}

fn footer(app: &App, planner: &str, finished: &Finished) -> String {
    let mut models: Vec<String> = Vec::new();
    for performer in finished.run.outcomes.iter().filter(|outcome| outcome.succeeded()).filter_map(|o| o.performer()) {
        if !models.contains(&performer.id) {
            models.push(performer.id.clone());
        }
    }
    let by = match planner {
        "offline" if finished.run.conversation && finished.usage.calls.contains_key("chitchat") => {
            format!("answered as conversation by {}", app.config.llm.name())
        }
        "offline" if is_beyond(&finished.run) => {
            "planned by offline planner; a chat model, given with --llm, can do more".to_owned()
        }
        "offline" => "planned by offline planner".to_owned(),
        "plan" => "as the given plan says".to_owned(),
        _ => format!("planned by {}", app.pipeline.model_name()),
    };
    let models = if models.is_empty() { String::new() } else { format!("; done by {}", models.join(", ")) };
    format!("— {by}{models}")
}
