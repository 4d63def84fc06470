//! The one stream of events of a run, and the usage that follows from it.
//!
//! Everything that reports on a run (journal, terminal, HTTP, gRPC) reads this stream. Token usage is summed from its
//! [`EventKind::ModelCall`] events, so a call that emits none would not be counted.
//!
//! A run that has a [`Journal`] survives its process: whoever has the result of a step waits for [`Events::written`] before
//! anything follows from it, and a run that goes on finds what it did in its [`Past`].

mod account;
mod journal;
mod past;
mod prices;
mod resume;
mod story;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use indexmap::IndexMap;
use jarvis_plan::{Budget, ENGINE, Event, EventKind, Level, RunId, Spent, Tokens, Usage};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub use account::{Account, DAY_MS, Used};
pub use journal::{Journal, Memory, NotWritten, Written};
pub use past::{Began, Leave, NoRetry, Past, RecordedCall, Unreadable};
pub use prices::{InvalidPrice, Price, Prices};

/// Stops the clock of a run until it is dropped.
#[derive(Debug)]
pub struct Held(Events);

impl Drop for Held {
    fn drop(&mut self) {
        let mut shared = self.0.shared();
        if let Some(since) = shared.held_since.take() {
            shared.excused += since.elapsed();
        }
    }
}

/// Which weights the models of this machine have.
pub trait Weights: std::fmt::Debug + Send + Sync {
    /// Those that a candidate of this id would run with now: their revision, or their hash. None for what is no model of this machine.
    fn of(&self, model: &str) -> Option<String>;
}

/// What model calls cost and the most that a run may take.
#[derive(Debug, Clone, Default)]
pub struct Meter {
    /// What model calls cost.
    pub prices: Arc<Prices>,
    /// The most that a run may take.
    pub budget: Budget,
    /// What must be the same for a run to go on in another process, such as the hash of the prompts.
    pub settings: Arc<IndexMap<String, String>>,
    /// What else carries runs out that say so, see [`ENGINE`].
    pub engine: Option<&'static str>,
    /// What models of this machine run with.
    pub weights: Option<Arc<dyn Weights>>,
    /// Where runs are asked for: [`SERVER`] or [`COMMAND_LINE`].
    pub door: &'static str,
    /// Whose runs they are, and what these may take together.
    pub account: Arc<Account>,
}

/// The setting of a run that names its chat model, see [`Meter::settings`].
pub const MODEL: &str = "model";
/// The door of runs that a server carries out.
pub const SERVER: &str = "server";
/// The door of runs of the command line.
pub const COMMAND_LINE: &str = "command line";

impl Meter {
    /// What a run needs to go on and is not as it was, a sentence each without a full stop: its settings, and the weights of models that
    /// were chosen for tasks which have not ended.
    pub fn missing(&self, past: &Past) -> Vec<String> {
        let told = |what: &str, was: &str, now: Option<&str>| match now {
            Some(now) => format!("{what} was `{was}`, and is `{now}` here"),
            None => format!("{what} was `{was}`, and there is none here"),
        };
        let settings = past.began().into_iter().flat_map(|began| &began.settings);
        let settings = settings.filter_map(|(name, was)| {
            let now = match name == ENGINE {
                true => self.engine,
                false => self.settings.get(name).map(String::as_str),
            };
            (now != Some(was)).then(|| told(&format!("its {name}"), was, now))
        });
        let weights = past.weights().filter_map(|(model, was)| {
            let now = self.weights.as_ref().and_then(|known| known.of(model));
            (now.as_deref() != Some(was)).then(|| told(&format!("the revision of `{model}`"), was, now.as_deref()))
        });
        settings.chain(weights).collect()
    }
}

/// The writing end of a run's event stream. Clones write to the same stream; sending never blocks, and events are
/// dropped once nobody reads.
#[derive(Debug, Clone)]
pub struct Events(Arc<Stream>);

/// What all clones share. Each task of a run holds one, so cloning must allocate nothing.
#[derive(Debug)]
struct Stream {
    run_id: RunId,
    shared: Mutex<Shared>,
    /// Whether the run has a budget.
    bounded: AtomicBool,
    /// Whether any time of the run does not count.
    excused: AtomicBool,
    /// Where its events are kept.
    journal: OnceLock<Arc<dyn Journal>>,
    /// Whether there is a record that it goes on from.
    goes_on: AtomicBool,
}

