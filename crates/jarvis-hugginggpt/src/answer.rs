//! Stage 4 with a chat model: the answer from the results, and plain conversation.

use std::collections::HashMap;

use jarvis_ask::{AskError, Question, conversation_levels};
use jarvis_chat::Message;
use jarvis_plan::schema::Checker;
use jarvis_plan::{AnswerResource, EventKind, Language, Level, Outcome, Plan, Request};
use jarvis_prompt::reader::{Want, read_json};
use jarvis_tools::digest::shape;
use serde_json::Value;

use crate::attached;
use crate::fit::{INPUT_SHOWN, cut};
use crate::prompts::{Prompts, ResponseResults};
use crate::results::results_map;
use crate::stages::Stages;

const STAGE: &str = "response_results";

/// Writes the answer, which follows `before`. Results that do not fit the model are shortened, the largest values first.
pub(crate) async fn write(
    stages: &Stages,
    request: &Request,
    plan: &Plan,
    outcomes: &[Outcome],
    resources: &[AnswerResource],
    before: &str,
) -> Result<String, AskError> {
    let Stages { ask, prompts, settings } = stages;
    let model = ask.model();
    let language = Language::of(&request.text).name();
    let bare = ResponseResults { input: &request.text, processes: &Value::Null, language };
    let around = prompts.response_results(&bare).map_err(|source| AskError::Prompt { stage: STAGE, source })?;
    let around: usize = around.iter().map(|turn| model.count_tokens(STAGE, &turn.content)).sum();
    // The results stand in the prompt once; half the room is kept for what the input may repeat of them.
    let room = model.context_tokens(STAGE).saturating_sub(settings.reserve_tokens + around + 64);
    let mut shown = Value::Object(results_map(plan, outcomes));
    by_name(&mut shown, request, resources);
    let (shown, shortened) = shape(&shown, room, |value| model.count_tokens(STAGE, &value.to_string()));
    if shortened > 0 {
        let note = format!("{shortened} values of the results were shortened to fit the model that answers");
        ask.events().note(Level::Info, note);
    }
    let inputs = INPUT_SHOWN.map(|most| cut(&request.text, most));
    let question = ask
        .stage(STAGE)
        .fitted(&inputs, |input| prompts.response_results(&ResponseResults { input, processes: &shown, language }))?;
    if settings.stream_answer && !before.is_empty() && request.form.schema.is_none() {
        ask.events().emit(EventKind::Token { text: before.to_owned() });
    }
    formed(question, request, prompts, settings.stream_answer).await
}

/// Asks for a text in the form that the request wants: words, or JSON that follows its schema and is not streamed, since it is not
/// known to follow it before it ends.
async fn formed(
    question: Question<'_>,
    request: &Request,
    prompts: &Prompts,
    stream: bool,
) -> Result<String, AskError> {
    let Some((name, schema)) = &request.form.schema else { return question.prose(stream).await };
    let told = prompts.reply_form(schema).map_err(|source| AskError::Prompt { stage: STAGE, source })?;
    let question = question.request(|request| request.messages.extend(told.into_iter().map(Message::from)));
    let question = question.schema(name, || schema.clone()).asking(2).wanted("JSON that follows the schema");
    question.read(|reply| follows(&reply.text, schema)).await
}

/// The JSON of a reply in one line, where it follows the schema; the error says where it does not.
pub(crate) fn follows(reply: &str, schema: &Value) -> Result<String, String> {
    let read = read_json(reply, Want::Any).map_err(|error| error.to_string())?;
    let problems = Checker::new(schema).map(|checker| checker.problems(&read.value)).unwrap_or_default();
    match problems.first() {
        None => Ok(read.value.to_string()),
        Some((place, problem)) => Err(format!("at `{place}`: {problem}")),
    }
}

/// Calls the files that were put somewhere, and those of the request, as the person does: by name. Where on this machine they
/// are is not for a model to know.
fn by_name(value: &mut Value, request: &Request, resources: &[AnswerResource]) {
    let made = resources.iter().filter(|made| made.path.is_some());
    if made.clone().next().is_none() {
        return;
    }
    let attached = request.attachments.iter().filter_map(|one| Some((one.as_arg(), one.name.as_deref()?)));
    let names: HashMap<&str, &str> = made.map(|made| (made.url.as_str(), made.name.as_str())).chain(attached).collect();
    rename(value, &names);
}

fn rename(value: &mut Value, names: &HashMap<&str, &str>) {
    match value {
        Value::String(text) => {
            if let Some(name) = names.get(text.as_str()) {
                *text = (*name).to_owned();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, names)),
        Value::Object(fields) => fields.values_mut().for_each(|field| rename(field, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Answers as conversation, with the original messages and nothing around them.
pub(crate) async fn converse(stages: &Stages, request: &Request) -> Result<String, AskError> {
    const STAGE: &str = "chitchat";
    let input = attached::described(request);
    let levels = conversation_levels(request.history.len(), 0);
    let question = stages.ask.stage(STAGE).temperature(None).fitted(&levels, |left_out| {
        let turns = stages.prompts.chitchat(left_out.kept(&request.history), &input)?;
        Ok(Message::of_turns(&turns).into_iter().chain(Message::of_turns(&request.after)).collect())
    })?;
    formed(question, request, &stages.prompts, stages.settings.stream_answer).await
}
