//! A chat model that judges.

use jarvis_ask::{Ask, AskError, PromptTable as _};
use jarvis_chat::Message;
use jarvis_plan::Role;
use jarvis_prompt::reader::Want;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{AnswerStatus, Preference, TaskStatus};
use crate::log::{LoggedAnswer, LoggedCall};
use crate::prompts::{self, Prompt};

/// How often the model is asked before it counts as unsure.
const ATTEMPTS: u32 = 3;

const SHOWN: usize = 1_000;

const ANSWER: usize = 8_000;

/// The temperature of judging: repeats are to be second opinions.
const TEMPERATURE: f32 = 0.2;

/// Asks a chat model, in the stages `judge_answer`, `judge_answer_detail`, `judge_task` and `judge_preference`. A model that
/// answers nothing usable is unsure.
pub struct Judge(pub Ask);

#[derive(Deserialize)]
struct Status<S> {
    #[serde(alias = "Status", alias = "answer_status", alias = "task_status")]
    status: S,
}

#[derive(Debug, Deserialize)]
struct Better {
    #[serde(alias = "Better", deserialize_with = "one_or_two")]
    better: Preference,
}

/// `1`, `2`, or a text that is one of them.
fn one_or_two<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Preference, D::Error> {
    let value = Value::deserialize(from)?;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match text.trim() {
        "1" => Ok(Preference::First),
        "2" => Ok(Preference::Second),
        other => Err(serde::de::Error::custom(format!("`better` is 1 or 2, not {other}"))),
    }
}

fn shown(answer: &LoggedAnswer) -> Value {
    let call = |call: &LoggedCall| {
        let (arguments, response) = (start(&call.arguments.to_string(), SHOWN), start(&call.response, SHOWN));
        json!({"name": call.api, "arguments": arguments, "response": response})
    };
    let calls: Value = answer.calls.iter().map(call).collect();
    json!({"query": answer.question, "answer": start(&answer.final_answer, ANSWER), "calls": calls})
}

fn start(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.split_at(at).0),
        None => text.to_owned(),
    }
}

impl Judge {
    /// Asks until a reply can be read; `None` when none could. Only the last reply is sent back with its reason.
    async fn ask<T: DeserializeOwned>(&self, prompt: Prompt, context: &Value) -> Result<Option<T>, AskError> {
        let stage = prompt.file().stage;
        let first = prompts::messages(prompt, context, None).map_err(|source| AskError::Prompt { stage, source })?;
        let count = first.len();
        let question = self.0.stage(stage).messages(first).temperature(Some(TEMPERATURE));
        let question = question.asking(ATTEMPTS).verbatim().again(|messages, refused| {
            messages.truncate(count);
            messages.push(Message::text(Role::Assistant, refused.reply.text.clone()));
            let again = format!("That reply cannot be used: {}. Reply with the JSON object only.", refused.reason);
            messages.push(Message::text(Role::User, again));
            Ok(())
        });
        match question.typed(Want::Object).await {
            Ok(value) => Ok(Some(value)),
            Err(AskError::Unreadable { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn status(&self, prompt: Prompt, context: &Value) -> Result<AnswerStatus, AskError> {
        let reply: Option<Status<AnswerStatus>> = self.ask(prompt, context).await?;
        Ok(reply.map_or(AnswerStatus::Unsure, |reply| reply.status))
    }

    pub(super) async fn answer(&self, answer: &LoggedAnswer) -> Result<AnswerStatus, AskError> {
        let context = json!({"query": answer.question, "answer": start(&answer.final_answer, ANSWER)});
        self.status(Prompt::JudgeAnswer, &context).await
    }

    pub(super) async fn answer_detail(&self, answer: &LoggedAnswer) -> Result<AnswerStatus, AskError> {
        self.status(Prompt::JudgeAnswerDetail, &shown(answer)).await
    }

    pub(super) async fn task(&self, answer: &LoggedAnswer) -> Result<TaskStatus, AskError> {
        let names = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        let functions = answer.functions.iter().map(|function| {
            json!({
                "name": function.name,
                "description": function.description,
                "required": names(&function.required),
                "optional": names(&function.optional),
            })
        });
        let context = json!({"query": answer.question, "functions": functions.collect::<Value>()});
        let reply: Option<Status<TaskStatus>> = self.ask(Prompt::JudgeTask, &context).await?;
        Ok(reply.map_or(TaskStatus::Unsure, |reply| reply.status))
    }

    /// Which answer is better; `None` when the model gives no usable reply.
    pub(super) async fn preference(
        &self,
        first: &LoggedAnswer,
        second: &LoggedAnswer,
    ) -> Result<Option<Preference>, AskError> {
        let context = json!({"query": first.question, "first": shown(first), "second": shown(second)});
        let reply: Option<Better> = self.ask(Prompt::JudgePreference, &context).await?;
        Ok(reply.map(|reply| reply.better))
    }
}