/// A stream that nobody reads, see [`Events::unread`].
impl Default for Events {
    fn default() -> Events {
        Events::unread()
    }
}

#[derive(Debug)]
struct Shared {
    /// The number of the next event that is no piece.
    seq: u64,
    /// How many pieces came since the last event that is none.
    pieces: u32,
    /// Whether the run began; nothing is kept of one that did not.
    began: bool,
    /// What is on record of it.
    past: Past,
    /// Why it cannot go on here.
    stopped: Option<NotWritten>,
    settings: Arc<IndexMap<String, String>>,
    weights: Option<Arc<dyn Weights>>,
    door: &'static str,
    account: Arc<Account>,
    /// The time of day at `clock`, in milliseconds since the Unix epoch: a clock that is set back moves no event.
    clock_ms: u64,
    clock: Instant,
    /// Whether the last event of the run was sent.
    ended: bool,
    usage: Usage,
    sender: UnboundedSender<Event>,
    listeners: Vec<UnboundedSender<Event>>,
    prices: Arc<Prices>,
    budget: Budget,
    since: Instant,
    /// Time that does not count, while somebody is asked.
    excused: Duration,
    /// Since when somebody is asked.
    held_since: Option<Instant>,
    /// Model calls that have begun and not ended.
    open_calls: u32,
    /// The bound at which something was refused.
    refused: Option<Spent>,
}

impl Events {
    /// A stream for one run, and its reading end.
    pub fn channel(run_id: RunId) -> (Events, UnboundedReceiver<Event>) {
        Events::resumed(run_id, Past::default())
    }

