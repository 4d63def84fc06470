//! The agent: one question, about a document or over tools alone, from the first thought to the answer.

mod agent_loop;
mod asked;
mod calls;
mod clock;
mod context;
mod many;
mod results;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use jarvis_chat::{ChatError, ChatModel};
use jarvis_document::{Document, DocumentError, DocumentReader};
use jarvis_engine::{Engine, Events, Gate, GrowingPlan, Limits};
use jarvis_pipeline::{Run, RunError, numbered, unchanged};
use jarvis_plan::{
    Answer, AnswerResource, Effect, ErrorCode, EventKind, INTERRUPTED, Kind, Level, Outcome, Plan, Request,
};
use jarvis_store::Media;
use jarvis_tools::{Registry, Scope};
use serde::Serialize;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use crate::prompt::{PromptError, Prompts};
use crate::rounds::Round;
use crate::settings::Settings;
use crate::trace::Tracer;

use agent_loop::AgentLoop;
pub use asked::Asked;
use calls::{Caller, Named};
use clock::{Clock, Timed};
use many::Offer;

pub(crate) const STAGE: &str = "react";

/// The native tool that looks into the document of a question.
const SEARCH_DOCUMENT: &str = "search_document";

/// Answers questions about documents and over tools. Cheap to share; holds nothing of any one question.
#[derive(Clone)]
pub struct Agent {
    /// The chat model; without one the offline agent answers what can be found and counted.
    pub chat: Option<Arc<dyn ChatModel>>,
    pub registry: Arc<Registry>,
    pub media: Arc<Media>,
    pub prompts: Arc<Prompts>,
    pub settings: Settings,
    /// Takes the text out of documents that are more than text.
    pub reader: Arc<dyn DocumentReader>,
    /// Who lets calls of tools that change something go on.
    pub gate: Arc<dyn Gate>,
    /// Who is told of each round, documents and prompts included; usually nobody.
    pub tracer: Option<Tracer>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    Final,
    /// The rounds were used up; the answer is what followed from them, or empty.
    MaxSteps,
    NotFound,
    /// The model kept to no format; the answer is what it wrote.
    NoFormat,
    /// A call that was to change something did not: whatever the model says after it, the answer tells that first.
    NotDone,
}

impl Finish {
    pub fn as_str(self) -> &'static str {
        match self {
            Finish::Final => "final",
            Finish::MaxSteps => "max_steps",
            Finish::NotFound => "not_found",
            Finish::NoFormat => "no_format",
            Finish::NotDone => "not_done",
        }
    }

    /// Whether what was asked for was not found or not done, as the word of [`Finish::as_str`].
    pub fn is_failure(word: &str) -> bool {
        [Finish::NotFound, Finish::NotDone].iter().any(|finish| finish.as_str() == word)
    }
}

/// An answer, and how it was reached.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentAnswer {
    /// The answer in words; may be empty, when there is only a picture.
    pub text: String,
    /// The display paths of all pictures that were made, in order. The last is the one that belongs to the answer.
    pub images: Vec<String>,
    pub rounds: Vec<Round>,
    pub finish: Finish,
    /// What the asker should know, such as that the document was cut.
    pub warnings: Vec<String>,
    /// The plan as it grew: a task for each call that was made.
    pub plan: Plan,
    pub outcomes: Vec<Outcome>,
    /// What was to change something and did not, a sentence each. The answer begins with it.
    pub not_done: Vec<String>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AskError {
    #[error("the question is empty")]
    EmptyQuestion,
    #[error("the model call of stage `react` failed")]
    Model { source: ChatError },
    #[error("no reply of stage `react` can be used: {reason}")]
    Unreadable { reason: String },
    /// A prompt cannot be made, or does not fit the model.
    #[error("cannot make the prompt: {0}")]
    Prompt(String),
    /// The offline agent failed, which is a defect.
    #[error("the offline agent failed: {0}")]
    Offline(String),
    #[error("there was no answer within {} s", .after.as_secs_f64())]
    Timeout { after: Duration },
    #[error("the question was cancelled")]
    Cancelled,
}

