//! `jarvis runs`: past runs, read from the journal, and gone on with.

mod going_on;
mod timeline;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jarvis_plan::{Money, RunId};
use jarvis_store::{CostRow, Journal, JournalError, Media, RunRecord};
use serde_json::Value;

use crate::cli::{Global, Rating, RunsCommand};
use crate::failure::Failure;
use crate::printer::{Printer, one_line};
use crate::wiring;

pub(super) async fn run(command: RunsCommand, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let command = match command {
        RunsCommand::Resume(args) => {
            let as_json = args.json;
            return documented(going_on::resume(args, global, printer).await, as_json, printer);
        }
        RunsCommand::Retry { from, run } => {
            let as_json = run.json;
            return documented(going_on::retry(run, from, global, printer).await, as_json, printer);
        }
        RunsCommand::Rate { id, rating } => return rate(&id, rating, global, printer).await,
        RunsCommand::Cancel { id } => return going_on::cancel(&id, global, printer).await,
        RunsCommand::Prune { older, most, dry_run } => {
            return going_on::prune(older, most, dry_run, global, printer).await;
        }
        command => command,
    };
    let journal = wiring::open_journal(global, printer)?;
    match command {
        RunsCommand::List { limit, json } => {
            let runs = journal.runs(limit).map_err(Failure::work)?;
            if json {
                return printer.json(&runs);
            }
            // Whose they are, where a server has or had several users.
            let wide = runs.iter().map(|run| run.user.chars().count()).max().filter(|wide| *wide > 0);
            let mut cut_off = false;
            if runs.is_empty() {
                printer.progress(&format!("there are no runs yet in {}", journal.path().display()));
            }
            for run in runs {
                let tasks = match run.tasks {
                    0 => "no tasks".to_owned(),
                    tasks => format!("{} of {tasks} tasks", run.ok),
                };
                let whose = wide.map_or(String::new(), |wide| {
                    format!("{:<wide$}  ", if run.user.is_empty() { "-" } else { &run.user })
                });
                printer.out(&format!(
                    "{}  {}  {:<11}  {whose}{tasks:<12}  {:>6} ms  {}",
                    run.run_id,
                    when(run.started_at_ms),
                    run.status.as_str(),
                    run.ms,
                    one_line(&run.request, 60),
                ));
                cut_off |= run.resumable;
            }
            if cut_off {
                printer.progress("a run that is interrupted goes on with `jarvis runs resume ID`");
            }
        }
        RunsCommand::Cost { by, days, json } => return cost(&journal, &by, days, json, printer),
        RunsCommand::Open { id, print } => {
            let media = wiring::open_media(global, printer)?;
            return open(&Made { journal, media }, id.as_deref(), print, printer);
        }
        RunsCommand::Show { id, timeline, reply, json } => {
            let record = record(&journal, &id)?;
            if timeline {
                timeline::lines(&record.events).iter().for_each(|line| printer.out(line));
                return Ok(ExitCode::SUCCESS);
            }
            if json {
                return printer.json(&record.events);
            }
            let start = record.summary.started_at_ms;
            for event in &record.events {
                for line in describe(event, &record.summary.request, start, reply) {
                    printer.out(&line);
                }
            }
            if record.summary.resumable {
                let id = &record.summary.run_id;
                printer.progress(&match record.engine() {
                    Some(engine) => {
                        format!("no server follows it; it goes on at {engine}, and one that uses that tells on")
                    }
                    None => format!("it was cut off here; `jarvis runs resume {id}` goes on with it"),
                });
            }
        }
        RunsCommand::Resume(_)
        | RunsCommand::Retry { .. }
        | RunsCommand::Rate { .. }
        | RunsCommand::Cancel { .. }
        | RunsCommand::Prune { .. } => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Says of the plan of a run whether it is one to plan by.
async fn rate(id: &str, rating: Rating, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let journal = wiring::open_journal(global, printer)?;
    let whole = match journal.run(id) {
        Ok(record) => record.summary.run_id.0,
        // What was imported is of no run here.
        Err(JournalError::NotFound { .. }) => id.to_owned(),
        Err(error) => return Err(Failure::work(error)),
    };
    let rated = journal.rate(None, &whole, rating == Rating::Good).await.map_err(Failure::work)?;
    let Some(rated) = rated else {
        let id = record(&journal, id)?.summary.run_id;
        return Err(Failure::work(format!("no plan of run {id} is kept as experience")).hint(
            "a run is rated whose tasks were carried out, and that was not told to leave experience out: see docs/experience.md",
        ));
    };
    printer.out(&format!("run {rated} is rated {}", rating.as_str()));
    Ok(ExitCode::SUCCESS)
}

/// Where a document was asked for, a failure is one too.
fn documented(ended: Result<ExitCode, Failure>, as_json: bool, printer: Printer) -> Result<ExitCode, Failure> {
    if let (true, Err(failure)) = (as_json, &ended) {
        printer.out(&failure.document().to_string());
    }
    ended
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
        "resumed" => {
            let from =
                event.get("from").and_then(Value::as_str).map(|run| format!(" of run {run}")).unwrap_or_default();
            let ran = if from.is_empty() { format!(", after {} ms", number("/ran_ms")) } else { String::new() };
            vec![line(format!("goes on with {} steps that were done{from}{ran}", number("/steps")))]
        }
        "plan" => {
            let tasks = rows("/plan/tasks").into_iter().map(|task| line(format!("plan: {task}")));
            let notes = rows("/plan/notes").into_iter();
            let notes = notes.map(|note| line(format!("plan note: {}", note.as_str().unwrap_or_default())));
            tasks.chain(notes).collect()
        }
        "model_call" => {
            let model = text("/model");
            let mut lines = vec![line(format!(
                "{} call{}: {} ms, {} + {} tokens{}{}{}",
                text("/stage"),
                if model.is_empty() { model } else { format!(" of {model}") },
                number("/ms"),
                number("/prompt_tokens"),
                number("/completion_tokens"),
                if event.get("estimated") == Some(&Value::Bool(true)) { " (estimated)" } else { "" },
                money(event.get("cost")).map(|cost| format!(", {cost}")).unwrap_or_default(),
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
        "plan_grew" => {
            let how = match number("/round") {
                0 => "being planned".to_owned(),
                round => format!("planned on ({}, round {round})", text("/why")),
            };
            let tasks = rows("/tasks").into_iter().map(|task| line(format!("{how}: {task}")));
            tasks
                .chain(rows("/notes").iter().filter_map(Value::as_str).map(|note| line(format!("plan note: {note}"))))
                .collect()
        }
        "approval_needed" => {
            let what = match event.get("unknown") == Some(&Value::Bool(true)) {
                true => "may have been called, and waits for somebody to say so: `done`, `retry` or `skip`",
                false => "waits for an answer",
            };
            vec![line(format!("task {}: `{}` {what}", number("/task") + 1, text("/tool")))]
        }
        "approval_given" => {
            let said =
                if event.get("approved") == Some(&Value::Bool(true)) { "answered" } else { "not answered, or refused" };
            vec![line(format!("task {}: `{}` was {said}", number("/id") + 1, text("/tool")))]
        }
        "budget" => vec![line(format!("the budget is used up: {} of {}", text("/used"), text("/most")))],
        "done" => {
            let calls: Vec<String> = event
                .pointer("/usage/by_stage")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .map(|(stage, took)| {
                    let of = |field: &str| took.get(field).and_then(Value::as_u64).unwrap_or_default();
                    format!("{stage} {} ({} + {} tokens)", of("calls"), of("prompt_tokens"), of("completion_tokens"))
                })
                .collect();
            let calls = if calls.is_empty() { String::new() } else { format!("; model calls: {}", calls.join(", ")) };
            let cost = money(event.pointer("/usage/cost")).map(|cost| format!("; cost {cost}")).unwrap_or_default();
            vec![line(format!("done in {} ms{calls}{cost}", number("/ms")))]
        }
        "error" => vec![line(format!("error {}: {}", text("/code"), text("/message")))],
        _ => Vec::new(),
    }
}

/// An amount of money in words; `None` where there is none.
fn money(value: Option<&Value>) -> Option<String> {
    serde_json::from_value::<Money>(value?.clone()).ok().map(|money| money.to_string())
}

/// Prints what model calls took, summed by these columns.
fn cost(journal: &Journal, by: &[String], days: u32, json: bool, printer: Printer) -> Result<ExitCode, Failure> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Whole days: today and those before it.
    let today = now.as_secs() / DAY.as_secs();
    let since = today.saturating_sub(u64::from(days.saturating_sub(1))) * DAY.as_secs() * 1_000;
    let mut rows: Vec<CostRow> = Vec::new();
    let by = |what: &str| by.iter().any(|by| by == what);
    for mut row in journal.costs(since).map_err(Failure::work)? {
        for (kept, column) in
            [(by("day"), &mut row.day), (by("model"), &mut row.model), (by("pipeline"), &mut row.pipeline)]
        {
            if !kept {
                column.clear();
            }
        }
        let same = |sum: &&mut CostRow| {
            (&sum.day, &sum.model, &sum.pipeline, &sum.currency) == (&row.day, &row.model, &row.pipeline, &row.currency)
        };
        match rows.iter_mut().find(same) {
            Some(sum) => {
                sum.calls += row.calls;
                sum.prompt_tokens += row.prompt_tokens;
                sum.cached_tokens += row.cached_tokens;
                sum.completion_tokens += row.completion_tokens;
                sum.unpriced += row.unpriced;
                sum.cost = match (sum.cost, row.cost) {
                    (Some(sum), Some(cost)) => Some(sum + cost),
                    (sum, cost) => sum.or(cost),
                };
            }
            None => rows.push(row),
        }
    }
    if json {
        return printer.json(&rows);
    }
    if rows.is_empty() {
        printer.progress(&format!("no chat model was called in {days} days"));
    }
    for row in &rows {
        let of: Vec<&str> = [&row.day, &row.model, &row.pipeline]
            .into_iter()
            .map(String::as_str)
            .filter(|text| !text.is_empty())
            .collect();
        let cost = match (row.cost, &row.currency) {
            (Some(amount), Some(currency)) => Money { amount, currency: currency.clone() }.to_string(),
            _ => "no price".to_owned(),
        };
        let unpriced = match row.unpriced {
            unpriced if unpriced > 0 && row.cost.is_some() => format!(", {unpriced} calls without a price"),
            _ => String::new(),
        };
        printer.out(&format!(
            "{:<44}  {:>6} calls  {:>9} + {:>8} tokens  {cost}{unpriced}",
            of.join("  "),
            row.calls,
            row.prompt_tokens,
            row.completion_tokens
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// A time as `YYYY-MM-DD HH:MM:SS` in UTC.
pub(super) fn when(ms: u64) -> String {
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(ms);
    humantime::format_rfc3339_seconds(time).to_string().replace('T', " ").replace('Z', "")
}
