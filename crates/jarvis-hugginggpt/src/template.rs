//! The answer without a model: written by template, in the language of the request, from the outcomes alone.

mod dates;
pub(crate) mod help;
pub(crate) mod small_talk;
mod sums;
pub(crate) mod undo;
mod words;

use std::fmt::Write;

use indexmap::IndexSet;
use jarvis_catalogue::{Host, Output, TaskOutput};
use jarvis_pipeline::not_done;
use jarvis_plan::{AnswerResource, EACH, ErrorCode, Language, NoteKind, Outcome, Plan, Request, Source, Status};
use jarvis_planner::NO_TOOL;
use serde_json::Value;

use self::words::{Words, label, title, why};

/// How a file is shown to the person: where it was put, or by its display path.
fn shown(url: &str, resources: &[AnswerResource]) -> String {
    let path = resources.iter().find(|resource| resource.url == url).and_then(|resource| resource.path.as_ref());
    path.map_or_else(|| url.to_owned(), |path| path.display().to_string())
}

const SHOWN: usize = 4_000;

/// Tells what was done, with every file named, and what failed and why. For an empty plan it says so.
pub(crate) fn answer(request: &Request, plan: &Plan, outcomes: &[Outcome], resources: &[AnswerResource]) -> String {
    let language = Language::of(&request.text);
    let words = Words::of(language);
    let mut out = String::new();
    let done = outcomes.iter().filter(|outcome| outcome.succeeded()).count();
    let table = if done == 0 { table(request) } else { None };
    if outcomes.is_empty() {
        let known = plan.notes().iter().filter(|note| note.kind == NoteKind::LeftOut && note.text != NO_TOOL);
        for note in known {
            let _ = writeln!(out, "{}{note}", capitalised(words.not_done));
        }
        out.push_str(&table.map_or(words.nothing.to_owned(), |file| (words.reckoned)(file)));
        return by_name(out, request);
    }
    // What ran and left something undone is not all done.
    let is_left_out = plan.notes().iter().any(|note| note.kind == NoteKind::LeftOut);
    let left_undone = is_left_out || outcomes.iter().any(|outcome| outcome.succeeded() && !undone(outcome).is_empty());
    if outcomes.len() > 1 && !(left_undone && done == outcomes.len()) || done == 0 {
        out.push_str(&(words.summary)(done, outcomes.len()));
        out.push('\n');
    }
    out.extend(stand_ins(words, outcomes));
    // What was not done comes first.
    let (failed, done): (Vec<&Outcome>, Vec<&Outcome>) = outcomes.iter().partition(|outcome| !outcome.succeeded());
    let left_out = plan.notes().iter().filter(|note| note.kind == NoteKind::LeftOut);
    for note in left_out {
        let _ = writeln!(out, "{}: {note}", words.note);
    }
    let undone: IndexSet<String> = done.iter().flat_map(|outcome| undone(outcome)).collect();
    for part in undone {
        let _ = writeln!(out, "{}{part}", capitalised(words.not_done));
    }
    for same in alike(failed).into_iter().chain(done.into_iter().map(|outcome| vec![outcome])) {
        let numbers: Vec<String> = same.iter().map(|outcome| outcome.id.number().to_string()).collect();
        let number = if outcomes.len() > 1 { format!("{}. ", numbers.join(", ")) } else { String::new() };
        let titles: IndexSet<String> = same.iter().map(|outcome| heading(request, outcome, language)).collect();
        let _ = write!(out, "{number}{}", Vec::from_iter(titles).join("; "));
        let Some(outcome) = same.first() else { continue };
        match outcome.status {
            Status::Succeeded => success(&mut out, outcome, language, resources),
            Status::Failed => failure(&mut out, words.failed, outcome, language),
            Status::Skipped => failure(&mut out, words.skipped, outcome, language),
            Status::Cancelled => failure(&mut out, words.cancelled, outcome, language),
        }
    }
    if let Some(file) = table.filter(|_| !out.contains("`llm.model`")) {
        out.push_str(&(words.reckoned)(file));
    }
    by_name(out.trim_end().to_owned(), request)
}

/// What a task that ran says that it left undone.
fn undone(outcome: &Outcome) -> Vec<String> {
    TaskOutput::of(outcome).map_or_else(Vec::new, |output| output.not_done())
}

/// The file with a table that a request is about.
fn table(request: &Request) -> Option<&str> {
    let named = request.text.split_whitespace().map(|word| word.trim_matches(|c: char| "\"'`,;:?!()".contains(c)));
    let attached = request.attachments.iter().filter_map(|file| file.name.as_deref());
    let is_table = |name: &&str| {
        let name = name.trim_end_matches('.').to_lowercase();
        [".csv", ".tsv", ".json", ".jsonl"].iter().any(|end| name.len() > end.len() && name.ends_with(end))
    };
    attached.chain(named).find(is_table).map(|name| name.trim_end_matches('.'))
}

/// The outcomes by how they ended, so that what happened to several is told once.
fn alike<'a>(outcomes: Vec<&'a Outcome>) -> Vec<Vec<&'a Outcome>> {
    let mut groups: Vec<Vec<&'a Outcome>> = Vec::new();
    for outcome in outcomes {
        let is_same = |group: &&mut Vec<&Outcome>| {
            group.first().is_some_and(|first| first.status == outcome.status && first.error == outcome.error)
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(outcome),
            None => groups.push(vec![outcome]),
        }
    }
    groups
}

