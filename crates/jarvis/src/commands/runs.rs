//! `jarvis runs`: past runs, read from the journal.

use std::process::ExitCode;

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
        RunsCommand::Show { id, reply, json } => {
            let record = journal.run(&id).map_err(|error| {
                Failure::work(error).hint("`jarvis runs list` shows the ids; the start of one is enough")
            })?;
            if json {
                return printer.json(&record.events);
            }
            let start = record.summary.started_at_ms;
            for event in &record.events {
                for line in describe(event, start, reply) {
                    printer.out(&line);
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(event: &Value, start: u64, reply: bool) -> Vec<String> {
    let at = event.get("at_ms").and_then(Value::as_u64).unwrap_or(start).saturating_sub(start);
    let text = |path: &str| event.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |path: &str| event.pointer(path).and_then(Value::as_u64).unwrap_or_default();
    let rows = |path: &str| event.pointer(path).and_then(Value::as_array).cloned().unwrap_or_default();
    let line = |rest: String| format!("{at:>7} ms  {rest}");
    match event.get("event").and_then(Value::as_str).unwrap_or_default() {
        "run_started" => {
            let mut lines = vec![line(format!("request: {}", text("/request/text")))];
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
