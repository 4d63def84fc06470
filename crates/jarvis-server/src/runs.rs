//! The runs of this server: who may start one and when, who follows it, and how it is cancelled. What a run does is the
//! pipeline's business.

mod live;
mod log;
mod restore;
mod slots;

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use futures::FutureExt;
use futures::future::BoxFuture;
use jarvis_engine::{Events, Meter};
use jarvis_plan::{Approval, Event, EventKind, INTERRUPTED, RunId, Usage};
use jarvis_store::{Journal, RunStatus};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use crate::desk::{Desk, Seat};
use crate::error::ApiError;
use crate::metrics::Metrics;

pub(crate) use live::{CancelOnDrop, Live, short};
pub(crate) use log::{Frame, Log};
pub(crate) use slots::{Lease, Slots};

use live::Tally;
use slots::Ticket;

/// What a run does with its events and the token that cancels it.
type Work<T> = Box<dyn FnOnce(Events, CancellationToken) -> BoxFuture<'static, T> + Send>;

/// What is kept of a run after it ended, and whether its calls may wait for leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Events,
    /// Its events; its calls may wait for leave, since whoever started it can be asked. `resumes` says whether it goes on when
    /// the process ends meanwhile.
    Answerable {
        resumes: bool,
    },
    /// Nothing: it only decided.
    Nothing,
}

/// Why a run has no end of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// It was cancelled while it waited for its slot.
    Cancelled,
    /// The server stopped under it.
    Interrupted,
    Broken,
    /// The server stops while it waits for leave; it goes on with the next one.
    Suspended,
}

impl Lost {
    fn code(self) -> &'static str {
        match self {
            Lost::Cancelled => "cancelled",
            Lost::Interrupted => INTERRUPTED,
            Lost::Broken => "internal",
            Lost::Suspended => "stopping",
        }
    }

    pub(crate) fn message(self) -> &'static str {
        match self {
            Lost::Cancelled => "the run was cancelled",
            Lost::Interrupted => "the server stopped before the run ended",
            Lost::Broken => "a part of jarvis failed; its log says where",
            Lost::Suspended => "the server stops while the run waits for leave; it waits on when the server is back",
        }
    }
}

impl From<Lost> for ApiError {
    fn from(lost: Lost) -> ApiError {
        let status = match lost {
            Lost::Cancelled => StatusCode::CONFLICT,
            Lost::Broken => StatusCode::INTERNAL_SERVER_ERROR,
            Lost::Interrupted | Lost::Suspended => StatusCode::SERVICE_UNAVAILABLE,
        };
        ApiError::new(status, lost.code(), lost.message())
    }
}

#[derive(Debug)]
pub(crate) struct Ended<T> {
    pub(crate) result: Result<T, Lost>,
    pub(crate) usage: Usage,
    /// How long it took, in milliseconds, without the wait for a slot.
    pub(crate) ms: u64,
}

pub(crate) struct Started<T> {
    pub(crate) live: Arc<Live>,
    pub(crate) end: oneshot::Receiver<Ended<T>>,
}

#[derive(Debug)]
pub(crate) struct Runs {
    live: Mutex<HashMap<RunId, Arc<Live>>>,
    slots: Slots,
    journal: Option<Arc<Journal>>,
    metrics: Arc<Metrics>,
    tasks: TaskTracker,
    closing: AtomicBool,
    desk: Desk,
    meter: Meter,
    me: Weak<Runs>,
}

/// Where a run begins: at its beginning, or where the journal says that it waits for leave.
struct Begin {
    run_id: RunId,
    request: String,
    started_at_ms: u64,
    keep: Keep,
    stream: (Events, UnboundedReceiver<Event>),
    log: Log,
    tally: Tally,
    /// Whether its beginning is in the journal.
    known: bool,
    /// What it waits for.
    asked: Vec<Approval>,
}

impl Runs {
    pub(crate) fn new(
        slots: Slots,
        journal: Option<Arc<Journal>>,
        metrics: Arc<Metrics>,
        desk: Desk,
        meter: Meter,
    ) -> Arc<Runs> {
        Arc::new_cyclic(|me| Runs {
            live: Mutex::default(),
            slots,
            journal,
            metrics,
            tasks: TaskTracker::new(),
            closing: AtomicBool::new(false),
            desk,
            meter,
            me: Weak::clone(me),
        })
    }

