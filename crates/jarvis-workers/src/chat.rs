//! Tasks that the chat model itself performs.

mod fit;

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use indexmap::IndexMap;
use jarvis_ask::{Ask, TemplateError};
use jarvis_catalogue::{TaskOutput, TaskType};
use jarvis_chat::{ChatError, ChatModel, Message, Part};
use jarvis_engine::{Job, Worker};
use jarvis_plan::{ErrorCode, Kind, Request, Role, TaskError};
use jarvis_prompt::reader::without_reasoning;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{Inputs, picture};

/// The stage of a call that performs a task.
pub const TASK_STAGE: &str = "task_llm";

/// The tasks on pictures that a chat model performs when it can see.
pub const PICTURE_TASKS: [&str; 3] = ["visual-question-answering", "image-to-text", "document-question-answering"];

/// The longest side of a picture sent to a chat model, in pixels.
const MAX_SIDE: u32 = 1024;

/// Makes the messages that let a chat model perform a task: from the request, and the task as JSON (`task`, `id`, `dep`,
/// `args`) with its arguments resolved.
pub type TaskPrompt = Arc<dyn Fn(&Request, &Value) -> Result<Vec<Message>, TemplateError> + Send + Sync>;

/// Performs tasks by asking the chat model. A failed call is the task's error, never its text.
pub struct ChatWorker {
    model: Arc<dyn ChatModel>,
    inputs: Arc<Inputs>,
    prompt: TaskPrompt,
}

impl std::fmt::Debug for ChatWorker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatWorker").field("model", &self.model.model_name(TASK_STAGE)).finish_non_exhaustive()
    }
}

impl Inputs {
    /// A picture as a chat model is shown it: no larger than it needs, as a data URL.
    ///
    /// # Errors
    /// When the picture is not there, or is none.
    pub async fn picture_for_model(&self, image: &str, cancel: &CancellationToken) -> Result<String, TaskError> {
        let bytes = self.bytes(image, Kind::Image).await?;
        let max_pixels = self.limits().max_pixels;
        let heavy = self.heavy().run(cancel, move |_| {
            let small = picture::within(picture::decode(&bytes, max_pixels)?, MAX_SIDE);
            Ok(format!("data:image/jpeg;base64,{}", STANDARD.encode(picture::jpeg(&picture::flatten(small))?)))
        });
        heavy.await
    }
}

impl ChatWorker {
    /// A worker over one chat model. `prompt` words the tasks on text; `inputs` reads the pictures.
    pub fn new(model: Arc<dyn ChatModel>, inputs: Arc<Inputs>, prompt: TaskPrompt) -> ChatWorker {
        ChatWorker { model, inputs, prompt }
    }

    pub fn serves(&self, task: &str) -> bool {
        is_on_text(task) || (self.model.can_see(TASK_STAGE) && PICTURE_TASKS.contains(&task))
    }

    async fn on_text(&self, job: &Job) -> Result<TaskOutput, TaskError> {
        let args = job.texts();
        if !args.values().any(|value| !value.trim().is_empty()) {
            return Err(missing(&job.candidate.effective_task, "text"));
        }
        let (prompt, request, task) = (Arc::clone(&self.prompt), Arc::clone(&job.request), task_json(job));
        let make = move |args: &IndexMap<String, String>| {
            let mut task = task.clone();
            if let Value::Object(fields) = &mut task {
                fields.insert("args".to_owned(), json!(args));
            }
            prompt(&request, &task)
        };
        let messages = fit::fitted(&self.ask(job), job, args, make).await?;
        let text = self.reply(job, messages).await?;
        Ok(TaskOutput(json!({ "response": text })))
    }

