//! `jarvis models suggest`: what to pull on this machine.

use std::process::ExitCode;

use jarvis_models::{Suggestion, total_memory};
use serde_json::json;

use super::setup;
use super::words::{columns, size};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::wiring::pulls::is_served_elsewhere;

/// Asks nobody: sizes are the catalogue's, pinned or estimated.
pub(super) fn run(
    all: bool,
    task: Option<String>,
    json: bool,
    global: &Global,
    printer: Printer,
) -> Result<ExitCode, Failure> {
    let (store, _, config) = setup::store(global, printer)?;
    let memory = total_memory();
    // Half of the machine's memory is for models.
    let for_models = memory.map(|bytes| bytes / 2);
    if all {
        return catalogue(&store, json, printer);
    }
    let served = |task: &str| is_served_elsewhere(&config, task);
    let mut suggestions = jarvis_models::suggest(&store, &store.local_models(), for_models, &served);
    suggestions.retain(|one| task.as_ref().is_none_or(|task| one.tasks.contains(task)));
    if json {
        let document = json!({"memory": memory, "for_models": for_models, "suggestions": suggestions});
        return printer.json(&document);
    }
    if let (Some(memory), Some(for_models)) = (memory, for_models) {
        let text = format!("this machine has {} of memory; models may take {}", size(memory), size(for_models));
        printer.progress(&text);
    }
    let rows: Vec<Vec<String>> = suggestions.iter().map(row).collect();
    for line in columns(&rows) {
        printer.out(&line);
    }
    if suggestions.is_empty() {
        printer.progress("every task type of the catalogue has a model");
    }
    Ok(ExitCode::SUCCESS)
}

fn row(one: &Suggestion) -> Vec<String> {
    let about = if one.is_estimate { "about " } else { "" };
    let bytes = one.bytes.map_or_else(|| "size unknown".to_owned(), |bytes| format!("{about}{}", size(bytes)));
    let note = match (&one.larger, one.fits) {
        (_, false) => "  (too large for this machine)".to_owned(),
        (Some(larger), true) => format!("  (larger: {larger})"),
        (None, true) => String::new(),
    };
    vec![one.tasks.join(", "), bytes, one.command.clone(), format!("{}{note}", one.about)]
}

fn catalogue(store: &jarvis_models::Store, json: bool, printer: Printer) -> Result<ExitCode, Failure> {
    let entries = store.catalogue().entries();
    if json {
        return printer.json(&entries);
    }
    let row = |entry: &jarvis_models::Entry| {
        let bytes = match entry.weight() {
            Some((bytes, true)) => format!("about {}", size(bytes)),
            Some((bytes, false)) => size(bytes),
            None => "size unknown".to_owned(),
        };
        vec![entry.name.clone(), bytes, entry.tasks.join(", "), entry.about.clone()]
    };
    for line in columns(&entries.iter().map(row).collect::<Vec<_>>()) {
        printer.out(&line);
    }
    Ok(ExitCode::SUCCESS)
}
