//! Calls that wait for leave on this server: asked about in the events of their run, answered by
//! `POST /runs/{id}/approvals/{task}`.
//!
//! A run may wait for as long as it takes, over a restart too; while it does, it holds no slot. Runs of doors that cannot
//! wait are not on the desk, and their calls are refused.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use jarvis_pipeline::approval::{Approver, Decision};
use jarvis_plan::{Approval, Place, RunId, TaskId};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::runs::Lease;

/// The most runs that may wait for leave at once.
const MOST: usize = 1_000;

/// Where calls wait for leave. One desk belongs to one server.
#[derive(Debug, Clone, Default)]
pub struct Desk(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    runs: Mutex<HashMap<RunId, Run>>,
    /// Counts questions.
    serials: AtomicU64,
    /// Whether the server stops: what waits from now on goes on with the next process, where it can.
    closing: AtomicBool,
}

/// A run whose calls may wait.
#[derive(Debug)]
struct Run {
    open: HashMap<TaskId, Open>,
    /// Questions that were put by a process before this one, until the run comes to them again.
    known: Vec<Approval>,
    /// Their answers, where somebody was quicker.
    early: HashMap<TaskId, Decision>,
    /// The last question about each task that was answered here, which the run may not have taken yet.
    answered: HashMap<TaskId, Approval>,
    /// Whether it waits.
    waits: watch::Sender<bool>,
    lease: Arc<Lease>,
    /// Whether it goes on when the process ends while it waits.
    resumes: bool,
    /// Ends the run without a word; it goes on with the next process.
    suspend: CancellationToken,
}

#[derive(Debug)]
struct Open {
    asked: Approval,
    answer: oneshot::Sender<Decision>,
    /// What tells it from other questions about the same task.
    serial: u64,
}

impl Run {
    /// What it waits for.
    fn pending(&self) -> impl Iterator<Item = &Approval> {
        self.open.values().map(|open| &open.asked).chain(&self.known)
    }

    /// Tells those who want to know whether it waits.
    fn tell(&self) {
        self.waits.send_replace(self.pending().next().is_some());
    }

    /// Leaves what it waits for to the next process; what cannot go on there is refused.
    fn leave(&mut self) {
        if self.resumes {
            return self.suspend.cancel();
        }
        for (_, open) in self.open.drain() {
            let decision = refused("the server stops", &open.asked.tool);
            // Its run may have ended this moment.
            let _ = open.answer.send(decision);
        }
        self.tell();
    }
}

/// Why an answer is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotOpen {
    /// The run waits for nothing, or is not on this desk.
    Run,
    /// The run waits, but not for this task.
    Task,
}

/// Takes a run off the desk when it ends.
#[derive(Debug)]
pub(crate) struct Seat {
    desk: Desk,
    run: RunId,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.desk.runs().remove(&self.run);
    }
}

impl Desk {
    fn runs(&self) -> MutexGuard<'_, HashMap<RunId, Run>> {
        self.0.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the calls of a run wait. `suspend` ends a run that `resumes` with the next process; `known` are questions of it that were
    /// put before.
    pub(crate) fn seat(
        &self,
        run: &RunId,
        lease: Arc<Lease>,
        suspend: CancellationToken,
        resumes: bool,
        known: Vec<Approval>,
    ) -> Seat {
        let (open, early, answered) = (HashMap::new(), HashMap::new(), HashMap::new());
        let waits = watch::Sender::new(!known.is_empty());
        self.runs().insert(run.clone(), Run { open, known, early, answered, waits, lease, resumes, suspend });
        Seat { desk: self.clone(), run: run.clone() }
    }

    /// What a run waits for.
    pub(crate) fn pending(&self, run: &RunId) -> Vec<Approval> {
        let runs = self.runs();
        let mut pending: Vec<Approval> = runs.get(run).into_iter().flat_map(Run::pending).cloned().collect();
        pending.sort_by_key(|asked| asked.task);
        pending
    }

    /// Whether a question that its run has told, and no answer to it, has yet to come here. Nothing comes of a run that has no place
    /// here, and what was answered here does not come again.
    pub(crate) fn has_yet_to_come(&self, run: &RunId, asked: &Approval) -> bool {
        self.runs().get(run).is_some_and(|seated| {
            seated.pending().all(|open| open.task != asked.task) && seated.answered.get(&asked.task) != Some(asked)
        })
    }

    /// Tells of each change in what a run waits for; `None` when it is not on the desk.
    pub(crate) fn changes(&self, run: &RunId) -> Option<watch::Receiver<bool>> {
        Some(self.runs().get(run)?.waits.subscribe())
    }

