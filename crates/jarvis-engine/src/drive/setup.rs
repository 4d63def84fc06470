//! What a graph is run with: who, for what, within which limits.

use std::sync::Arc;
use std::time::Duration;

use jarvis_plan::{Request, Vocabulary};
use tokio_util::sync::CancellationToken;

use crate::{Events, Selector, Worker};

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

/// What a graph is run with.
#[derive(Clone)]
pub struct Setup {
    /// Who chooses.
    pub selector: Arc<dyn Selector>,
    /// Who performs.
    pub worker: Arc<dyn Worker>,
    /// What the graph is for; workers see it.
    pub request: Arc<Request>,
    /// The tools, for the kinds of arguments.
    pub vocabulary: Arc<Vocabulary>,
    /// Where it is told what happens. The plan itself is told by whoever made it.
    pub events: Events,
    /// Limits.
    pub limits: Limits,
    /// Ends the run.
    pub cancel: CancellationToken,
}
