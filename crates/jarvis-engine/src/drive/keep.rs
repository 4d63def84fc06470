//! Outcomes on their way to the journal. Nothing that follows from one starts before it is there; those that end meanwhile go
//! together.

use jarvis_events::NotWritten;
use jarvis_plan::TaskId;

use super::Driver;

type Wait = std::pin::Pin<Box<dyn Future<Output = Result<(), NotWritten>> + Send>>;

/// Outcomes that are not known to be kept.
#[derive(Default)]
pub(super) struct Keeping {
    /// The wait for those of `now`.
    wait: Option<Wait>,
    now: Vec<TaskId>,
    /// Those that ended since.
    next: Vec<TaskId>,
}

impl Keeping {
    /// Whether there is anything to wait for.
    pub(super) fn is_open(&self) -> bool {
        self.wait.is_some()
    }

    /// Waits for the first of them. May be dropped and called again.
    pub(super) async fn wait(&mut self) -> Result<(), NotWritten> {
        match &mut self.wait {
            Some(wait) => wait.await,
            None => std::future::pending().await,
        }
    }
}

impl Driver<'_> {
    /// Waits until the outcome of a task is kept.
    pub(super) fn keep(&mut self, id: TaskId) {
        self.keeping.next.push(id);
        self.keep_next();
    }

    fn keep_next(&mut self) {
        if self.keeping.wait.is_none() && !self.keeping.next.is_empty() {
            self.keeping.now = std::mem::take(&mut self.keeping.next);
            let events = self.engine.events.clone();
            self.keeping.wait = Some(Box::pin(async move { events.written().await }));
        }
    }

    /// Goes on with what follows from outcomes that are kept now.
    pub(super) fn kept(&mut self) {
        self.keeping.wait = None;
        for id in std::mem::take(&mut self.keeping.now) {
            self.tell(id);
            self.schedule.finish(id);
        }
        self.keep_next();
    }

    /// Tells of outcomes whose run ends before they are known to be kept.
    pub(super) fn tell_unkept(&mut self) {
        self.keeping.wait = None;
        let unkept = std::mem::take(&mut self.keeping.now).into_iter().chain(std::mem::take(&mut self.keeping.next));
        for id in unkept.collect::<Vec<_>>() {
            self.tell(id);
            self.schedule.finish(id);
        }
    }

    fn tell(&mut self, id: TaskId) {
        if let Some(outcome) = self.outcomes.get(&id) {
            (self.finished)(outcome);
        }
    }
}
