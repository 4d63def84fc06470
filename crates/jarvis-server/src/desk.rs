//! Calls that wait for leave on this server: asked about in the events of their run, answered by
//! `POST /runs/{id}/approvals/{task}`.
//!
//! A run may wait for as long as it takes, over a restart too; while it does, it holds no slot. Runs of doors that cannot
//! wait are not on the desk, and their calls are refused.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
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
    /// Whether the server stops: what waits from now on goes on with the next process, where it can.
    closing: AtomicBool,
}

/// A run whose calls may wait.
#[derive(Debug)]
struct Run {
    open: HashMap<TaskId, Open>,
    /// Questions that were put before this process began.
    known: Vec<Approval>,
    /// The tasks whose questions are in the journal, so that they outlive this process. Before that nobody is told of them.
    kept: HashSet<TaskId>,
    /// How many approvals are on record, by task, and whether recording failed.
    recorded: watch::Sender<HashMap<TaskId, Result<(), String>>>,
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
}

impl Run {
    /// What it waits for, as far as anybody may be told.
    fn pending(&self) -> impl Iterator<Item = &Approval> {
        self.open.values().map(|open| &open.asked).filter(|asked| self.kept.contains(&asked.task))
    }

    /// Tells those who want to know whether it waits.
    fn tell(&self) {
        self.waits.send_replace(self.pending().next().is_some());
    }

    /// Leaves what it waits for to the next process; what cannot go on there is refused.
    fn leave(&mut self) {
        if self.resumes {
            // A question that is not in the journal yet is left when it is.
            if self.pending().next().is_some() {
                self.suspend.cancel();
            }
            return;
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
    pub(crate) suspend: CancellationToken,
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

    /// Lets the calls of a run wait. `known` are questions of it that were put before.
    pub(crate) fn seat(&self, run: &RunId, lease: Arc<Lease>, resumes: bool, known: Vec<Approval>) -> Seat {
        let suspend = CancellationToken::new();
        let seated = Run {
            open: HashMap::new(),
            kept: known.iter().map(|asked| asked.task).collect(),
            known,
            recorded: watch::Sender::default(),
            waits: watch::Sender::new(false),
            lease,
            resumes,
            suspend: suspend.clone(),
        };
        self.runs().insert(run.clone(), seated);
        Seat { desk: self.clone(), run: run.clone(), suspend }
    }

    /// What a run waits for.
    pub(crate) fn pending(&self, run: &RunId) -> Vec<Approval> {
        let runs = self.runs();
        let mut pending: Vec<Approval> = runs.get(run).map(|run| run.pending().cloned().collect()).unwrap_or_default();
        pending.sort_by_key(|asked| asked.task);
        pending
    }

    /// Waits until a run waits; `None` when it is not on the desk or ends before.
    pub(crate) async fn waits(&self, run: &RunId) -> Option<Vec<Approval>> {
        let mut waits = self.runs().get(run)?.waits.subscribe();
        loop {
            waits.wait_for(|waits| *waits).await.ok()?;
            let pending = self.pending(run);
            // Somebody may have answered this moment.
            if !pending.is_empty() {
                return Some(pending);
            }
        }
    }

    /// Gives the answer to what a task of a run waits for.
    pub(crate) fn answer(&self, run: &RunId, task: TaskId, decision: Decision) -> Result<(), NotOpen> {
        let mut runs = self.runs();
        let seated = runs.get_mut(run).filter(|seated| !seated.open.is_empty()).ok_or(NotOpen::Run)?;
        let open = seated.open.remove(&task).ok_or(NotOpen::Task)?;
        seated.tell();
        // The run may have ended this moment.
        open.answer.send(decision).map_err(|_| NotOpen::Run)
    }

    /// Says whether the question of a task is in the journal; without that the run cannot go on in the next process.
    pub(crate) fn kept(&self, run: &RunId, task: TaskId, in_journal: bool) {
        if let Some(seated) = self.runs().get_mut(run) {
            seated.kept.insert(task);
            seated.resumes &= in_journal;
            seated.tell();
            if self.is_closing() {
                seated.leave();
            }
        }
    }

    fn is_closing(&self) -> bool {
        self.0.closing.load(Ordering::SeqCst)
    }

    /// Says whether the approval of a task is in the journal.
    pub(crate) fn recorded(&self, run: &RunId, task: TaskId, result: Result<(), String>) {
        if let Some(seated) = self.runs().get(run) {
            seated.recorded.send_modify(|recorded| {
                recorded.insert(task, result);
            });
        }
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

    fn close(&self, run: &RunId, task: TaskId) {
        if let Some(seated) = self.runs().get_mut(run) {
            seated.open.remove(&task);
            seated.kept.remove(&task);
            seated.known.retain(|asked| asked.task != task);
            seated.tell();
        }
    }
}

/// Takes a question off the desk however its wait ends.
struct Asked<'d> {
    desk: &'d Desk,
    run: &'d RunId,
    task: TaskId,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.desk.close(self.run, self.task);
    }
}

fn refused(reason: &str, tool: &str) -> Decision {
    let hint = format!("whoever runs the server can allow it with `approved: [\"{tool}\"]` in its configuration");
    Decision::Refuse { reason: reason.to_owned(), hint: Some(hint) }
}

#[async_trait]
impl Approver for Desk {
    async fn ask(&self, run: &RunId, asked: &Approval) -> Decision {
        let (answer, answered) = oneshot::channel();
        let (lease, suspend) = {
            let mut runs = self.runs();
            if runs.values().filter(|seated| !seated.open.is_empty()).count() >= MOST {
                return refused("too many runs wait for leave", &asked.tool);
            }
            let Some(seated) = runs.get_mut(run) else {
                return refused("nobody can be asked at this door", &asked.tool);
            };
            if self.is_closing() && !seated.resumes {
                return refused("the server stops", &asked.tool);
            }
            // Another tool may have been asked about for this task before.
            seated.recorded.send_modify(|recorded| {
                recorded.remove(&asked.task);
            });
            seated.open.insert(asked.task, Open { asked: asked.clone(), answer });
            seated.tell();
            if self.is_closing() {
                seated.leave();
            }
            (Arc::clone(&seated.lease), seated.suspend.clone())
        };
        let _asked = Asked { desk: self, run, task: asked.task };
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

    fn place(&self, run: &RunId, task: TaskId) -> Option<Place> {
        let resumes = self.runs().get(run)?.resumes;
        Some(Place { answer: format!("/runs/{run}/approvals/{task}"), resumes })
    }

    fn has_asked(&self, run: &RunId, asked: &Approval) -> bool {
        self.runs().get(run).is_some_and(|seated| seated.known.contains(asked))
    }

    async fn record(&self, run: &RunId, task: TaskId) -> Result<(), String> {
        let Some(mut recorded) = self.runs().get(run).map(|seated| seated.recorded.subscribe()) else { return Ok(()) };
        let gone = || "the run has ended".to_owned();
        let found = recorded.wait_for(|recorded| recorded.contains_key(&task)).await.map_err(|_| gone())?;
        found.get(&task).cloned().unwrap_or_else(|| Err(gone()))
    }
}

#[cfg(test)]
mod tests {
    use jarvis_plan::Effect;

