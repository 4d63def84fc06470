//! One run that goes on: what it has done so far, what it waits for, and how it is cancelled.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use jarvis_plan::{Approval, Event, EventKind, INTERRUPTED, RunId, TaskId};
use jarvis_store::{RunStatus, RunSummary};
use tokio_util::sync::CancellationToken;

use super::{Log, Lost};
use crate::desk::Desk;
use crate::elsewhere::{Waiting, waiting};

/// How long a question that was told may take to its desk.
const COMES: Duration = Duration::from_secs(15);

/// Characters of a request that lists show.
const SHOWN: usize = 500;

pub(crate) fn short(request: &str) -> String {
    jarvis_net::text::cut(request, SHOWN, "…")
}

/// A run that goes on, or waits for its slot.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) run_id: RunId,
    user: String,
    pub(crate) cancel: CancellationToken,
    /// Ends it without a word; it goes on with the next process.
    pub(super) suspend: CancellationToken,
    /// Whether the journal has it, so that it can go on.
    is_kept: bool,
    pub(crate) log: Arc<Log>,
    /// The conversation that it belongs to, where its client named one.
    pub(crate) thread: OnceLock<String>,
    request: String,
    started_at_ms: u64,
    began: Instant,
    queued: AtomicBool,
    /// Whether the server cancelled it in order to stop.
    cut_off: AtomicBool,
    desk: Desk,
    tally: Mutex<Tally>,
    /// Files that its request speaks of, which nothing else may know before it begins.
    files: OnceLock<Vec<String>>,
}

/// What is known of it from its beginning.
#[derive(Debug)]
pub(super) struct About {
    pub(super) user: String,
    pub(super) request: String,
    pub(super) started_at_ms: u64,
    /// Whether the journal has it.
    pub(super) is_kept: bool,
}

/// What it has done so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) tasks: u32,
    pub(super) ok: u32,
    pub(super) failed: u32,
    pub(super) ended: Option<RunStatus>,
}

impl Tally {
    fn count(&mut self, event: &EventKind) {
        match event {
            EventKind::Plan { plan } => self.tasks = u32::try_from(plan.tasks().len()).unwrap_or(u32::MAX),
            EventKind::TaskFinished { outcome } if outcome.succeeded() => self.ok += 1,
            EventKind::TaskFinished { .. } => self.failed += 1,
            EventKind::Done { cancelled: true, .. } => self.ended = Some(RunStatus::Cancelled),
            EventKind::Done { ok: true, .. } => self.ended = Some(RunStatus::Done),
            EventKind::Error { code, .. } if code == "cancelled" => self.ended = Some(RunStatus::Cancelled),
            EventKind::Error { code, .. } if code == INTERRUPTED => self.ended = Some(RunStatus::Interrupted),
            EventKind::Done { .. } | EventKind::Error { .. } => self.ended = Some(RunStatus::Failed),
            _ => {}
        }
    }
}

impl Live {
    /// A run that waits for its slot.
    pub(super) fn new(run_id: RunId, about: About, log: Log, desk: Desk, tally: Tally) -> Live {
        let About { user, request, started_at_ms, is_kept } = about;
        Live {
            run_id,
            user,
            cancel: CancellationToken::new(),
            suspend: CancellationToken::new(),
            is_kept,
            log: Arc::new(log),
            thread: OnceLock::new(),
            request,
            started_at_ms,
            began: Instant::now(),
            queued: AtomicBool::new(true),
            cut_off: AtomicBool::new(false),
            desk,
            tally: Mutex::new(tally),
            files: OnceLock::new(),
        }
    }

    /// Whose it is; empty where there are no several users.
    pub(crate) fn user(&self) -> &str {
        &self.user
    }

    /// Says which files its request speaks of.
    pub(crate) fn speaks_of(&self, files: Vec<String>) {
        let _ = self.files.set(files);
    }

    pub(crate) fn files(&self) -> &[String] {
        self.files.get().map(Vec::as_slice).unwrap_or_default()
    }

    /// Says that it has a slot, or needs none any more.
    pub(super) fn leaves_queue(&self) {
        self.queued.store(false, Ordering::Relaxed);
    }

