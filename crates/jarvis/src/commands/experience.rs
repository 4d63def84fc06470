//! `jarvis experience`: the plans of finished runs that new requests are planned by.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{ArgGroup, Args, Subcommand};
use jarvis_hugginggpt::{PlanMemory, Remembered};
use jarvis_plan::export;
use jarvis_store::files;

use super::read_input;
use super::runs::when;
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{Printer, one_line};
use crate::wiring;

/// The largest file that is imported, in bytes.
const MAX_IMPORT: u64 = 256 << 20;

/// Whether a run has to do with experience.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct ExperienceArgs {
    /// Plan without experience, and keep nothing of this run as such; the configuration's `planning.experience` says what holds otherwise
    #[arg(long)]
    pub(crate) no_experience: bool,
}

/// Whose experience it is.
#[derive(Debug, Args)]
pub(crate) struct Whose {
    /// The experience of this user of a server, in the place of your own
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    user: String,
}

/// `jarvis experience …`.
#[derive(Debug, Subcommand)]
pub(crate) enum ExperienceCommand {
    /// List what is kept, the latest first; with words, what is most like them
    #[command(after_help = "Examples:\n  \
        jarvis experience list\n  \
        jarvis experience list \"book a flight\"    # what is most like these words")]
    List {
        /// Words that the requests should be like
        query: Option<String>,
        /// How many
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        whose: Whose,
    },
    /// Show one: the request, why it is good or bad, the plan
    Show {
        /// The id of its run, or the start of it
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        whose: Whose,
    },
    /// Forget one, or all: it is gone from the disk
    #[command(group(ArgGroup::new("which").args(["id", "all"]).required(true)))]
    #[command(after_help = "Examples:\n  jarvis experience forget 01a1f8\n  jarvis experience forget --all\n\n\
        The runs themselves stay: `jarvis runs prune` removes those.")]
    Forget {
        /// The id of its run, or the start of it
        id: Option<String>,
        /// Everything
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        whose: Whose,
    },
    /// Write everything to a file, a line of JSON for each; `-` is standard output
    Export {
        /// The file
        file: PathBuf,
        #[command(flatten)]
        whose: Whose,
    },
    /// Add what was exported, all of it or nothing; `-` is standard input
    #[command(after_help = "Example:\n  jarvis experience import plans.jsonl\n\n\
        Each line is checked. What has the id of one that is kept takes its place; what you rated stays so, unless the file has a rating, too.")]
    Import {
        /// The file
        file: PathBuf,
        #[command(flatten)]
        whose: Whose,
    },
}

pub(super) async fn run(command: ExperienceCommand, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let memory = PlanMemory::new(std::sync::Arc::new(wiring::open_journal(global, printer)?), Vec::new());
    match command {
        ExperienceCommand::List { query, limit, json, whose } => {
            let found = memory.list(&whose.user, query.as_deref()).map_err(Failure::work)?;
            let all = found.len();
            let found: Vec<_> = found.into_iter().take(limit as usize).collect();
            if json {
                let found: Vec<&Remembered> = found.iter().map(|(_, one)| one).collect();
                return printer.json(&found);
            }
            if found.is_empty() {
                printer.progress(match query {
                    Some(_) => "there is no experience like that",
                    None => "there is no experience yet; runs that carry out tasks become it",
                });
            }
            for (likeness, one) in &found {
                let likeness = likeness.map(|likeness| format!("{likeness:.2}  ")).unwrap_or_default();
                printer.out(&format!("{likeness}{}", line(one)));
            }
            if all > found.len() {
                printer.note(&format!("{} of {all}; -n {all} shows all", found.len()));
            }
        }
        ExperienceCommand::Show { id, json, whose } => {
            let found = one(&memory, &whose.user, &id)?;
            if json {
                return printer.json(&found);
            }
            printer.out(&line(&found));
            found.entry.attachments.iter().for_each(|file| {
                printer.out(&format!("file: {} {}", file.kind, file.name.as_deref().unwrap_or(&file.arg)));
            });
            printer.out(&found.entry.as_written());
            for task in export::tasks_json(&found.entry.plan).as_array().into_iter().flatten() {
                printer.out(&task.to_string());
            }
        }
        ExperienceCommand::Forget { id, all: _, whose } => {
            let gone = memory.forget(&whose.user, id.as_deref()).await.map_err(Failure::work)?;
            if let (0, Some(id)) = (gone, &id) {
                return Err(unknown(id));
            }
            printer.out(&format!("forgot {gone}"));
        }
        ExperienceCommand::Export { file, whose } => {
            let found = memory.all(&whose.user).map_err(Failure::work)?;
            let lines: String = found.iter().map(|one| one.line() + "\n").collect();
            write(&file, &lines)?;
            printer.note(&format!("{} written", found.len()));
        }
        ExperienceCommand::Import { file, whose } => {
            let read = import(&file)?;
            let count = read.len();
            memory.import(&whose.user, read).await.map_err(Failure::work)?;
            printer.out(&format!("imported {count}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn line(one: &Remembered) -> String {
    let good = if one.good { "good" } else { "bad" };
    let counts = format!("{good} ({})", one.verdict.as_str());
    let tools = one_line(&one.entry.tools.join(", "), 40);
    format!("{}  {}  {counts:<16}  {tools:<24}  {}", one.id, when(one.at_ms), one_line(&one.entry.as_written(), 60))
}

/// The one whose id begins so.
fn one(memory: &PlanMemory, user: &str, id: &str) -> Result<Remembered, Failure> {
    let all = memory.all(user).map_err(Failure::work)?;
    let mut found: Vec<Remembered> = all.into_iter().filter(|one| one.id.starts_with(id)).collect();
    match found.len() {
        0 => Err(unknown(id)),
        1 => Ok(found.swap_remove(0)),
        _ => Err(Failure::usage(format!("several ids begin with `{id}`")).hint("give more of the id")),
    }
}

fn unknown(id: &str) -> Failure {
    Failure::work(format!("nothing is kept as experience under the id `{id}`"))
        .hint("`jarvis experience list` shows the ids; the start of one is enough")
}

fn write(file: &Path, lines: &str) -> Result<(), Failure> {
    let written = match file == Path::new("-") {
        true => std::io::stdout().lock().write_all(lines.as_bytes()).map_err(|error| error.to_string()),
        false => files::replace(file, lines.as_bytes()).map_err(|error| error.to_string()),
    };
    written.map_err(|error| Failure::usage(format!("cannot write to `{}`: {error}", file.display())))
}

/// Reads every line of a file; all that are wrong are named.
fn import(file: &Path) -> Result<Vec<Remembered>, Failure> {
    let read = read_input(file, MAX_IMPORT).and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other));
    let text = read.map_err(|error| {
        Failure::usage(format!("cannot read `{}`: {error}", file.display()))
            .hint("name a file that `jarvis experience export` wrote")
    })?;
    let (mut read, mut wrong) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match Remembered::read(line) {
            Ok(one) => read.push(one),
            Err(error) => wrong.push(format!("line {}: {error}", number + 1)),
        }
    }
    if wrong.is_empty() {
        return Ok(read);
    }
    let (more, shown) = (wrong.len().saturating_sub(10), wrong.iter().take(10).cloned().collect::<Vec<_>>());
    let more = if more > 0 { format!("\nand {more} more") } else { String::new() };
    Err(Failure::usage(format!("nothing was imported:\n{}{more}", shown.join("\n")))
        .hint("`jarvis experience export FILE` writes such a file"))
}
