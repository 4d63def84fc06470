//! ToolBench: pass rate, win rate and success rate by a judge; error rates without one.
//!
//! [`Judge`] is who judges; [`ChatJudge`] asks a chat model. The rules are in [`rules`], and what stays undecided is
//! decided by a seed and told.

mod errors;
mod judge;
mod rules;
mod run;

use async_trait::async_trait;

pub use errors::ErrorRates;
pub use judge::ChatJudge;
pub use rules::{Seed, Vote, vote};
pub use run::{Judged, JudgedScore, Judging, Outcome, ToolbenchScore, align, judge_all, score};

use crate::log::LoggedAnswer;

/// Whether an answer solves its query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnswerStatus {
    Solved,
    Unsolved,
    /// It cannot be told.
    Unsure,
}

/// Whether a query can be solved with the tools on offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskStatus {
    Solvable,
    Unsolvable,
    /// It cannot be told.
    Unsure,
}

/// Which of two answers is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preference {
    /// The first that was shown.
    First,
    Second,
}

/// Why a judge gave no judgement.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// The model could not be asked.
    #[error(transparent)]
    Chat(#[from] jarvis_chat::ChatError),
    /// A prompt cannot be made.
    #[error(transparent)]
    Prompt(#[from] jarvis_prompt::template::TemplateError),
}

/// Who judges. A judge that answers nothing usable is unsure; an error is only that it could not be asked.
#[async_trait]
pub trait Judge: Send + Sync {
    /// A look at the answer alone.
    ///
    /// # Errors
    /// When the judge cannot be asked.
    async fn answer(&self, answer: &LoggedAnswer) -> Result<AnswerStatus, JudgeError>;

    /// A look at the answer and the calls.
    ///
    /// # Errors
    /// When the judge cannot be asked.
    async fn answer_detail(&self, answer: &LoggedAnswer) -> Result<AnswerStatus, JudgeError>;

    /// Whether the query can be solved.
    ///
    /// # Errors
    /// When the judge cannot be asked.
    async fn task(&self, answer: &LoggedAnswer) -> Result<TaskStatus, JudgeError>;

    /// Which answer is better; `None` when the judge gives no usable answer.
    ///
    /// # Errors
    /// When the judge cannot be asked.
    async fn preference(&self, first: &LoggedAnswer, second: &LoggedAnswer) -> Result<Option<Preference>, JudgeError>;
}