    /// Waits until a run waits; `None` when it is not on the desk or ends before.
    pub(crate) async fn waits(&self, run: &RunId) -> Option<Vec<Approval>> {
        let mut waits = self.changes(run)?;
        loop {
            waits.wait_for(|waits| *waits).await.ok()?;
            let pending = self.pending(run);
            // Somebody may have answered this moment.
            if !pending.is_empty() {
                return Some(pending);
            }
        }
    }

    /// Gives the answer to what a run waits for, as it was asked.
    pub(crate) fn answer(&self, run: &RunId, asked: &Approval, decision: Decision) -> Result<(), NotOpen> {
        let (task, mut runs) = (asked.task, self.runs());
        let seated = runs.get_mut(run).filter(|seated| seated.pending().next().is_some()).ok_or(NotOpen::Run)?;
        if let Some(at) = seated.known.iter().position(|known| known == asked) {
            let known = seated.known.remove(at);
            seated.answered.insert(task, known);
            seated.early.insert(task, decision);
            seated.tell();
            return Ok(());
        }
        if seated.open.get(&task).is_none_or(|open| open.asked != *asked) {
            return Err(NotOpen::Task);
        }
        let Open { asked, answer, .. } = seated.open.remove(&task).ok_or(NotOpen::Task)?;
        seated.answered.insert(task, asked);
        seated.tell();
        // The run may have ended this moment.
        answer.send(decision).map_err(|_| NotOpen::Run)
    }

    fn is_closing(&self) -> bool {
        self.0.closing.load(Ordering::SeqCst)
    }

    /// Ends the runs that wait, and those that begin to, so that the next process goes on with them; the calls of those that
    /// cannot go on there are refused.
    pub(crate) fn suspend(&self) {
        let mut runs = self.runs();
        self.0.closing.store(true, Ordering::SeqCst);
        for seated in runs.values_mut().filter(|seated| !seated.open.is_empty()) {
            seated.leave();
        }
    }

    /// Takes a question away, unless another one about the task has taken its place.
    fn close(&self, run: &RunId, task: TaskId, serial: u64) {
        if let Some(seated) = self.runs().get_mut(run)
            && seated.open.get(&task).is_some_and(|open| open.serial == serial)
        {
            seated.open.remove(&task);
            seated.tell();
        }
    }
}

/// Takes a question off the desk however its wait ends.
struct Asked<'d> {
    desk: &'d Desk,
    run: &'d RunId,
    task: TaskId,
    serial: u64,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.desk.close(self.run, self.task, self.serial);
    }
}

/// The path at which the question of a run about a task is answered.
pub(crate) fn address(run: &RunId, task: TaskId) -> String {
    format!("/runs/{run}/approvals/{task}")
}

fn refused(reason: &str, tool: &str) -> Decision {
    let hint = format!("whoever runs the server can allow it with `approved: [\"{tool}\"]` in its configuration");
    Decision::Refuse { reason: reason.to_owned(), hint: Some(hint) }
}

#[async_trait]
impl Approver for Desk {
    async fn ask(&self, run: &RunId, asked: &Approval) -> Decision {
        let (answer, answered) = oneshot::channel();
        let serial = self.0.serials.fetch_add(1, Ordering::Relaxed);
        let (lease, suspend) = {
            let mut runs = self.runs();
            let is_full = runs.values().filter(|seated| !seated.open.is_empty()).count() >= MOST;
            let Some(seated) = runs.get_mut(run) else {
                return refused("nobody can be asked at this door", &asked.tool);
            };
            if is_full && !asked.unknown && !seated.known.iter().any(|known| known.task == asked.task) {
                return refused("too many runs wait for leave", &asked.tool);
            }
            if self.is_closing() && !seated.resumes {
                return refused("the server stops", &asked.tool);
            }
            seated.known.retain(|known| known.task != asked.task);
            if let Some(decision) = seated.early.remove(&asked.task) {
                return decision;
            }
            seated.answered.remove(&asked.task);
            seated.open.insert(asked.task, Open { asked: asked.clone(), answer, serial });
            seated.tell();
            if self.is_closing() {
                seated.leave();
            }
            (Arc::clone(&seated.lease), seated.suspend.clone())
        };
        let _asked = Asked { desk: self, run, task: asked.task, serial };
        lease.give_back();
        let decision = match answered.await {
            Ok(decision) => decision,
            // The next process asks again, and this one ends: nobody has refused anything.
            Err(_) if suspend.is_cancelled() => std::future::pending().await,
            Err(_) => refused("the question was withdrawn", &asked.tool),
        };
        lease.take_again().await;
        decision
    }

