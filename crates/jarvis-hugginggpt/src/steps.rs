//! The stages one at a time, for whoever keeps what each of them gave, has the tasks performed elsewhere, and may go on in another
//! process. [`HuggingGpt::run`] is the same in one go.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use jarvis_engine::{Events, Selector};
use jarvis_pipeline::{Run, RunError, unplanned};
use jarvis_plan::{Note, Outcome, Plan, Request, Selection, Task, TaskError};
use tokio_util::sync::CancellationToken;

use crate::grow::{Looking, Rounds, Step};
use crate::pipeline::{HuggingGpt, Planned};

/// A run whose tasks have ended, as far as it has come.
#[derive(Debug, Clone)]
pub struct SoFar {
    /// What is asked.
    pub request: Arc<Request>,
    /// The plan.
    pub plan: Plan,
    /// How its tasks ended, in ascending id.
    pub outcomes: Vec<Outcome>,
    /// What the looks at it have come to; [`Rounds::of`] before the first.
    pub rounds: Rounds,
}

/// What follows from a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Begun {
    /// There are tasks to perform, or it is known that there are none.
    Plan(Plan),
    /// It is conversation, and the run has ended.
    Ended(Box<Run>),
}

/// What follows from a look at a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Looked {
    /// The answer.
    End,
    /// The planner asks the person something; [`Rounds::told`] takes the answer, and then it looks again.
    Ask(String),
    /// The plan grows by these tasks, and it is looked at again when they have ended.
    Grown {
        /// Why: `failures`, `more` or `always`.
        why: String,
        /// The new tasks.
        tasks: Vec<Task>,
        /// The new notes.
        notes: Vec<Note>,
        /// Whether the plan is a first part still.
        more: bool,
    },
}

impl HuggingGpt {
    /// Stage 1.
    ///
    /// # Errors
    /// Why there is no plan.
    pub async fn begin(
        &self,
        request: &Request,
        events: &Events,
        cancel: &CancellationToken,
    ) -> Result<Begun, RunError> {
        Ok(match self.plan_within(request, events, cancel, None).await? {
            Planned::Tasks(plan) => Begun::Plan(plan),
            Planned::Conversation(answer, plan) => {
                let run = Run { not_done: unplanned(&plan), plan, answer, conversation: true, ..Run::default() };
                Begun::Ended(Box::new(run))
            }
        })
    }

    /// Stage 2: who performs each of these tasks, in their order. Of one that cannot run, nobody is chosen.
    pub async fn choose(
        &self,
        request: &Arc<Request>,
        tasks: &[Task],
        events: &Events,
    ) -> Vec<Option<Result<Selection, TaskError>>> {
        let chooser = &self.chooser(request, events);
        let choices = tasks.iter().map(|task| {
            let choice = async move {
                match task.faults.is_empty() {
                    true => Some(chooser.select(task, events, &|_| {}).await),
                    false => None,
                }
            };
            choice.boxed()
        });
        let choices: Vec<BoxFuture<'_, Option<Result<Selection, TaskError>>>> = choices.collect();
        futures::stream::iter(choices).buffered(self.settings.engine.concurrency.max(1)).collect().await
    }

    /// Looks at what came of the tasks, see stage `replan`.
    ///
    /// # Errors
    /// When the prompt cannot be made. Failures of the call end the looks.
    pub async fn look(
        &self,
        so_far: &mut SoFar,
        events: &Events,
        cancel: &CancellationToken,
    ) -> Result<Looked, RunError> {
        let SoFar { request, plan, outcomes, rounds } = so_far;
        let looking = Looking { pipeline: self, request, events, cancel, began: events.began() };
        Ok(match looking.step(rounds, plan, outcomes).await? {
            Step::End => Looked::End,
            Step::Ask(question) => Looked::Ask(question),
            Step::Grow { draft: _, why, tasks, notes, more } => Looked::Grown { why, tasks, notes, more },
        })
    }

    /// Stages 3 and 4 after the tasks: what was not done, and the answer.
    ///
    /// # Errors
    /// When the answer's prompt cannot be made.
    pub async fn end(&self, so_far: SoFar, events: &Events, cancel: &CancellationToken) -> Result<Run, RunError> {
        let SoFar { request, plan, outcomes, rounds } = so_far;
        let looking = Looking { pipeline: self, request: &request, events, cancel, began: events.began() };
        self.conclude(&looking, plan, outcomes, &rounds).await
    }
}
