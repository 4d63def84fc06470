//! Plans as OrchestrationBench writes them, and its plan score (`evaluate_workflow_as_DAG.py`).
//!
//! A plan is a set of workflows, each a list of steps of agents. The score is the mean of two similarities by graph edit
//! distance: *structure*, of workflows and what they depend on, and *component*, of agents with their states and what
//! follows what. A state that differs costs 0.2, an agent 0.8 (`eval_config.yaml`).
//!
//! The structure half reads the key `depends_on` alone, the component half `depends_on`, else `depend_on`; the benchmark's
//! prompt uses both. A dependency that is written as `depend_on` is no edge of the structure graph, which then only counts
//! workflows: there a plan without any dependency scores best. [`Workflows::structure`] computes it both ways.

use serde_json::Value;

use super::edit_distance::{Graph, similarity};
use crate::bench::PlanGraph;
use crate::data::normalised;
use crate::evaluate::strict::plan::Plan;

const AGENT_DIFFERS: f64 = 0.8;
const STATE_DIFFERS: f64 = 0.2;
/// The state of a step that does not say it.
const NO_STATE: &str = "UNK";
const COMPLETED: &str = "completed";
const PENDING: &str = "pending";

/// The workflows of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Workflows {
    pub workflows: Vec<Workflow>,
    /// Workflows of the plan before, all steps completed, which a new plan repeats.
    pub done: Vec<Workflow>,
}

/// One workflow.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Workflow {
    pub name: String,
    /// Names under the key `depends_on`.
    pub depends_on: Vec<String>,
    /// Names under the key `depend_on`.
    pub depend_on: Vec<String>,
    pub steps: Vec<Step>,
}

/// One step of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Id of the agent, under `name` or `agent_id`.
    pub agent: String,
    pub state: String,
}

impl Workflow {
    /// What it depends on as the component half reads it.
    fn dependencies(&self) -> &[String] {
        if self.depends_on.is_empty() { &self.depend_on } else { &self.depends_on }
    }
}

impl Workflows {
    /// Reads `{"workflow_1": {"depends_on": […], "steps": [{"name", "status"}]}}`; keys without `workflow` do not count.
    pub(crate) fn of(value: &Value) -> Workflows {
        let names = |own: &Value, key: &str| -> Vec<String> {
            match own.get(key) {
                Some(Value::String(name)) => vec![name.clone()],
                Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
                Some(_) | None => Vec::new(),
            }
        };
        let step = |step: &Value| {
            let text = |key: &str| step.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
            let agent = text("agent_id").or_else(|| text("name"))?.to_owned();
            Some(Step { agent, state: text("status").unwrap_or(NO_STATE).to_owned() })
        };
        let fields = value.as_object().into_iter().flatten().filter(|(name, _)| name.contains("workflow"));
        let workflow = |(name, own): (&String, &Value)| Workflow {
            name: name.clone(),
            depends_on: names(own, "depends_on"),
            depend_on: names(own, "depend_on"),
            steps: own.get("steps").and_then(Value::as_array).into_iter().flatten().filter_map(step).collect(),
        };
        Workflows { workflows: fields.map(workflow).collect(), done: Vec::new() }
    }

    /// The workflows with every step completed.
    pub(crate) fn steps_as_done(&self) -> Vec<Workflow> {
        let mut done = self.workflows.clone();
        for step in done.iter_mut().flat_map(|workflow| &mut workflow.steps) {
            COMPLETED.clone_into(&mut step.state);
        }
        done
    }

    /// The steps that are not completed, as a graph of agents.
    pub(crate) fn pending(&self) -> PlanGraph {
        let mut graph = PlanGraph::default();
        let mut ends: Vec<(&str, Option<(usize, usize)>)> = Vec::new();
        for workflow in &self.workflows {
            let mut own: Option<(usize, usize)> = None;
            for step in workflow.steps.iter().filter(|step| step.state != COMPLETED) {
                let at = graph.nodes.len();
                graph.nodes.push(step.agent.clone());
                graph.links.extend(own.map(|(_, last)| (last, at)));
                own = Some((own.map_or(at, |(first, _)| first), at));
            }
            ends.push((&workflow.name, own));
        }
        for (workflow, (_, own)) in self.workflows.iter().zip(&ends) {
            for dependency in workflow.dependencies() {
                let before = ends.iter().find(|(name, _)| name == dependency).and_then(|(_, ends)| *ends);
                graph.links.extend(before.zip(*own).map(|((_, last), (first, _))| (last, first)));
            }
        }
        graph
    }

