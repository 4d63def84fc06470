//! The engine as its callers see it: what a graph is run with, and how it is started.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use jarvis_plan::{
    Candidate, Draft, Effect, ErrorCode, Limits as PlanLimits, Outcome, Plan, Request, Task, TaskError, TaskId,
    Vocabulary,
};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::drive::drive;
use crate::{ByOutput, Events, Gate, Job, OpenGate, Resolver, Selector, Worker};

/// How much at once, how long, how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most tasks performed at once, and the most choices made at once; 0 counts as 1.
    pub concurrency: usize,
    /// The longest a task may take from its first start, all its tries together; also the longest its choice may take.
    /// A try may take an equal share of what is left: of three candidates, the first may take a third, the second half
    /// of what the first left over, the last all that remains.
    pub task_timeout: Duration,
    /// The longest the whole graph may take.
    pub run_timeout: Duration,
    /// How many further candidates are tried when the chosen one fails.
    pub max_fallbacks: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            concurrency: 8,
            task_timeout: Duration::from_secs(180),
            run_timeout: Duration::from_secs(600),
            max_fallbacks: 2,
        }
    }
}

/// Runs task graphs.
///
/// ```
/// use jarvis_engine::{Engine, Graph, Job, out};
/// use jarvis_plan::Vocabulary;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let graph = Graph::builder()
///     .task("fetch", json!({"url": "a"}))
///     .task_after("sum", ["fetch"], json!({"text": out("fetch")}))
///     .check(&Vocabulary::named(["fetch", "sum"]))?;
/// let run = Engine::new(|job: Job| async move { Ok(json!(format!("{}({})", job.name(), job.object()))) })
///     .concurrency(8)
///     .run(&graph)
///     .await;
/// assert_eq!(run.value("sum")?, r#"sum({"text":"fetch({\"url\":\"a\"})"})"#);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Engine {
    pub(crate) worker: Arc<dyn Worker>,
    pub(crate) selector: Option<Arc<dyn Selector>>,
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) request: Arc<Request>,
    pub(crate) events: Events,
    pub(crate) limits: Limits,
    pub(crate) repeats: bool,
    pub(crate) speculates: bool,
    pub(crate) cancel: CancellationToken,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine that performs tasks with a worker: each task by the tool that it names, references by output.
    pub fn new(worker: impl Worker + 'static) -> Engine {
        Engine::shared(Arc::new(worker))
    }

    /// The same for a worker that others use as well.
    pub fn shared(worker: Arc<dyn Worker>) -> Engine {
        Engine {
            worker,
            selector: None,
            resolver: Arc::new(ByOutput),
            gate: Arc::new(OpenGate),
            request: Arc::default(),
            events: Events::unread(),
            limits: Limits::default(),
            repeats: true,
            speculates: false,
            cancel: CancellationToken::new(),
        }
    }

    /// Who performs tasks.
    pub fn worker(&self) -> &Arc<dyn Worker> {
        &self.worker
    }

    /// The same engine with another worker, such as one that performs some tasks itself and passes on the rest.
    #[must_use]
    pub fn with_worker(self, worker: Arc<dyn Worker>) -> Engine {
        Engine { worker, ..self }
    }

    /// Who chooses the candidates of each task.
    #[must_use]
    pub fn selector(self, selector: Arc<dyn Selector>) -> Engine {
        Engine { selector: Some(selector), ..self }
    }

    /// What references stand for.
    #[must_use]
    pub fn resolver(self, resolver: Arc<dyn Resolver>) -> Engine {
        Engine { resolver, ..self }
    }

    /// Who lets tasks that change the world go on; without one, all tasks count as reading.
    #[must_use]
    pub fn gate(self, gate: Arc<dyn Gate>) -> Engine {
        Engine { gate, ..self }
    }

    /// Whether performing a task changes something.
    pub fn changes(&self, task: &Task) -> bool {
        self.gate.effect(task) != Effect::Reads
    }

    pub(crate) fn job(
        &self,
        task: &Arc<Task>,
        args: IndexMap<String, Value>,
        candidate: Candidate,
        cancel: CancellationToken,
    ) -> Arc<Job> {
        Arc::new(Job {
            request: Arc::clone(&self.request),
            task: Arc::clone(task),
            args,
            candidate,
            events: self.events.clone(),
            cancel,
            part: 0,
        })
    }

    /// The request that the graph is for; workers see it.
    #[must_use]
    pub fn request(self, request: Arc<Request>) -> Engine {
        Engine { request, ..self }
    }

    /// Where events go. The plan itself is reported by whoever made it.
    #[must_use]
    pub fn events(self, events: Events) -> Engine {
        Engine { events, ..self }
    }

    /// How much at once, how long, how often.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Engine {
        Engine { limits, ..self }
    }

    /// The most tasks performed at once; 0 counts as 1.
    #[must_use]
    pub fn concurrency(self, concurrency: usize) -> Engine {
        let limits = Limits { concurrency, ..self.limits };
        self.limits(limits)
    }

    /// Makes no call a second time in a plan that grows: a task that is planned anew and calls the same tool with the same arguments
    /// as one that ended before, ends as that one did.
    #[must_use]
    pub fn without_repeats(self) -> Engine {
        Engine { repeats: false, ..self }
    }

    /// Starts tasks that only read with who will probably be chosen, while the choice is being made; what was begun with somebody
    /// else is thrown away.
    #[must_use]
    pub fn speculating(self, speculates: bool) -> Engine {
        Engine { speculates, ..self }
    }

    /// Ends the run when it fires.
    #[must_use]
    pub fn cancelled_by(self, cancel: CancellationToken) -> Engine {
        Engine { cancel, ..self }
    }

    /// Runs a plan and returns how each of its tasks ended, in ascending id.
    ///
    /// It always returns, at the latest when `limits.run_timeout` has passed or soon after the run is cancelled; tasks that
    /// have not finished then get a [`ErrorCode::Timeout`] or a [`Status::Cancelled`](jarvis_plan::Status::Cancelled)
    /// outcome. Dropping the future ends all work.
    pub async fn run(&self, plan: &Plan) -> Run {
        self.run_from(plan, Vec::new()).await
    }

    /// Goes on with a plan of which some tasks have ended before: those are not performed again, and not reported.
    pub async fn run_from(&self, plan: &Plan, ended: Vec<Outcome>) -> Run {
        let batches = whole(plan).1;
        Run { names: plan.names().clone(), outcomes: drive(batches, self.clone(), ended, Box::new(|_| {})).await }
    }

    /// Runs a plan that grows: tasks start as they are added, and the run ends when the [`GrowingPlan`] is dropped and every
    /// task has finished. Those that have `ended` before are not performed again. `finished` sees each outcome as it comes, so
    /// that the next tasks may follow from it.
    pub async fn run_growing(
        &self,
        growth: Growth,
        ended: Vec<Outcome>,
        finished: impl FnMut(&Outcome) + Send,
    ) -> Vec<Outcome> {
        drive(growth.0, self.clone(), ended, Box::new(finished)).await
    }
}

