//! Questions about documents and over tools, answered by thought, action and observation: a plan that grows by one task after each
//! observation.
//!
//! The loop is the pipeline's own; the tasks run on the engine, tools come from the registry, and what happens is told
//! through `Events` as in every run. Which door the question came through is not known here.

mod agent;
mod budget;
mod native;
mod offline;
mod parse;
mod pipeline;
mod prompt;
mod rounds;
mod settings;
mod trace;

pub use agent::{Agent, AgentAnswer, AskError, Asked, Finish};
pub use parse::{Action, Parsed};
pub use pipeline::NAME;
pub use prompt::{PromptError, Prompts};
pub use rounds::Round;
pub use settings::{Format, PromptLanguage, Settings};
pub use trace::{Trace, Tracer};