    use super::*;
    use crate::runs::Slots;

    fn asked(tool: &str) -> Approval {
        let (arguments, sources) = Default::default();
        Approval {
            task: TaskId(0),
            tool: tool.into(),
            effect: Effect::Writes,
            arguments,
            each: false,
            sources,
            place: None,
        }
    }

    /// A desk with one run on it, whose calls may wait.
    fn desk(resumes: bool) -> (Desk, RunId, Seat) {
        let (desk, run) = (Desk::default(), RunId("r".into()));
        let seat = desk.seat(&run, Arc::new(Lease::new(Slots::new(1, 1))), resumes, Vec::new());
        (desk, run, seat)
    }

    #[tokio::test]
    async fn a_question_that_was_answered_is_not_waited_for() {
        let (desk, run, _seat) = desk(true);
        let wanted = asked("book");
        let ask = desk.ask(&run, &wanted);
        tokio::pin!(ask);
        assert!(futures::poll!(&mut ask).is_pending());
        // Nobody is told of it before it is in the journal.
        assert_eq!(desk.pending(&run), []);
        desk.kept(&run, TaskId(0), true);
        assert_eq!(desk.waits(&run).await, Some(vec![asked("book")]));
        desk.answer(&run, TaskId(0), Decision::Approve { arguments: None }).expect("it is open");
        // The run has not heard of it yet, and already nobody waits.
        assert!(futures::poll!(std::pin::pin!(desk.waits(&run))).is_pending());
        assert!(matches!(ask.await, Decision::Approve { .. }));
    }

    #[tokio::test]
    async fn what_begins_to_wait_while_the_server_stops_is_left_to_the_next_process() {
        let (desk, run, seat) = desk(true);
        desk.suspend();
        let wanted = asked("book");
        let ask = desk.ask(&run, &wanted);
        tokio::pin!(ask);
        assert!(futures::poll!(&mut ask).is_pending());
        assert!(!seat.suspend.is_cancelled(), "its question is not in the journal");
        desk.kept(&run, TaskId(0), true);
        assert!(seat.suspend.is_cancelled());
    }

    #[tokio::test]
    async fn what_cannot_go_on_in_the_next_process_is_refused_when_the_server_stops() {
        for in_journal in [true, false] {
            // Either it could never go on, or its question is not on the disk.
            let (desk, run, seat) = desk(!in_journal);
            let wanted = asked("book");
            let ask = desk.ask(&run, &wanted);
            tokio::pin!(ask);
            assert!(futures::poll!(&mut ask).is_pending());
            desk.kept(&run, TaskId(0), in_journal);
            desk.suspend();
            assert!(matches!(ask.await, Decision::Refuse { .. }));
            assert!(!seat.suspend.is_cancelled());
            assert!(
                matches!(desk.ask(&run, &wanted).await, Decision::Refuse { .. }),
                "nor is anything asked after that"
            );
        }
    }

    #[tokio::test]
    async fn leave_for_another_tool_of_a_task_is_recorded_anew() {
        let (desk, run, _seat) = desk(true);
        for tool in ["book", "book_elsewhere"] {
            let wanted = asked(tool);
            let ask = desk.ask(&run, &wanted);
            tokio::pin!(ask);
            assert!(futures::poll!(&mut ask).is_pending());
            assert_eq!(desk.pending(&run), [], "{tool} is not in the journal yet");
            desk.kept(&run, TaskId(0), true);
            desk.answer(&run, TaskId(0), Decision::Approve { arguments: None }).expect("it is open");
            ask.await;
            let record = desk.record(&run, TaskId(0));
            tokio::pin!(record);
            assert!(futures::poll!(&mut record).is_pending(), "{tool} is not on record yet");
            desk.recorded(&run, TaskId(0), Ok(()));
            assert_eq!(record.await, Ok(()));
        }
    }
}