impl AskError {
    pub fn code(&self) -> &'static str {
        match self {
            AskError::EmptyQuestion => ErrorCode::InvalidInput.as_str(),
            AskError::Model { source } => source.code().as_str(),
            AskError::Unreadable { .. } => ErrorCode::BadReply.as_str(),
            AskError::Prompt(_) => "prompt",
            AskError::Offline(_) => ErrorCode::Internal.as_str(),
            AskError::Timeout { .. } => INTERRUPTED,
            AskError::Cancelled => ErrorCode::Cancelled.as_str(),
        }
    }

    pub fn hint(&self) -> Option<&'static str> {
        match self {
            AskError::EmptyQuestion => Some("say what you want to know"),
            AskError::Model { source } => source.hint(),
            AskError::Prompt(_) => Some("use a model with a larger context, or a shorter question"),
            AskError::Timeout { .. } => {
                Some("give it more time (`react.deadline_s`), a shorter document or a faster model")
            }
            AskError::Unreadable { .. } => Some("use a larger model, or another format (`react.format`)"),
            AskError::Offline(_) | AskError::Cancelled => None,
        }
    }

    pub fn whole(&self) -> String {
        match self {
            AskError::Model { source } => format!("{self}: {source}"),
            AskError::EmptyQuestion
            | AskError::Unreadable { .. }
            | AskError::Prompt(_)
            | AskError::Offline(_)
            | AskError::Timeout { .. }
            | AskError::Cancelled => self.to_string(),
        }
    }
}

impl From<jarvis_ask::AskError> for AskError {
    fn from(error: jarvis_ask::AskError) -> AskError {
        match error {
            jarvis_ask::AskError::Prompt { source, .. } => source.into(),
            jarvis_ask::AskError::TooLong { source, .. } => AskError::Prompt(source.to_string()),
            jarvis_ask::AskError::Model { source, .. } => AskError::Model { source },
            jarvis_ask::AskError::Unreadable { reason, .. } => AskError::Unreadable { reason },
        }
    }
}

impl From<PromptError> for AskError {
    fn from(error: PromptError) -> AskError {
        AskError::Prompt(error.to_string())
    }
}

impl Agent {
    pub fn model_name(&self) -> String {
        self.chat.as_ref().map_or_else(|| "offline".into(), |chat| chat.model_name(STAGE))
    }

    /// Reads a document.
    ///
    /// # Errors
    /// When it is no text that can be read.
    pub async fn read(&self, bytes: Bytes) -> Result<Document, DocumentError> {
        jarvis_document::read(bytes, self.reader.as_ref()).await
    }

    /// Answers a question. All of it is told through `events`: the thoughts, the calls and what they gave; the plan, which
    /// grows by a task with each call; the answer.
    ///
    /// # Errors
    /// When nothing is asked, the model fails, the time is used up, or it is cancelled. A failed tool is no error.
    pub async fn ask(
        &self,
        asked: &Asked,
        events: &Events,
        cancel: CancellationToken,
    ) -> Result<AgentAnswer, AskError> {
        let model = self.chat.as_ref().map(|chat| chat.model_name(STAGE));
        events.emit(asked.started(model));
        let began = events.began();
        let ended = self.answer(asked, events, &cancel).await;
        let ms = began.elapsed().as_millis() as u64;
        match &ended {
            Ok(answered) => {
                for warning in &answered.warnings {
                    events.note(Level::Warning, warning.clone());
                }
                events.emit(EventKind::Answer { answer: answered.answer() });
                let ok = answered.ok();
                events.emit(EventKind::Done { ok, cancelled: false, usage: events.usage(), ms });
            }
            Err(error) => events.emit(EventKind::Error {
                code: error.code().into(),
                message: error.whole(),
                hint: error.hint().map(str::to_owned),
                ms,
            }),
        }
        ended
    }

    /// The same, told as the run of a pipeline.
    ///
    /// # Errors
    /// As [`Agent::ask`], and when no answer was found.
    pub async fn carry_on(&self, asked: &Asked, events: &Events, cancel: CancellationToken) -> Result<Run, RunError> {
        let answered = self.ask(asked, events, cancel).await?;
        crate::pipeline::run_of(answered)
    }

