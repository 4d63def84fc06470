//! `jarvis chat`: a conversation; each request sees the earlier turns and files.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::Arc;

use jarvis_catalogue::TaskOutput;
use jarvis_pipeline::Pipeline;
use jarvis_plan::{Resource, Source, Turn};
use tokio::io::{AsyncBufReadExt, BufReader};

use super::run::{all_put, document, show};
use crate::cli::{ChatArgs, Global};
use crate::failure::Failure;
use crate::hint::Hint;
use crate::ingest::{self, Intake};
use crate::printer::Printer;
use crate::results::make_folder;
use crate::session::{self, Live, Work};
use crate::wiring::{App, Flags};

const GREETING: &str = "Tell me what you need; name files by their path. `exit` ends.";

pub(super) async fn run(args: ChatArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    if let Some(folder) = &args.out {
        make_folder(folder)?;
    }
    let flags =
        Flags { approval: args.approval.clone(), budget: args.budget, out: args.out.as_deref(), ..Flags::default() };
    let app = App::build_with(flags, global, printer).await?;
    let hint = Hint::look(&app.config, app.local().map(AsRef::as_ref), printer);
    let pipeline = app.pipeline_named(&args.pipeline)?;
    let mut files = args.files;
    let mut memory = Memory { no_experience: args.experience.no_experience, ..Memory::default() };
    if let Some(text) = &args.once {
        let ended = turn(&app, &pipeline, text, &files, &mut memory, args.json, printer).await;
        hint.tell(printer);
        let ok = ended?;
        return Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(1) });
    }
    if !args.json {
        printer.progress(GREETING);
    }
    // A person sees what was not done; a script sees the exit status.
    let is_script = !std::io::stdin().is_terminal();
    let mut all_done = true;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        if !args.json {
            printer.out_piece("[ User ]: ");
        }
        let line = tokio::select! {
            line = lines.next_line() => line,
            _ = tokio::signal::ctrl_c() => break,
        };
        let Ok(Some(line)) = line else { break };
        let line = line.trim();
        match line {
            "" => continue,
            "exit" | "quit" => break,
            _ => {}
        }
        match turn(&app, &pipeline, line, &files, &mut memory, args.json, printer).await {
            Ok(done) => all_done &= done,
            // One request that fails does not end the conversation.
            Err(failure) => {
                all_done = false;
                if args.json {
                    printer.out(&failure.document().to_string());
                }
                printer.error(failure.error(), failure.advice());
            }
        }
        hint.tell(printer);
        files.clear();
    }
    if !args.json {
        printer.out("");
    }
    Ok(if all_done || !is_script { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

#[derive(Debug, Default)]
struct Memory {
    history: Vec<Turn>,
    /// The texts that were spoken of last, for requests that name none.
    texts: Vec<Resource>,
    /// The texts that were made last.
    results: Vec<String>,
    no_experience: bool,
}

/// Whether what a task gives is a text of its own, not something told of another.
fn makes_text(task: &str) -> bool {
    matches!(
        task,
        "summarization"
            | "translation"
            | "image-to-text"
            | "automatic-speech-recognition"
            | "text2text-generation"
            | "text-generation"
    )
}

/// One request and its answer; true when it was answered.
async fn turn(
    app: &App,
    pipeline: &Arc<dyn Pipeline>,
    text: &str,
    files: &[std::path::PathBuf],
    memory: &mut Memory,
    json: bool,
    printer: Printer,
) -> Result<bool, Failure> {
    let (mut request, told) = ingest::request(text, files, Intake::of(app)).await?;
    told.iter().for_each(|told| printer.warning(told));
    request.history.clone_from(&memory.history);
    request.results.clone_from(&memory.results);
    request.without_experience = memory.no_experience;
    let is_text = |resource: &Resource| matches!(resource.source, Source::Inline(_));
    if request.attachments.is_empty() {
        request.attachments.clone_from(&memory.texts);
    } else if request.attachments.iter().any(is_text) {
        memory.texts = request.attachments.iter().filter(|resource| is_text(resource)).cloned().collect();
    } else {
        // The talk has turned to something else.
        memory.texts.clear();
    }
    let asked = request.text.clone();
    let public = |resource: &Resource| match (&resource.source, &resource.name) {
        (Source::Public(path), Some(name)) => Some((name.clone(), path.clone())),
        (Source::Public(_) | Source::Inline(_) | Source::Url(_), _) => None,
    };
    let taken: Vec<(String, String)> = request.attachments.iter().filter_map(public).collect();
    if !json {
        printer.out_piece("[ Jarvis ]: ");
    }
    let live = if json { Live::Nothing } else { Live::Tokens };
    let finished = session::run(app, Work::Request(request, Arc::clone(pipeline)), live, printer).await?;
    let planner = app.pipeline.planner_name();
    if json {
        let document = document(app, planner, text, &finished);
        printer.out(&serde_json::to_string(&document).map_err(Failure::work)?);
    } else {
        show(app, planner, &finished, printer);
    }
    // What a later request may refer to is in the history by its display path; the template answer names files on disk.
    let mut answer = finished.run.answer.text.clone();
    for (name, path) in &taken {
        answer = answer.replace(name, path);
    }
    for resource in &finished.run.answer.resources {
        if let Some(path) = &resource.path {
            answer = answer.replace(&path.display().to_string(), &resource.url);
        }
        answer = answer.replace(&resource.name, &resource.url);
        if !answer.contains(&resource.url) {
            answer.push_str(&format!("\n{}", resource.url));
        }
    }
    let outcomes = finished.run.outcomes.iter().filter(|outcome| outcome.succeeded() && makes_text(&outcome.task));
    let made: Vec<String> = outcomes.filter_map(|outcome| TaskOutput::of(outcome)?.as_text()).collect();
    if finished.run.outcomes.iter().any(jarvis_plan::Outcome::succeeded) {
        memory.results = made;
    }
    memory.history.push(Turn::user(asked));
    memory.history.push(Turn::assistant(answer));
    all_put(app, &finished)?;
    Ok(finished.run.ok())
}
