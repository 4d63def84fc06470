//! Stage 4 with a chat model: the answer from the results, and plain conversation.

use jarvis_chat::{ChatError, ChatModel, ChatRequest, Message, budget};
use jarvis_engine::Events;
use jarvis_plan::{EventKind, Language, Outcome, Plan, Request};
use jarvis_workers::{call_model, stream_model};
use serde_json::Value;

use crate::attached;
use crate::pipeline::{HuggingGpt, RunError};
use crate::prompts::ResponseResults;
use crate::results::{results_map, shorten};

const STAGE: &str = "response_results";

/// Writes the answer. Results that do not fit the model are shortened, the largest values first.
pub(crate) async fn write(
    pipeline: &HuggingGpt,
    chat: &dyn ChatModel,
    request: &Request,
    plan: &Plan,
    outcomes: &[Outcome],
    events: &Events,
) -> Result<String, RunError> {
    let prompt = |reason: String| RunError::Prompt { stage: STAGE, reason };
    let results = Value::Object(results_map(plan, outcomes));
    let build = |results: &Value| {
        pipeline.prompts.response_results(&ResponseResults {
            input: &request.text,
            processes: results,
            language: Language::of(&request.text).name(),
        })
    };
    let around = build(&Value::Null).map_err(|error| prompt(error.to_string()))?;
    let around: usize = around.iter().map(|turn| chat.count_tokens(STAGE, &turn.content)).sum();
    // The results stand in the prompt once; half the room is kept for what the input may repeat of them.
    let room = chat.context_tokens(STAGE).saturating_sub(pipeline.settings.reserve_tokens + around + 64);
    let mut shown = results;
    let shortened = shorten(&mut shown, room, |value| chat.count_tokens(STAGE, &value.to_string()));
    if shortened > 0 {
        events.note(
            jarvis_plan::Level::Info,
            format!("{shortened} values of the results were shortened to fit the model that answers"),
        );
    }
    let messages = build(&shown).map_err(|error| prompt(error.to_string()))?;
    let call = ChatRequest::exact(STAGE, messages.into_iter().map(Message::from).collect());
    say(pipeline, chat, &call, events).await.map_err(|source| RunError::Model { stage: STAGE, source })
}

/// Answers as conversation, with the original messages and nothing around them.
pub(crate) async fn converse(
    pipeline: &HuggingGpt,
    chat: &dyn ChatModel,
    request: &Request,
    events: &Events,
) -> Result<String, RunError> {
    const STAGE: &str = "chitchat";
    let input = attached::described(request);
    let steps = budget::steps(request.history.len(), 0);
    let turns = |level: usize| {
        let left_out = steps.get(level).map_or(0, |trim| trim.history);
        pipeline.prompts.chitchat(request.history.get(left_out..).unwrap_or_default(), &input)
    };
    turns(0).map_err(|error| RunError::Prompt { stage: STAGE, reason: error.to_string() })?;
    let build = |level: usize| turns(level).unwrap_or_default().into_iter().map(Message::from).collect();
    let messages = budget::fit(chat, STAGE, pipeline.settings.reserve_tokens, steps.len().saturating_sub(1), build)
        .map_err(|error| RunError::Model { stage: STAGE, source: ChatError::from(error) })?;
    let call = ChatRequest { stage: STAGE.into(), messages, ..ChatRequest::default() };
    say(pipeline, chat, &call, events).await.map_err(|source| RunError::Model { stage: STAGE, source })
}

/// Makes a call whose reply the person reads; its text is told as it comes, when that is wanted.
async fn say(
    pipeline: &HuggingGpt,
    chat: &dyn ChatModel,
    call: &ChatRequest,
    events: &Events,
) -> Result<String, ChatError> {
    let reply = if pipeline.settings.stream_answer {
        let piece = |text: &str| events.emit(EventKind::Token { text: text.to_owned() });
        stream_model(chat, events, None, call, piece).await?
    } else {
        call_model(chat, events, None, call).await?
    };
    Ok(reply.text)
}
