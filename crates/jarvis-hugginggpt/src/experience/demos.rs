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
    /// The good plans over tools that are at hand whose requests are most alike, at most `most` of them; the most alike comes last.
    pub(crate) fn demonstrations(&self, request: &str, most: usize, tools: &HashSet<&str>) -> Vec<Demonstration> {
        let fits =
            |one: &Remembered| !one.entry.follows && one.entry.tools.iter().all(|tool| tools.contains(tool.as_str()));
        let found = self.similar(request, most.saturating_mul(LOOKED_AT), fits).into_iter();
        let mut seen = HashSet::new();
        let found = found.filter(|(likeness, one)| *likeness >= LEAST && seen.insert(one.entry.same()));
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
        shown
    }
}

/// A request and its plan. Files have names that no file has: what is only shown must not be taken for what is there.
fn turns(entry: &Entry) -> [Turn; 2] {
    let mut request = entry.request.clone();
    let mut plan = export::tasks_json(&entry.plan);
    let mut beside = Vec::new();
    for (at, file) in entry.attachments.iter().enumerate() {
        let stand_in = stand_in(at, file.kind, &file.arg);
        if file.arg.is_empty() {
            continue;
        }
        let is_named = request.contains(&file.arg);
        request = request.replace(&file.arg, &stand_in);
        in_texts(&mut plan, &|text| text.replace(&file.arg, &stand_in));
        if !is_named {
            beside.push(format!("{}: {stand_in}", file.kind));
        }
    }
    let mut request = clean(&request, SHOWN);
    if !beside.is_empty() {
        request.push_str(&format!(" ({})", beside.join(", ")));
    }
    in_texts(&mut plan, &|text| text.chars().filter(|c| !jarvis_net::text::is_hidden(*c)).collect());
    [Turn::user(request), Turn::assistant(plan.to_string())]
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
