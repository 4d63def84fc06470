//! A chat model that judges.

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_chat::{ChatModel, ChatRequest, Message};
use jarvis_prompt::reader::{Want, read_typed};
use jarvis_prompt::template::{Template, TemplateError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{AnswerStatus, Judge, JudgeError, Preference, TaskStatus};
use crate::log::LoggedAnswer;

/// How often the model is asked before it counts as unsure.
const ATTEMPTS: usize = 3;

/// The most characters of one response that a judge is shown.
const SHOWN: usize = 1_000;

/// The most characters of an answer that a judge is shown.
const ANSWER: usize = 8_000;

/// The temperature of judging: repeats are to be second opinions.
const TEMPERATURE: f32 = 0.2;

/// The prompts of a judge.
#[derive(Debug, Clone)]
pub struct JudgePrompts {
    answer: Template,
    answer_detail: Template,
    task: Template,
    preference: Template,
}

impl JudgePrompts {
    /// The built-in prompts.
    ///
    /// # Errors
    /// Never: a test parses them.
    pub fn new() -> Result<JudgePrompts, TemplateError> {
        Ok(JudgePrompts {
            answer: Template::parse(
                "judge_answer",
                include_str!("../../../prompts/judge_answer.md"),
                &["query", "answer"],
            )?,
            answer_detail: Template::parse(
                "judge_answer_detail",
                include_str!("../../../prompts/judge_answer_detail.md"),
                &["query", "answer", "calls"],
            )?,
            task: Template::parse(
                "judge_task",
                include_str!("../../../prompts/judge_task.md"),
                &["query", "functions"],
            )?,
            preference: Template::parse(
                "judge_preference",
                include_str!("../../../prompts/judge_preference.md"),
                &["query", "first", "second"],
            )?,
        })
    }
}

/// A judge that asks a chat model, in the stages `judge_answer`, `judge_answer_detail`, `judge_task` and
/// `judge_preference`.
pub struct ChatJudge {
    model: Arc<dyn ChatModel>,
    prompts: JudgePrompts,
}

impl ChatJudge {
    /// A judge that asks this model.
    ///
    /// # Errors
    /// Never, as [`JudgePrompts::new`].
    pub fn new(model: Arc<dyn ChatModel>) -> Result<ChatJudge, TemplateError> {
        Ok(ChatJudge { model, prompts: JudgePrompts::new()? })
    }

    /// Asks until a reply can be read, and says why the last could not; `None` when none could.
    async fn ask<T>(&self, prompt: &Template, context: &impl Serialize) -> Result<Option<T>, JudgeError>
    where
        T: DeserializeOwned,
    {
        let turns = prompt.render(context)?;
        let first: Vec<Message> = turns.into_iter().map(Message::from).collect();
        let mut messages = first.clone();
        for _ in 0..ATTEMPTS {
            let request = ChatRequest {
                temperature: Some(TEMPERATURE),
                ..ChatRequest::exact(prompt.name(), std::mem::take(&mut messages))
            };
            let reply = self.model.complete(&request).await?;
            match read_typed::<T>(&reply.text, Want::Object) {
                Ok(read) => return Ok(Some(read.value)),
                Err(error) => {
                    messages = first.clone();
                    messages.push(Message::text(jarvis_plan::Role::Assistant, reply.text));
                    let again = format!("That reply cannot be used: {error}. Reply with the JSON object only.");
                    messages.push(Message::text(jarvis_plan::Role::User, again));
                }
            }
        }
        Ok(None)
    }

    async fn status(&self, prompt: &Template, context: &impl Serialize) -> Result<AnswerStatus, JudgeError> {
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
        self.status(&self.prompts.answer, &context).await
    }

    async fn answer_detail(&self, answer: &LoggedAnswer) -> Result<AnswerStatus, JudgeError> {
        let Shown { answer: text, calls } = shown(answer);
        let context = serde_json::json!({"query": answer.question, "answer": text, "calls": calls});
        self.status(&self.prompts.answer_detail, &context).await
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
        let reply: Option<Status<TaskWord>> = self.ask(&self.prompts.task, &context).await?;
        Ok(match reply.map(|reply| reply.status) {
            Some(TaskWord::Solvable) => TaskStatus::Solvable,
            Some(TaskWord::Unsolvable) => TaskStatus::Unsolvable,
            Some(TaskWord::Unsure) | None => TaskStatus::Unsure,
        })
    }

    async fn preference(&self, first: &LoggedAnswer, second: &LoggedAnswer) -> Result<Option<Preference>, JudgeError> {
        let context = serde_json::json!({"query": first.question, "first": shown(first), "second": shown(second)});
        let reply: Option<Better> = self.ask(&self.prompts.preference, &context).await?;
        Ok(reply.map(|reply| reply.better))
    }
}