    /// Counts what an event says.
    pub(super) fn count(&self, event: &EventKind) {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).count(event);
    }

    pub(crate) fn summary(&self) -> RunSummary {
        let tally = *self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        RunSummary {
            run_id: self.run_id.clone(),
            started_at_ms: self.started_at_ms,
            request: self.request.clone(),
            user: self.user.clone(),
            status: tally.ended.unwrap_or(if self.pending().is_empty() {
                RunStatus::Running
            } else {
                RunStatus::Waiting
            }),
            tasks: tally.tasks,
            ok: tally.ok,
            failed: tally.failed,
            resumable: false,
            ms: self.began.elapsed().as_millis() as u64,
        }
    }

    /// How it ended.
    pub(crate) fn status(&self) -> Option<RunStatus> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).ended
    }

    /// Ends it because the server stops: what is kept goes on with the next one.
    pub(super) fn cut_off(&self) {
        // What waits for its slot has not begun, and is nowhere on record.
        if self.is_kept && !self.is_queued() {
            self.suspend.cancel();
            return;
        }
        if !self.cancel.is_cancelled() {
            self.cut_off.store(true, Ordering::Relaxed);
            self.cancel.cancel();
        }
    }

    pub(super) fn is_cut_off(&self) -> bool {
        self.cut_off.load(Ordering::Relaxed)
    }

    /// An event as this server tells it: a run that the server cut off was not cancelled by anybody.
    pub(super) fn seen(&self, mut event: Event) -> Event {
        let ms = match &event.kind {
            EventKind::Done { cancelled: true, ms, .. } => *ms,
            EventKind::Error { code, ms, .. } if code == "cancelled" => *ms,
            _ => return event,
        };
        if self.is_cut_off() {
            let message = Lost::Interrupted.message().to_owned();
            event.kind = EventKind::Error { code: INTERRUPTED.to_owned(), message, hint: None, ms };
        }
        event
    }

    /// Whether it waits for its slot.
    pub(crate) fn is_queued(&self) -> bool {
        self.queued.load(Ordering::Relaxed)
    }

    /// The calls that wait for leave.
    pub(crate) fn pending(&self) -> Vec<Approval> {
        self.desk.pending(&self.run_id)
    }

    /// Questions that were told, and come to the desk in a moment.
    fn coming(&self) -> Vec<Waiting> {
        if !self.log.has_told("approval_needed") {
            return Vec::new();
        }
        let mut told = waiting(&self.log.told());
        told.retain(|open| self.desk.has_yet_to_come(&self.run_id, &open.asked));
        told
    }

    /// The calls that wait for leave, for somebody who answers the question about a task. It is told as soon as it is on the disk, and
    /// comes to the desk a moment later; whoever is quicker waits for that moment here. They are not given a later question about the
    /// task, which they have not seen.
    pub(crate) async fn pending_about(&self, task: TaskId) -> Vec<Approval> {
        let Some(told) = self.coming().into_iter().find(|open| open.asked.task == task) else { return self.pending() };
        let comes = async {
            let mut changes = self.desk.changes(&self.run_id)?;
            let mut frames = pin!(Arc::clone(&self.log).follow(self.log.end()));
            while self.coming().contains(&told) {
                tokio::select! {
                    changed = changes.changed() => changed.ok()?,
                    frame = frames.next() => drop(frame?),
                }
            }
            Some(())
        };
        // A run that does not come to its question leaves nothing to answer.
        let _ = tokio::time::timeout(COMES, comes).await;
        let mut pending = self.pending();
        pending.retain(|open| open.task != task || *open == told.asked);
        pending
    }

    /// Whether it ends here without a word, to go on with the next process.
    pub(crate) fn is_suspended(&self) -> bool {
        self.suspend.is_cancelled()
    }
}

/// Cancels a run when it is dropped, unless it waits for leave, which anybody may give; held by the only caller that waits for
/// the answer.
#[derive(Debug)]
pub(crate) struct CancelOnDrop(Option<Arc<Live>>);

impl CancelOnDrop {
    pub(crate) fn new(live: &Arc<Live>) -> CancelOnDrop {
        CancelOnDrop(Some(Arc::clone(live)))
    }

