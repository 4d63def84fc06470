//! OrchestrationBench (kakao/OrchestrationBench, `data/EN` and `data/KO`): `multiagent_cards/*.json`, the agents with their
//! skills, and `scenario_data/*.yaml`, one dialogue each.
//!
//! A scenario is `{"metadata", "steps": [{"workflow_id", "step_id", "agent", "agent_type", "data": {"content"}}]}`. A step of
//! `main` whose content starts with `workflow_` is a gold plan, YAML in the text; it becomes a sample whose request is the
//! user's last turn before it, and whose dialogue are the earlier turns of the user and of `main`. What agents answer, and
//! the step `system` with time and place, are left out.
//!
//! The tools are the agents: a skill is part of its agent's description. The tasks of a gold plan are the steps of its
//! workflows that are not completed, since a later plan repeats what an earlier one has done. A step follows the one before
//! it in its workflow, and the first step of a workflow the last one of each workflow that it depends on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jarvis_plan::Turn;
use serde_json::{Value, json};

use super::{id, notes_of, text};
use crate::DataError;
use crate::bench::form::{name_of, named_tool};
use crate::bench::own::Workflows;
use crate::bench::{BenchError, Form, PlanSet, Sample};
use crate::data::{BenchTool, DependencyType, ToolList};

pub(super) fn read(path: &Path) -> Result<PlanSet, BenchError> {
    let mut tools = Vec::new();
    for file in files(&path.join("multiagent_cards"), &["json"])? {
        let card = yaml(&file)?;
        let tool = agent(&card).ok_or_else(|| DataError::shape(&file, "it has no text under `agent_card.agent_id`"))?;
        tools.push(tool);
    }
    let tools = Arc::new(ToolList { tools });
    let (mut samples, mut bad) = (Vec::new(), Vec::new());
    let scenarios = files(&path.join("scenario_data"), &["yaml", "yml"])?;
    for (at, file) in scenarios.iter().enumerate() {
        let name = name_of(file);
        match yaml(file).map_err(|error| error.to_string()).and_then(|scenario| of_scenario(&name, &scenario)) {
            Ok(more) => samples.extend(more.into_iter().map(|sample| Sample { tools: Arc::clone(&tools), ..sample })),
            Err(why) => bad.push((at + 1, format!("{name}: {why}"))),
        }
    }
    Ok(PlanSet {
        name: format!("orchestrationbench {}", name_of(path)),
        path: path.to_owned(),
        form: Form::OrchestrationBench,
        dependency: DependencyType::Temporal,
        graph: None,
        samples,
        notes: notes_of(&bad, "scenario"),
    })
}

/// The files of a folder with one of these endings: numbers in their order, then names.
fn files(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>, DataError> {
    let entries = std::fs::read_dir(folder).map_err(|error| DataError::read(folder, error))?;
    let has_ending = |path: &PathBuf| path.extension().is_some_and(|own| endings.iter().any(|ending| own == *ending));
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(has_ending).collect();
    files.sort_by_key(|file| {
        let name = name_of(file);
        (name.parse::<u64>().unwrap_or(u64::MAX), name)
    });
    Ok(files)
}

/// A document in YAML, which JSON is too.
fn yaml(path: &Path) -> Result<Value, DataError> {
    let text = std::fs::read_to_string(path).map_err(|error| DataError::read(path, error))?;
    serde_saphyr::from_str(&text).map_err(|error| {
        let reason = error.to_string().lines().next().unwrap_or_default().to_owned();
        DataError::shape(path, format!("it cannot be read as YAML: {reason}"))
    })
}

/// An agent as a tool: its description with that of each skill.
fn agent(card: &Value) -> Option<BenchTool> {
    let own = card.get("agent_card")?;
    let mut description = text(own, "description").unwrap_or_default().trim().to_owned();
    let mut skills = Vec::new();
    for skill in own.get("skills").and_then(Value::as_array).into_iter().flatten() {
        let name = text(skill, "name").or_else(|| text(skill, "id")).unwrap_or_default();
        let does = text(skill, "description").unwrap_or_default();
        description.push_str(&format!(" {name}: {does}"));
        skills.push(json!({"name": name, "desc": does}));
    }
    Some(named_tool(text(own, "agent_id")?, description.trim(), Vec::new(), None))
}

fn of_scenario(name: &str, scenario: &Value) -> Result<Vec<Sample>, String> {
    let steps = scenario.get("steps").and_then(Value::as_array).ok_or("it has no list under `steps`")?;
    let mut dialogue: Vec<Turn> = Vec::new();
    let mut before = Workflows::default();
    let mut samples = Vec::new();
    for step in steps {
        let content = step.pointer("/data/content").and_then(Value::as_str).unwrap_or_default();
        let is_system = text(step, "workflow_id") == Some("system");
        match text(step, "agent") {
            Some("user") => dialogue.push(Turn::user(content)),
            Some("main") if content.starts_with("workflow_") => {
                let number = id(step, "step_id").unwrap_or_default();
                let read: Value = serde_saphyr::from_str(content)
                    .map_err(|_| format!("the plan of step {number} cannot be read as YAML"))?;
                let gold = Workflows::of(&read);
                let Some(at) = dialogue.iter().rposition(|turn| turn.role == jarvis_plan::Role::User) else {
                    return Err(format!("the plan of step {number} follows no turn of the user"));
                };
                samples.push(Sample {
                    id: format!("{name}-{number}"),
                    request: dialogue.get(at).map(|turn| turn.content.clone()).unwrap_or_default(),
                    dialogue: dialogue.get(..at).unwrap_or_default().to_vec(),
                    tools: Arc::default(),
                    gold: gold.pending(),
                    workflows: Some(Box::new(Workflows { done: before.steps_as_done(), ..gold.clone() })),
                });
                before = gold;
            }
            Some("main") if !is_system => dialogue.push(Turn::assistant(content)),
            Some(_) | None => {}
        }
    }
    Ok(samples)
}