/// A plan whose tasks run while more are added.
#[derive(Debug)]
pub struct GrowingPlan {
    plan: Plan,
    sender: UnboundedSender<Batch>,
}

/// The engine's end of a [`GrowingPlan`].
#[derive(Debug)]
pub struct Growth(UnboundedReceiver<Batch>);

/// Tasks on their way to a driver.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) tasks: Vec<Task>,
    /// Whether they were planned with the outcomes of all tasks before in sight; else they are more of the same plan.
    pub(crate) anew: bool,
    /// Whether what was planned together is complete with them. Tasks that change something wait until it is.
    pub(crate) whole: bool,
}

impl GrowingPlan {
    /// Starts from a plan, which may be empty. The second half goes to [`Engine::run_growing`].
    pub fn new(plan: Plan) -> (GrowingPlan, Growth) {
        let (sender, receiver) = whole(&plan);
        (GrowingPlan { plan, sender }, Growth(receiver))
    }

    /// Starts from nothing, for a plan that is still being written: see [`GrowingPlan::extend`].
    pub fn unwritten() -> (GrowingPlan, Growth) {
        let (sender, receiver) = unbounded_channel();
        (GrowingPlan { plan: Plan::default(), sender }, Growth(receiver))
    }

    /// The plan so far.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Checks and adds the tasks of a draft, see [`Plan::grow`], and returns them as they were added. They run at once.
    ///
    /// # Errors
    /// When the run has ended.
    pub fn grow(&mut self, draft: &Draft, vocabulary: &Vocabulary, limits: PlanLimits) -> Result<&[Task], RunEnded> {
        let added = self.plan.grow(draft, vocabulary, limits);
        let batch = Batch { tasks: added.to_vec(), anew: true, whole: true };
        self.sender.send(batch).map_err(|_| RunEnded)?;
        Ok(added)
    }