    fn settled(&self, run: &RunId, task: TaskId) {
        if let Some(seated) = self.runs().get_mut(run) {
            seated.known.retain(|known| known.task != task);
            seated.early.remove(&task);
            seated.open.remove(&task);
            seated.tell();
        }
    }

    fn is_there(&self, run: &RunId) -> bool {
        self.runs().contains_key(run)
    }

    fn place(&self, run: &RunId, task: TaskId) -> Option<Place> {
        let resumes = self.runs().get(run)?.resumes;
        Some(Place { answer: address(run, task), resumes })
    }
}

#[cfg(test)]
mod tests {
    use jarvis_plan::Effect;

    use super::*;
    use crate::runs::{Bounds, Line, Slots};

    fn asked(tool: &str) -> Approval {
        let (arguments, sources) = Default::default();
        Approval {
            task: TaskId(0),
            tool: tool.into(),
            effect: Effect::Writes,
            arguments,
            each: false,
            unknown: false,
            sources,
            place: None,
        }
    }

    fn lease() -> Arc<Lease> {
        let bounds = Bounds { running: 1, running_each: 1, waiting: 1, waiting_each: 1 };
        Arc::new(Lease::new(Slots::new(bounds), Line::Here))
    }

    /// A desk with one run on it, whose calls may wait, and what suspends it.
    fn desk(resumes: bool) -> (Desk, RunId, Seat, CancellationToken) {
        let (desk, run, suspend) = (Desk::default(), RunId("r".into()), CancellationToken::new());
        let seat = desk.seat(&run, lease(), suspend.clone(), resumes, Vec::new());
        (desk, run, seat, suspend)
    }

    #[tokio::test]
    async fn a_question_that_was_answered_is_not_waited_for() {
        let (desk, run, _seat, _) = desk(true);
        let wanted = asked("book");
        let ask = desk.ask(&run, &wanted);
        tokio::pin!(ask);
        assert!(futures::poll!(&mut ask).is_pending());
        assert_eq!(desk.waits(&run).await, Some(vec![asked("book")]));
        desk.answer(&run, &asked("book"), Decision::Approve { arguments: None }).expect("it is open");
        // The run has not heard of it yet, and already nobody waits.
        assert!(futures::poll!(std::pin::pin!(desk.waits(&run))).is_pending());
        assert!(matches!(ask.await, Decision::Approve { .. }));
    }

    #[tokio::test]
    async fn a_question_of_a_process_before_is_answered_before_the_run_comes_to_it() {
        let (desk, run, suspend) = (Desk::default(), RunId("r".into()), CancellationToken::new());
        let _seat = desk.seat(&run, lease(), suspend, true, vec![asked("book")]);
        assert_eq!(desk.pending(&run), [asked("book")]);
        desk.answer(&run, &asked("book"), Decision::ApproveAlways).expect("it is known");
        assert_eq!(desk.pending(&run), []);
        assert_eq!(desk.answer(&run, &asked("book"), Decision::ApproveAlways), Err(NotOpen::Run));
        assert_eq!(desk.ask(&run, &asked("book")).await, Decision::ApproveAlways);
    }

    #[tokio::test]
    async fn what_waits_when_the_server_stops_or_after_is_left_to_the_next_process() {
        for stops_first in [true, false] {
            let (desk, run, _seat, suspend) = desk(true);
            let wanted = asked("book");
            let ask = desk.ask(&run, &wanted);
            tokio::pin!(ask);
            if stops_first {
                desk.suspend();
            }
            assert!(futures::poll!(&mut ask).is_pending());
            desk.suspend();
            assert!(suspend.is_cancelled());
            assert!(futures::poll!(&mut ask).is_pending(), "nobody has refused anything");
        }
    }

    #[tokio::test]
    async fn what_cannot_go_on_in_the_next_process_is_refused_when_the_server_stops() {
        let (desk, run, _seat, suspend) = desk(false);
        let wanted = asked("book");
        let ask = desk.ask(&run, &wanted);
        tokio::pin!(ask);
        assert!(futures::poll!(&mut ask).is_pending());
        desk.suspend();
        assert!(matches!(ask.await, Decision::Refuse { .. }));
        assert!(!suspend.is_cancelled());
        assert!(matches!(desk.ask(&run, &wanted).await, Decision::Refuse { .. }), "nor is anything asked after that");
    }
}
