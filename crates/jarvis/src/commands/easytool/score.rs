//! `jarvis easytool score`: scores logs, ours and the original's.

mod funcqa;
mod restbench;
mod retrieval;
mod toolbench;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use jarvis_easytool::score::Rate;
use jarvis_easytool::score::matching::Coverage;
use jarvis_taskbench::evaluate::table::Table;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use jarvis_plan::export::plural;

const NAMED: usize = 10;

#[derive(Debug, Subcommand)]
pub(crate) enum ScoreCommand {
    /// How many answers have the right number
    Funcqa(funcqa::FuncqaArgs),
    /// How many paths hold the gold path
    Restbench(restbench::RestbenchArgs),
    /// How many queries are solved, by a judge; and how many calls go wrong
    Toolbench(Box<toolbench::ToolbenchArgs>),
    /// How many of the right tools retrieval finds
    Retrieval(Box<retrieval::RetrievalArgs>),
}

pub(super) async fn run(command: ScoreCommand, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    match command {
        ScoreCommand::Funcqa(args) => in_background(move || funcqa::run(&args, printer)).await,
        ScoreCommand::Restbench(args) => in_background(move || restbench::run(&args, printer)).await,
        ScoreCommand::Retrieval(args) => {
            super::with_json(args.json, printer, retrieval::run(*args, global, printer)).await
        }
        ScoreCommand::Toolbench(args) => toolbench::run(*args, global, printer).await,
    }
}

#[derive(Debug, Args)]
struct LogArgs {
    /// The log, ours or the original's; may be repeated
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    log: Vec<PathBuf>,
    /// The questions, such as funcqa_mh.json or restbench_tmdb.json: a JSON list, or JSON Lines
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Print the figures as one JSON document
    #[arg(long)]
    json: bool,
    /// Write each question's verdict to this file as JSON Lines
    #[arg(long, value_name = "FILE")]
    per_question: Option<PathBuf>,
}

impl LogArgs {
    /// Scores each log, and prints and writes what is asked for.
    fn run<S: Serialize, Q: Serialize>(
        &self,
        printer: Printer,
        score: impl Fn(&Path) -> Result<S, Failure>,
        questions: fn(&S) -> &[Q],
        table: fn(&S) -> String,
    ) -> Result<ExitCode, Failure> {
        let score = |log: &'_ PathBuf| Ok((log.clone(), score(log)?));
        let scores: Vec<(PathBuf, S)> = self.log.iter().map(score).collect::<Result<_, Failure>>()?;
        let scores: Vec<(&Path, &S)> = scores.iter().map(|(log, score)| (log.as_path(), score)).collect();
        if let Some(file) = &self.per_question {
            let questions: Vec<_> = scores.iter().map(|(log, score)| (*log, questions(score))).collect();
            write_questions(file, &questions)?;
        }
        show(&scores, self.json, table, printer)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Reading and counting waits for nothing but the disk.
async fn in_background(work: impl FnOnce() -> Result<ExitCode, Failure> + Send + 'static) -> Result<ExitCode, Failure> {
    tokio::task::spawn_blocking(work).await.map_err(Failure::work)?
}

fn warn_of_notes(log: &Path, notes: &[String], printer: Printer) {
    for note in notes.iter().take(NAMED) {
        printer.warning(&format!("{}: {note}", log.display()));
    }
    if notes.len() > NAMED {
        printer.warning(&format!("{}: {} more lines are left out", log.display(), notes.len() - NAMED));
    }
}

fn warn_of_gaps(log: &Path, coverage: &Coverage, printer: Printer) {
    let Coverage { missing, unmatched, repeated, .. } = coverage;
    let log = log.display();
    if !missing.is_empty() {
        let questions = plural(missing.len(), "question");
        printer.warning(&format!("{log}: no row for {questions}, counted as wrong: {}", numbers(missing)));
    }
    if !unmatched.is_empty() {
        let rows: Vec<usize> = unmatched.iter().map(|row| row.row).collect();
        printer.warning(&format!(
            "{log}: {} to no question of the data: {}",
            if rows.len() == 1 { "1 row belongs".to_owned() } else { format!("{} rows belong", rows.len()) },
            numbers(&rows)
        ));
    }
    if *repeated > 0 {
        let rows = plural(*repeated, "row");
        printer.warning(&format!("{log}: {rows} left out for a later one to the same question"));
    }
}

/// The first numbers of a list, and how many more there are.
fn numbers(all: &[usize]) -> String {
    let first: Vec<String> = all.iter().take(NAMED).map(ToString::to_string).collect();
    match all.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

fn table(rows: &[(&str, Option<Rate>)]) -> String {
    let percent = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{:.1}", share * 100.0));
    let cells = rows.iter().filter_map(|(name, rate)| {
        let rate = (*rate)?;
        let interval = format!("{} – {}", percent(rate.low), percent(rate.high));
        Some(vec![(*name).to_owned(), rate.count.to_string(), rate.n.to_string(), percent(rate.rate), interval])
    });
    let headers = ["", "count", "of", "%", "95 % interval"].map(str::to_owned).into();
    Table { headers, rows: cells.collect() }.text()
}

/// Prints what was asked for: one document for one log, a list for several; else the tables.
fn show<S: Serialize>(
    scores: &[(&Path, &S)],
    as_json: bool,
    table: fn(&S) -> String,
    printer: Printer,
) -> Result<(), Failure> {
    if as_json {
        let mut documents = Vec::new();
        for (log, score) in scores {
            let mut document = json!({"log": log.display().to_string()});
            if let (Some(fields), Value::Object(score)) =
                (document.as_object_mut(), serde_json::to_value(score).map_err(Failure::work)?)
            {
                fields.extend(score);
            }
            documents.push(document);
        }
        let document = match documents.pop() {
            Some(only) if documents.is_empty() => only,
            last => documents.into_iter().chain(last).collect(),
        };
        printer.out(&serde_json::to_string_pretty(&document).map_err(Failure::work)?);
        return Ok(());
    }
    for (at, (log, score)) in scores.iter().enumerate() {
        if scores.len() > 1 {
            printer.out(&format!("{}{}", if at > 0 { "\n" } else { "" }, log.display()));
        }
        printer.out(&table(score));
    }
    Ok(())
}

/// Writes each question of each log as a line of JSON.
fn write_questions<Q: Serialize>(file: &Path, logs: &[(&Path, &[Q])]) -> Result<(), Failure> {
    let mut lines = Vec::new();
    for (log, questions) in logs {
        for question in *questions {
            let mut line = serde_json::to_value(question).map_err(Failure::work)?;
            if let (true, Some(fields)) = (logs.len() > 1, line.as_object_mut()) {
                fields.insert("log".to_owned(), log.display().to_string().into());
            }
            lines.push(format!("{line}\n"));
        }
    }
    jarvis_store::files::replace(file, lines.concat().as_bytes()).map_err(Failure::work)
}
