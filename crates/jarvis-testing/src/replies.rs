//! Replies of planners, as models of five small families write them, and the plans that they must become, or the faults:
//! `data/replies/*.yaml`. The tools that they are for are in `tools.yaml` there, as records of `jarvis_plan::Tool`.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::rows;

/// A reply and what it must become. What a case does not say is that of "describe photo.jpg and read it aloud".
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Unique.
    pub name: String,
    /// The family of models that writes so: llama, qwen, gemma, phi, mistral.
    pub family: String,
    /// What is odd about it; the name of its file unless said.
    #[serde(default)]
    pub class: String,
    /// The table of tools: `media` or `own`.
    #[serde(default = "usual::tools")]
    pub tools: String,
    #[serde(default = "usual::request")]
    pub request: String,
    /// Names of files; `photo.jpg` stands at `/images/photo.jpg`.
    #[serde(default = "usual::attachments")]
    pub attachments: Vec<String>,
    pub reply: String,
    /// The plan; with faults, as far as it is understood.
    #[serde(default)]
    pub plan: Option<Vec<Planned>>,
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// The plan that the request wants, where the reply is not it. Empty when there is none.
    #[serde(default)]
    pub meant: Option<Vec<Planned>>,
}

/// A task of a plan; its id is its place.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planned {
    pub task: String,
    #[serde(default)]
    pub args: Map<String, Value>,
    /// What it waits for, where that does not follow from the references.
    #[serde(default)]
    pub dep: Option<Vec<u32>>,
}

/// A fault that a plan must have.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Fault {
    /// `unreadable`: there is no plan.
    Whole(String),
    /// One of a task.
    Of {
        task: u32,
        kind: String,
        #[serde(default)]
        arg: Option<String>,
    },
}

/// What a case has that does not say otherwise.
mod usual {
    pub(super) fn tools() -> String {
        "media".to_owned()
    }

    pub(super) fn request() -> String {
        "describe photo.jpg and read it aloud".to_owned()
    }

    pub(super) fn attachments() -> Vec<String> {
        vec!["photo.jpg".to_owned()]
    }

    pub(super) const PLAN: &str = r#"[
        {"task": "image-to-text", "args": {"image": "/images/photo.jpg"}},
        {"task": "text-to-speech", "args": {"text": "<GENERATED>-0"}}
    ]"#;
}

const FILES: [(&str, &str); 10] = [
    ("first", include_str!("../data/replies/first.yaml")),
    ("wrappers", include_str!("../data/replies/wrappers.yaml")),
    ("calls", include_str!("../data/replies/calls.yaml")),
    ("keys", include_str!("../data/replies/keys.yaml")),
    ("names", include_str!("../data/replies/names.yaml")),
    ("media", include_str!("../data/replies/media.yaml")),
    ("references", include_str!("../data/replies/references.yaml")),
    ("none", include_str!("../data/replies/none.yaml")),
    ("several", include_str!("../data/replies/several.yaml")),
    ("doubts", include_str!("../data/replies/doubts.yaml")),
];

/// Every case.
///
/// # Panics
/// When a file is not as it should be.
pub fn cases() -> Vec<Case> {
    let usual: Vec<Planned> = serde_json::from_str(usual::PLAN).expect("the usual plan is one");
    let read = |(file, text): &(&str, &str)| {
        let mut cases: Vec<Case> = rows(text, "cases");
        for case in &mut cases {
            if case.class.is_empty() {
                (*file).clone_into(&mut case.class);
            }
            if case.plan.is_none() && case.faults.is_empty() {
                case.plan = Some(usual.clone());
            }
            if case.meant.is_none() {
                case.meant = match case.request == usual::request() {
                    true => Some(usual.clone()),
                    false => case.plan.clone().filter(|_| case.faults.is_empty()),
                };
            }
        }
        cases
    };
    FILES.iter().flat_map(read).collect()
}

/// The tools of a table.
///
/// # Panics
/// When there is no such table.
pub fn tools<T: DeserializeOwned>(table: &str) -> Vec<T> {
    rows(include_str!("../data/replies/tools.yaml"), table)
}

impl Case {
    /// Whether nothing in the reply is a plan.
    pub fn is_unreadable(&self) -> bool {
        matches!(self.faults.as_slice(), [Fault::Whole(word)] if word == "unreadable")
    }

    /// The plan that the request wants, as the format asks for it.
    pub fn mended(&self) -> Option<String> {
        let tasks = self.meant.as_ref()?.iter().enumerate().map(|(id, task)| {
            let dep = task.dep.clone().map_or_else(|| Value::from(references(&task.args)), Value::from);
            serde_json::json!({"task": task.task, "id": id, "dep": dep, "args": task.args})
        });
        Some(Value::from(tasks.collect::<Vec<_>>()).to_string())
    }
}

/// The tasks whose results stand in arguments; `[-1]` when there are none.
fn references(args: &Map<String, Value>) -> Vec<i64> {
    let text = Value::from(args.clone()).to_string();
    let after = text.split("<GENERATED>-").skip(1);
    let mut ids: Vec<i64> =
        after.filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()).collect();
    ids.dedup();
    if ids.is_empty() { vec![-1] } else { ids }
}
