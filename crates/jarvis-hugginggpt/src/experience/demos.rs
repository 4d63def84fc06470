//! Plans from before as demonstrations for a chat model, in the form in which the prompt of stage 1 shows them.

use std::collections::HashSet;

use jarvis_plan::{Kind, Turn, export};
use serde_json::Value;

use super::{Entry, Known, Remembered};
use crate::untrusted::clean;

/// Below this likeness a request has next to nothing to do with another.
const LEAST: f32 = 0.02;
/// How many are looked at for one that is shown: many may be the same.
const LOOKED_AT: usize = 8;
/// The most characters of a request that are shown.
const SHOWN: usize = 1_000;

/// A plan from before that is shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Demonstration {
    pub(crate) id: String,
    pub(crate) likeness: f32,
    pub(crate) request: String,
    /// What a person asked, and the plan as the model should write it.
    pub(crate) turns: [Turn; 2],
}

impl Known {
    /// The good plans over tools that are at hand whose requests are most alike, at most `most` of them; the most alike comes last. May
    /// block where there is a sentence model; what kept it from being asked is told beside them, which are then found by words.
    pub(crate) fn demonstrations(
        &self,
        request: &str,
        most: usize,
        tools: &HashSet<&str>,
    ) -> (Vec<Demonstration>, Option<String>) {
        let fits =
            |one: &Remembered| !one.entry.follows && one.entry.tools.iter().all(|tool| tools.contains(tool.as_str()));
        let looked_at = most.saturating_mul(LOOKED_AT);
        let (found, failure) = match self.nearest(request, looked_at, fits) {
            Ok(found) => (found, None),
            Err(why) => (self.similar(request, looked_at, fits), Some(why)),
        };
        let mut seen = HashSet::new();
        let found = found.into_iter().filter(|(likeness, one)| *likeness >= LEAST && seen.insert(one.entry.same()));
        let mut shown: Vec<Demonstration> = found
            .take(most)
            .map(|(likeness, one)| Demonstration {
                id: one.id.clone(),
                likeness,
                request: one.entry.request.clone(),
                turns: turns(&one.entry),
            })
            .collect();
        shown.reverse();
        (shown, failure)
    }
}

/// A request and its plan. Files have names that no file has: what is only shown must not be taken for what is there.
pub(super) fn turns(entry: &Entry) -> [Turn; 2] {
    let mut plan = export::tasks_json(&entry.plan);
    let named = entry.attachments.iter().enumerate().filter(|(_, file)| !file.arg.is_empty());
    let mut files: Vec<(&str, String)> =
        named.clone().map(|(at, file)| (file.arg.as_str(), stand_in(at, file.kind, &file.arg))).collect();
    let is_beside = |file: &super::AttachedFile| !entry.request.contains(&file.arg);
    let beside: Vec<String> = named
        .filter(|(_, file)| is_beside(file))
        .map(|(at, file)| format!("{}: {}", file.kind, stand_in(at, file.kind, &file.arg)))
        .collect();
    // One name may be a part of another.
    files.sort_by_key(|(arg, _)| std::cmp::Reverse(arg.len()));
    for task in plan.as_array_mut().into_iter().flatten() {
        if let Some(args) = task.get_mut("args") {
            in_texts(args, &|text| replaced(text, &files));
        }
    }
    let mut request = clean(&replaced(&entry.request, &files), SHOWN);
    if !beside.is_empty() {
        request.push_str(&format!(" ({})", beside.join(", ")));
    }
    in_texts(&mut plan, &|text| text.chars().filter(|c| !jarvis_net::text::is_hidden(*c)).collect());
    [Turn::user(request), Turn::assistant(plan.to_string())]
}

/// A text with other names of files, in one pass: what was put in is not looked at again.
fn replaced(text: &str, files: &[(&str, String)]) -> String {
    let (mut made, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(letter) = rest.chars().next() {
        match files.iter().find(|(arg, _)| rest.starts_with(arg)) {
            Some((arg, stand_in)) => {
                made.push_str(stand_in);
                rest = rest.get(arg.len()..).unwrap_or_default();
            }
            None => {
                made.push(letter);
                rest = rest.get(letter.len_utf8()..).unwrap_or_default();
            }
        }
    }
    made
}

/// A name for the file at this place.
fn stand_in(at: usize, kind: Kind, arg: &str) -> String {
    let letter = char::from(b'a' + u8::try_from(at % 26).unwrap_or_default());
    let name = arg.split(['?', '#']).next().unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let ending = ending.filter(|ending| (1..=5).contains(&ending.len()) && ending.chars().all(char::is_alphanumeric));
    let usual = match kind {
        Kind::Text => "txt",
        Kind::Image => "jpg",
        Kind::Audio => "wav",
        Kind::Video => "mp4",
        Kind::Json => "csv",
    };
    format!("/examples/{letter}.{}", ending.unwrap_or(usual))
}

/// Changes every text in a value.
fn in_texts(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| in_texts(item, change)),
        Value::Object(fields) => fields.values_mut().for_each(|field| in_texts(field, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
