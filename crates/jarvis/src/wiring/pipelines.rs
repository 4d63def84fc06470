//! The pipelines of this program, in one table. `--pipeline`, the routes of the server, its page, its MCP tool `run` and the
//! models of its OpenAI protocol follow it.

use std::sync::Arc;

use futures::FutureExt;
use jarvis_ask::Ask;
use jarvis_chat::ChatModel;
use jarvis_engine::{Engine, Events};
use jarvis_hugginggpt::{Conversation, HuggingGpt, RunError, Settings};
use jarvis_pipeline::{Limits, Pipeline, RunContext, Shelf};
use jarvis_react::Agent;
use jarvis_rewoo::Rewoo;
#[cfg(feature = "serve")]
use jarvis_server::Named;
use jarvis_tools::Registry;
use jarvis_workers::Inputs;
use tokio_util::sync::CancellationToken;

use super::App;
use crate::failure::Failure;

type Make = fn(&Configured) -> Result<Arc<dyn Pipeline>, Failure>;

pub(crate) struct Configured {
    hugginggpt: Arc<HuggingGpt>,
    agent: Arc<Agent>,
    conversation: Arc<Conversation>,
}

/// The conversation with the chat model, which is shown pictures within the limits of inputs.
pub(super) fn conversation(inputs: &Arc<Inputs>) -> Conversation {
    let inputs = Arc::clone(inputs);
    Conversation::new(Arc::new(move |path: String| {
        let inputs = Arc::clone(&inputs);
        // It ends with the run, which drops it.
        async move { inputs.picture_for_model(&path, &CancellationToken::new()).await }.boxed()
    }))
}

/// A pipeline and how it is made.
pub(crate) struct Entry {
    /// Its name, as [`Pipeline::name`] gives it.
    pub(crate) name: &'static str,
    /// What it does, in a line of help.
    pub(crate) about: &'static str,
    pub(crate) needs_model: bool,
    pub(crate) make: Make,
}

/// Every pipeline; the first is the default.
pub(crate) const PIPELINES: &[Entry] = &[
    Entry {
        name: jarvis_hugginggpt::NAME,
        about: "plan, choose a model for each task, execute, answer",
        needs_model: false,
        make: |configured| Ok(Arc::clone(&configured.hugginggpt) as Arc<dyn Pipeline>),
    },
    Entry {
        name: Conversation::NAME,
        about: "talk with the chat model, nothing planned and no tool called; needs --llm",
        needs_model: true,
        make: |configured| Ok(Arc::clone(&configured.conversation) as Arc<dyn Pipeline>),
    },
    Entry {
        name: jarvis_rewoo::NAME,
        about: "plan every tool call at once, gather the evidence in parallel, answer; needs --llm",
        needs_model: true,
        make: |_| Ok(Arc::new(Rewoo::new().map_err(Failure::work)?)),
    },
    Entry {
        name: jarvis_react::NAME,
        about: "answer a question about the attached texts by thought, action and observation",
        needs_model: false,
        make: |configured| Ok(Arc::clone(&configured.agent) as Arc<dyn Pipeline>),
    },
];

#[derive(Clone)]
pub(crate) struct Contexts {
    engine: Engine,
    tools: Arc<Registry>,
    limits: Limits,
    reserve_tokens: usize,
    structured: bool,
    shelf: Option<Arc<dyn Shelf>>,
}

impl Contexts {
    pub(super) fn new(
        tools: &Arc<Registry>,
        engine: Engine,
        settings: &Settings,
        shelf: Option<Arc<dyn Shelf>>,
    ) -> Contexts {
        Contexts {
            engine,
            tools: Arc::clone(tools),
            limits: Limits { plan: settings.plan, engine: settings.engine },
            reserve_tokens: settings.reserve_tokens,
            structured: settings.structured,
            shelf,
        }
    }

    /// The context of a run with this chat model, or without one.
    pub(crate) fn of(
        &self,
        chat: Option<Arc<dyn ChatModel>>,
        events: &Events,
        cancel: CancellationToken,
    ) -> RunContext {
        let ask = chat.map(|chat| Ask::new(chat, events).reserving(self.reserve_tokens).structured(self.structured));
        let cx = RunContext::new(ask, self.engine.clone(), Arc::clone(&self.tools), events, cancel, self.limits);
        cx.shelf(self.shelf.clone())
    }
}

impl App {
    #[cfg(feature = "serve")]
    pub(crate) fn pipelines_for_callers(&self) -> Vec<Named> {
        let named = |entry: &Entry| {
            let (make, agent, conversation) = (entry.make, Arc::clone(&self.agent), Arc::clone(&self.conversation));
            let make = move |hugginggpt: &Arc<HuggingGpt>| {
                let configured = Configured {
                    hugginggpt: Arc::clone(hugginggpt),
                    agent: Arc::clone(&agent),
                    conversation: Arc::clone(&conversation),
                };
                make(&configured).map_err(|failure| failure.error().to_string())
            };
            Named { name: entry.name, needs_model: entry.needs_model, make: Arc::new(make) }
        };
        PIPELINES.iter().map(named).collect()
    }

    /// The pipeline of that name.
    ///
    /// # Errors
    /// When there is none, or it needs a chat model that is not configured.
    pub(crate) fn pipeline_named(&self, name: &str) -> Result<Arc<dyn Pipeline>, Failure> {
        let entry = PIPELINES.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names: Vec<&str> = PIPELINES.iter().map(|entry| entry.name).collect();
            Failure::usage(format!("unknown pipeline `{name}`")).hint(format!("one of: {}", names.join(", ")))
        })?;
        if entry.needs_model && self.pipeline.chat.is_none() {
            let error = RunError::NoModel { pipeline: entry.name.to_owned() };
            return Err(Failure::usage(error).hint("name a chat model with --llm MODEL, or set `llm.model`"));
        }
        (entry.make)(&Configured {
            hugginggpt: Arc::clone(&self.pipeline),
            agent: Arc::clone(&self.agent),
            conversation: Arc::clone(&self.conversation),
        })
    }
}
