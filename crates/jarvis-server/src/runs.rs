//! The runs of this server: who may start one and when, who follows it, and how it is cancelled. What a run does is the
//! pipeline's business.

mod life;
mod live;
mod log;
mod lost;
mod queue;
mod restore;
mod retention;
mod slots;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use futures::FutureExt;
use futures::future::BoxFuture;
use jarvis_engine::{Account, Events, Meter, Past};
use jarvis_events::Journal as _;
use jarvis_net::trace::TraceContext;
use jarvis_pipeline::Kept;
use jarvis_plan::{Approval, Budget, Event, EventKind, INTERRUPTED, RunId, Usage};
use jarvis_store::{Journal, RunStatus};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{Instrument as _, Span, field};

use crate::desk::Desk;
use crate::error::ApiError;
use crate::log::RequestId;
use crate::metrics::Metrics;
use crate::users::{Caller, Right, check_budget};

pub(crate) use live::{CancelOnDrop, Live, short};
pub(crate) use log::{Frame, Log, Place};
pub(crate) use lost::Lost;
pub(crate) use queue::{Bounds, Line, network};
pub(crate) use slots::{Lease, Slots};

use live::{About, Tally};
use queue::Full;

/// What a run does with its events and the token that cancels it.
type Work<T> = Box<dyn FnOnce(Events, CancellationToken) -> BoxFuture<'static, T> + Send>;

/// What is kept of a run after it ended, and whether its calls may wait for leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Events,
    /// Its events; its calls may wait for leave, since whoever started it can be asked.
    Answerable,
    /// Nothing: it only decided.
    Nothing,
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
    /// Runs that were cut off and wait for something that is not here.
    left: Mutex<HashSet<RunId>>,
    slots: Slots,
    journal: Option<Arc<Journal>>,
    metrics: Arc<Metrics>,
    tasks: TaskTracker,
    closing: AtomicBool,
    desk: Desk,
    /// What runs that begin are measured by.
    meter: RwLock<Meter>,
    me: Weak<Runs>,
}

/// Where a run begins: at its beginning, or where it was cut off.
struct Begin {
    run_id: RunId,
    /// Whose it is.
    account: Arc<Account>,
    /// In which line it waits.
    line: Line,
    request: String,
    started_at_ms: u64,
    keep: Keep,
    stream: (Events, UnboundedReceiver<Event>),
    log: Log,
    tally: Tally,
    /// Whether it began in another process.
    goes_on: bool,
    /// What it waits for since then.
    asked: Vec<Approval>,
    /// Which request asked for it, and where that stands in a trace.
    origin: Origin,
    /// What it is measured by.
    meter: Meter,
}

/// Where a run comes from.
#[derive(Debug, Default)]
struct Origin {
    request: Option<RequestId>,
    place: TraceContext,
}

