//! Logs: one line a question, in the original's form with more beside it (`spec/easytool.md` §11).

mod file;
mod record;

pub use file::{LogFileError, LogFile};
pub use record::{
    AnsweredTask, Call, ChosenApi, EndpointChoice, ExecuteLog, RestRecord, SolveRecord, StageCall, Status, Subtask,
};