    /// A stream that goes on where a run was cut off, or that takes over what another run did.
    pub fn resumed(run_id: RunId, past: Past) -> (Events, UnboundedReceiver<Event>) {
        let (sender, receiver) = unbounded_channel();
        let goes_on = past.steps() > 0 || past.began().is_some();
        let now = Instant::now();
        let shared = Shared {
            seq: past.next(),
            pieces: 0,
            began: goes_on && past.from().is_none(),
            stopped: None,
            settings: Arc::default(),
            weights: None,
            door: "",
            account: Arc::default(),
            clock_ms: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_millis() as u64)
                .max(past.last_at_ms()),
            clock: now,
            ended: false,
            usage: past.usage().clone(),
            sender,
            listeners: Vec::new(),
            prices: Arc::default(),
            budget: Budget::default(),
            since: now.checked_sub(past.ran()).unwrap_or(now),
            past,
            excused: Duration::ZERO,
            held_since: None,
            open_calls: 0,
            refused: None,
        };
        let (bounded, excused) = (AtomicBool::new(false), AtomicBool::new(false));
        let (journal, goes_on) = (OnceLock::new(), AtomicBool::new(goes_on));
        (Events(Arc::new(Stream { run_id, shared: Mutex::new(shared), bounded, excused, journal, goes_on })), receiver)
    }

    /// Sets what model calls cost and the most that the run may take. The budget of its request, once it is told, narrows it.
    pub fn metered(&self, meter: &Meter) {
        let mut shared = self.shared();
        shared.prices = Arc::clone(&meter.prices);
        shared.settings = Arc::clone(&meter.settings);
        shared.weights.clone_from(&meter.weights);
        shared.door = meter.door;
        shared.account = Arc::clone(&meter.account);
        self.narrow(&mut shared, meter.budget);
    }

    /// Narrows the budget of the run.
    pub fn bounded(&self, budget: Budget) {
        self.narrow(&mut self.shared(), budget);
    }

    fn narrow(&self, shared: &mut Shared, budget: Budget) {
        shared.budget = shared.budget.within(budget);
        let is_bounded = shared.budget != Budget::default() || shared.account.is_bounded();
        self.0.bounded.store(is_bounded, Ordering::Relaxed);
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.0.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bound of the budget that is used up, if one is; whoever asks starts nothing new then.
    pub fn spent(&self) -> Option<Spent> {
        if !self.0.bounded.load(Ordering::Relaxed) {
            return None;
        }
        let spent = self.shared().spent()?;
        self.refuse(spent)
    }

    /// Says that a model call begins. It ends with its [`EventKind::ModelCall`].
    ///
    /// # Errors
    /// When the budget allows none.
    pub fn begin_call(&self) -> Result<(), Spent> {
        let spent = {
            let mut shared = self.shared();
            let spent = shared.spent();
            if spent.is_none() {
                shared.open_calls += 1;
            }
            spent
        };
        match spent.and_then(|spent| self.refuse(spent)) {
            Some(spent) => Err(spent),
            None => Ok(()),
        }
    }

    /// Remembers that something was refused, and tells it the first time.
    fn refuse(&self, mut spent: Spent) -> Option<Spent> {
        let first = {
            let mut shared = self.shared();
            let first = shared.refused.is_none();
            // All that is refused is told alike.
            spent = shared.refused.get_or_insert_with(|| spent.clone()).clone();
            first
        };
        if first {
            self.emit(EventKind::Budget { spent: spent.clone() });
        }
        Some(spent)
    }

    /// The bound of the budget at which something was not started, if anything was.
    pub fn refused(&self) -> Option<Spent> {
        self.shared().refused.clone()
    }

    /// Does not count a stretch of time, in which somebody was asked.
    pub fn excuse(&self, time: Duration) {
        self.0.excused.store(true, Ordering::Release);
        self.shared().excused += time;
    }

    /// Does not count the time until the guard is dropped.
    pub fn hold(&self) -> Held {
        self.0.excused.store(true, Ordering::Release);
        self.shared().held_since.get_or_insert_with(Instant::now);
        Held(self.clone())
    }

    /// The time of the run that does not count, so far.
    pub fn excused(&self) -> Duration {
        // Asked for at each step of a run; most runs ask nobody.
        if !self.0.excused.load(Ordering::Acquire) {
            return Duration::ZERO;
        }
        self.shared().excused()
    }

    /// A stream that nobody reads, for work outside a run. Its usage is counted all the same.
    pub fn unread() -> Events {
        Events::channel(RunId(String::new())).0
    }

    /// Whose the run is. Outside of a server of several users it has no name.
    pub fn account(&self) -> Arc<Account> {
        Arc::clone(&self.shared().account)
    }

    /// The run that the events are of.
    pub fn run_id(&self) -> &RunId {
        &self.0.run_id
    }

    /// Adds an event, and tells it to the log. Number, time and place in the stream are fixed together, so the stream is in
    /// order. What comes after the run's end, such as from a call that nobody waits for any more, is counted and not sent.
    pub fn emit(&self, mut kind: EventKind) {
        story::tell(&kind);
        if let EventKind::ModelChosen { selection, weights } = &mut kind {
            *weights = self.weights_of(&selection.chosen.id);
        }
        let mut shared = self.shared();
        match &mut kind {
            EventKind::ModelCall { taken_over: true, .. } => {}
            EventKind::ModelCall {
                stage,
                model,
                prompt_tokens,
                cached_tokens,
                completion_tokens,
                estimated,
                cost,
                ..
            } => {
                let tokens = Tokens {
                    prompt: *prompt_tokens,
                    cached: *cached_tokens,
                    completion: *completion_tokens,
                    estimated: *estimated,
                };
                *cost = shared.prices.cost(model, tokens);
                shared.usage.add_call(stage, model, tokens, cost.clone());
                shared.account.add(shared.now_ms(), tokens, cost.as_ref());
                shared.open_calls = shared.open_calls.saturating_sub(1);
            }
            EventKind::RunStarted { request, settings, door, user, .. } => {
                // What was waited for a place does not count; what it ran before does.
                let now = Instant::now();
                shared.since = now.checked_sub(shared.past.ran()).unwrap_or(now);
                self.narrow(&mut shared, request.budget);
                // Whoever goes on with the run keeps to it.
                request.budget = shared.budget;
                settings.clone_from(&shared.settings);
                shared.door.clone_into(door);
                shared.account.name().clone_into(user);
            }
            _ => {}
        }
        if shared.ended && !self.0.run_id.0.is_empty() {
            return;
        }
        let begins = matches!(kind, EventKind::RunStarted { .. });
        if !(self.goes_on() && self.was_told(&mut shared, &kind)) {
            shared.ended = kind.is_end();
            self.send(&mut shared, kind);
        }
        if begins && self.goes_on() {
            self.tell_resumed(&mut shared);
        }
    }

    /// What a candidate runs with here. Of a run that something else carries out nothing is known of that.
    fn weights_of(&self, model: &str) -> Option<String> {
        let known = {
            let shared = self.shared();
            shared.weights.clone().filter(|_| !shared.settings.contains_key(ENGINE))
        };
        // It may look at the disk.
        known?.of(model)
    }

    /// Numbers an event, and hands it to the journal and to whoever reads.
    fn send(&self, shared: &mut Shared, kind: EventKind) {
        let (is_kept, is_piece) = (kind.is_kept(), kind.is_piece());
        // What is not kept any more is not told either: whoever goes on with the run does it anew, under the same number. How it
        // ends here is.
        if is_kept && !kind.is_end() && shared.stopped.is_some() && (self.is_kept() || self.goes_on()) {
            return;
        }
        shared.began |= matches!(kind, EventKind::RunStarted { .. });
        shared.pieces = if is_piece { shared.pieces.saturating_add(1) } else { 0 };
        let at_ms = shared.now_ms();
        let seq = if is_piece { shared.seq.saturating_sub(1) } else { shared.seq };
        shared.seq += u64::from(!is_piece);
        let event = Event { run_id: self.0.run_id.clone(), seq, piece: shared.pieces, at_ms, kind };
        if let Some(journal) = self.0.journal.get().filter(|_| is_kept && shared.began && shared.stopped.is_none()) {
            journal.append(&event);
        }
        shared.listeners.retain(|listener| listener.send(event.clone()).is_ok());
        // A run goes on without readers, such as after an HTTP client has disconnected.
        let _ = shared.sender.send(event);
    }

    /// Another reading end, from now on. It is told what is told, whether or not it is kept yet.
    pub fn listen(&self) -> UnboundedReceiver<Event> {
        let (sender, receiver) = unbounded_channel();
        self.shared().listeners.push(sender);
        receiver
    }

    /// Adds a note.
    pub fn note(&self, level: Level, message: impl Into<String>) {
        self.emit(EventKind::Note { level, message: message.into() });
    }

    /// Calls and tokens so far.
    pub fn usage(&self) -> Usage {
        self.shared().usage.clone()
    }
}

