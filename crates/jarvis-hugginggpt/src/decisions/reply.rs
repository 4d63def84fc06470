//! A decision as JSON: the reply of the decision API, and the execution plan in it.
//!
//! Source: PantheraXpoint/JARVIS `hugginggpt/server/decision_api.py`; the optional fields are ours.

use std::collections::BTreeMap;

use jarvis_plan::{Candidate, Task, TaskId};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Decision, TaskChoice};
use crate::json::{set, take};

/// What stands in place of a model's id where there is none.
pub(crate) const NO_MODEL: &str = "N/A";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Levels<K> {
    /// Node to its level: 0 without dependencies, else one more than the highest of its dependencies.
    pub of: BTreeMap<K, usize>,
    /// The nodes of each level, in node order.
    pub nodes: Vec<Vec<K>>,
}

/// The levels of a graph given as nodes with their dependencies, by a topological sort that does not depend on the
/// order of ids. Dependencies on nodes that are not there do not count; nodes on a cycle, and those that wait for them,
/// are left out.
pub fn levels<K: Ord + Clone>(graph: &BTreeMap<K, Vec<K>>) -> Levels<K> {
    let mut of: BTreeMap<K, usize> = BTreeMap::new();
    let mut nodes: Vec<Vec<K>> = Vec::new();
    let mut left: Vec<&K> = graph.keys().collect();
    loop {
        let free = |id: &K| {
            let deps = graph.get(id).into_iter().flatten();
            deps.filter(|dep| graph.contains_key(*dep)).all(|dep| of.contains_key(dep))
        };
        let (next, rest): (Vec<&K>, Vec<&K>) = left.into_iter().partition(|id| free(id));
        if next.is_empty() {
            return Levels { of, nodes };
        }
        of.extend(next.iter().map(|id| ((*id).clone(), nodes.len())));
        nodes.push(next.into_iter().cloned().collect());
        left = rest;
    }
}

/// The levels as an execution plan lists them, with what it calls each node.
pub(crate) fn execution_order<K, T: Serialize>(levels: &Levels<K>, name: impl Fn(&K) -> T) -> Vec<Value> {
    let level = |(at, nodes): (usize, &Vec<K>)| {
        let names: Vec<T> = nodes.iter().map(&name).collect();
        json!({"level": at, "parallel": nodes.len() > 1, "tasks": names})
    };
    levels.nodes.iter().enumerate().map(level).collect()
}

impl Decision {
    fn tasks(&self) -> Vec<&Task> {
        let mut tasks: Vec<&Task> = self.plan.tasks().iter().collect();
        tasks.sort_by_key(|task| task.id);
        tasks
    }

    /// The execution plan: `{"execution_config": {…}}`. The same decision gives the same bytes.
    pub fn execution_config(&self) -> Value {
        let tasks = self.tasks();
        let graph: BTreeMap<TaskId, Vec<TaskId>> = tasks.iter().map(|task| (task.id, task.dep.clone())).collect();
        let levels = levels(&graph);
        let edges: Vec<Value> =
            tasks.iter().flat_map(|task| task.dep.iter().map(|dep| json!({"from": dep, "to": task.id}))).collect();
        let rows: Vec<Value> = tasks.iter().map(|task| self.config_task(task, levels.of.get(&task.id))).collect();
        let mut config = json!({
            "user_request": self.request,
            "total_tasks": rows.len(),
            "tasks": rows,
            "dag": {"nodes": graph.keys().collect::<Vec<_>>(), "edges": edges},
            "execution_order": execution_order(&levels, |id| *id),
        });
        if self.plan.may_grow() {
            set(&mut config, "more", true);
        }
        if !self.warnings.is_empty() {
            set(&mut config, "warnings", json!(self.warnings));
        }
        json!({"execution_config": config})
    }

    fn config_task(&self, task: &Task, level: Option<&usize>) -> Value {
        let choice = self.choice(task.id);
        let chosen = choice.and_then(|choice| choice.result.as_ref().ok());
        let effective = chosen.map_or(task.task.as_str(), |selection| selection.chosen.effective_task.as_str());
        let mut row = json!({
            "task_id": task.id,
            "task_type": rewritten(task, effective),
            "model_id": chosen.map_or(NO_MODEL, |selection| selection.chosen.id.as_str()),
            "model_reason": choice.map(reason).unwrap_or_default(),
            "args": task.args,
            "dependencies": task.dep,
            "execution_level": level,
            "hosted_on": chosen.map(|selection| &selection.chosen.host),
            "alternatives": chosen.map(|selection| hosted(&selection.fallbacks)).unwrap_or_default(),
        });
        if rewritten(task, effective) != effective {
            set(&mut row, "effective_task", effective);
        }
        self.origin(task, &mut row);
        row
    }

    /// Where a task came from: the name before it was mapped, the task that it is a copy of.
    fn origin(&self, task: &Task, row: &mut Value) {
        if let Some(from) = self.mapped_from(task.id) {
            set(row, "mapped_from", from);
        }
        if let Some(from) = task.unfolded_from {
            set(row, "unfolded_from", from);
        }
    }

