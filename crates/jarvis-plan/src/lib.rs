//! The words of jarvis as types, and one checker that turns a [`Draft`] into a [`Plan`].
//!
//! Every other crate speaks these words: what a person asks ([`Request`]), what can be called ([`Tool`]), what a
//! planner proposed ([`Draft`]), what was accepted ([`Plan`]), who does it ([`Selection`]), how it went ([`Outcome`]),
//! what happened ([`Event`]) and what is said back ([`Answer`]).
//!
//! This crate has no async code, does no I/O and knows no wire format but its own record and the HuggingGPT dialect
//! that models write ([`dialect`]).
#![warn(missing_docs)]

pub mod check;
pub mod dialect;
pub mod export;
pub mod graph;
pub mod schema;

mod answer;
mod approval;
mod arg;
mod builder;
mod callers;
mod draft;
mod error;
mod event;
mod fault;
mod id;
pub mod kept;
mod language;
mod medium;
mod outcome;
mod path;
mod pattern;
mod plan;
mod resource;
mod selection;
mod tool;
mod usage;
mod vocabulary;
mod words;

pub use answer::{Answer, AnswerResource, Request, Role, Thread, Turn};
pub use approval::{Approval, Place};
pub use arg::{Arg, DraftRef, Named, Piece, text_of};
pub use builder::{GraphBuilder, GraphError, Out, out};
pub use callers::{CallersTool, MustCall, ReplyForm, ToolCall};
pub use check::{Limits, check};
pub use draft::{Draft, DraftTask};
pub use error::{ErrorCode, TaskError};
pub use event::{ENGINE, Event, EventKind, INTERRUPTED, Level};
pub use fault::Fault;
pub use id::{RunId, TaskId};
pub use kept::NotAPlan;
pub use language::{Language, Script, is_cyrillic, is_han, is_path, narrow};
pub use medium::{Medium, medium};
pub use outcome::{Attempt, Outcome, Status};
pub use path::{FieldPath, NoSuchField, Step};
pub use pattern::pattern;
pub use plan::{EACH, Note, NoteKind, Plan, Task};
pub use resource::{Kind, Resource, Source};
pub use selection::{Candidate, Selection};
pub use tool::{Cost, Effect, Example, Param, Tool};
pub use usage::{Budget, DAILY, Money, Spent, StageUsage, Tokens, Usage};
pub use vocabulary::{Meant, Vocabulary};
pub use words::{cardinal, rows, spell_out, stem};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
