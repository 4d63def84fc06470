//! A chat model that judges.

use async_trait::async_trait;
use jarvis_ask::{Ask, AskError, PromptTable as _};
use jarvis_chat::{ChatError, Message};
use jarvis_plan::Role;
use jarvis_prompt::reader::Want;
use jarvis_prompt::template::TemplateError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AnswerStatus, Judge, JudgeError, Preference, TaskStatus};
use crate::log::LoggedAnswer;
use crate::prompts::{Prompt, Prompts};

/// How often the model is asked before it counts as unsure.
const ATTEMPTS: u32 = 3;

/// The most characters of one response that a judge is shown.
const SHOWN: usize = 1_000;

/// The most characters of an answer that a judge is shown.
const ANSWER: usize = 8_000;

/// The temperature of judging: repeats are to be second opinions.
const TEMPERATURE: f32 = 0.2;

/// A judge that asks a chat model, in the stages `judge_answer`, `judge_answer_detail`, `judge_task` and
/// `judge_preference`.
pub struct ChatJudge {
    ask: Ask,
    prompts: Prompts,
}

impl ChatJudge {
    /// A judge that asks this model.
    ///
    /// # Errors
    /// As [`Prompts::load`].
    pub fn new(ask: Ask) -> Result<ChatJudge, TemplateError> {
        Ok(ChatJudge { ask, prompts: Prompts::load()? })
    }

    /// Asks until a reply can be read; `None` when none could. Only the last reply is sent back with its reason.
    async fn ask<T: DeserializeOwned>(&self, prompt: Prompt, context: &Value) -> Result<Option<T>, JudgeError> {
        let first = self.prompts.messages(prompt, context, None)?;
        let count = first.len();
        let question = self.ask.stage(prompt.file().stage).messages(first).temperature(Some(TEMPERATURE));
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
            Err(AskError::Prompt { source, .. }) => Err(source.into()),
            Err(error) => Err(ChatError::from(error).into()),
        }
    }

    async fn status(&self, prompt: Prompt, context: &Value) -> Result<AnswerStatus, JudgeError> {
        let reply: Option<Status<AnswerWord>> = self.ask(prompt, context).await?;
        Ok(match reply.map(|reply| reply.status) {
            Some(AnswerWord::Solved) => AnswerStatus::Solved,
            Some(AnswerWord::Unsolved) => AnswerStatus::Unsolved,
            Some(AnswerWord::Unsure) | None => AnswerStatus::Unsure,
        })
    }
}

/// A reply with a status.
#[derive(Debug, Deserialize)]
struct Status<W> {
    #[serde(alias = "Status", alias = "answer_status", alias = "task_status")]
    status: W,
}

#[derive(Debug, Deserialize)]
enum AnswerWord {
    #[serde(alias = "solved", alias = "SOLVED")]
    Solved,
    #[serde(alias = "unsolved", alias = "UNSOLVED")]
    Unsolved,
    #[serde(alias = "unsure", alias = "UNSURE")]
    Unsure,
}

#[derive(Debug, Deserialize)]
enum TaskWord {
    #[serde(alias = "solvable", alias = "SOLVABLE")]
    Solvable,
    #[serde(alias = "unsolvable", alias = "UNSOLVABLE")]
    Unsolvable,
    #[serde(alias = "unsure", alias = "UNSURE")]
    Unsure,
}

/// A reply that names the better answer.
#[derive(Debug, Deserialize)]
struct Better {
    #[serde(alias = "Better", deserialize_with = "one_or_two")]
    better: Preference,
}

/// `1`, `2`, or a text that is one of them.
fn one_or_two<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Preference, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match text.trim() {
        "1" => Ok(Preference::First),
        "2" => Ok(Preference::Second),
        other => Err(serde::de::Error::custom(format!("`better` is 1 or 2, not {other}"))),
    }
}

/// A call as a judge sees it.
#[derive(Debug, Serialize)]
struct ShownCall {
    name: String,
    arguments: String,
    response: String,
}

/// An answer as a judge sees it beside another.
#[derive(Debug, Serialize)]
struct Shown {
    answer: String,
    calls: Vec<ShownCall>,
}

fn shown(answer: &LoggedAnswer) -> Shown {
    let call = |call: &crate::log::LoggedCall| ShownCall {
        name: call.api.clone(),
        arguments: start(&call.arguments.to_string(), SHOWN),
        response: start(&call.response, SHOWN),
    };
    Shown { answer: start(&answer.final_answer, ANSWER), calls: answer.calls.iter().map(call).collect() }
}

/// The first characters of a text, an ellipsis marking a cut.
fn start(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[async_trait]
impl Judge for ChatJudge {
    async fn answer(&self, answer: &LoggedAnswer) -> Result<AnswerStatus, JudgeError> {
        let context = serde_json::json!({"query": answer.question, "answer": start(&answer.final_answer, ANSWER)});
        self.status(Prompt::JudgeAnswer, &context).await
    }

    async fn answer_detail(&self, answer: &LoggedAnswer) -> Result<AnswerStatus, JudgeError> {
        let Shown { answer: text, calls } = shown(answer);
        let context = serde_json::json!({"query": answer.question, "answer": text, "calls": calls});
        self.status(Prompt::JudgeAnswerDetail, &context).await
    }

    async fn task(&self, answer: &LoggedAnswer) -> Result<TaskStatus, JudgeError> {
        let names = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        let functions = answer.functions.iter().map(|function| {
            serde_json::json!({
                "name": function.name,
                "description": function.description,
                "required": names(&function.required),
                "optional": names(&function.optional),
            })
        });
        let context =
            serde_json::json!({"query": answer.question, "functions": functions.collect::<serde_json::Value>()});
        let reply: Option<Status<TaskWord>> = self.ask(Prompt::JudgeTask, &context).await?;
        Ok(match reply.map(|reply| reply.status) {
            Some(TaskWord::Solvable) => TaskStatus::Solvable,
            Some(TaskWord::Unsolvable) => TaskStatus::Unsolvable,
            Some(TaskWord::Unsure) | None => TaskStatus::Unsure,
        })
    }

    async fn preference(&self, first: &LoggedAnswer, second: &LoggedAnswer) -> Result<Option<Preference>, JudgeError> {
        let context = serde_json::json!({"query": first.question, "first": shown(first), "second": shown(second)});
        let reply: Option<Better> = self.ask(Prompt::JudgePreference, &context).await?;
        Ok(reply.map(|reply| reply.better))
    }
}