/// What a task does, what it is about and who performed it.
fn heading(request: &Request, outcome: &Outcome, language: Language) -> String {
    let name = about(request, outcome).map(|name| format!(" — {name}")).unwrap_or_default();
    let performer = outcome.performer().map(|performer| format!(" ({})", performer.id)).unwrap_or_default();
    format!("{}{name}{performer}", title(&outcome.task, language))
}

/// The models that were chosen and did not do it, a line each.
fn stand_ins(words: &Words, outcomes: &[Outcome]) -> Vec<String> {
    let told = outcomes.iter().filter_map(|outcome| {
        let (chosen, why, did) = outcome.stand_in()?;
        // Built-in models of one task divide the work among them: one that leaves it to the next has not failed.
        let passes_on = why.code == ErrorCode::CannotDo
            && [&chosen.host, &did.host].iter().all(|host| **host == Host::Native.as_str());
        if passes_on {
            return None;
        }
        Some(format!("{}: {}\n", words.note, (words.stood_in)(&did.id, &chosen.id, &why.message)))
    });
    told.collect()
}

/// What must be told before the words of a model: what was not done, and which models were not those that were chosen, in the
/// language of the request, a line each with an empty line after them; empty when all was done as planned.
pub(crate) fn told_first(request: &Request, plan: &Plan, outcomes: &[Outcome]) -> String {
    let words = Words::of(Language::of(&request.text));
    let mut lines: Vec<String> =
        not_done(plan, outcomes).iter().map(|what| format!("{}{what}", capitalised(words.not_done))).collect();
    lines.extend(stand_ins(words, outcomes).iter().map(|line| line.trim_end().to_owned()));
    if lines.is_empty() {
        return String::new();
    }
    lines.push("\n".to_owned());
    lines.join("\n")
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The file that a task is about, by the name the person gave it.
fn about<'a>(request: &'a Request, outcome: &Outcome) -> Option<&'a str> {
    request.attachments.iter().find_map(|resource| {
        let name = resource.name.as_deref()?;
        let known = |value: &Value| value == name || value == resource.as_arg();
        outcome.args.values().any(known).then_some(name)
    })
}

/// Calls files as the person did: by the name they gave, not by the path the file was taken in under.
fn by_name(mut text: String, request: &Request) -> String {
    for resource in &request.attachments {
        if let (Source::Public(path), Some(name)) = (&resource.source, &resource.name) {
            text = text.replace(path, name);
        }
    }
    text
}

fn success(out: &mut String, outcome: &Outcome, language: Language, resources: &[AnswerResource]) {
    let words = Words::of(language);
    out.push_str(":\n");
    let Some(output) = TaskOutput::of(outcome) else { return };
    let outputs = output.outputs();
    let mut is_empty = true;
    for one in &outputs {
        match one {
            Output::Image { url } | Output::Audio { url } | Output::Video { url } | Output::Table { url } => {
                // A file that another task made is told there.
                if resources.iter().all(|resource| resource.url != *url || resource.from == outcome.id) {
                    let _ = writeln!(out, "   {}", shown(url, resources));
                }
                is_empty = false;
            }
            Output::Text { text } => {
                let scored = labels(&output.0, language).unwrap_or_else(|| text.clone());
                indent(out, &cut(&clean(&scored)));
                is_empty = false;
            }
            Output::Json { .. } => {}
        }
    }
    if is_empty {
        indent(out, &cut(&output.0.to_string()));
    }
    // Of a task that ran once for each of many, what several calls say is said once.
    let calls = match output.0.get(EACH).and_then(Value::as_array) {
        Some(calls) => calls.as_slice(),
        None => std::slice::from_ref(&output.0),
    };
    for (key, before) in [("note", ""), ("operations", ""), ("keywords", words.keywords)] {
        let said: IndexSet<String> = calls.iter().filter_map(|call| remark(call.get(key)?)).collect();
        for remark in said {
            indent(out, &format!("({before}{remark})"));
        }
    }
}

/// A text, or a list of texts with commas between.
fn remark(value: &Value) -> Option<String> {
    let said = match value {
        Value::String(note) => note.clone(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    };
    (!said.is_empty()).then_some(said)
}

/// Labels with their scores, best first, when that is all a result is: `positive 82%, neutral 15%`.
fn labels(value: &Value, language: Language) -> Option<String> {
    let mut rows: Vec<(&str, f64)> = Vec::new();
    for row in value.as_array()? {
        rows.push((row.get("label")?.as_str()?, row.get("score")?.as_f64()?));
    }
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let shown: Vec<String> =
        rows.iter().take(5).map(|(name, score)| format!("{} {:.0}%", label(name, language), score * 100.0)).collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

fn failure(out: &mut String, what: &str, outcome: &Outcome, language: Language) {
    let words = Words::of(language);
    let _ = write!(out, ": {what}");
    match &outcome.error {
        Some(error) => {
            let _ = match why(error.code, language) {
                Some(why) => writeln!(out, ": {why} ({})", outcome.failure().unwrap_or_default()),
                None => writeln!(out, ": {}", outcome.failure().unwrap_or_default()),
            };
            if let Some(hint) = &error.hint {
                let _ = writeln!(out, "   {}: {hint}", words.hint);
            }
        }
        None => out.push('\n'),
    }
}

fn indent(out: &mut String, text: &str) {
    for line in text.lines() {
        let _ = writeln!(out, "   {line}");
    }
}

/// Results come from models and files: control characters, which could drive a terminal, do not pass.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", text.get(..at).expect("a character starts here")),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
