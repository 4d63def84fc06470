//! The clock of a question: it stands still while a person is asked for leave.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use indexmap::IndexMap;
use jarvis_engine::{Again, Gate, Job};
use jarvis_plan::{Effect, Task, TaskError};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

#[derive(Debug, Clone, Copy)]
struct Time {
    /// How many calls wait for leave.
    waiting: usize,
    /// Since when one does.
    since: Instant,
    /// When the time is over, unless one does.
    until: Instant,
}

/// Cheap to clone; all clones are one clock.
#[derive(Debug, Clone)]
pub(super) struct Clock(Arc<watch::Sender<Time>>);

impl Clock {
    pub(super) fn of(allowed: Duration) -> Clock {
        let now = Instant::now();
        // What no clock can reach never comes.
        let until = now.checked_add(allowed).unwrap_or(now + Duration::from_secs(60 * 60 * 24 * 365));
        Clock(Arc::new(watch::Sender::new(Time { waiting: 0, since: now, until })))
    }

    /// Waits until the time is over.
    pub(super) async fn over(&self) {
        let mut times = self.0.subscribe();
        loop {
            let time = *times.borrow_and_update();
            tokio::select! {
                () = sleep_until(time.until), if time.waiting == 0 => return,
                changed = times.changed() => changed.expect("the clock is held here"),
            }
        }
    }

    fn stop(&self) -> Stopped {
        self.0.send_modify(|time| {
            if time.waiting == 0 {
                time.since = Instant::now();
            }
            time.waiting += 1;
        });
        Stopped(self.clone())
    }
}

/// The clock stands still while this is there.
struct Stopped(Clock);

impl Drop for Stopped {
    fn drop(&mut self) {
        self.0.0.send_modify(|time| {
            time.waiting -= 1;
            if time.waiting == 0 {
                time.until += time.since.elapsed();
            }
        });
    }
}

/// A gate at which the clock stands still.
pub(super) struct Timed {
    pub(super) gate: Arc<dyn Gate>,
    pub(super) clock: Clock,
}

#[async_trait]
impl Gate for Timed {
    fn effect(&self, task: &Task) -> Effect {
        self.gate.effect(task)
    }

    async fn admit(&self, job: &Job) -> Result<IndexMap<String, Value>, TaskError> {
        let _stopped = self.clock.stop();
        self.gate.admit(job).await
    }

    async fn admit_again(&self, job: &Job) -> Result<Again, TaskError> {
        let _stopped = self.clock.stop();
        self.gate.admit_again(job).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_that_is_waited_for_leave_does_not_count() {
        let began = Instant::now();
        let clock = Clock::of(Duration::from_secs(10));
        let over = tokio::spawn({
            let clock = clock.clone();
            async move { clock.over().await }
        });
        tokio::time::advance(Duration::from_secs(4)).await;
        let (first, second) = (clock.stop(), clock.stop());
        tokio::time::advance(Duration::from_secs(3600)).await;
        drop(first);
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert!(!over.is_finished());
        drop(second);
        over.await.expect("it ends");
        assert_eq!(began.elapsed().as_secs(), 7210);
    }
}