    // Boxed, so that the crates that await it do not compile all of it once more.
    pub(crate) fn answer<'a>(
        &'a self,
        asked: &'a Asked,
        events: &'a Events,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<AgentAnswer, AskError>> {
        async move {
            if asked.question.trim().is_empty() {
                return Err(AskError::EmptyQuestion);
            }
            let deadline = asked.deadline.map_or(self.settings.deadline, |own| own.min(self.settings.deadline));
            // What searches the document has nothing to search without one, and a prompt should not speak of it.
            let registry = match asked.documents.text() {
                Some(_) => Arc::clone(&self.registry),
                None => Arc::new(self.registry.only(|spec| spec.name != SEARCH_DOCUMENT)),
            };
            // Without a model nobody reads a prompt.
            let offer = match self.chat.is_some() {
                true => Offer::of(registry, &asked.question, self.settings.max_tools)
                    .with_results(self.settings.max_observation_chars),
                false => Offer::of(registry, &asked.question, usize::MAX),
            };
            let agent = Agent { registry: Arc::clone(&offer.registry), ..self.clone() };
            let (plan, growth) = GrowingPlan::new(Plan::default());
            let (ended, outcomes) = unbounded_channel();
            let scope = Scope { documents: asked.documents.clone(), ..Scope::default() };
            let stop = cancel.child_token();
            let left = deadline.saturating_sub(events.began().elapsed());
            let clock = Clock::of(left);
            let engine =
                Engine::new(Caller { registry: Arc::clone(&agent.registry), media: Arc::clone(&self.media), scope })
                    .selector(Arc::new(Named(Arc::clone(&agent.registry))))
                    .gate(Arc::new(Timed { gate: Arc::clone(&self.gate), clock: clock.clone() }))
                    .request(Arc::new(Request::new(&asked.question)))
                    .events(events.clone())
                    .limits(Limits {
                        task_timeout: deadline,
                        run_timeout: deadline,
                        max_fallbacks: 0,
                        ..Limits::default()
                    })
                    .cancelled_by(stop.clone());
            let driven = engine.run_growing(growth, Vec::new(), move |outcome| {
                // Whoever thinks may have given up already.
                let _ = ended.send(outcome.clone());
            });
            let agent_loop = AgentLoop::new(&agent, offer, asked, events, plan, outcomes);
            let answered = async {
                // What is not yet done when the thinking ends is not waited for.
                let _stop = stop.drop_guard();
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => Err(AskError::Cancelled),
                    answer = agent_loop.run() => answer,
                    () = clock.over() => Err(AskError::Timeout { after: deadline }),
                }
            };
            let (outcomes, answer) = tokio::join!(driven, answered);
            answer.map(|answer| {
                let not_done = unchanged(&answer.plan, &outcomes, |task| self.gate.effect(task) != Effect::Reads);
                answer.without(not_done)
            })
        }
        .boxed()
    }
}

impl AgentAnswer {
    /// Whether there is an answer worth something: a picture, or words that do not say that none was found; and everything that
    /// was to be changed was.
    pub fn ok(&self) -> bool {
        let answers = !self.images.is_empty() || !(self.text.is_empty() || self.finish == Finish::NotFound);
        answers && self.not_done.is_empty()
    }

    /// The answer of a question of which this was not done.
    fn without(self, not_done: Vec<String>) -> AgentAnswer {
        if not_done.is_empty() {
            return self;
        }
        let told: String = not_done.iter().map(|what| format!("Not done: {what}\n\n")).collect();
        AgentAnswer { text: told + &self.text, finish: Finish::NotDone, not_done, ..self }
    }

    /// The answer in the words of a run.
    pub fn answer(&self) -> Answer {
        let made = |outcome: &Outcome| {
            let urls = calls::images(outcome);
            let from = outcome.id;
            urls.into_iter().map(move |url| (from, url)).collect::<Vec<_>>()
        };
        let charts = self.outcomes.iter().flat_map(made).zip(numbered("chart.png"));
        Answer {
            text: self.text.clone(),
            resources: charts
                .map(|((from, url), name)| AnswerResource { kind: Kind::Image, url, from, name, path: None })
                .collect(),
            notes: self.warnings.clone(),
            calls: Vec::new(),
        }
    }
}
