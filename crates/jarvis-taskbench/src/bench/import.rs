//! Finds the sets below a path and reads each in its form.
//!
//! A folder is a set when it holds the files of one (`tools.json` with `plans.jsonl`; `tool_desc.json` with `data.json`;
//! `multiagent_cards` with `scenario_data`). Otherwise each of its JSON files whose first record has the shape of a
//! benchmark is a set, and its folders are searched.

mod complextool;
mod gold;
mod neutral;
mod orchestration;
mod records;
mod seal_tools;
mod taskbench;
mod ultratool;
mod worfbench;

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::form::{name_of, unique_ids};
use super::{BenchError, Form, PlanSet};
use crate::DataError;

pub use gold::GoldSource;
pub(crate) use gold::pair;
use records::Records;

/// Folders in folders are searched so deep.
const DEPTH: usize = 5;
/// So many records that cannot be used are named.
const NAMED: usize = 3;

/// A set that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The folder or file.
    pub path: PathBuf,
    pub form: Form,
}

/// The sets in a folder or file, in the order of their names; with `form` only those of that form.
///
/// # Errors
/// When the path cannot be read, or nothing is found.
pub fn find(path: &Path, form: Option<Form>) -> Result<Vec<Source>, BenchError> {
    std::fs::metadata(path).map_err(|error| DataError::read(path, error))?;
    let mut found = Vec::new();
    search(path, form, DEPTH, &mut found)?;
    match found.as_slice() {
        [] => Err(BenchError::NothingFound { path: path.to_owned(), form }),
        [_, ..] => Ok(found),
    }
}

fn search(path: &Path, form: Option<Form>, depth: usize, found: &mut Vec<Source>) -> Result<(), BenchError> {
    let is_wanted = |own: Form| form.is_none_or(|form| form == own);
    let mut add = |form: Option<Form>, path: &Path| match form.filter(|own| is_wanted(*own)) {
        Some(form) => {
            found.push(Source { path: path.to_owned(), form });
            true
        }
        None => false,
    };
    if path.is_file() {
        add(form_of_file(path)?, path);
        return Ok(());
    }
    // The files of TaskBench and UltraTool are alike: a folder that is named itself is what the user says.
    let asked = form.filter(|_| depth == DEPTH);
    if add(form_of_folder(path, asked), path) {
        return Ok(());
    }
    let mut entries: Vec<PathBuf> = std::fs::read_dir(path)
        .map_err(|error| DataError::read(path, error))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')))
        .collect();
    entries.sort();
    let is_data = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl");
    for file in entries.iter().filter(|path| path.is_file()).filter(is_data) {
        add(form_of_file(file)?, file);
    }
    if depth > 0 {
        for folder in entries.iter().filter(|path| path.is_dir()) {
            search(folder, form, depth - 1, found)?;
        }
    }
    Ok(())
}

fn form_of_folder(path: &Path, asked: Option<Form>) -> Option<Form> {
    let holds = |names: [&str; 2]| names.iter().all(|name| path.join(name).exists());
    if holds(["tools.json", "plans.jsonl"]) {
        return Some(Form::Neutral);
    }
    if holds(["tool_desc.json", "data.json"]) {
        let asked = asked.filter(|form| matches!(form, Form::TaskBench | Form::UltraTool));
        return asked.or_else(|| Some(taskbench::form(path)));
    }
    holds(["multiagent_cards", "scenario_data"]).then_some(Form::OrchestrationBench)
}

