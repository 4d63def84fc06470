//! EasyTool (microsoft/JARVIS `easytool`): concise tool instructions, and the pipelines that drive tools by them.
//!
//! [`instruct`] turns documentation into instructions; [`instructions`] reads and writes them. [`data`] reads the questions.
//! [`funcqa`], [`toolbench`] and [`restbench`] answer questions with a chat model and a registry of tools; [`batch`] answers
//! many. [`retrieval`] finds the tools of a question, [`log`] reads and writes logs, [`score`] scores them, [`mock`] has mock
//! servers. Nothing here prints, and no reply is ever evaluated as code.

pub mod batch;
pub mod data;
pub mod funcqa;
pub mod input;
pub mod instruct;
pub mod instructions;
pub mod log;
pub mod mock;
pub mod prompts;
mod question;
mod replies;
pub mod restbench;
pub mod retrieval;
pub mod score;
pub mod solve;
pub mod stage;
mod subtasks;
pub mod toolbench;
