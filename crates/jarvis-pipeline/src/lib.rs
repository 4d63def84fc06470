//! The contract of a pipeline: one request in, one [`Run`] out.
//!
//! A pipeline decides what to ask, what to do and how to answer. What it needs for that comes with the [`RunContext`]: the
//! chat model, the engine, the tools, and the event stream that every front end reads. A pipeline prints and stores nothing.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jarvis_ask::{Ask, Events, Scripted};
//! use jarvis_engine::{Engine, Job};
//! use jarvis_pipeline::{Limits, Pipeline, Run, RunContext, RunError};
//! use jarvis_plan::{Answer, Request, Turn};
//! # use tokio_util::sync::CancellationToken;
//!
//! /// Passes the request on to the model.
//! struct Direct;
//!
//! #[async_trait::async_trait]
//! impl Pipeline for Direct {
//!     fn name(&self) -> &str {
//!         "direct"
//!     }
//!
//!     async fn run(&self, request: Arc<Request>, cx: &RunContext) -> Result<Run, RunError> {
//!         cx.report(self.name(), &request, async {
//!             let question = cx.model(self.name())?.stage("direct").messages(vec![Turn::user(&request.text).into()]);
//!             let answer = Answer { text: question.call().await?.text, ..Answer::default() };
//!             Ok(Run { answer, conversation: true, ..Run::default() })
//!         })
//!         .await
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! let events = Events::unread();
//! let ask = Ask::new(Arc::new(Scripted::new(["Hello."])), &events);
//! let engine = Engine::new(|job: Job| async move { Ok(job.object()) });
//! let cx = RunContext::new(Some(ask), engine, Arc::default(), &events, CancellationToken::new(), Limits::default());
//! let run = Direct.run(Arc::new(Request::new("Good morning")), &cx).await?;
//! assert_eq!(run.answer.text, "Hello.");
//! # Ok::<(), RunError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod approval;
mod context;
mod error;
mod kept;
mod resources;
mod run;
mod shelf;

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_plan::Request;

pub use context::{Limits, RunContext};
pub use error::RunError;
pub use kept::Kept;
pub use resources::{numbered, resources};
pub use run::{Run, not_done, report_end, unchanged, unplanned};
pub use shelf::{Shelf, put_out};

/// A way to carry out a request.
#[async_trait]
pub trait Pipeline: Send + Sync {
    /// Name by which it is chosen: lower case, unique among the pipelines of a program.
    fn name(&self) -> &str;

    /// Carries out a request and reports it to the run of `cx`, from [`jarvis_plan::EventKind::RunStarted`] to
    /// [`jarvis_plan::EventKind::Done`] or [`jarvis_plan::EventKind::Error`].
    ///
    /// # Errors
    /// When there is no answer. Tasks that failed are no error: the answer tells of them.
    async fn run(&self, request: Arc<Request>, cx: &RunContext) -> Result<Run, RunError>;
}