    async fn on_picture(&self, job: &Job) -> Result<TaskOutput, TaskError> {
        let task = job.candidate.effective_task.as_str();
        let image = need(job, "image")?;
        let question = job.arg("text").or_else(|| job.arg("question")).map(|text| ("text".to_owned(), text.to_owned()));
        if question.is_none() && task != "image-to-text" {
            return Err(missing(task, "text"));
        }
        let url = self.inputs.picture_for_model(image, &job.cancel).await?;
        let wording = task.to_owned();
        let make = move |args: &IndexMap<String, String>| {
            Ok(vec![Message::text(Role::User, ask_of_picture(&wording, args.get("text").map(String::as_str)))])
        };
        let mut messages = fit::fitted(&self.ask(job), job, question.into_iter().collect(), make).await?;
        if let Some(message) = messages.last_mut() {
            message.parts.push(Part::Image(url));
        }
        let answer = self.reply(job, messages).await?;
        Ok(match task {
            "image-to-text" => TaskOutput::text(answer),
            // The only answer there is; chat models give no score.
            _ => TaskOutput(json!([{ "answer": answer, "score": 1.0 }])),
        })
    }

    fn ask(&self, job: &Job) -> Ask {
        Ask::new(Arc::clone(&self.model), &job.events)
    }

    async fn reply(&self, job: &Job, messages: Vec<Message>) -> Result<String, TaskError> {
        let ask = self.ask(job);
        let question = ask.stage(TASK_STAGE).task(i64::from(job.task.id.0)).temperature(None).messages(messages);
        let reply = question.call().await.map_err(ChatError::from)?;
        let answer = without_reasoning(&reply.text);
        if answer.is_empty() {
            let words = match reply.text.trim().is_empty() {
                true => "the chat model answered with an empty text",
                false => "the chat model answered with its reasoning alone",
            };
            return Err(TaskError::new(ErrorCode::BadReply, words));
        }
        Ok(answer.to_owned())
    }

    async fn output(&self, job: &Job) -> Result<TaskOutput, TaskError> {
        let task = job.candidate.effective_task.as_str();
        if is_on_text(task) {
            return self.on_text(job).await;
        }
        if !PICTURE_TASKS.contains(&task) {
            return Err(TaskError::new(ErrorCode::CannotDo, format!("a chat model does not perform `{task}`")));
        }
        if !self.model.can_see(TASK_STAGE) {
            return Err(TaskError::new(
                ErrorCode::CannotDo,
                format!("the chat model {} takes no pictures", self.model.model_name(TASK_STAGE)),
            )
            .hint("Configure a chat model that takes pictures"));
        }
        self.on_picture(job).await
    }
}

#[async_trait]
impl Worker for ChatWorker {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        self.output(job).await.map(Value::from)
    }
}

fn is_on_text(task: &str) -> bool {
    jarvis_catalogue::find(task).is_some_and(TaskType::is_chat_served)
}

fn ask_of_picture(task: &str, question: Option<&str>) -> String {
    match (task, question) {
        (_, None) => "Describe the picture in one plain sentence. Answer with the sentence alone.".to_owned(),
        ("image-to-text", Some(request)) => format!(
            "Describe the picture in one or two plain sentences. Mind this wish: {request}\nAnswer with the description alone."
        ),
        ("document-question-answering", Some(question)) => format!(
            "The picture shows a document. Answer the question from what is written in it, as briefly as the document \
             itself puts it, and with the answer alone.\nQuestion: {question}"
        ),
        (_, Some(question)) => format!(
            "Answer the question about the picture in a few words, and with the answer alone.\nQuestion: {question}"
        ),
    }
}

/// The task as planned, with the arguments as they were resolved.
fn task_json(job: &Job) -> Value {
    let planned = serde_json::to_value(&*job.task).unwrap_or(Value::Null);
    let dep = planned.get("dep").cloned().unwrap_or_else(|| json!([-1]));
    json!({ "task": job.candidate.effective_task, "id": job.task.id, "dep": dep, "args": job.args })
}

pub(crate) fn need<'a>(job: &'a Job, arg: &str) -> Result<&'a str, TaskError> {
    job.arg(arg).ok_or_else(|| missing(&job.candidate.effective_task, arg))
}

pub(crate) fn missing(task: &str, arg: &str) -> TaskError {
    TaskError::new(ErrorCode::MissingArgument, format!("`{task}` needs the argument `{arg}`"))
}

#[cfg(test)]
mod tests;