/// The form of the file's first record. Files without records, such as settings, have none.
fn form_of_file(path: &Path) -> Result<Option<Form>, BenchError> {
    let Some(first) = records::first(path)? else { return Ok(None) };
    let has = |keys: &[&str]| keys.iter().all(|key| first.get(*key).is_some());
    let form = if has(&["instruction", "input", "output"]) && complextool::is_sample(&first) {
        Form::ComplexToolPlan
    } else if has(&["query", "calling"]) || seal_tools::is_old(&first) {
        Form::SealTools
    } else if has(&["question", "plan", "tools"]) {
        Form::UltraTool
    } else {
        let turn = first.get("conversations").and_then(|turns| turns.get(0));
        match turn {
            Some(turn) if turn.get("role").is_some() => Form::WorfBench,
            Some(turn) if turn.get("from").is_some() => Form::SealTools,
            Some(_) | None => return Ok(None),
        }
    };
    Ok(Some(form))
}

/// Reads a set.
///
/// # Errors
/// When a file cannot be used, or none of its records can.
pub fn read(source: &Source) -> Result<PlanSet, BenchError> {
    let path = &source.path;
    let mut set = match source.form {
        Form::Neutral => neutral::read(path),
        Form::TaskBench => taskbench::read(path, Form::TaskBench),
        Form::UltraTool if path.is_dir() => taskbench::read(path, Form::UltraTool),
        Form::UltraTool => ultratool::read(path),
        Form::OrchestrationBench => orchestration::read(path),
        Form::ComplexToolPlan => complextool::read(path),
        Form::SealTools => seal_tools::read(path),
        Form::WorfBench => worfbench::read(path),
    }?;
    if set.samples.is_empty() {
        let reason = set.notes.first().map_or_else(String::new, |note| format!(": {note}"));
        return Err(BenchError::NoSamples { path: path.clone(), reason });
    }
    unique_ids(&mut set.samples, &mut set.notes);
    Ok(set)
}

/// Reads the sets of several paths, each set once, with names that differ.
///
/// # Errors
/// As [`find`] and [`read`].
pub fn read_all(paths: &[PathBuf], form: Option<Form>) -> Result<Vec<PlanSet>, BenchError> {
    let mut sources: Vec<Source> = Vec::new();
    for path in paths {
        let more = find(path, form)?;
        sources.extend(more);
    }
    let mut sets: Vec<PlanSet> = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        if sources.iter().take(at).any(|before| crate::data::same_file(&before.path, &source.path)) {
            continue;
        }
        let mut set = read(source)?;
        set.name = free_name(&sets, set.name, &source.path);
        sets.push(set);
    }
    Ok(sets)
}

/// A name that no other set has: its own, with the folder above it, or with a number.
fn free_name(sets: &[PlanSet], name: String, path: &Path) -> String {
    let taken = |name: &str| sets.iter().any(|other| other.name == name);
    if !taken(&name) {
        return name;
    }
    let above = path.canonicalize().ok().and_then(|path| path.parent().map(name_of)).unwrap_or_default();
    let long = format!("{name} ({above})");
    match taken(&long) {
        false => long,
        true => (2..).map(|n| format!("{name} {n}")).find(|name| !taken(name)).unwrap_or(long),
    }
}

/// What is wrong with records, as notes: the first few by number, then a count.
fn notes_of(bad: &[(usize, String)], what: &str) -> Vec<String> {
    let mut notes: Vec<String> =
        bad.iter().take(NAMED).map(|(at, why)| format!("{what} {at} is left out: {why}")).collect();
    if bad.len() > NAMED {
        notes.push(format!("{} more {what}s are left out", bad.len() - NAMED));
    }
    notes
}

/// Text under a key.
fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

/// An id: text, or a number as it is written.
fn id(value: &Value, key: &str) -> Option<String> {
    match value.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Reads each record; what cannot be read becomes a note.
fn each<T>(records: Records, what: &str, read: impl Fn(usize, &Value) -> Result<T, String>) -> (Vec<T>, Vec<String>) {
    let (mut read_ones, mut bad) = (Vec::new(), Vec::new());
    for (at, record) in records {
        match record.and_then(|record| read(at, &record)) {
            Ok(one) => read_ones.push(one),
            Err(why) => bad.push((at, why)),
        }
    }
    let notes = notes_of(&bad, what);
    (read_ones, notes)
}