    /// A plan in this form, behind what is done: tasks that only follow each other are one workflow, and a workflow depends
    /// on those whose tasks its first task follows.
    pub(crate) fn with_plan(&self, plan: &Plan) -> Workflows {
        let before =
            |at: usize| plan.edges.iter().filter(move |(from, to)| *to == at && from != to).map(|(from, _)| *from);
        let after = |at: usize| plan.edges.iter().filter(|(from, to)| *from == at && from != to).count();
        let mut of_task: Vec<usize> = Vec::with_capacity(plan.nodes.len());
        let mut heads: Vec<usize> = Vec::new();
        let mut workflows: Vec<Workflow> = Vec::new();
        for (at, name) in plan.nodes.iter().enumerate() {
            let mut earlier = before(at);
            let only = earlier.next().filter(|only| earlier.next().is_none() && *only < at && after(*only) == 1);
            let own = only.and_then(|only| of_task.get(only).copied()).unwrap_or(workflows.len());
            if own == workflows.len() {
                heads.push(at);
                workflows.push(Workflow { name: format!("workflow_new_{}", own + 1), ..Workflow::default() });
            }
            if let Some(workflow) = workflows.get_mut(own) {
                workflow.steps.push(Step { agent: name.clone(), state: PENDING.to_owned() });
            }
            of_task.push(own);
        }
        for (own, head) in heads.into_iter().enumerate() {
            let others = before(head).filter_map(|task| of_task.get(task).copied()).filter(|other| *other != own);
            let names: std::collections::BTreeSet<String> =
                others.map(|other| format!("workflow_new_{}", other + 1)).collect();
            if let Some(workflow) = workflows.get_mut(own) {
                workflow.depends_on = names.into_iter().collect();
            }
        }
        Workflows { workflows: self.done.iter().cloned().chain(workflows).collect(), done: Vec::new() }
    }

    /// The half for workflows; with `both_keys` a `depend_on` counts like a `depends_on`.
    pub(crate) fn structure(&self, gold: &Workflows, both_keys: bool) -> f64 {
        let graph = |plan: &Workflows| {
            let mut graph: Graph<String> = Graph::new();
            for workflow in &plan.workflows {
                let own = graph.place(workflow.name.clone());
                let dependencies = if both_keys { workflow.dependencies() } else { &workflow.depends_on };
                for dependency in dependencies {
                    // A name that no workflow has is a node too.
                    let before = graph.place(dependency.clone());
                    graph.edges.insert((before, own));
                }
            }
            graph
        };
        similarity(&graph(self), &graph(gold), &|_, _| 0.0)
    }

    /// The half for agents and their states.
    pub(crate) fn component(&self, gold: &Workflows) -> f64 {
        let replace = |(agent, state): &(String, String), (other, other_state): &(String, String)| match (
            agent == other,
            state == other_state,
        ) {
            (true, true) => 0.0,
            (true, false) => STATE_DIFFERS,
            (false, true) => AGENT_DIFFERS,
            (false, false) => 1.0,
        };
        similarity(&self.agents(), &gold.agents(), &replace)
    }

    /// Agents with their states, each pair once, and what follows what.
    fn agents(&self) -> Graph<(String, String)> {
        let mut graph = Graph::new();
        let key = |step: &Step| (normalised(&step.agent), step.state.clone());
        for workflow in &self.workflows {
            let places: Vec<usize> = workflow.steps.iter().map(|step| graph.place(key(step))).collect();
            for pair in places.windows(2) {
                if let [before, after] = pair
                    && before != after
                {
                    graph.edges.insert((*before, *after));
                }
            }
        }
        for workflow in &self.workflows {
            let Some(first) = workflow.steps.first() else { continue };
            for dependency in workflow.dependencies() {
                let other = self.workflows.iter().find(|other| other.name == *dependency);
                if let Some(last) = other.and_then(|other| other.steps.last()) {
                    let edge = (graph.place(key(last)), graph.place(key(first)));
                    graph.edges.insert(edge);
                }
            }
        }
        graph
    }
}
