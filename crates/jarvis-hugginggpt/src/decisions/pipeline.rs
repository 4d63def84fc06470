//! The pipeline form of a decision: tasks by name between `source` and `pipeline-end`, linked both ways.
//!
//! Source: PantheraXpoint/JARVIS `hugginggpt/server/sensys/decision_api.py`. What a model writes is read by [`read`],
//! made consistent by [`repair`], and turned into the general form and back by [`convert`]. No calls are made here but in
//! [`decide`] and the steps of it.

pub mod convert;
pub mod decide;
pub mod read;
pub mod repair;
pub(crate) mod steps;

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

/// The id of the node where every pipeline begins.
pub const SOURCE: &str = "source";
/// The id of the node where every pipeline ends.
pub const END: &str = "pipeline-end";
/// What stands in a list that has nothing in it, and for the model of a task that has none.
pub const NONE: &str = "none";

/// One task of a pipeline. The fields serialise in this order, which readers rely on. Lists that have nothing in them
/// hold [`NONE`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PipelineTask {
    /// The task type, which is unique in a pipeline; in one converted from the general form perhaps with a number.
    pub id: String,
    /// The chosen model, or [`NONE`].
    pub model_id: String,
    /// What comes in, in words.
    pub inputs_from_upstreams: Vec<String>,
    pub upstreams: Vec<String>,
    /// What goes out, in words.
    pub outputs_for_downstreams: Vec<String>,
    pub downstreams: Vec<String>,
    #[serde(rename = "model-chosen-reason")]
    pub model_chosen_reason: String,
    /// Why each task after it follows, by its id.
    #[serde(rename = "sample-reasoning")]
    pub sample_reasoning: IndexMap<String, String>,
}

impl PipelineTask {
    /// The tasks before, [`NONE`] left out.
    pub fn before(&self) -> impl Iterator<Item = &str> {
        some(&self.upstreams)
    }

    /// The tasks after, [`NONE`] left out.
    pub fn after(&self) -> impl Iterator<Item = &str> {
        some(&self.downstreams)
    }

    /// True for `source` and `pipeline-end`, which no model serves.
    pub fn is_terminal_node(&self) -> bool {
        self.id == SOURCE || self.id == END
    }

    pub fn planned(&self) -> Value {
        json!({
            "id": self.id,
            "inputs_from_upstreams": self.inputs_from_upstreams,
            "upstreams": self.upstreams,
            "outputs_for_downstreams": self.outputs_for_downstreams,
            "downstreams": self.downstreams,
            "sample-reasoning": self.sample_reasoning,
        })
    }

    /// The five fields that say what the task is and how it is linked.
    pub fn structure(&self) -> Value {
        let mut value = self.planned();
        value.as_object_mut().expect("a task is an object").shift_remove("sample-reasoning");
        value
    }
}

impl<'de> Deserialize<'de> for PipelineTask {
    /// As forgiving as [`read::task`].
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        read::task(&value).map_err(serde::de::Error::custom)
    }
}

/// A pipeline: `{"tasks": […]}`, empty or between `source` and `pipeline-end`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Pipeline {
    /// The tasks: `source` first, `pipeline-end` last.
    pub tasks: Vec<PipelineTask>,
}

impl Pipeline {
    pub fn task(&self, id: &str) -> Option<&PipelineTask> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// Every link once, in task order, then in the order of its downstreams.
    pub fn edges(&self) -> Vec<(&str, &str)> {
        self.tasks.iter().flat_map(|task| task.after().map(|to| (task.id.as_str(), to))).collect()
    }
}

pub(super) fn some(list: &[String]) -> impl Iterator<Item = &str> {
    list.iter().map(String::as_str).filter(|item| !is_none(item))
}

/// True for the ways in which nothing is written.
fn is_none(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || ["none", "null", "n/a", "-1"].iter().any(|none| text.eq_ignore_ascii_case(none))
}

fn or_none(list: Vec<String>) -> Vec<String> {
    if list.is_empty() { vec![NONE.to_owned()] } else { list }
}
