//! The neutral form: what every benchmark becomes before it is planned and scored.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jarvis_plan::Turn;
use serde_json::{Map, Value, json};

use super::own::Workflows;
use crate::data::{BenchTool, DependencyType, ToolGraph, ToolList, normalised};
use crate::evaluate::strict::plan::Plan;
use crate::infer::Links;
use crate::words::words;

words! {
    /// The form in which a benchmark publishes its plans.
    pub enum Form as "form" {
        /// `tools.json` and `plans.jsonl`.
        Neutral = "neutral",
        /// microsoft/JARVIS, both releases.
        TaskBench = "taskbench",
        /// UltraTool, as published and as GNN4TaskPlan has it.
        UltraTool = "ultratool",
        OrchestrationBench = "orchestrationbench",
        ComplexToolPlan = "complextool-plan",
        SealTools = "seal-tools",
        WorfBench = "worfbench",
    }
}

impl Form {
    /// What the links of its gold plans mean.
    pub fn links(self) -> Links {
        match self {
            Form::TaskBench | Form::UltraTool => Links::Order,
            Form::Neutral | Form::OrchestrationBench | Form::ComplexToolPlan | Form::SealTools | Form::WorfBench => {
                Links::Data
            }
        }
    }
}

/// The samples of one folder or file.
#[derive(Debug, Clone)]
pub struct PlanSet {
    /// Its name in tables; different from the other sets' of a report.
    pub name: String,
    pub path: PathBuf,
    pub form: Form,
    /// How plans for it are written: with typed resources, or with listed links.
    pub dependency: DependencyType,
    /// Which tool can follow which, for the offline planner; TaskBench and UltraTool publish it.
    pub graph: Option<ToolGraph>,
    pub samples: Vec<Sample>,
    /// What is odd about the files.
    pub notes: Vec<String>,
}

/// One request with its gold plan.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Unique in its set.
    pub id: String,
    pub request: String,
    /// The turns before the request, oldest first.
    pub dialogue: Vec<Turn>,
    /// The tools that are offered. Samples that are offered the same list share it.
    pub tools: Arc<ToolList>,
    pub gold: PlanGraph,
    /// The gold plan as OrchestrationBench writes it, for its own score.
    pub workflows: Option<Box<Workflows>>,
}

/// Tools and what follows what.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanGraph {
    /// Names of tools, in the order of the calls; the same name may stand several times.
    pub nodes: Vec<String>,
    /// Pairs of places in `nodes`.
    pub links: Vec<(usize, usize)>,
}

impl PlanGraph {
    /// The graph as the strict profile compares it. Links to places that do not exist are left out.
    pub(crate) fn to_plan(&self) -> Plan {
        let nodes: Vec<String> = self.nodes.iter().map(|name| normalised(name)).collect();
        let named = |(a, b): &(usize, usize)| Some((nodes.get(*a)?.clone(), nodes.get(*b)?.clone()));
        let edges = self.links.iter().filter(|link| named(link).is_some()).copied().collect();
        let links = self.links.iter().filter_map(named).collect();
        Plan { nodes, written: self.nodes.clone(), links, edges, ..Plan::default() }
    }
}

/// A tool of the neutral form as TaskBench's catalogue has it.
pub(crate) fn named_tool(name: &str, description: &str, parameters: Vec<Value>, returns: Option<&str>) -> BenchTool {
    let mut entry = Map::new();
    entry.insert("id".into(), name.into());
    entry.insert("desc".into(), description.into());
    entry.insert("parameters".into(), parameters.clone().into());
    if let Some(returns) = returns {
        entry.insert("returns".into(), returns.into());
    }
    BenchTool {
        id: name.to_owned(),
        desc: description.to_owned(),
        inputs: None,
        outputs: None,
        parameters: Some(parameters),
        entry: entry.into(),
    }
}

/// A parameter as TaskBench's catalogue has it.
pub(crate) fn parameter(name: &str, kind: &str, description: &str, required: bool) -> Value {
    json!({"name": name, "type": kind, "desc": description, "required": required})
}

/// The parameters that a JSON Schema of arguments names. Without a list `required` all are taken as required.
pub(crate) fn parameters_of_schema(schema: &Value) -> Vec<Value> {
    let required = schema.get("required").and_then(Value::as_array);
    let properties = schema.get("properties").and_then(Value::as_object);
    let parameter = |(name, own): (&String, &Value)| {
        let kind = match own.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().find_map(Value::as_str),
            other => other.and_then(Value::as_str),
        };
        let description = own.get("description").and_then(Value::as_str).unwrap_or_default();
        let is_required = required.is_none_or(|names| names.iter().any(|one| one == name));
        let mut entry = parameter(name, kind.unwrap_or("string"), description, is_required);
        if let (Some(entry), true) = (entry.as_object_mut(), own.is_object()) {
            entry.insert("schema".into(), own.clone());
        }
        entry
    };
    properties.into_iter().flatten().map(parameter).collect()
}

/// Makes repeated ids different, and says how many there were.
pub(crate) fn unique_ids(samples: &mut [Sample], notes: &mut Vec<String>) {
    let mut seen = std::collections::HashMap::<String, usize>::new();
    let mut repeated: Vec<String> = Vec::new();
    for sample in samples {
        let times = seen.entry(sample.id.clone()).or_default();
        *times += 1;
        if *times > 1 {
            repeated.push(sample.id.clone());
            sample.id = format!("{}#{times}", sample.id);
        }
    }
    if let Some(first) = repeated.first() {
        notes.push(format!("{} samples repeat the id of another, such as {first}; they are numbered", repeated.len()));
    }
}

/// The name of the folder or file, without extension and without TaskBench's `data_`.
pub(crate) fn name_of(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = if path.is_file() { path.file_stem() } else { path.file_name() };
    let name = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.strip_prefix("data_").map_or(name.clone(), str::to_owned)
}
