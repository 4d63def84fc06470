//! Prompt tuning: one example is planned for, with others as few-shots, and shown beside the truth.
//!
//! The tested example is never among the few-shots.

use jarvis_ask::Events;
use serde_json::{Value, json};

use super::examples::{Category, Example};
use super::pipeline::steps::records;
use super::{DecisionError, Decisions, PromptLog};
use crate::json::set;

const MAX_SHOTS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trial {
    pub few_shot_categories: Vec<usize>,
    /// How many of each; 1 unless given.
    pub num_few_shot_examples_per_category: usize,
    pub test_category_index: usize,
    /// Its place in the category, from 0; 0 unless given.
    pub test_example_index: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    #[error("{0}")]
    Request(String),
    #[error("there are no examples to try")]
    NoExamples,
    #[error(transparent)]
    Decision(#[from] DecisionError),
}

impl TrialError {
    pub fn code(&self) -> &'static str {
        match self {
            TrialError::Request(_) => "bad_request",
            TrialError::NoExamples => "no_examples",
            TrialError::Decision(error) => error.code(),
        }
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            TrialError::Request(_) => None,
            TrialError::NoExamples => {
                Some("set `decisions.examples` to a file of examples, or give the service some".into())
            }
            TrialError::Decision(error) => error.hint(),
        }
    }
}

impl Trial {
    /// Reads the body of a request; unknown fields are ignored.
    ///
    /// # Errors
    /// [`TrialError::Request`] says which field is wrong.
    pub fn read(body: &Value) -> Result<Trial, TrialError> {
        let wrong = |text: &str| TrialError::Request(text.to_owned());
        let fields = body.as_object().ok_or_else(|| wrong("the body must be a JSON object"))?;
        let whole = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
        let number = |name: &str| match fields.get(name).filter(|value| !value.is_null()) {
            None => Ok(None),
            Some(value) => {
                whole(value).map(Some).ok_or_else(|| wrong(&format!("`{name}` must be a whole number from 0")))
            }
        };
        let few_shot_categories = match fields.get("few_shot_categories") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => items
                .iter()
                .map(whole)
                .collect::<Option<Vec<usize>>>()
                .ok_or_else(|| wrong("`few_shot_categories` must hold whole numbers from 0"))?,
            Some(_) => return Err(wrong("`few_shot_categories` must be a list")),
        };
        Ok(Trial {
            few_shot_categories,
            num_few_shot_examples_per_category: number("num_few_shot_examples_per_category")?.unwrap_or(1),
            test_category_index: number("test_category_index")?
                .ok_or_else(|| wrong("`test_category_index` is missing"))?,
            test_example_index: number("test_example_index")?.unwrap_or(0),
        })
    }
}

impl Decisions {
    /// Plans for the example of the source that a trial names and answers with what was planned and what would be right:
    /// `test_info`, `test_scenario`, `generated_tasks`, `ground_truth_tasks`, and where prompts are written down
    /// `prompt_logs_directory`. Makes one call (two when the first reply cannot be read, and one for each unknown task
    /// type).
    ///
    /// # Errors
    /// When the trial names what is not there, there are no examples, or there is no plan.
    pub async fn try_example(&self, trial: &Trial, events: &Events) -> Result<Value, TrialError> {
        let examples = self.source.examples().await;
        if examples.all.is_empty() {
            return Err(TrialError::NoExamples);
        }
        let category = |index: usize, field: &str| {
            examples.category(index).ok_or_else(|| {
                let known: Vec<String> = examples.categories.iter().map(|known| known.index.to_string()).collect();
                TrialError::Request(format!("`{field}`: there is no category {index}; there are {}", known.join(", ")))
            })
        };
        let tested_category = category(trial.test_category_index, "test_category_index")?;
        let tested = examples.in_category(tested_category).nth(trial.test_example_index).ok_or_else(|| {
            let count = tested_category.example_ids.len();
            let at = trial.test_example_index;
            TrialError::Request(format!(
                "`test_example_index`: {at} is out of range; the category has {count} examples"
            ))
        })?;
        let mut categories: Vec<&Category> = Vec::new();
        for index in &trial.few_shot_categories {
            let named = category(*index, "few_shot_categories")?;
            if !categories.contains(&named) {
                categories.push(named);
            }
        }
        let shots: Vec<Example> = categories
            .iter()
            .flat_map(|category| {
                let others = examples.in_category(category).filter(|example| !is_same(example, tested));
                others.take(trial.num_few_shot_examples_per_category)
            })
            .take(MAX_SHOTS)
            .cloned()
            .collect();
        let (stages, log) = self.pipeline_stages(events)?;
        let records = records(self.source.as_ref()).await?;
        let steps = self.steps(&stages, &records.tasks, &tested.scenario);
        let planned = steps.plan_in_time(&shots, false).await?;
        let generated: Vec<Value> = planned.pipeline.tasks.iter().map(|task| task.planned()).collect();
        let shown: Vec<Value> = (categories.iter())
            .map(|category| json!({"index": category.index, "name": category.base_pipeline_id}))
            .collect();
        let mut reply = json!({
            "test_info": {
                "test_category": tested_category.base_pipeline_id,
                "test_category_index": tested_category.index,
                "test_example_index": trial.test_example_index,
                "test_example_id": tested.id,
                "few_shot_categories": shown,
                "num_few_shot_examples": shots.len(),
            },
            "test_scenario": {
                "objects_seen": tested.scenario.objects_seen,
                "description": tested.scenario.sample_description,
            },
            "generated_tasks": generated,
            "ground_truth_tasks": tested.answer(true),
        });
        let notes: Vec<String> = records.notes.into_iter().chain(planned.notes).collect();
        if !notes.is_empty() {
            set(&mut reply, "warnings", notes);
        }
        if let Some(folder) = PromptLog::finish(log).await {
            set(&mut reply, "prompt_logs_directory", folder);
        }
        Ok(reply)
    }
}

/// True for the same example, and for another that has the same scenario: it would give the answer away as well.
pub(crate) fn is_same(one: &Example, other: &Example) -> bool {
    one.id == other.id || one.scenario.sample_description.trim() == other.scenario.sample_description.trim()
}

#[cfg(test)]
mod tests;