impl Origin {
    /// The request of now.
    fn of(caller: &Caller) -> Origin {
        Origin { request: caller.request_id().cloned(), place: TraceContext::current() }
    }
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
            left: Mutex::default(),
            slots,
            journal,
            metrics,
            tasks: TaskTracker::new(),
            closing: AtomicBool::new(false),
            desk,
            meter: RwLock::new(meter),
            me: Weak::clone(me),
        })
    }

    /// Starts a run for a caller.
    ///
    /// # Errors
    /// When the caller may not, has too many or has used up what there is for a day; when there is no place, or the server stops.
    pub(crate) fn start<T, F>(
        &self,
        caller: &Caller,
        request: &str,
        keep: Keep,
        work: impl FnOnce(Events, CancellationToken) -> F + Send + 'static,
    ) -> Result<Started<T>, ApiError>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let meter = self.meter.read().unwrap_or_else(PoisonError::into_inner).clone();
        self.start_measured(meter, None, caller, request, keep, work)
    }

    /// The same, measured by the meter of the setup that the request came to, and taking over what another run did where there is a record
    /// of that.
    ///
    /// # Errors
    /// As [`Runs::start`].
    pub(crate) fn start_measured<T, F>(
        &self,
        meter: Meter,
        past: Option<Past>,
        caller: &Caller,
        request: &str,
        keep: Keep,
        work: impl FnOnce(Events, CancellationToken) -> F + Send + 'static,
    ) -> Result<Started<T>, ApiError>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        caller.must(Right::Run)?;
        let run_id = RunId(uuid::Uuid::now_v7().to_string());
        let stream = match past {
            Some(past) => Events::resumed(run_id.clone(), past),
            None => Events::channel(run_id.clone()),
        };
        let begin = Begin {
            stream,
            run_id,
            account: Arc::clone(caller.account()),
            line: caller.line(),
            request: short(request),
            started_at_ms: now_ms(),
            keep,
            log: Log::new(),
            tally: Tally::default(),
            goes_on: false,
            asked: Vec::new(),
            origin: Origin::of(caller),
            meter,
        };
        self.begin(begin, Box::new(|events, cancel| work(events, cancel).boxed()))
    }

    fn begin<T: Send + 'static>(&self, begin: Begin, work: Work<T>) -> Result<Started<T>, ApiError> {
        if self.closing.load(Ordering::Relaxed) {
            return Err(ApiError::stopping());
        }
        let Some(runs) = self.me.upgrade() else { return Err(ApiError::stopping()) };
        // What was begun before goes on; within it nothing new starts where its user has nothing left.
        if !begin.goes_on {
            check_budget(&begin.account)?;
        }
        let ticket = match begin.goes_on {
            true => Ok(self.slots.another_ticket(&begin.line)),
            false => self.slots.ticket(&begin.line),
        };
        let ticket = ticket.map_err(|full| {
            self.metrics.refused();
            match full {
                Full::Whole => ApiError::overloaded(1),
                Full::Line => ApiError::too_many_waiting(1),
            }
        })?;
        let Begin {
            run_id,
            account,
            line,
            request,
            started_at_ms,
            keep,
            stream: (events, receiver),
            log,
            tally,
            asked,
            goes_on,
            origin,
            meter,
        } = begin;
        let (user, max_runs) = (account.name().to_owned(), account.max_runs().filter(|_| !goes_on));
        // What a model without a price costs is not known, and where costs are bounded nothing more may start then.
        let budget = meter.budget.within(Budget { max_cost: account.a_day().max_cost, ..Budget::default() });
        events.metered(&Meter { account, budget, ..meter });
        let journal = self.journal.clone().filter(|_| keep != Keep::Nothing).map(Kept::awaited);
        if let Some(journal) = &journal {
            events.kept_in(Arc::new(journal.clone()));
        }
        let is_kept = journal.is_some();
        let about = About { user, request, started_at_ms, is_kept };
        let live = Arc::new(Live::new(run_id, about, log, self.desk.clone(), tally));
        if ticket.ahead().is_none() {
            live.leaves_queue();
        }
        self.admit(&live, max_runs)?;
        // The line of the request says which run it began.
        Span::current().record("run_id", &live.run_id.0);
        let (sender, end) = oneshot::channel();
        let started = Started { live: Arc::clone(&live), end };
        let lease = Arc::new(Lease::new(self.slots.clone(), line));
        let seat = match keep {
            Keep::Answerable => {
                let suspend = live.suspend.clone();
                Some(self.desk.seat(&live.run_id, Arc::clone(&lease), suspend, is_kept, asked))
            }
            Keep::Events | Keep::Nothing => None,
        };
        self.tasks.spawn(async move {
            let relayed = runs.relay(&live, journal, receiver);
            let _present = runs.metrics.live();
            let lived = life::live_on(&live, ticket, &lease, seat, events, work, &runs.metrics);
            let request_id = origin.request.as_ref().map(|id| field::display(id.as_str()));
            let span = tracing::error_span!(
                parent: None,
                "run",
                run_id = %live.run_id,
                request_id,
                pipeline = field::Empty,
                planner = field::Empty,
                error = field::Empty,
            );
            let lived = lived.instrument(origin.place.adopt(span));
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

    /// Lets a run in, where its user has a place for it.
    fn admit(&self, live: &Arc<Live>, max_runs: Option<usize>) -> Result<(), ApiError> {
        let mut all = self.lock();
        let has = || all.values().filter(|other| other.user() == live.user()).count();
        if let Some(most) = max_runs
            && has() >= most
        {
            let message = format!("`{}` may have {most} runs that go on or wait, and has them", live.user());
            let refused = ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_runs", message);
            return Err(refused.hint("wait until one has ended, or cancel one").retry_after(1));
        }
        all.insert(live.run_id.clone(), Arc::clone(live));
        Ok(())
    }

    /// Hands the events of a run to the metrics and to whoever follows: not before they are on the disk, where they are kept. Nothing
    /// comes after its end.
    async fn relay(&self, live: &Live, journal: Option<Kept>, mut receiver: UnboundedReceiver<Event>) {
        let (mut came, mut is_lost) = (Vec::new(), false);
        while receiver.recv_many(&mut came, MOST_AT_ONCE).await > 0 {
            if let Some(journal) = journal.as_ref().filter(|_| came.iter().any(|event| event.kind.is_kept()))
                && let Err(error) = journal.written(&live.run_id).await
            {
                tracing::error!(%error, run = %live.run_id, "events of a run are not in the journal");
                self.metrics.journal_lost();
                is_lost = true;
            }
            for event in came.drain(..) {
                let mut event = live.seen(event);
                if is_lost && event.kind.is_kept() {
                    if !event.kind.is_end() {
                        continue;
                    }
                    // Whoever goes on with the run gives its number to another.
                    let at = live.log.end();
                    (event.seq, event.piece) = (at.seq, at.piece.max(1));
                }
                self.metrics.observe(&event.kind);
                live.count(&event.kind);
                live.log.push(&event);
                if event.kind.is_end() {
                    // A run that stopped has not ended: whoever has what it needs may go on with it.
                    let has_stopped = matches!(&event.kind, EventKind::Error { code, .. } if code == INTERRUPTED);
                    if let Some(journal) = journal.as_ref().filter(|_| is_lost || has_stopped) {
                        journal.abandon(&live.run_id);
                        if !is_lost {
                            self.leave(live.run_id.clone());
                        }
                    }
                    return;
                }
            }
        }
        // It was suspended: another server may go on with it at once.
        if let Some(journal) = &journal {
            journal.abandon(&live.run_id);
        }
    }

    /// Measures runs that begin from now on by another meter.
    pub(crate) fn meter_by(&self, meter: Meter) {
        *self.meter.write().unwrap_or_else(PoisonError::into_inner) = meter;
    }

    pub(crate) fn get(&self, run_id: &str) -> Option<Arc<Live>> {
        self.lock().get(&RunId(run_id.to_owned())).cloned()
    }

    /// The run that goes on here, for a caller. To one that does not reach it, it does not exist.
    pub(crate) fn of(&self, caller: &Caller, run_id: &str) -> Result<Option<Arc<Live>>, ApiError> {
        match self.get(run_id) {
            Some(live) if !caller.reaches(live.user()) => Err(no_such_run()),
            found => Ok(found),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// How many runs go on or wait, of those that whoever asks may see.
    pub(crate) fn seen_by(&self, caller: Option<&Caller>, several: bool) -> usize {
        match caller {
            _ if !several => self.count(),
            Some(caller) => self.lock().values().filter(|live| caller.reaches(live.user())).count(),
            None => 0,
        }
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

    /// Takes no more runs, and waits until none is left. What is left after `drain`, and what waits for leave, is left to the next
    /// process; what is not kept is cancelled.
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
            tracing::warn!(runs = left.len(), "ending the runs that are still going on");
        }
        left.iter().for_each(|live| end(live));
        let _ = tokio::time::timeout(CANCEL_TIME, self.tasks.wait()).await;
    }

    /// Remembers that a run which was cut off waits for something that is not here.
    fn leave(&self, run: RunId) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).insert(run);
    }

    fn forget_left(&self, run: &RunId) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
    }

    fn waits_for_more(&self, run: &RunId) -> bool {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).contains(run)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, Arc<Live>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn no_such_run() -> ApiError {
    ApiError::not_found("there is no such run")
}

/// The time in milliseconds since the Unix epoch.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// How many events are handed on together.
const MOST_AT_ONCE: usize = 256;

/// How long cancelled runs may take to end in good order.
const CANCEL_TIME: std::time::Duration = std::time::Duration::from_secs(10);