    /// The execution plan as text, indented by two: what `message` and the saved file hold.
    pub fn message(&self) -> String {
        format!("{:#}", self.execution_config())
    }

    /// True when the plan is one task that the chat model performs itself: conversation, in other words.
    pub fn is_single_chat_task(&self) -> bool {
        match self.choices.as_slice() {
            [only] => only.result.as_ref().is_ok_and(|selection| selection.chosen.id == crate::CHAT_MODEL_ID),
            _ => false,
        }
    }

    /// What the main server answers with when it is asked for decisions only: `decisions` and `raw_results`.
    pub fn decisions_only(&self) -> Value {
        let tasks: Map<String, Value> =
            self.tasks().iter().map(|task| (task.id.to_string(), self.task(task))).collect();
        let none = Value::Null;
        let rows = self.choices.iter().map(|choice| (choice, tasks.get(&choice.task.to_string()).unwrap_or(&none)));
        let selections: Map<String, Value> =
            rows.clone().map(|(choice, task)| (choice.task.to_string(), selection(choice, task))).collect();
        let raw: Map<String, Value> =
            rows.map(|(choice, task)| (choice.task.to_string(), raw_result(choice, task))).collect();
        let selected = self.choices.iter().filter(|choice| choice.result.is_ok()).count();
        json!({
            "decisions": {
                "input": self.request,
                "planned_tasks": tasks.values().collect::<Vec<_>>(),
                "model_selections": selections,
                "summary": {
                    "total_tasks": tasks.len(),
                    "tasks_with_selections": selected,
                    "tasks_unavailable": self.choices.len() - selected,
                },
            },
            "raw_results": raw,
        })
    }

    /// The whole reply of the decision API. An empty plan has a notice for a `message`, and no `raw_results`.
    pub fn reply(&self) -> Value {
        let mut reply = self.decisions_only();
        set(&mut reply, "message", self.message());
        if self.plan.tasks().is_empty() {
            set(&mut reply, "message", "No task was planned: nothing in the request fits a known task type");
            reply.as_object_mut().expect("a reply is an object").shift_remove("raw_results");
        }
        set(&mut reply, "execution_config", take(self.execution_config(), "execution_config"));
        set(&mut reply, "plan_id", self.plan_id.clone());
        for (name, text) in [
            ("execution_config_file", &self.saved),
            ("prompt_logs_directory", &self.prompt_logs),
            ("description", &self.description),
        ] {
            if let Some(text) = text {
                set(&mut reply, name, text.clone());
            }
        }
        set(&mut reply, "llm_calls", self.usage.total_calls());
        set(&mut reply, "usage", json!(self.usage));
        set(&mut reply, "timing_ms", self.ms);
        let warnings: Vec<&String> = self.warnings.iter().chain(&self.unsaved).collect();
        if !warnings.is_empty() {
            set(&mut reply, "warnings", json!(warnings));
        }
        reply
    }

    fn task(&self, task: &Task) -> Value {
        let dep: Vec<i64> = match task.dep.as_slice() {
            [] => vec![-1],
            dep => dep.iter().map(|id| i64::from(id.0)).collect(),
        };
        let mut row = json!({"task": task.task, "id": task.id, "dep": dep, "args": task.args});
        self.origin(task, &mut row);
        row
    }
}

/// The task type as the execution plan names it: `seg-text-to-image` and `depth-text-to-image` without text become the
/// tasks that stand in; the others keep their names.
fn rewritten<'a>(task: &'a Task, effective: &'a str) -> &'a str {
    let control = jarvis_catalogue::find(effective).is_some_and(|kind| kind.control_model().is_some());
    if effective != task.task && !control { effective } else { &task.task }
}

fn reason(choice: &TaskChoice) -> &str {
    match &choice.result {
        Ok(selection) => &selection.reason,
        Err(error) => &error.message,
    }
}

fn hosted(candidates: &[Candidate]) -> Vec<Value> {
    candidates.iter().map(|candidate| json!({"id": candidate.id, "hosted_on": candidate.host})).collect()
}

fn selection(choice: &TaskChoice, task: &Value) -> Value {
    let chosen = choice.result.as_ref().ok().map(|selection| &selection.chosen);
    json!({
        "task": task,
        "selected_model": chosen.map(|chosen| chosen.id.as_str()),
        "hosted_on": chosen.map(|chosen| &chosen.host),
        "reason": reason(choice),
        "status": status(choice),
        "available_candidates": chosen.map(|_| choice.available),
    })
}

fn raw_result(choice: &TaskChoice, task: &Value) -> Value {
    match &choice.result {
        Ok(selection) => {
            let (id, host) = (&selection.chosen.id, &&selection.chosen.host);
            json!({
                "task": task,
                "choose model result": {"id": id, "reason": selection.reason, "hosted_on": host},
                "selected_model_id": id,
                "hosted_on": host,
                "status": status(choice),
                "available_candidates_count": choice.available,
            })
        }
        Err(error) => json!({
            "task": task,
            "choose model result": {"id": NO_MODEL, "reason": error.message},
            "status": status(choice),
        }),
    }
}

fn status(choice: &TaskChoice) -> &'static str {
    if choice.result.is_ok() { "selected_not_executed" } else { "unavailable" }
}
