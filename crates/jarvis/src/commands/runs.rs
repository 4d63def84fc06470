//! `jarvis runs`: past runs, read from the journal.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use jarvis_plan::RunId;
use jarvis_store::{Journal, Media, RunRecord};
use serde_json::Value;

use crate::cli::{Global, RunsCommand};
use crate::failure::Failure;
use crate::printer::{Printer, one_line};
use crate::wiring;

pub(super) fn run(command: RunsCommand, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let journal = wiring::open_journal(global, printer)?;
    match command {
        RunsCommand::List { limit, json } => {
            let runs = journal.runs(limit).map_err(Failure::work)?;
            if json {
                return printer.json(&runs);
            }
            if runs.is_empty() {
                printer.progress("there are no runs yet");
            }
            for run in runs {
                let tasks = match run.tasks {
                    0 => "no tasks".to_owned(),
                    tasks => format!("{} of {tasks} tasks", run.ok),
                };
                printer.out(&format!(
                    "{}  {}  {:<11}  {tasks:<12}  {:>6} ms  {}",
                    run.run_id,
                    when(run.started_at_ms),
                    run.status.as_str(),
                    run.ms,
                    one_line(&run.request, 60),
                ));
            }
        }
        RunsCommand::Open { id, print } => {
            let media = wiring::open_media(global, printer)?;
            return open(&Made { journal, media }, id.as_deref(), print, printer);
        }
        RunsCommand::Show { id, reply, json } => {
            let record = record(&journal, &id)?;
            if json {
                return printer.json(&record.events);
            }
            let start = record.summary.started_at_ms;
            for event in &record.events {
                for line in describe(event, &record.summary.request, start, reply) {
                    printer.out(&line);
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn record(journal: &Journal, id: &str) -> Result<RunRecord, Failure> {
    let hint = "`jarvis runs list` shows the ids; the start of one is enough";
    journal.run(id).map_err(|error| Failure::work(error).hint(hint))
}

/// Opens the files of a run with the programs that the system opens them with. Where there is no such program, or nobody who
/// would see it, their paths are printed.
fn open(made: &Made, id: Option<&str>, print: bool, printer: Printer) -> Result<ExitCode, Failure> {
    let (run, files) = match id {
        Some(id) => {
            let record = record(&made.journal, id)?;
            (record.summary.run_id.clone(), made.files(&record))
        }
        None => made.latest()?,
    };
    if files.is_empty() {
        return Err(Failure::work(format!("run {run} made no files"))
            .hint("`jarvis runs list` shows the runs, `jarvis runs show ID` what one did"));
    }
    let (there, gone): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| path.is_file());
    for path in &gone {
        printer.warning(&format!("{} is no longer there", path.display()));
    }
    let seen = !print && std::io::stdout().is_terminal();
    for path in &there {
        printer.out(&path.display().to_string());
        if seen && let Err(error) = open::that_detached(path) {
            printer.warning(&format!("the system could not open it: {error}"));
        }
    }
    match there.is_empty() {
        true => Err(Failure::work(format!("the files of run {run} were removed"))),
        false => Ok(ExitCode::SUCCESS),
    }
}

/// How many runs are looked through for the latest that made files.
const LOOKED_THROUGH: u32 = 100;

/// What runs made.
struct Made {
    journal: Journal,
    media: Media,
}

impl Made {
    fn latest(&self) -> Result<(RunId, Vec<PathBuf>), Failure> {
        for run in self.journal.runs(LOOKED_THROUGH).map_err(Failure::work)? {
            let files = self.files(&record(&self.journal, &run.run_id.0)?);
            if !files.is_empty() {
                return Ok((run.run_id, files));
            }
        }
        Err(Failure::work("no run of late made files").hint("make one: jarvis run \"find the edges\" --file photo.jpg"))
    }

    /// Where the files of a run's answer are: where they were put, or under the public root, as those of the server are.
    fn files(&self, record: &RunRecord) -> Vec<PathBuf> {
        let answers = record.events.iter().filter(|event| event.get("event").is_some_and(|name| name == "answer"));
        let resources = answers.filter_map(|event| event.pointer("/answer/resources")?.as_array()).flatten();
        let text = |made: &Value, field: &str| made.get(field).and_then(Value::as_str).map(str::to_owned);
        let place = |made: &Value| match text(made, "path") {
            Some(path) => Some(PathBuf::from(path)),
            None => self.media.disk_path(&text(made, "url")?).ok(),
        };
        resources.filter_map(place).collect()
    }
}

fn describe(event: &Value, typed: &str, start: u64, reply: bool) -> Vec<String> {
    let at = event.get("at_ms").and_then(Value::as_u64).unwrap_or(start).saturating_sub(start);
    let text = |path: &str| event.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |path: &str| event.pointer(path).and_then(Value::as_u64).unwrap_or_default();
    let rows = |path: &str| event.pointer(path).and_then(Value::as_array).cloned().unwrap_or_default();
    let line = |rest: String| format!("{at:>7} ms  {rest}");
    match event.get("event").and_then(Value::as_str).unwrap_or_default() {
        "run_started" => {
            let mut lines = vec![line(format!("request: {typed}"))];
            for resource in rows("/request/attachments") {
                let name = resource.get("name").and_then(Value::as_str).unwrap_or_default();
                let source = resource.pointer("/source/public").or(resource.pointer("/source/url"));
                let source = source.and_then(Value::as_str).unwrap_or("(text)");
                lines.push(line(format!("file: {name} {source}")));
            }
            lines.push(line(format!("planner: {}, model: {}", text("/planner"), text("/model"))));
            lines
        }
        "plan" => {
            let tasks = rows("/plan/tasks").into_iter().map(|task| line(format!("plan: {task}")));
            let notes = rows("/plan/notes").into_iter();
            let notes = notes.map(|note| line(format!("plan note: {}", note.as_str().unwrap_or_default())));
            tasks.chain(notes).collect()
        }
        "model_call" => {
            let mut lines = vec![line(format!(
                "{} call: {} ms, {} + {} tokens{}",
                text("/stage"),
                number("/ms"),
                number("/prompt_tokens"),
                number("/completion_tokens"),
                if event.get("ok") == Some(&Value::Bool(true)) { "" } else { ", failed" },
            ))];
            if reply {
                lines.extend(text("/reply").lines().map(|written| format!("            | {written}")));
            }
            lines
        }
        "model_chosen" => vec![line(format!(
            "task {}: chose {} ({}): {}",
            number("/selection/task") + 1,
            text("/selection/chosen/id"),
            text("/selection/chosen/host"),
            text("/selection/reason"),
        ))],
        "task_started" => {
            vec![line(format!("task {}: {} started with {}", number("/id") + 1, text("/task"), text("/model")))]
        }
        "task_attempt" => vec![line(format!(
            "task {}: {} failed: {}",
            number("/id") + 1,
            text("/attempt/candidate/id"),
            text("/attempt/error/message"),
        ))],
        "task_finished" => {
            let result = event.pointer("/outcome/inference").map(|value| one_line(&value.to_string(), 400));
            let what = match event.pointer("/outcome/error/message").and_then(Value::as_str) {
                Some(error) => error.to_owned(),
                None => result.unwrap_or_default(),
            };
            vec![line(format!(
                "task {}: {} {} in {} ms: {what}",
                number("/outcome/id") + 1,
                text("/outcome/task"),
                text("/outcome/status"),
                number("/outcome/ms"),
            ))]
        }
        "thought" => vec![line(format!("thought {}: {}", number("/step"), one_line(&text("/text"), 400)))],
        "action" => {
            vec![line(format!("action {}: {} {}", number("/step"), text("/tool"), one_line(&text("/input"), 400)))]
        }
        "observation" => vec![line(format!("observation {}: {}", number("/step"), one_line(&text("/text"), 400)))],
        "answer" => {
            let written = text("/answer/text");
            std::iter::once(line("answer:".into()))
                .chain(written.lines().map(|written| format!("            {written}")))
                .collect()
        }
        "note" => vec![line(format!("{}: {}", text("/level"), text("/message")))],
        "done" => {
            vec![line(format!("done in {} ms, usage {}", number("/ms"), event.get("usage").unwrap_or(&Value::Null)))]
        }
        "error" => vec![line(format!("error {}: {}", text("/code"), text("/message")))],
        _ => Vec::new(),
    }
}

/// A time as `YYYY-MM-DD HH:MM:SS` in UTC.
fn when(ms: u64) -> String {
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(ms);
    humantime::format_rfc3339_seconds(time).to_string().replace('T', " ").replace('Z', "")
}