    /// Goes on with more of a plan that is still being written: `plan` begins with the tasks so far, and those behind them run at
    /// once, but for those that change something, which wait until the plan is `whole`. Returns the tasks that are new.
    ///
    /// # Errors
    /// When a task so far is another in `plan`, which is then not taken; or when the run has ended.
    pub fn extend(&mut self, plan: Plan, whole: bool) -> Result<&[Task], NotExtended> {
        let before = self.plan.tasks().len();
        if plan.tasks().get(..before) != Some(self.plan.tasks()) {
            return Err(NotExtended::Contradicted);
        }
        self.plan = plan;
        let added = self.plan.tasks().get(before..).expect("the plan begins with the tasks so far");
        let batch = Batch { tasks: added.to_vec(), anew: false, whole };
        self.sender.send(batch).map_err(|_| NotExtended::RunEnded)?;
        Ok(added)
    }
}

/// A channel that holds all tasks of a plan.
fn whole(plan: &Plan) -> (UnboundedSender<Batch>, UnboundedReceiver<Batch>) {
    let (sender, receiver) = unbounded_channel();
    let batch = Batch { tasks: plan.tasks().to_vec(), anew: true, whole: true };
    sender.send(batch).expect("the receiver is in scope");
    (sender, receiver)
}

/// Why a plan that is being written did not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotExtended {
    /// A task that was added before is another now.
    #[error("a task that may have run already is another now")]
    Contradicted,
    /// Its run has ended.
    #[error("the run has ended")]
    RunEnded,
}

/// A plan cannot grow because its run has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the run has ended")]
pub struct RunEnded;

/// How the tasks of a plan ended, in ascending id.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    names: IndexMap<String, TaskId>,
    outcomes: Vec<Outcome>,
}

impl Run {
    /// The output of the task of that name, for plans made by [`Plan::builder`].
    ///
    /// # Errors
    /// Why the task did not succeed, or that there is none of that name.
    pub fn value(&self, name: &str) -> Result<&Value, TaskError> {
        let outcome = self.names.get(name).and_then(|id| self.outcomes.get(id.index()));
        match outcome.map(|outcome| (&outcome.output, &outcome.error)) {
            Some((Some(output), _)) => Ok(output),
            Some((None, Some(error))) => Err(error.clone()),
            Some((None, None)) | None => Err(TaskError::new(ErrorCode::NotFound, format!("no task is named `{name}`"))),
        }
    }

    /// The outcomes.
    pub fn into_outcomes(self) -> Vec<Outcome> {
        self.outcomes
    }
}

impl Deref for Run {
    type Target = [Outcome];

    fn deref(&self) -> &[Outcome] {
        &self.outcomes
    }
}

/// Who is tried when there is no selector.
pub(crate) fn itself(task: &Task) -> Candidate {
    Candidate::tool(&task.task)
}