    /// The answer is there; nothing is left to cancel.
    pub(crate) fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let waits = |live: &Live| !live.pending().is_empty() || !live.coming().is_empty();
        if let Some(live) = self.0.as_ref().filter(|live| live.status().is_none() && !waits(live)) {
            live.cancel.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use futures::poll;
    use jarvis_pipeline::approval::{Approver, Decision, question_of};

    use super::*;
    use crate::runs::{Bounds, Lease, Line, Slots};

    /// A run that has told a question about its task 1, which is not on the desk yet.
    fn asking() -> (Arc<Live>, Desk, Approval) {
        let (desk, asked) = (Desk::default(), question_of(TaskId(1), "which one?", None));
        let about = About { user: String::new(), request: String::new(), started_at_ms: 0, is_kept: false };
        let live = Live::new(RunId("r".to_owned()), about, Log::new(), desk.clone(), Tally::default());
        tell(&live, 0, EventKind::ApprovalNeeded { approval: asked.clone() });
        (Arc::new(live), desk, asked)
    }

    fn tell(live: &Live, seq: u64, kind: EventKind) {
        live.log.push(&Event { run_id: live.run_id.clone(), seq, piece: 0, at_ms: 0, kind });
    }

    /// Leave to do it.
    fn given(asked: Approval) -> EventKind {
        let (answer, arguments, always, done) = (None, None, false, false);
        EventKind::ApprovalGiven { id: asked.task, tool: asked.tool, approved: true, answer, arguments, always, done }
    }

    fn seat(live: &Live, desk: &Desk) -> crate::desk::Seat {
        let bounds = Bounds { running: 1, running_each: 1, waiting: 1, waiting_each: 1 };
        let lease = Arc::new(Lease::new(Slots::new(bounds), Line::Here));
        desk.seat(&live.run_id, lease, live.suspend.clone(), false, Vec::new())
    }

    #[tokio::test]
    async fn who_answers_as_soon_as_a_question_is_told_finds_it() {
        let (live, desk, asked) = asking();
        let _seat = seat(&live, &desk);
        let mut quick = pin!(live.pending_about(TaskId(1)));
        assert!(poll!(&mut quick).is_pending(), "it comes in a moment");
        assert_eq!(poll!(pin!(live.pending_about(TaskId(2)))), Poll::Ready(vec![]), "nothing was told of this one");
        let mut asks = pin!(desk.ask(&live.run_id, &asked));
        assert!(poll!(&mut asks).is_pending());
        assert_eq!(poll!(&mut quick), Poll::Ready(vec![asked.clone()]));
        desk.answer(&live.run_id, &asked, Decision::ApproveAlways).expect("it is open");
        assert_eq!(asks.await, Decision::ApproveAlways);
    }

    #[tokio::test]
    async fn what_was_answered_or_cannot_be_is_not_waited_for() {
        let (live, desk, asked) = asking();
        assert_eq!(poll!(pin!(live.pending_about(TaskId(1)))), Poll::Ready(vec![]), "it has no place on the desk");
        let _seat = seat(&live, &desk);
        let mut late = pin!(live.pending_about(TaskId(1)));
        assert!(poll!(&mut late).is_pending());
        tell(&live, 1, given(asked));
        assert_eq!(poll!(&mut late), Poll::Ready(vec![]), "somebody was quicker");
    }

    #[tokio::test]
    async fn an_answer_that_the_run_has_not_taken_yet_is_one() {
        let (live, desk, asked) = asking();
        let _seat = seat(&live, &desk);
        let mut asks = pin!(desk.ask(&live.run_id, &asked));
        assert!(poll!(&mut asks).is_pending());
        desk.answer(&live.run_id, &asked, Decision::ApproveAlways).expect("it is open");
        assert_eq!(poll!(pin!(live.pending_about(TaskId(1)))), Poll::Ready(vec![]));
        drop(CancelOnDrop::new(&live));
        assert!(live.cancel.is_cancelled(), "it waits for nobody");
    }

    #[tokio::test]
    async fn who_was_late_answers_no_question_that_they_have_not_seen() {
        let (live, desk, asked) = asking();
        let _seat = seat(&live, &desk);
        let mut late = pin!(live.pending_about(TaskId(1)));
        assert!(poll!(&mut late).is_pending());
        let next = question_of(TaskId(1), "and which colour?", None);
        tell(&live, 1, given(asked));
        tell(&live, 2, EventKind::ApprovalNeeded { approval: next.clone() });
        let mut asks = pin!(desk.ask(&live.run_id, &next));
        assert!(poll!(&mut asks).is_pending());
        assert_eq!(poll!(&mut late), Poll::Ready(vec![]));
        assert_eq!(poll!(pin!(live.pending_about(TaskId(1)))), Poll::Ready(vec![next.clone()]));
    }

    #[tokio::test]
    async fn who_goes_away_cancels_what_asks_nobody() {
        let (live, desk, asked) = asking();
        let seated = seat(&live, &desk);
        drop(CancelOnDrop::new(&live));
        assert!(!live.cancel.is_cancelled(), "anybody may answer");
        drop(seated);
        drop(CancelOnDrop::new(&live));
        assert!(live.cancel.is_cancelled(), "nobody can");

        let (live, desk, _) = asking();
        let _seat = seat(&live, &desk);
        tell(&live, 1, given(asked));
        drop(CancelOnDrop::new(&live));
        assert!(live.cancel.is_cancelled(), "somebody has");
    }
}
