//! `jarvis setup`: finds what this machine has, asks a few questions where somebody is there to answer, and writes the configuration.

mod choose;
mod file;
mod found;
mod helpers;
mod place;
mod providers;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::{Global, SetupArgs};
use crate::config;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::questions::{Dialogue, can_ask};
use crate::wiring::{self, Folders};

use choose::{Answers, Planner};
use found::Found;
use place::Placed;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Report<'a> {
    file: &'a Path,
    found: &'a Found,
    data_dir: &'a Path,
    /// Changed keys with old and new value.
    changes: &'a [String],
    /// Whether the file was written.
    written: bool,
    backup: Option<&'a Path>,
    /// The file's text, where it was only to be printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    next: &'a [String],
}

pub(super) async fn run(args: &SetupArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let ended = set_up(args, global, printer).await;
    match ended {
        Err(failure) if args.json => {
            printer.json(&failure.document())?;
            Ok(failure.exit_code())
        }
        ended => ended,
    }
}

async fn set_up(args: &SetupArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    choose::check(global)?;
    let path = path(global)?;
    let is_there = path.is_file();
    let mut tree = match is_there {
        true => config::tree(&path).map_err(|error| {
            Failure::usage(error).hint("mend the file, or move it away, and run `jarvis setup` again")
        })?,
        false => Map::new(),
    };
    let loaded = wiring::load_file(global, is_there.then_some(path.as_path()), None, |_| Vec::new())?;
    let old = tree.clone();
    let found = Found::look(&loaded.config).await?;
    let data_dir = Folders::of(&loaded.config)?.data;
    let asks = !(args.yes || args.json || args.print) && can_ask();
    if !args.json {
        found.tell(&path, &data_dir, printer);
    }
    let planner = Planner::default_of(&found, &tree, global);
    let named = global.data_dir.as_deref().map(std::path::absolute).transpose().map_err(Failure::work)?;
    let defaults = Answers { planner, data_dir: named.unwrap_or(data_dir), asked: false };
    let answers = match asks {
        true => with_dialogue(|dialogue| choose::ask(dialogue, &found, &tree, global, defaults))?,
        false => defaults,
    };
    answers.apply(&mut tree, global)?;
    let text = file::render(&tree)?;
    check(&path, &text, &tree)?;
    let changes = place::changes(&old, &tree);
    let next = next(&found, &tree);
    let report = |placed: &Placed, text| {
        let (file, backup) = (path.as_path(), placed.backup.as_deref());
        let (found, data_dir, changes, next) = (&found, answers.data_dir.as_path(), &changes[..], &next[..]);
        printer.json(&Report { file, found, data_dir, changes, written: placed.written, backup, text, next })
    };
    if args.print {
        return match args.json {
            true => report(&Placed::default(), Some(text.as_str())),
            false => {
                printer.out_piece(&text);
                Ok(ExitCode::SUCCESS)
            }
        };
    }
    let placed = place::put(&path, &text, is_there, &changes, args.yes, asks, printer)?;
    if args.json {
        return report(&placed, None);
    }
    match placed.written {
        true => printer.out(&format!("wrote {}", path.display())),
        false => printer.out(&format!("{} is up to date", path.display())),
    }
    if let Some(backup) = &placed.backup {
        printer.out(&format!("the file that was there is now {}", backup.display()));
    }
    printer.progress("\nWhat to do next:");
    next.iter().for_each(|line| printer.progress(&format!("  {line}")));
    Ok(ExitCode::SUCCESS)
}

fn with_dialogue<T>(ask: impl FnOnce(&mut Dialogue<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stderr());
    ask(&mut Dialogue { input: &mut input, output: &mut output })
}

/// The file given by `--config` or the environment, else the default one.
fn path(global: &Global) -> Result<PathBuf, Failure> {
    match wiring::named_config(global) {
        Some(named) => std::path::absolute(named).map_err(Failure::work),
        None => Ok(wiring::config_folder()?.join("jarvis.yaml")),
    }
}

/// Parses the text with the loader that every command uses, so that an invalid file is never written.
fn check(path: &Path, text: &str, tree: &Map<String, Value>) -> Result<(), Failure> {
    let (read, known) = config::check_text(path, text).map_err(|error| {
        Failure::work(error).hint("nothing was written; mend this key in the configuration that is there")
    })?;
    if read != *tree {
        return Err(Failure::work("the configuration would not be read back as it was meant; nothing was written"));
    }
    known.iter().for_each(|warning| tracing::warn!("unknown configuration key `{warning}`"));
    Ok(())
}

/// Suggested next commands, each with its reason.
fn next(found: &Found, tree: &Map<String, Value>) -> Vec<String> {
    let mut next = Vec::new();
    if let Some(name) = choose::key_needed(tree).filter(|name| wiring::secret(&[name]).is_none()) {
        next.push(format!("read -rs {name} && export {name}    # the key of the endpoint, which is not stored"));
    }
    if let Some(install) = &found.install {
        next.push(format!("{install}    # {}", found.missing_uses()));
    }
    if wiring::RUNS_LOCAL_MODELS && found.local_models.is_empty() {
        next.push("jarvis models suggest    # models for this machine that see, hear, translate and talk".to_owned());
    }
    next.push("jarvis completions --install".to_owned());
    next.push("jarvis doctor    # what works".to_owned());
    next.push("jarvis run \"find the edges of this picture and tell me its main colours\" --file photo.jpg".to_owned());
    next
}
