//! Drafts: tasks as some planner proposed them, unchecked.

use indexmap::IndexMap;
use serde_json::Value;

use crate::{Arg, DraftRef, Fault, Note, Plan};

/// Tasks as some planner proposed them, with the raw reply when a model wrote it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Draft {
    /// The proposed tasks, in the order proposed.
    pub tasks: Vec<DraftTask>,
    /// The model's reply, verbatim; empty for planners that are not models.
    pub raw: String,
    /// What was odd already when the draft was read or made, and what was left out of it.
    pub notes: Vec<Note>,
    /// Whether these are a first part only, to be planned on from when their results are known.
    pub more: bool,
}

/// One proposed task. Ids need not be unique or dense, names need not exist, dependencies may dangle.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftTask {
    /// The id the planner gave.
    pub id: i64,
    /// The tool or task type named.
    pub task: String,
    /// The dependencies named explicitly, `-1` left out.
    pub dep: Vec<i64>,
    /// The arguments.
    pub args: IndexMap<String, Arg<DraftRef>>,
    /// The id of the task that this one is an unfolded copy of, when an earlier check unfolded it.
    pub unfolded_from: Option<i64>,
    /// What is wrong with it, where reading it showed that already.
    pub faults: Vec<Fault>,
}

impl DraftTask {
    /// The largest id that counts as one: a plan of millions of tasks does not exist. The check gives tasks with other
    /// ids, negative ones too, a fresh one.
    pub const MAX_ID: i64 = 1_000_000;

    /// A task without dependencies and arguments.
    pub fn new(id: i64, task: impl Into<String>) -> DraftTask {
        DraftTask {
            id,
            task: task.into(),
            dep: Vec::new(),
            args: IndexMap::new(),
            unfolded_from: None,
            faults: Vec::new(),
        }
    }

    /// Adds an argument, read as a planner writes it.
    pub fn arg(mut self, name: &str, value: impl Into<Value>) -> DraftTask {
        self.args.insert(name.to_owned(), Arg::of(&value.into()));
        self
    }

    /// Adds an explicit dependency.
    pub fn after(mut self, id: i64) -> DraftTask {
        self.dep.push(id);
        self
    }
}

impl From<&Plan> for Draft {
    /// The draft that a person would write down from the plan: what an edited plan starts from.
    fn from(plan: &Plan) -> Draft {
        let tasks = plan
            .tasks()
            .iter()
            .map(|task| DraftTask {
                id: i64::from(task.id.0),
                task: task.task.clone(),
                dep: task.dep.iter().map(|id| i64::from(id.0)).collect(),
                args: task.args.iter().map(|(name, arg)| (name.clone(), Arg::of(&arg.to_value()))).collect(),
                unfolded_from: task.unfolded_from,
                faults: Vec::new(),
            })
            .collect();
        Draft { tasks, more: plan.more, ..Draft::default() }
    }
}