impl Shared {
    /// The time of day, in milliseconds since the Unix epoch.
    fn now_ms(&self) -> u64 {
        self.clock_ms.saturating_add(self.clock.elapsed().as_millis() as u64)
    }

    fn excused(&self) -> Duration {
        self.excused + self.held_since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// The bound that is used up; calls that have begun count.
    fn spent(&self) -> Option<Spent> {
        let bound = |bound: &str, unit: &str, used: f64, most: Option<f64>| {
            let most = most.filter(|most| used >= *most)?;
            let digits = if unit == " s" { 1e1 } else { 1e6 };
            let used = (used * digits).round() / digits;
            Some(Spent { bound: bound.to_owned(), most: format!("{most}{unit}"), used: used.to_string() })
        };
        let Budget { max_time_s, max_tokens, max_calls, max_cost } = self.budget;
        let time = self.since.elapsed().saturating_sub(self.excused()).as_secs_f64();
        let calls = self.usage.total_calls() + self.open_calls;
        let cost = self.usage.cost.as_ref();
        let currency = cost.map_or(String::new(), |cost| format!(" {}", cost.currency));
        if let (Some(most), Some(model)) = (max_cost, self.usage.unpriced.first()) {
            let used = format!("what `{model}` costs is not known");
            return Some(Spent { bound: "cost".to_owned(), most: format!("{most}{currency}"), used });
        }
        bound("calls", " model calls", f64::from(calls), max_calls.map(f64::from))
            .or_else(|| {
                bound("tokens", " tokens", self.usage.total_tokens() as f64, max_tokens.map(|most| most as f64))
            })
            .or_else(|| bound("cost", &currency, cost.map_or(0.0, |cost| cost.amount), max_cost))
            .or_else(|| bound("time", " s", time, max_time_s))
            .or_else(|| self.account.spent(self.now_ms()))
    }
}
