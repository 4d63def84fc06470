//! One stage: the model is asked, its reply read, and asked again with the reason when the reply cannot be used.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jarvis_ask::{Ask, AskError, PromptTable as _};
use jarvis_batch::is_hopeless;
use jarvis_chat::ChatError;
use jarvis_prompt::literal::Literal;
use jarvis_prompt::reader::without_reasoning;
use serde::Serialize;

use crate::log::{Call, StageCall};
use crate::prompts::{Prompt, Prompts};
use crate::replies::{ReadReply, Unfit};

/// How often, how long, how much.
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
            call_timeout: None,
            tool_timeout: Duration::from_secs(60),
        }
    }
}

/// Sees what happens while it happens. Called from the task that runs the question: it must not block.
pub trait Tracer: Send + Sync {
    /// The model was called.
    fn stage(&self, _question: u64, _call: &StageCall) {}
    /// A tool was called.
    fn call(&self, _question: u64, _call: &Call) {}
}

/// Sees nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Untraced;

impl Tracer for Untraced {}

/// A stage that gave nothing usable.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StageError {
    /// The model cannot be asked.
    #[error("{stage}: {error}")]
    Chat {
        /// The stage.
        stage: &'static str,
        /// Why.
        error: ChatError,
    },
    /// No reply could be used.
    #[error("{stage}: no usable reply in {attempts} attempts; the last: {reason}")]
    Exhausted {
        /// The stage.
        stage: &'static str,
        /// How often it was asked.
        attempts: u32,
        /// What was wrong with the last reply.
        reason: String,
    },
    /// The prompt cannot be made.
    #[error("{stage}: the prompt cannot be made: {error}")]
    Prompt {
        /// The stage.
        stage: &'static str,
        /// Why.
        error: String,
    },
}

impl StageError {
    /// Whether the endpoint is unreachable or unusable, so that the next question would fail in the same way.
    pub fn is_unreachable(&self) -> bool {
        match self {
            StageError::Chat { error, .. } => is_hopeless(error),
            StageError::Exhausted { .. } | StageError::Prompt { .. } => false,
        }
    }
}

impl From<AskError> for StageError {
    fn from(error: AskError) -> StageError {
        let stage = error.stage();
        match error {
            AskError::Prompt { source, .. } => StageError::Prompt { stage, error: source.to_string() },
            AskError::Unreadable { attempts, reason, .. } => StageError::Exhausted { stage, attempts, reason },
            AskError::TooLong { .. } | AskError::Model { .. } => StageError::Chat { stage, error: error.into() },
        }
    }
}

/// What the stages of one question share: whom to ask, and where it is written down.
pub(crate) struct Desk<'a> {
    pub(crate) ask: Ask,
    pub(crate) prompts: &'a Prompts,
    pub(crate) limits: &'a Limits,
    pub(crate) tracer: &'a dyn Tracer,
    /// The number of the question.
    pub(crate) question: u64,
    pub(crate) trace: Mutex<Trace>,
}

/// What happened to one question, in the order in which it ended.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) stages: Vec<StageCall>,
    pub(crate) calls: Vec<Call>,
    pub(crate) errors: Vec<String>,
    pub(crate) unreached: bool,
}

impl<'a> Desk<'a> {
    /// The desk of one question.
    pub(crate) fn new(
        ask: Ask,
        prompts: &'a Prompts,
        limits: &'a Limits,
        tracer: &'a dyn Tracer,
        question: u64,
    ) -> Desk<'a> {
        Desk { ask, prompts, limits, tracer, question, trace: Mutex::default() }
    }
}

