//! A request and a list of tools in, a Draft out; the offline planner needs no model.
//!
//! The offline planner reads a request in English, Russian or Chinese in these steps, each a module of its own:
//! `clauses` (what is asked, in which order), `resources` (what it is asked of) and `flow` (which kinds are given and
//! wanted); `retrieval` (how well each tool's words fit, with the `thesaurus`) and `lexicon` (phrases for media tasks),
//! which `matching` weighs into the ways to serve one clause; `lattice` (these for all clauses) and `decoding` (the best
//! choice for all together, along the tool `graph`); `linking` (whose output goes where, with bridges between kinds) and
//! `slots` (values of named parameters). Tools that a user brings, with JSON Schemas, are planned by `own`; lists of functions that
//! say neither what flows between them nor in which order they follow, by `set`. `meaning` knows how near two English words are,
//! `learned` what gold plans taught, `fitted` reads both from a file, `experience` knows plans from before. Word lists are in `data/`. No code or list names a tool: tools are found by the
//! words with which they describe themselves. Checking a draft, choosing models and calling them are not done here.

mod bags;
mod basis;
mod candidate;
mod clauses;
mod data;
mod decoding;
mod evidence;
mod experience;
mod fitted;
mod flow;
mod followup;
mod foreign;
mod graph;
mod lattice;
mod learned;
mod lexicon;
mod linking;
mod matching;
mod meaning;
mod memo;
mod numerals;
mod offline;
mod own;
mod resources;
mod result_names;
mod retrieval;
mod sentences;
mod set;
mod slots;
mod thesaurus;
mod unserved;
mod weights;
mod words;

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_plan::{Draft, Request, Tool};

pub use basis::Basis;
pub use experience::{Experience, Past, Similar};
pub use fitted::{Fitted, FittedError};
pub use followup::{Undone, undone};
pub use learned::{Learned, Lesson};
pub use memo::Memo;
pub use offline::{NO_TOOL, Offline};
pub use resources::{opens_with_order, speaks_of_each};
pub use result_names::{files_to_be, names_result, text_to_be};
pub use retrieval::ToolIndex;
pub use sentences::{Encoder, Texts};
pub use set::choose::SetWeights;
pub use weights::Weights;

/// Whether a word in lower case says little by itself: an article, a preposition, a pronoun.
pub fn is_small_word(word: &str) -> bool {
    data::STOP_WORDS.has(word) || data::FUNCTION_WORDS.has(word) || data::PRONOUNS.has(word)
}

/// Something that turns a request into a draft of tasks.
#[async_trait]
pub trait Planner: Send + Sync {
    /// Plans `request` with `tools`. An empty draft means that nothing is to be done with tools; its notes say why.
    ///
    /// # Errors
    /// Says what kept the planner from answering; a poor plan is a draft, not an error.
    async fn plan(&self, request: &Request, tools: &Arc<[Tool]>) -> Result<Draft, PlannerError>;

    /// The same with plans from before as evidence. A planner that has no use for them plans without.
    ///
    /// # Errors
    /// As [`Planner::plan`].
    async fn plan_by(
        &self,
        request: &Request,
        tools: &Arc<[Tool]>,
        _experience: &Experience,
    ) -> Result<Draft, PlannerError> {
        self.plan(request, tools).await
    }

    /// What it makes of each part of a request, for people to read; `None` where it cannot tell. May block.
    fn explained(&self, _request: &Request, _tools: &[Tool], _experience: &Experience) -> Option<String> {
        None
    }

    /// The plans from before that count most for some part of a request, best first; none where it has no use for them. May block.
    fn counted<'e>(
        &self,
        _request: &Request,
        _tools: &[Tool],
        _experience: &'e Experience,
        _most: usize,
    ) -> Vec<Similar<'e>> {
        Vec::new()
    }

    /// What answers and `doctor` call it, such as `offline`.
    fn name(&self) -> &str;
}

#[derive(Debug, thiserror::Error)]
pub enum PlannerError {
    /// The model behind the planner was unreachable or refused.
    #[error("the planning model gave no answer: {message}")]
    Unavailable {
        message: String,
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    #[error("the planning model's reply holds no plan: {message}")]
    BadReply { message: String, reply: String },
}
