//! A plan in words, in the future tense: what will be done, never what came of it.

use jarvis_chat::{ChatError, ChatModel, ChatRequest, Message, budget};
use jarvis_engine::Events;
use jarvis_plan::{Language, Level};
use jarvis_prompt::reader::without_reasoning;
use jarvis_workers::call_model;

use super::{Decision, DecisionError};
use crate::answer::{INPUT_SHOWN, cut};
use crate::pipeline::HuggingGpt;
use crate::results::shorten;

/// The answer stage's label: the description stands in the answer's place.
const STAGE: &str = "response_results";

/// Describes a plan. Without a chat model, or when its call fails, in plain sentences made here.
pub(super) async fn describe(
    pipeline: &HuggingGpt,
    chat: Option<&dyn ChatModel>,
    decision: &Decision,
    events: &Events,
) -> Result<String, DecisionError> {
    let Some(chat) = chat else { return Ok(plainly(decision)) };
    let language = Language::of(&decision.request).name();
    let plan = decision.execution_config();
    let plans = INPUT_SHOWN.map(|most| {
        let mut shown = plan.clone();
        shorten(&mut shown, most, |value| value.to_string().len());
        shown
    });
    let inputs = INPUT_SHOWN.map(|most| cut(&decision.request, most));
    let turns = |level: usize| {
        let input = inputs.get(level).map_or("", String::as_str);
        pipeline.prompts.describe_plan(input, plans.get(level).unwrap_or(&serde_json::Value::Null), language)
    };
    turns(0).map_err(|error| DecisionError::Prompt { stage: STAGE, reason: error.to_string() })?;
    let build = |level: usize| turns(level).unwrap_or_default().into_iter().map(Message::from).collect();
    let messages = budget::fit(chat, STAGE, pipeline.settings.reserve_tokens, INPUT_SHOWN.len() - 1, build)
        .map_err(|error| DecisionError::Model { stage: STAGE, source: ChatError::from(error) })?;
    match call_model(chat, events, None, &ChatRequest::exact(STAGE, messages)).await {
        Ok(reply) => {
            let text = without_reasoning(&reply.text).trim().to_owned();
            Ok(if text.is_empty() { plainly(decision) } else { text })
        }
        // A replay must not go other ways than the recorded run.
        Err(source @ ChatError::ReplayMiss { .. }) => Err(DecisionError::Model { stage: STAGE, source }),
        Err(error) => {
            events.note(Level::Warning, format!("the model could not describe the plan ({error})"));
            Ok(plainly(decision))
        }
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
