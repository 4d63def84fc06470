//! The prompts of decisions: semantic mapping, and the three of the pipeline form.

use jarvis_plan::{Role, Turn};
use jarvis_prompt::template::TemplateError;
use serde_json::{Value, json};

use super::{Prompt, Prompts};
use crate::decisions::examples::{Example, Scenario};
use crate::json::set;
use crate::source::{ServiceModel, ServiceTask};
use crate::untrusted::clean;

/// What the prompt of a pipeline holds.
#[derive(Debug, Clone, Copy)]
pub struct PipelinePlan<'a> {
    pub scenario: &'a Scenario,
    pub tasks: &'a [ServiceTask],
    /// Characters of a task's description that are shown.
    pub task_description: usize,
    /// Examples, shown with their reasons unless `reasons` is false.
    pub examples: &'a [Example],
    pub reasons: bool,
    /// The models to choose among in the same call; `None` asks for the plan alone.
    pub models: Option<ModelsShown<'a>>,
}

#[derive(Debug, Clone, Copy)]
pub struct ModelsShown<'a> {
    pub by_task: &'a [(String, Vec<ServiceModel>)],
    /// How many of each task are shown.
    pub most: usize,
    /// Characters of their descriptions that are shown.
    pub description: usize,
}

/// What the prompt of a choice in the pipeline form holds.
#[derive(Debug, Clone, Copy)]
pub struct PipelineChoice<'a> {
    /// The scenario; its description may be cut.
    pub scenario: &'a Scenario,
    pub task: &'a Value,
    pub info: &'a ServiceTask,
    pub models: &'a [ServiceModel],
    /// Characters of a model's description that are shown.
    pub description: usize,
}

impl Prompts {
    pub fn map_task(&self, input: &str, name: &str, tasks: &[&str]) -> Result<Vec<Turn>, TemplateError> {
        self.table
            .turns(Prompt::MapTask, &json!({"input": input, "name": name, "tasks": quoted(tasks.iter().copied())}))
    }

    /// A scenario to a pipeline, with models when they are given.
    pub fn pipeline_plan(&self, ask: &PipelinePlan<'_>) -> Result<Vec<Turn>, TemplateError> {
        let mut context = json!({
            "input": ask.scenario.sample_description,
            "objects_seen": ask.scenario.objects(),
            "context": [],
            "tasks": quoted(ask.tasks.iter().map(|task| task.id.as_str())),
            "tools": ask.tasks.iter().map(|task| task_line(task, ask.task_description)).collect::<Vec<_>>(),
        });
        let prompt = match ask.models {
            None => Prompt::PipelineParse,
            Some(ModelsShown { by_task, most, description }) => {
                let lines: Vec<String> = (by_task.iter())
                    .filter(|(_, models)| !models.is_empty())
                    .map(|(task, models)| {
                        let shown: Vec<Value> =
                            models.iter().take(most).map(|model| model_shown(model, description)).collect();
                        json!({"task": task, "models": shown}).to_string()
                    })
                    .collect();
                set(&mut context, "models", lines);
                Prompt::PipelineUnified
            }
        };
        let mut turns = self.table.turns(prompt, &context)?;
        let own = turns.iter().filter(|turn| turn.role != Role::System).count() > 1;
        // A person's own demos take the place of the catalogue's examples.
        if !own {
            let last = turns.len().saturating_sub(1);
            let shots = ask.examples.iter().flat_map(|example| {
                let answer = example.answer(ask.reasons).to_string();
                [Turn::user(format!("Scenario:\n{}", example.scenario.shown())), Turn::assistant(answer)]
            });
            turns.splice(last..last, shots);
        }
        Ok(alternating(turns))
    }

    pub fn pipeline_choice(&self, ask: &PipelineChoice<'_>) -> Result<Vec<Turn>, TemplateError> {
        let models: Vec<Value> = ask.models.iter().map(|model| model_shown(model, ask.description)).collect();
        let info = json!(ask.info);
        let context = json!({
            "input": ask.scenario.sample_description,
            "scenario_description": ask.scenario.sample_description,
            "objects_seen": ask.scenario.objects(),
            "task": ask.task,
            "task_info": info,
            "metas": models,
            "available_models": models,
        });
        self.table.turns(Prompt::PipelineChoose, &context)
    }
}

/// The turns with neighbours of one speaker joined: a person's demos may be one long text, and some endpoints refuse two
/// turns of the user in a row.
fn alternating(turns: Vec<Turn>) -> Vec<Turn> {
    let mut joined: Vec<Turn> = Vec::with_capacity(turns.len());
    for turn in turns {
        match joined.last_mut().filter(|last| last.role == turn.role) {
            Some(last) => last.content.push_str(&format!("\n\n{}", turn.content)),
            None => joined.push(turn),
        }
    }
    joined
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// A task's record on one line; what is not known is left out.
fn task_line(task: &ServiceTask, description: usize) -> String {
    let mut line = json!({ "id": task.id });
    let description = if description == 0 { String::new() } else { clean(&task.description, description) };
    for (name, text) in [("name", &task.name), ("description", &description)] {
        if !text.is_empty() && *text != task.id {
            set(&mut line, name, text.as_str());
        }
    }
    for (name, list) in [("inputs", &task.inputs), ("outputs", &task.outputs)] {
        if !list.is_empty() {
            set(&mut line, name, list.clone());
        }
    }
    line.to_string()
}

/// A model as a chooser sees it; what is not known is left out.
fn model_shown(model: &ServiceModel, description: usize) -> Value {
    let mut shown = json!({ "id": model.id });
    if !model.name.is_empty() && model.name != model.id {
        set(&mut shown, "name", model.name.as_str());
    }
    if !model.description.is_empty() && description > 0 {
        set(&mut shown, "description", clean(&model.description, description));
    }
    if let Some(tags) = model.tags.as_ref().filter(|tags| !tags.is_empty()) {
        set(&mut shown, "tags", tags.clone());
    }
    if model.likes > 0 {
        set(&mut shown, "likes", model.likes);
    }
    shown
}

#[cfg(test)]
mod tests;
