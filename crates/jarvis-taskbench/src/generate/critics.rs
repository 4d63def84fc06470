//! Critics of a generated sample: the rules compare its graph with the sampled one, the teacher is the model's own
//! judgement.

use std::collections::HashSet;
use std::path::Path;
use std::sync::LazyLock;

use indexmap::IndexMap;
use jarvis_plan::pattern;
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::DataError;
use crate::data::{DependencyType, normalised};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Critics {
    /// The generated tools are the sampled ones.
    pub node: bool,
    /// The generated links are the sampled ones.
    pub link: bool,
    /// The teacher finds the sample executable and correct; `None` when no teacher was asked or it does not conclude.
    #[serde(rename = "self-check")]
    pub self_check: Option<bool>,
}

impl Critics {
    pub fn both(self) -> bool {
        self.node && self.link
    }

    pub fn verdict(self) -> String {
        let graph = match (self.node, self.link) {
            (true, true) => "aligned",
            (false, _) => "other tools than sampled",
            (true, false) => "other links than sampled",
        };
        match self.self_check {
            Some(true) => format!("{graph}; the teacher agrees"),
            Some(false) => format!("{graph}; the teacher does not agree"),
            None => graph.to_owned(),
        }
    }

    pub fn all(self) -> bool {
        self.both() && self.self_check == Some(true)
    }
}

/// Judges a raw record: `sampled_nodes`, `sampled_links` and `result`. Names are compared as the dependency type compares
/// them; order does not count, repetition does.
pub fn judge(record: &Value, dependency: DependencyType) -> Critics {
    let name = |value: &Value| {
        let name = value.as_str()?;
        Some(if dependency == DependencyType::Resource { normalised(name) } else { name.to_owned() })
    };
    let sorted = |mut list: Vec<_>| {
        list.sort();
        list
    };
    let ids = |list: Option<&Value>| -> Option<Vec<String>> {
        let id = |node: &Value| name(node.get("id").or_else(|| node.get("task"))?);
        list?.as_array()?.iter().map(id).collect::<Option<_>>().map(sorted)
    };
    let pairs = |list: Option<&Value>| -> Option<Vec<String>> {
        let pair = |link: &Value| Some(format!("{}\u{0}{}", name(link.get("source")?)?, name(link.get("target")?)?));
        list?.as_array()?.iter().map(pair).collect::<Option<_>>().map(sorted)
    };
    let graph = record.pointer("/result/invoking_graph");
    let generated = |key: &str| graph.and_then(|graph| graph.get(key));
    let same = |a: Option<Vec<String>>, b: Option<Vec<String>>| a.is_some() && a == b;
    Critics {
        node: same(ids(record.get("sampled_nodes")), ids(generated("nodes"))),
        link: same(pairs(record.get("sampled_links")), pairs(generated("links"))),
        self_check: teacher(record).and_then(Value::as_str).and_then(teacher_says),
    }
}

/// The teacher's judgement: in the result, else in its graph.
pub(super) fn teacher(record: &Value) -> Option<&Value> {
    record.pointer("/result/check_by_teacher").or_else(|| record.pointer("/result/invoking_graph/check_by_teacher"))
}

static VERDICT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(executable|correct)[^a-z0-9]{0,6}(yes|no|true|false)\b"));

/// What a teacher's text concludes: true when it ends with Executable yes and Correct yes, `None` when it does not say.
pub fn teacher_says(text: &str) -> Option<bool> {
    let (mut executable, mut correct) = (None, None);
    // The last of each counts: models reason before they conclude.
    for verdict in VERDICT.captures_iter(text) {
        let is = |group: usize, words: &[&str]| {
            verdict.get(group).is_some_and(|found| words.iter().any(|word| found.as_str().eq_ignore_ascii_case(word)))
        };
        let verdict = Some(is(2, &["yes", "true"]));
        if is(1, &["executable"]) { executable = verdict } else { correct = verdict }
    }
    Some(executable? && correct?)
}

type Passes = fn(Critics) -> bool;

/// The lists of `alignment_ids.json`, from records with their `id` and `method`: for each critic and method the ids that
/// pass, in the order of the records.
pub fn alignment<'r>(records: impl IntoIterator<Item = (&'r Value, Critics)>) -> Value {
    const KINDS: [(&str, Passes); 5] = [
        ("node", |critics| critics.node),
        ("link", |critics| critics.link),
        ("both_node_link", Critics::both),
        ("self-check", |critics| critics.self_check == Some(true)),
        ("all", Critics::all),
    ];
    let mut lists: IndexMap<&str, IndexMap<String, Vec<Value>>> = IndexMap::new();
    for (kind, _) in KINDS {
        let methods = ["single", "chain", "dag"].map(|method| (method.to_owned(), Vec::new()));
        lists.insert(kind, IndexMap::from(methods));
    }
    for (record, critics) in records {
        let method = record.get("method").or_else(|| record.get("type")).and_then(Value::as_str);
        let (Some(id), Some(method)) = (record.get("id"), method) else { continue };
        for (kind, passes) in KINDS {
            if let Some(methods) = lists.get_mut(kind).filter(|_| passes(critics)) {
                methods.entry(method.to_owned()).or_default().push(id.clone());
            }
        }
    }
    let named = lists.into_iter().map(|(kind, methods)| (format!("{kind}_alignment_id"), json!(methods)));
    Value::Object(named.collect::<Map<_, _>>())
}

/// Brings `alignment_ids.json` up to date with the raw records of a folder. Ids that are of none of them, such as those
/// of published samples in the same folder, stay.
pub(super) fn write_alignment(path: &Path, records: &[Value], dependency: DependencyType) -> Result<(), DataError> {
    let judged = records.iter().map(|record| (record, judge(record, dependency)));
    let mut lists = alignment(judged);
    let earlier = match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice::<Value>(&bytes)
            .map_err(|error| DataError::NotJson { path: path.to_owned(), reason: error.to_string() })?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => json!({}),
        Err(error) => return Err(DataError::read(path, error)),
    };
    let ours: HashSet<String> = records.iter().filter_map(|record| Some(record.get("id")?.to_string())).collect();
    for (kind, methods) in earlier.as_object().into_iter().flatten() {
        for (method, ids) in methods.as_object().into_iter().flatten() {
            let foreign = ids.as_array().into_iter().flatten().filter(|id| !ours.contains(&id.to_string())).cloned();
            let foreign: Vec<Value> = foreign.collect();
            let Some(lists) = lists.as_object_mut() else { continue };
            let list = lists.entry(kind).or_insert_with(|| json!({}));
            let Some(list) = list.as_object_mut() else { continue };
            let list = list.entry(method).or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut() {
                list.splice(0..0, foreign);
            }
        }
    }
    let text = serde_json::to_string_pretty(&lists).expect("keys are text");
    Ok(jarvis_store::files::replace(path, text.as_bytes())?)
}
