//! A request and a list of tools in, a Draft out; the offline planner needs no model.
//!
//! The offline planner reads a request in English, Russian or Chinese in these steps, each a module of its own:
//! [`clauses`] (what is asked, in which order), [`resources`] (what it is asked of) and [`flow`] (which kinds are given and
//! wanted); [`retrieval`] (how well each tool's words fit, with the [`thesaurus`]) and [`lexicon`] (phrases for media
//! tasks), which [`matching`] weighs into the ways to serve one clause; [`lattice`] (these for all clauses) and [`decoding`]
//! (the best choice for all together, along the tool [`graph`]); [`linking`] (whose output goes where, with bridges between
//! kinds) and [`slots`] (values of named parameters). It knows no tool by name: only the words by which tools describe
//! themselves. Checking a draft, choosing models and calling them are not done here.

pub mod clauses;
pub mod decoding;
pub mod flow;
pub mod graph;
pub mod lattice;
pub mod lexicon;
pub mod linking;
pub mod matching;
pub mod resources;
pub mod retrieval;
pub mod slots;
pub mod thesaurus;
pub mod words;

mod offline;

use async_trait::async_trait;
use jarvis_plan::{Draft, Request, Tool};

pub use offline::Offline;
pub use retrieval::ToolIndex;

/// Something that turns a request into a draft of tasks.
#[async_trait]
pub trait Planner: Send + Sync {
    /// Plans `request` with `tools`. An empty draft means that nothing is to be done with tools; its notes say why.
    ///
    /// # Errors
    /// Says what kept the planner from answering; a poor plan is a draft, not an error.
    async fn plan(&self, request: &Request, tools: &[Tool]) -> Result<Draft, PlannerError>;

    /// What answers and `doctor` call it, such as `offline`.
    fn name(&self) -> &str;
}

/// Why a planner gave no draft.
#[derive(Debug, thiserror::Error)]
pub enum PlannerError {
    /// The model behind the planner could not be reached or refused.
    #[error("the planning model gave no answer: {message}")]
    Unavailable {
        /// What it or the way to it said.
        message: String,
        /// The error below, when there is one.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The model's reply holds no plan that could be read.
    #[error("the planning model's reply holds no plan: {message}")]
    BadReply {
        /// What is wrong with it.
        message: String,
        /// The reply, verbatim.
        reply: String,
    },
}