impl Desk<'_> {
    /// Asks a stage whose reply has a form. `read` gives the value and what to write down of it, or what is wrong.
    pub(crate) async fn ask<T>(
        &self,
        prompt: Prompt,
        task: Option<i64>,
        context: &(impl Serialize + Sync),
        read: impl Fn(&str) -> ReadReply<T> + Send,
    ) -> Result<T, StageError> {
        self.attempts(prompt, task, context, self.limits.structured_attempts, read).await
    }

    /// Asks a stage whose reply is text.
    pub(crate) async fn tell(
        &self,
        prompt: Prompt,
        task: Option<i64>,
        context: &(impl Serialize + Sync),
    ) -> Result<String, StageError> {
        let read = |reply: &str| match spoken(reply) {
            "" => Err("the reply is empty".into()),
            said => Ok((said.to_owned(), Literal::Text(said.to_owned()))),
        };
        self.attempts(prompt, task, context, self.limits.text_attempts, read).await
    }

    /// The same with a number of attempts of its own.
    pub(crate) async fn attempts<T>(
        &self,
        prompt: Prompt,
        task: Option<i64>,
        context: &(impl Serialize + Sync),
        attempts: u32,
        read: impl Fn(&str) -> ReadReply<T> + Send,
    ) -> Result<T, StageError> {
        let stage = prompt.file().stage;
        let messages = |reason: Option<&str>| self.prompts.messages(prompt, context, reason);
        let first = messages(None).map_err(|error| StageError::Prompt { stage, error: error.to_string() })?;
        let question = self.ask.stage(stage).task(task).messages(first).timeout(self.limits.call_timeout);
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
            let goes_on = match reply {
                Ok(reply) => {
                    entry.prompt_tokens = reply.usage.prompt;
                    entry.completion_tokens = reply.usage.completion;
                    match read(&reply.text) {
                        Ok((value, parsed)) => {
                            entry.parsed = Some(parsed);
                            self.note_stage(entry);
                            return Ok(value);
                        }
                        Err(Unfit { reason, read }) => {
                            let is_cut = reply.finish_reason == "length";
                            let cut = if is_cut { " (it was cut at its limit of tokens)" } else { "" };
                            let why = format!("{reason}{cut}");
                            entry.parsed = read;
                            entry.error = Some(why.clone());
                            self.note_stage(entry);
                            asking.refuse(&reply, &why)
                        }
                    }
                }
                Err(error) => {
                    let why = ChatError::from(error.clone());
                    entry.hopeless = is_hopeless(&why);
                    entry.error = Some(why.to_string());
                    self.note_stage(entry);
                    asking.failed(error)
                }
            };
            goes_on.map_err(|error| self.unreached(error.into()))?;
        }
    }

    fn unreached(&self, error: StageError) -> StageError {
        if error.is_unreachable() {
            self.lock().unreached = true;
        }
        error
    }

    fn note_stage(&self, entry: StageCall) {
        self.tracer.stage(self.question, &entry);
        self.lock().stages.push(entry);
    }

    /// Writes down a call of a tool.
    pub(crate) fn note_call(&self, call: Call) {
        self.tracer.call(self.question, &call);
        self.lock().calls.push(call);
    }

    /// Writes down what went wrong.
    pub(crate) fn note_error(&self, error: impl Into<String>) {
        self.lock().errors.push(error.into());
    }

    pub(crate) fn lock(&self) -> std::sync::MutexGuard<'_, Trace> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was written down.
    pub(crate) fn into_trace(self) -> Trace {
        self.trace.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whole milliseconds since then.
pub(crate) fn millis(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// What a reply says, verbatim unless it begins with reasoning.
fn spoken(reply: &str) -> &str {
    let said = without_reasoning(reply);
    match () {
        () if said.is_empty() => "",
        () if said == reply.trim() => reply,
        () => said,
    }
}

/// Stage calls in a stable order: those before the subtasks, the subtasks in the order of `place`, those after them.
pub(crate) fn in_order(stages: Vec<StageCall>, place: impl Fn(Option<i64>) -> usize) -> Vec<StageCall> {
    let first = stages.iter().position(|call| call.task_id.is_some()).unwrap_or(stages.len());
    let last = stages.iter().rposition(|call| call.task_id.is_some()).map_or(first, |at| at + 1);
    let mut stages = stages;
    if let Some(middle) = stages.get_mut(first..last) {
        middle.sort_by_key(|call| place(call.task_id));
    }
    stages
}