    pub(crate) fn start<T, F>(
        &self,
        request: &str,
        keep: Keep,
        work: impl FnOnce(Events, CancellationToken) -> F + Send + 'static,
    ) -> Result<Started<T>, ApiError>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let run_id = RunId(uuid::Uuid::now_v7().to_string());
        let begin = Begin {
            stream: Events::channel(run_id.clone()),
            run_id,
            request: short(request),
            started_at_ms: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64),
            keep,
            log: Log::new(),
            tally: Tally::default(),
            known: false,
            asked: Vec::new(),
        };
        self.begin(begin, Box::new(|events, cancel| work(events, cancel).boxed()))
    }

    fn begin<T: Send + 'static>(&self, begin: Begin, work: Work<T>) -> Result<Started<T>, ApiError> {
        if self.closing.load(Ordering::Relaxed) {
            return Err(ApiError::stopping());
        }
        let Some(runs) = self.me.upgrade() else { return Err(ApiError::stopping()) };
        let ticket = if begin.known { Some(self.slots.another_ticket()) } else { self.slots.ticket() };
        let ticket = ticket.ok_or_else(|| {
            self.metrics.refused.inc();
            ApiError::overloaded(1)
        })?;
        let Begin { run_id, request, started_at_ms, keep, stream: (events, receiver), log, tally, known, asked } =
            begin;
        events.metered(&self.meter);
        let live = Arc::new(Live::new(run_id, request, started_at_ms, log, self.desk.clone(), tally));
        self.lock().insert(live.run_id.clone(), Arc::clone(&live));
        let journal = self.journal.clone().filter(|_| keep != Keep::Nothing);
        let (sender, end) = oneshot::channel();
        let started = Started { live: Arc::clone(&live), end };
        let lease = Arc::new(Lease::new(self.slots.clone()));
        let seat = match keep {
            Keep::Answerable { resumes } => {
                let resumes = resumes && journal.is_some();
                Some(self.desk.seat(&live.run_id, Arc::clone(&lease), resumes, asked))
            }
            Keep::Events | Keep::Nothing => None,
        };
        self.tasks.spawn(async move {
            let relayed = runs.relay(&live, journal.as_deref(), receiver, known);
            let lived = live_on(&live, ticket, &lease, seat, events, work);
            let (mut ended, ()) = tokio::join!(lived, relayed);
            if live.status() == Some(RunStatus::Interrupted) && live.is_cut_off() {
                ended.result = Err(Lost::Interrupted);
            }
            live.log.close();
            // The caller may have gone away.
            let _ = sender.send(ended);
            runs.lock().remove(&live.run_id);
        });
        Ok(started)
    }

    /// Hands the events of a run to the journal, the metrics and whoever follows. Its end, and what it waits for, are on the disk
    /// before anybody sees them; nothing comes after its end.
    async fn relay(&self, live: &Live, journal: Option<&Journal>, mut receiver: UnboundedReceiver<Event>, known: bool) {
        // A run that never began leaves nothing behind.
        let mut began = known;
        while let Some(event) = receiver.recv().await {
            let event = live.seen(event);
            began |= matches!(event.kind, EventKind::RunStarted { .. });
            let journal = journal.filter(|_| began);
            if let Some(journal) = journal {
                journal.append(&event);
            }
            self.metrics.observe(&event.kind);
            if let EventKind::ApprovalGiven { id, approved: true, .. } = event.kind {
                let flushed = match journal {
                    Some(journal) => journal.flush().await.map_err(|error| error.to_string()),
                    None => Ok(()),
                };
                self.desk.recorded(&live.run_id, id, flushed);
            }
            if let EventKind::ApprovalNeeded { approval } = &event.kind {
                let kept = match journal {
                    Some(journal) => self.keep(live, journal).await,
                    None => false,
                };
                self.desk.kept(&live.run_id, approval.task, kept);
            }
            let ends = event.kind.is_end();
            if let Some(journal) = journal.filter(|_| ends) {
                self.keep(live, journal).await;
            }
            live.count(&event.kind);
            live.log.push(&event);
            if ends {
                return;
            }
        }
        // Suspended: the next process reads from the journal what it waits for.
        if let Some(journal) = journal.filter(|_| began) {
            self.keep(live, journal).await;
        }
    }

    /// Waits until the events of a run are on the disk, and says whether they are.
    async fn keep(&self, live: &Live, journal: &Journal) -> bool {
        let flushed = journal.flush().await;
        if let Err(error) = &flushed {
            tracing::error!(%error, run = %live.run_id, "events of a run are not in the journal");
            self.metrics.journal_lost.inc();
        }
        flushed.is_ok()
    }

    pub(crate) fn get(&self, run_id: &str) -> Option<Arc<Live>> {
        self.lock().get(&RunId(run_id.to_owned())).cloned()
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Those that wait for a slot, which no journal knows.
    pub(crate) fn queued(&self) -> Vec<Arc<Live>> {
        self.lock().values().filter(|live| live.is_queued()).cloned().collect()
    }

    pub(crate) fn running(&self) -> Vec<Arc<Live>> {
        self.lock().values().filter(|live| !live.is_queued()).cloned().collect()
    }

    pub(crate) fn desk(&self) -> &Desk {
        &self.desk
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Takes no more runs, and waits until none is left; after `drain` those left are cancelled. Runs that wait for leave are
    /// left where they are, for the next process.
    pub(crate) async fn drain(&self, drain: std::time::Duration) {
        self.close();
        if tokio::time::timeout(drain, self.tasks.wait()).await.is_err() {
            self.end_all(Live::cut_off).await;
        }
    }

    /// Takes no further runs, and cancels those that go on: who asked for them is gone. What waits for leave goes on waiting.
    pub(crate) async fn cancel_all(&self) {
        self.close();
        self.end_all(|live| live.cancel.cancel()).await;
    }

    fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
        self.tasks.close();
        self.desk.suspend();
    }

    async fn end_all(&self, end: impl Fn(&Live)) {
        let left: Vec<Arc<Live>> = self.lock().values().cloned().collect();
        if !left.is_empty() {
            tracing::warn!(runs = left.len(), "cancelling the runs that are still going on");
        }
        left.iter().for_each(|live| end(live));
        let _ = tokio::time::timeout(CANCEL_TIME, self.tasks.wait()).await;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, Arc<Live>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The life of a run: it waits for its slot, works, and says how it ended if nothing else did.
async fn live_on<T>(
    live: &Live,
    ticket: Ticket,
    lease: &Lease,
    seat: Option<Seat>,
    events: Events,
    work: Work<T>,
) -> Ended<T> {
    // A run that is not cancelled while it waits gets a slot in the end.
    let slot = if let Some(slot) = ticket.try_now() {
        Some(ticket.with(slot))
    } else {
        events.emit(EventKind::Queued { ahead: ticket.ahead() });
        tokio::select! {
            biased;
            () = live.cancel.cancelled() => None,
            slot = ticket.wait() => slot,
        }
    };
    live.leaves_queue();
    let began = Instant::now();
    let result = match slot {
        None => Err(Lost::Cancelled),
        Some(slot) => {
            lease.hold(slot);
            let suspended = seat.as_ref().map(|seat| seat.suspend.clone()).unwrap_or_default();
            let worked = AssertUnwindSafe(work(events.clone(), live.cancel.clone())).catch_unwind();
            let worked = worked.instrument(tracing::info_span!("run", run_id = %live.run_id));
            tokio::select! {
                biased;
                () = suspended.cancelled() => Err(Lost::Suspended),
                ended = worked => ended.map_err(|_| Lost::Broken),
            }
        }
    };
    match &result {
        // Nothing is said, so that the journal has it as waiting.
        Ok(_) | Err(Lost::Suspended) => {}
        Err(lost) => {
            let ms = began.elapsed().as_millis() as u64;
            events.emit(EventKind::Error { code: lost.code().into(), message: lost.message().into(), hint: None, ms });
        }
    }
    lease.give_back();
    Ended { result, usage: events.usage(), ms: began.elapsed().as_millis() as u64 }
}

/// How long cancelled runs may take to end in good order.
const CANCEL_TIME: std::time::Duration = std::time::Duration::from_secs(10);
