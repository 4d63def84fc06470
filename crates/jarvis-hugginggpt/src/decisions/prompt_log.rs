//! Prompt logs: what the chat model was asked while a request was decided, one file for each call.
//!
//! They hold what people wrote, so they are off unless asked for and for their owner alone.

#![allow(clippy::disallowed_methods, reason = "it passes the calls of another model on")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use async_trait::async_trait;
use jarvis_chat::{ChatError, ChatModel, ChatReply, ChatRequest, ChatStream, Message, Part};
use serde_json::{Value, json};

use super::store::{private, stamp};

/// The prompt log of one request: the folder `request_{stamp}_{id}`. Clones write to the same folder.
#[derive(Debug, Clone)]
pub struct PromptLog {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    /// The folder as replies name it: the name of the folder above and its own.
    shown: String,
    names: Mutex<HashMap<String, u32>>,
    timings: Mutex<Vec<(String, f64)>>,
}

impl PromptLog {
    /// A log for one request, inside `root`. The folder is made when the first prompt is written.
    pub fn new(root: &Path, id: &str) -> PromptLog {
        let id: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect();
        let name = format!("request_{}_{id}", stamp(SystemTime::now()));
        let shown = super::store::shown(root, &name);
        let shared = Shared { folder: root.join(name), shown, names: Mutex::default(), timings: Mutex::default() };
        PromptLog { shared: Arc::new(shared) }
    }

    fn is_begun(&self) -> bool {
        !self.shared.names.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// The same chat model, with every prompt written down before it is sent.
    pub fn wrap(&self, chat: Arc<dyn ChatModel>) -> Arc<dyn ChatModel> {
        Arc::new(Logged { chat, log: self.clone() })
    }

    /// What the files of a call are called: `01_parse_task`, `02_choose_model_task_3`; a second call of the same name gets
    /// `_2`.
    fn name(&self, stage: &str, task: Option<i64>) -> String {
        let number = match stage {
            "choose_model" => 2,
            "response_results" => 3,
            _ => 1,
        };
        let of_task = task.map(|id| format!("_task_{id}")).unwrap_or_default();
        let stage: String = stage.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let name = format!("{number:02}_{stage}{of_task}");
        let mut names = self.shared.names.lock().unwrap_or_else(PoisonError::into_inner);
        let used = names.entry(name.clone()).or_default();
        *used += 1;
        if *used == 1 { name } else { format!("{name}_{used}") }
    }

    /// Writes a prompt as `{nn}_{type}[_task_{id}].json`, and the same as readable text beside it. Returns the files'
    /// name without its ending.
    async fn write(&self, request: &ChatRequest) -> String {
        // Choices are told apart by their task; of other stages there is one call, or the task has no final number yet.
        let task = request.labels.task.filter(|_| request.stage == "choose_model");
        let kind = request.labels.name.unwrap_or(&request.stage);
        let name = self.name(kind, task);
        let messages: Vec<Value> =
            request.messages.iter().map(|message| json!({"role": message.role, "content": content(message)})).collect();
        let record = json!({
            "timestamp": humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
            "prompt_type": kind,
            "task_id": task,
            "messages": messages,
        });
        let document = format!("{record:#}");
        let readable: String = (request.messages.iter())
            .map(|message| format!("=== {}\n{}\n\n", role(message), message.joined_text()))
            .collect();
        self.put(&[(format!("{name}.json"), document), (format!("{name}.txt"), readable)]).await;
        name
    }

    /// Writes how long a call took, and how long all of its kind took so far.
    async fn time(&self, name: &str, stage: &str, seconds: f64) {
        let line = format!("LLM seconds: {seconds:.3}\nLLM milliseconds: {:.0}\n", seconds * 1_000.0);
        self.put(&[(format!("{name}_timing.txt"), line)]).await;
        if stage == "choose_model" {
            self.shared.timings.lock().unwrap_or_else(PoisonError::into_inner).push((name.to_owned(), seconds));
        }
    }

    /// Writes the times of all choices together. The folder as replies name it, when anything was written.
    pub async fn finish(log: Option<PromptLog>) -> Option<String> {
        let log = log.filter(PromptLog::is_begun)?;
        log.write_timings().await;
        Some(log.shared.shown.clone())
    }

    async fn write_timings(&self) {
        let mut timings = std::mem::take(&mut *self.shared.timings.lock().unwrap_or_else(PoisonError::into_inner));
        if timings.is_empty() {
            return;
        }
        timings.sort_by(|a, b| a.0.cmp(&b.0));
        let total: f64 = timings.iter().map(|(_, seconds)| seconds).sum();
        let count = timings.len();
        let mut text =
            format!("total: {total:.3} s\naverage: {:.3} s\ncount: {count}\n", total / f64::from(count as u32));
        for (name, seconds) in &timings {
            text.push_str(&format!("{name}: {seconds:.3} s\n"));
        }
        self.put(&[("02_choose_model_all_tasks_timing.txt".to_owned(), text)]).await;
    }

    /// Writes files. A log that cannot be written is no reason to fail a request.
    async fn put(&self, files: &[(String, String)]) {
        let (shared, files) = (Arc::clone(&self.shared), files.to_vec());
        let written = tokio::task::spawn_blocking(move || -> std::io::Result<()> {
            std::fs::create_dir_all(&shared.folder)?;
            for (name, text) in files {
                std::io::Write::write_all(&mut private(&shared.folder.join(name))?, text.as_bytes())?;
            }
            Ok(())
        });
        if let Ok(Err(error)) = written.await {
            tracing::warn!(folder = %self.shared.folder.display(), %error, "cannot write the prompt log");
        }
    }
}

fn role(message: &Message) -> String {
    let role = serde_json::to_value(message.role).expect("a role is a word");
    role.as_str().expect("a role is a word").to_owned()
}

/// A message's content; a mark stands for each picture.
fn content(message: &Message) -> String {
    let parts = message.parts.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Image(_) => "[picture]",
        Part::ToolUse(call) => call.arguments.as_str(),
        Part::ToolResult { text, .. } => text.as_str(),
    });
    parts.collect::<Vec<_>>().join("\n")
}

struct Logged {
    chat: Arc<dyn ChatModel>,
    log: PromptLog,
}

#[async_trait]
impl ChatModel for Logged {
    jarvis_chat::model_facts_of!(self => self.chat);

    fn provider(&self, stage: &str, model: &str) -> String {
        self.chat.provider(stage, model)
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let name = self.log.write(request).await;
        let began = Instant::now();
        let reply = self.chat.complete(request).await;
        self.log.time(&name, &request.stage, began.elapsed().as_secs_f64()).await;
        reply
    }

    async fn stream(&self, request: &ChatRequest) -> Result<ChatStream, ChatError> {
        self.log.write(request).await;
        self.chat.stream(request).await
    }
}
