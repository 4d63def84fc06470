//! One stage: the model is asked, its reply read, and asked again with the reason when the reply cannot be used.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use jarvis_ask::{Ask, AskError, Events, PromptTable as _};
use jarvis_batch::is_hopeless;
use jarvis_chat::{ChatError, ChatModel};
use jarvis_prompt::literal::Literal;
use jarvis_prompt::reader::without_reasoning;
use serde::Serialize;

use crate::log::{Call, StageCall, Subtask};
use crate::prompts::{self, Prompt};
use crate::replies::{ReadReply, Unfit};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Attempts at a stage whose reply has a form; 10.
    pub structured_attempts: u32,
    /// Attempts at a stage whose reply is text, and at the last check; 3.
    pub text_attempts: u32,
    /// Tools tried for one subtask; 5, and never more than are offered.
    pub tool_attempts: usize,
    /// Characters of a result that the answer stage sees.
    pub result_chars: usize,
    /// Subtasks of one question under way at once, at least 1.
    pub concurrency: usize,
    /// The most subtasks that a question may have; more are left out with a note.
    pub subtasks: usize,
    /// The time for one subtask, all its calls together; an hour. A question has that much for each of its subtasks.
    pub subtask_timeout: Duration,
    /// The time for one call of the model; `None` leaves it to the model.
    pub call_timeout: Option<Duration>,
    /// The time for one call of a tool.
    pub tool_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            structured_attempts: 10,
            text_attempts: 3,
            tool_attempts: 5,
            result_chars: 5000,
            concurrency: 4,
            subtasks: 32,
            subtask_timeout: Duration::from_secs(3600),
            call_timeout: None,
            tool_timeout: Duration::from_secs(60),
        }
    }
}

pub(crate) struct Stages {
    ask: Ask,
    pub(crate) limits: Limits,
    trace: Mutex<Trace>,
    /// The subtasks' ids in the order of their plan, once there is one.
    planned: OnceLock<Vec<i64>>,
}

#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) stages: Vec<StageCall>,
    pub(crate) calls: Vec<Call>,
    pub(crate) errors: Vec<String>,
    is_unreachable: bool,
}

impl Stages {
    pub(crate) fn new(model: &Arc<dyn ChatModel>, events: &Events, limits: Limits) -> Stages {
        Stages { ask: Ask::new(Arc::clone(model), events), limits, trace: Mutex::default(), planned: OnceLock::new() }
    }

    /// From now on calls are labelled with the plan's task ids, so that they and the engine's events name the same tasks.
    pub(crate) fn plan(&self, subtasks: &[Subtask]) {
        self.planned.get_or_init(|| subtasks.iter().map(|task| task.id).collect());
    }

    fn label(&self, task: Option<i64>) -> Option<i64> {
        let Some(planned) = self.planned.get() else { return task };
        (0..).zip(planned).find(|(_, id)| Some(**id) == task).map(|(place, _)| place)
    }

    pub(crate) fn events(&self) -> &Events {
        self.ask.events()
    }

    /// Asks a stage whose reply has a form. `read` gives the value and what to write down of it, or what is wrong.
    pub(crate) async fn ask<T>(
        &self,
        prompt: Prompt,
        task: Option<i64>,
        context: &(impl Serialize + Sync),
        read: impl Fn(&str) -> ReadReply<T> + Send,
    ) -> Result<T, AskError> {
        self.attempts(prompt, task, context, self.limits.structured_attempts, read).await
    }

    pub(crate) async fn text(
        &self,
        prompt: Prompt,
        task: Option<i64>,
        context: &(impl Serialize + Sync),
    ) -> Result<String, AskError> {
        let read = |reply: &str| match without_leading_reasoning(reply) {
            "" => Err("the reply is empty".into()),
            text => Ok((text.to_owned(), Literal::Text(text.to_owned()))),
        };
        self.attempts(prompt, task, context, self.limits.text_attempts, read).await
    }

    pub(crate) async fn attempts<T>(
        &self,
        prompt: Prompt,
        task: Option<i64>,
        context: &(impl Serialize + Sync),
        attempts: u32,
        read: impl Fn(&str) -> ReadReply<T> + Send,
    ) -> Result<T, AskError> {
        let stage = prompt.file().stage;
        let messages = |reason: Option<&str>| prompts::messages(prompt, context, reason);
        let first = messages(None).map_err(|source| AskError::Prompt { stage, source })?;
        let question = self.ask.stage(stage).task(self.label(task)).messages(first).timeout(self.limits.call_timeout);
        let question = question.asking(attempts).repeating_bad_replies().verbatim().again(|sent, refused| {
            *sent = messages(Some(refused.reason))?;
            Ok(())
        });
        let mut asking = question.attempts();
        loop {
            let begun = Instant::now();
            let reply = asking.next().await;
            let mut entry = StageCall {
                stage: stage.to_owned(),
                task_id: task,
                attempt: asking.made(),
                parsed: None,
                error: None,
                prompt_tokens: 0,
                completion_tokens: 0,
                ms: millis(begun),
                hopeless: false,
            };
            let again = match reply {
                Ok(reply) => {
                    entry.prompt_tokens = reply.usage.prompt;
                    entry.completion_tokens = reply.usage.completion;
                    match read(&reply.text) {
                        Ok((value, parsed)) => {
                            entry.parsed = Some(parsed);
                            self.lock().stages.push(entry);
                            return Ok(value);
                        }
                        Err(Unfit { reason, read }) => {
                            let is_cut = reply.finish_reason == "length";
                            let cut = if is_cut { " (it was cut at its limit of tokens)" } else { "" };
                            let why = format!("{reason}{cut}");
                            entry.parsed = read;
                            entry.error = Some(why.clone());
                            asking.refuse(&reply, &why)
                        }
                    }
                }
                Err(error) => {
                    let why = ChatError::from(error.clone());
                    entry.hopeless = is_hopeless(&why);
                    entry.error = Some(why.to_string());
                    asking.failed(error)
                }
            };
            let mut trace = self.lock();
            trace.is_unreachable |= entry.hopeless;
            trace.stages.push(entry);
            drop(trace);
            again?;
        }
    }

    pub(crate) fn note_call(&self, call: Call) {
        self.lock().calls.push(call);
    }

    pub(crate) fn note_error(&self, error: impl Into<String>) {
        self.lock().errors.push(error.into());
    }

    pub(crate) fn is_unreachable(&self) -> bool {
        self.lock().is_unreachable
    }

    pub(crate) fn take_trace(&self) -> Trace {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Trace> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn millis(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// A reply verbatim, unless it begins with reasoning.
fn without_leading_reasoning(reply: &str) -> &str {
    let text = without_reasoning(reply);
    if !text.is_empty() && text == reply.trim() { reply } else { text }
}
