//! Logs: one line a question, in the original's form with more beside it (`spec/easytool.md` §11).

mod record;

pub use record::{
    AnsweredTask, Call, ChosenApi, EndpointChoice, ExecuteLog, RestRecord, SolveRecord, StageCall, Status, Subtask,
};
