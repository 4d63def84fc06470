//! Logs: one line a question, in the original's form with more beside it.
//!
//! Our logs consist of [`SolveRecord`]s and [`RestRecord`]s. [`read_answers`] and [`read_paths`] read any log, ours, the
//! original's or a published one, as far as scores need it; [`to_converted`] writes the form that ToolBench's evaluator takes.

mod calls;
mod file;
mod published;
mod read;
mod record;

pub use calls::{LoggedCall, OfferedFunction, functions_of};
pub use file::{LogFile, LogFileError};
pub use published::to_converted;
pub use read::{Logged, LoggedAnswer, LoggedPath, read_answers, read_paths};
pub use record::{
    AnsweredTask, Call, ChosenApi, EndpointChoice, ExecuteLog, RestRecord, SolveRecord, StageCall, Status, Subtask,
};
