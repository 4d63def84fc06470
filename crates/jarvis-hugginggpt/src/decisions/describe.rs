//! A plan in words, in the future tense: what will be done, never what came of it.

use jarvis_ask::AskError;
use jarvis_chat::ChatError;
use jarvis_plan::{Language, Level};
use jarvis_prompt::reader::without_reasoning;

use super::{Decision, DecisionError};
use crate::fit;
use crate::stages::Stages;

/// The answer stage's label: the description stands in the answer's place.
const STAGE: &str = "response_results";

/// Describes a plan. Without a chat model, or when its call fails, in plain sentences made here.
pub(super) async fn describe(stages: Option<&Stages>, decision: &Decision) -> Result<String, DecisionError> {
    let Some(Stages { ask, prompts, .. }) = stages else { return Ok(plainly(decision)) };
    let language = Language::of(&decision.request).name();
    let levels = fit::levels(&decision.request, &decision.execution_config());
    let question = ask.stage(STAGE).fitted(&levels, |(input, plan)| prompts.describe_plan(input, plan, language))?;
    match question.call().await {
        Ok(reply) => {
            let text = without_reasoning(&reply.text).trim().to_owned();
            Ok(if text.is_empty() { plainly(decision) } else { text })
        }
        Err(AskError::Model { source, .. }) if !matches!(source, ChatError::ReplayMiss { .. }) => {
            ask.events().note(Level::Warning, format!("the model could not describe the plan ({source})"));
            Ok(plainly(decision))
        }
        // A replay must not go other ways than the recorded run.
        Err(error) => Err(error.into()),
    }
}

/// One sentence for each task.
fn plainly(decision: &Decision) -> String {
    let sentence = |choice: &super::TaskChoice| {
        let task = decision.plan.task(choice.task).map_or("", |task| task.task.as_str());
        let after: Vec<String> =
            decision.plan.task(choice.task).into_iter().flat_map(|task| &task.dep).map(ToString::to_string).collect();
        let after = if after.is_empty() { String::new() } else { format!(" after {}", after.join(", ")) };
        match &choice.result {
            Ok(selection) => format!("{}. {task}{after} will be done by {}.", choice.task, selection.chosen.id),
            Err(error) => format!("{}. {task}{after} cannot be done: {error}.", choice.task),
        }
    };
    if decision.choices.is_empty() {
        return "Nothing will be done: no task was planned.".to_owned();
    }
    decision.choices.iter().map(sentence).collect::<Vec<_>>().join("\n")
}
