//! What a run reports while it goes on and when it ends.

use indexmap::IndexMap;
use jarvis_chat::TokenUsage;

/// Sees a run. Called from the task that runs it: it must not block.
pub trait Watch: Send + Sync {
    /// The run begins.
    fn begun(&self, _begun: &Begun) {}
    /// An item has ended; the summary counts it.
    fn ended(&self, _summary: &Summary, _ended: &Ended) {}
}

/// Sees nothing.
impl Watch for () {}

/// What a run is about to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// Items to work on.
    pub pending: usize,
    /// Items that are done already.
    pub already: usize,
    /// What is odd about the files.
    pub notes: Vec<String>,
}

/// How well an item went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outcome {
    #[default]
    Done,
    /// Done, although something failed on the way.
    Partial,
    Failed,
}

/// How an item ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ended {
    pub id: String,
    pub outcome: Outcome,
    /// In words: why it failed, or what there is to say of it.
    pub message: String,
    /// The word by which failures are counted.
    pub kind: Option<&'static str>,
    /// It failed for a reason for which all others would fail too.
    pub hopeless: bool,
    /// Calls of the model; repeats for passing troubles count as one.
    pub calls: usize,
    pub usage: TokenUsage,
    /// What else is counted, by name.
    pub counts: Vec<(&'static str, usize)>,
}

/// How a run ended, or how far it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    pub items: usize,
    /// Items that were done before.
    pub already: usize,
    /// Items done now, partial ones among them.
    pub done: usize,
    pub partial: usize,
    pub failed: usize,
    /// Items not worked on to the end.
    pub left: usize,
    /// Whether the run was cancelled before its end.
    pub interrupted: bool,
    /// Whether it stopped by itself because the endpoint answered none of the first items.
    pub gave_up: bool,
    /// How often each kind of failure happened.
    pub failures: IndexMap<&'static str, usize>,
    pub calls: usize,
    pub usage: TokenUsage,
    pub(crate) counts: IndexMap<&'static str, usize>,
    pub seconds: f64,
}

impl Summary {
    /// True when every item is done.
    pub fn is_complete(&self) -> bool {
        self.failed == 0 && self.left == 0
    }

    /// Items that this run works on.
    pub fn pending(&self) -> usize {
        self.items - self.already
    }

    /// Items that have ended in this run.
    pub fn ended(&self) -> usize {
        self.done + self.failed
    }

    /// What items counted under a name.
    pub fn counted(&self, name: &str) -> usize {
        self.counts.get(name).copied().unwrap_or(0)
    }

    pub(crate) fn count(&mut self, ended: &Ended) {
        match ended.outcome {
            Outcome::Done => self.done += 1,
            Outcome::Partial => {
                self.done += 1;
                self.partial += 1;
            }
            Outcome::Failed => {
                self.failed += 1;
                if let Some(kind) = ended.kind {
                    *self.failures.entry(kind).or_default() += 1;
                }
            }
        }
        self.left = self.left.saturating_sub(1);
        self.calls += ended.calls;
        self.usage.prompt += ended.usage.prompt;
        self.usage.completion += ended.usage.completion;
        for (name, count) in &ended.counts {
            *self.counts.entry(name).or_default() += count;
        }
    }
}
