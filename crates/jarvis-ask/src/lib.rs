//! One way to ask a chat model: make the prompt, fit it to the model's context, call, read the reply into a type, and ask
//! again with the reason when it cannot be read.
//!
//! Every call emits its event, also when it fails or is given up, so usage and journals are complete. Nothing else in the
//! workspace calls a [`ChatModel`]: `clippy.toml` disallows it.
//!
//! ```
//! # use std::sync::Arc;
//! use jarvis_ask::{Ask, Events, Prompt, Template};
//! # use jarvis_ask::Scripted;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Person { name: String, age: u8 }
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let model = Scripted::new(["Sure! It is {'name': 'Ada', 'age': 36}"]);
//! let ask = Ask::new(Arc::new(model), &Events::unread());
//! let template = Template::parse("person", "## user\nWho is it? {{text}}", &["text"])?;
//! let context = serde_json::json!({"text": "Ada turns 36 today."});
//! let person: Person = ask.ask(Prompt::new("person", &template), &context).await?;
//! assert_eq!((person.name.as_str(), person.age), ("Ada", 36));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where more is needed, [`Ask::stage`] begins a [`Question`]: levels for the context budget, attempts, settings of the
//! request, a reader of its own, streaming. [`prompts!`] declares a pipeline's prompts.
#![warn(missing_docs)]

mod call;
mod content;
mod error;
mod fit;
mod prompts;
mod question;
mod reasoning;

use std::sync::Arc;

use jarvis_chat::{ChatModel, Message};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use error::AskError;
pub use fit::{DEFAULT_RESERVE, TooLong, Trim, conversation_levels};
pub use jarvis_chat::Scripted;
pub use jarvis_events::Events;
pub use jarvis_prompt::template::{Template, TemplateError};
pub use prompts::{PromptFile, PromptTable, Prompts};
pub use question::{Attempts, Question, Refused};

/// Attempts of [`Ask::ask`].
const ATTEMPTS: u32 = 2;

/// Asks one model on behalf of one run. Cheap to clone.
#[derive(Clone)]
pub struct Ask {
    model: Arc<dyn ChatModel>,
    events: Events,
    reserve: usize,
    structured: bool,
}

/// A prompt as [`Ask::ask`] takes it.
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'a> {
    /// Label of the stage, sent as the header `x-jarvis-stage`.
    pub stage: &'static str,
    /// Its template.
    pub template: &'a Template,
}

impl<'a> Prompt<'a> {
    /// A template as the prompt of a stage.
    pub fn new(stage: &'static str, template: &'a Template) -> Prompt<'a> {
        Prompt { stage, template }
    }
}

impl std::fmt::Debug for Ask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ask").field("run_id", self.events.run_id()).finish_non_exhaustive()
    }
}

impl Ask {
    /// Asks this model and reports to the run of these events.
    pub fn new(model: Arc<dyn ChatModel>, events: &Events) -> Ask {
        Ask { model, events: events.clone(), reserve: DEFAULT_RESERVE, structured: false }
    }

    /// Reports to the run of these events from now on.
    #[must_use]
    pub fn reporting_to(self, events: &Events) -> Ask {
        Ask { events: events.clone(), ..self }
    }

    /// Sets the tokens of the context that are kept free for the reply; [`DEFAULT_RESERVE`] unless set.
    #[must_use]
    pub fn reserving(self, reserve: usize) -> Ask {
        Ask { reserve, ..self }
    }

    /// Whether schemas are sent to the endpoint; off unless set, since not every endpoint takes them.
    #[must_use]
    pub fn structured(self, structured: bool) -> Ask {
        Ask { structured, ..self }
    }

    /// The model.
    pub fn model(&self) -> &Arc<dyn ChatModel> {
        &self.model
    }

    /// The run's events.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Asks for a `T`: renders the prompt, calls, reads the JSON object in the reply, and asks once more with the reason
    /// when there is none.
    ///
    /// # Errors
    /// When the prompt cannot be rendered or does not fit, a call fails, or neither reply is a `T`.
    pub async fn ask<T>(&self, prompt: Prompt<'_>, context: &impl Serialize) -> Result<T, AskError>
    where
        T: DeserializeOwned + JsonSchema,
    {
        let question = self.stage(prompt.stage).fitted(&[()], |()| prompt.template.render(context))?;
        question.asking(ATTEMPTS).json().await
    }

    /// Begins a question. It is asked at temperature 0 and once, unless set otherwise.
    pub fn stage(&self, stage: &'static str) -> Question<'_> {
        Question::new(self, stage)
    }

    /// The messages of the first of `levels` that fits, and its index, for callers that count tokens off the runtime's
    /// threads. [`Question::fitted`] does the same.
    ///
    /// # Errors
    /// When a level cannot be rendered, or not even the last one fits.
    pub fn fit<L, M: Into<Message>>(
        &self,
        stage: &'static str,
        levels: &[L],
        build: impl Fn(&L) -> Result<Vec<M>, TemplateError>,
    ) -> Result<(usize, Vec<Message>), AskError> {
        fit::fit(self.model(), stage, self.reserve, levels, build)
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests;
