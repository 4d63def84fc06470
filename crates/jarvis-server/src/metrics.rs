//! What the server counts: for Prometheus, and for whoever else is told. Labels take few values: routes, words, task types that are known,
//! and a bounded number of models.

mod process;

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jarvis_plan::{EventKind, Money};
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

pub use process::ProcessUse;

/// Told of everything that is counted, by the name that it has at `/metrics` without `jarvis_`, its unit and `_total`.
pub trait MetricsSink: Send + Sync {
    /// Adds to a sum or a level, or to a spread of values one more.
    fn add(&self, name: &'static str, labels: &[(&'static str, &str)], value: f64);
}

/// What is counted, by the names that a [`MetricsSink`] is told.
pub const METRICS: [&str; 18] = [
    "http_requests",
    "runs",
    "tasks",
    "model_calls",
    "tokens",
    "model_fallbacks",
    "task_fallbacks",
    "budgets_spent",
    "runs_refused",
    "journal_lost",
    "http_request_duration",
    "model_call_duration",
    "run_duration",
    "queue_wait",
    "runs_live",
    "streams_open",
    "model_cost",
    "uploaded",
];

/// Names and values, in the order in which they are written.
type Labels = Vec<(&'static str, String)>;

type Sum = Family<Labels, Counter>;
type Amount = Family<Labels, Counter<f64, AtomicU64>>;
type Spread = Family<Labels, Histogram, fn() -> Histogram>;

/// Something that is counted, under its name.
#[derive(Debug, Clone)]
struct Of<M>(&'static str, M);

pub(crate) struct Metrics {
    registry: Registry,
    too: Option<Arc<dyn MetricsSink>>,
    requests: Of<Sum>,
    request_seconds: Of<Spread>,
    runs: Of<Sum>,
    run_seconds: Of<Histogram>,
    queue_seconds: Of<Histogram>,
    tasks: Of<Sum>,
    calls: Of<Sum>,
    call_seconds: Of<Spread>,
    tokens: Of<Sum>,
    cost: Of<Amount>,
    model_fallbacks: Of<Sum>,
    task_fallbacks: Of<Sum>,
    budgets: Of<Sum>,
    refused: Of<Counter>,
    journal_lost: Of<Counter>,
    live: Of<Gauge>,
    streams: Of<Gauge>,
    uploaded: Of<Counter>,
    /// The models that have labels of their own.
    models: Mutex<HashSet<String>>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// The most models that have labels of their own: callers may name what they like.
const MOST_MODELS: usize = 100;

/// What stands for those beyond.
const OTHER: &str = "other";

/// Upper bounds of the histograms, in seconds: from a cached reply to the longest run.
const BOUNDS: [f64; 16] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];

fn histogram() -> Histogram {
    Histogram::new(BOUNDS)
}

fn spread() -> Spread {
    Family::new_with_constructor(histogram)
}

fn owned(labels: &[(&'static str, &str)]) -> Labels {
    labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
}

impl Metrics {
    pub(crate) fn new(too: Option<Arc<dyn MetricsSink>>) -> Metrics {
        let mut registry = Registry::with_prefix("jarvis");
        let mut sum = |name: &'static str, help: &str| {
            let sum = Sum::default();
            registry.register(name, help, sum.clone());
            Of(name, sum)
        };
        let requests = sum("http_requests", "HTTP requests answered");
        let runs = sum("runs", "Runs that ended");
        let tasks = sum("tasks", "Tasks that ended");
        let calls = sum("model_calls", "Calls of chat models");
        let tokens = sum("tokens", "Tokens of chat models, as endpoints reported them or counted here");
        let model_fallbacks = sum("model_fallbacks", "Calls of a chat model that another answered, since it could not");
        let task_fallbacks = sum("task_fallbacks", "Tasks that another model did, since the chosen one could not");
        let budgets = sum("budgets_spent", "Runs that reached a bound of their budget");
        let mut count = |name: &'static str, help: &str| {
            let count = Counter::default();
            registry.register(name, help, count.clone());
            Of(name, count)
        };
        let refused = count("runs_refused", "Runs refused because the queue was full");
        let journal_lost = count("journal_lost", "Failures to write the run journal");
        let mut seconds = |name: &'static str, help: &str| {
            let spread = spread();
            registry.register_with_unit(name, help, Unit::Seconds, spread.clone());
            Of(name, spread)
        };
        let request_seconds = seconds("http_request_duration", "Time to the head of the reply");
        let call_seconds = seconds("model_call_duration", "Time of a call of a chat model");
        let mut time = |name: &'static str, help: &str| {
            let time = histogram();
            registry.register_with_unit(name, help, Unit::Seconds, time.clone());
            Of(name, time)
        };
        let run_seconds = time("run_duration", "Time of a run");
        let queue_seconds = time("queue_wait", "Time that a run waited for its place");
        let cost = Of("model_cost", Amount::default());
        registry.register(cost.0, "What calls of chat models cost, by the configured prices", cost.1.clone());
        let uploaded = Of("uploaded", Counter::default());
        registry.register_with_unit(uploaded.0, "Uploads taken in", Unit::Bytes, uploaded.1.clone());
        let mut level = |name: &'static str, help: &str| {
            let level = Gauge::default();
            registry.register(name, help, level.clone());
            Of(name, level)
        };
        let live = level("runs_live", "Runs that go on or wait");
        let streams = level("streams_open", "Event streams that are open");
        let models = Mutex::default();
        Metrics {
            registry,
            too,
            requests,
            request_seconds,
            runs,
            run_seconds,
            queue_seconds,
            tasks,
            calls,
            call_seconds,
            tokens,
            cost,
            model_fallbacks,
            task_fallbacks,
            budgets,
            refused,
            journal_lost,
            live,
            streams,
            uploaded,
            models,
        }
    }

    fn add(&self, Of(name, sum): &Of<Sum>, labels: &[(&'static str, &str)], by: u64) {
        sum.get_or_create(&owned(labels)).inc_by(by);
        self.tell(name, labels, by as f64);
    }

    fn took(&self, Of(name, spread): &Of<Spread>, labels: &[(&'static str, &str)], seconds: f64) {
        spread.get_or_create(&owned(labels)).observe(seconds);
        self.tell(name, labels, seconds);
    }

    fn bump(&self, Of(name, count): &Of<Counter>, by: u64) {
        count.inc_by(by);
        self.tell(name, &[], by as f64);
    }

    fn lasted(&self, Of(name, time): &Of<Histogram>, seconds: f64) {
        time.observe(seconds);
        self.tell(name, &[], seconds);
    }

    fn step(&self, Of(name, level): &Of<Gauge>, by: i64) {
        level.inc_by(by);
        self.tell(name, &[], by as f64);
    }

    fn tell(&self, name: &'static str, labels: &[(&'static str, &str)], value: f64) {
        if let Some(too) = &self.too {
            too.add(name, labels, value);
        }
    }

    /// The label of a model.
    fn model<'a>(&self, name: &'a str) -> &'a str {
        let mut known = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if known.contains(name) || (known.len() < MOST_MODELS && known.insert(name.to_owned())) { name } else { OTHER }
    }

    /// Keeps labels for these models, whatever else is named.
    pub(crate) fn expect_models(&self, names: impl IntoIterator<Item = String>) {
        self.models.lock().unwrap_or_else(PoisonError::into_inner).extend(names);
    }

    pub(crate) fn observe(&self, event: &EventKind) {
        match event {
            EventKind::ModelCall { taken_over: true, .. } => {}
            EventKind::ModelCall {
                stage,
                model,
                provider,
                instead_of,
                prompt_tokens,
                completion_tokens,
                ok,
                given_up,
                cost,
                ms,
                ..
            } => {
                let ok = match (*ok, *given_up) {
                    (true, _) => "true",
                    (false, true) => "given_up",
                    (false, false) => "false",
                };
                let model = self.model(model);
                let provider = if model == OTHER { OTHER } else { provider };
                let who = [("stage", stage.as_str()), ("model", model), ("provider", provider)];
                let with = |last| [who.as_slice(), &[last]].concat();
                self.add(&self.calls, &with(("ok", ok)), 1);
                self.took(&self.call_seconds, &with(("ok", ok)), *ms as f64 / 1000.0);
                for (kind, tokens) in [("prompt", *prompt_tokens), ("completion", *completion_tokens)] {
                    // A call that failed took none, as far as is known.
                    if tokens > 0 {
                        self.add(&self.tokens, &with(("kind", kind)), tokens);
                    }
                }
                if let Some(Money { amount, currency }) = cost {
                    let labels = with(("currency", currency));
                    self.cost.1.get_or_create(&owned(&labels)).inc_by(*amount);
                    self.tell(self.cost.0, &labels, *amount);
                }
                if !instead_of.is_empty() {
                    let asked = self.model(instead_of);
                    self.add(&self.model_fallbacks, &[("model", asked)], 1);
                    let who = [("stage", stage.as_str()), ("model", asked), ("provider", ""), ("ok", "false")];
                    self.add(&self.calls, &who, 1);
                }
            }
            EventKind::Budget { spent } => self.add(&self.budgets, &[("bound", &spent.bound)], 1),
            EventKind::TaskFinished { outcome } => {
                // A plan may name anything; only known names become labels.
                let task = jarvis_catalogue::find(&outcome.task).map_or(OTHER, |kind| kind.name);
                self.add(&self.tasks, &[("task", task), ("status", outcome.status.as_str())], 1);
                if outcome.stand_in().is_some() {
                    self.add(&self.task_fallbacks, &[("task", task)], 1);
                }
            }
            EventKind::Done { cancelled: true, ms, .. } => self.ended("cancelled", *ms),
            EventKind::Done { ok, ms, .. } => self.ended(if *ok { "done" } else { "failed" }, *ms),
            EventKind::Error { code, ms, .. } => {
                self.ended(if code == "cancelled" { "cancelled" } else { "error" }, *ms);
            }
            _ => {}
        }
    }

    fn ended(&self, status: &'static str, ms: u64) {
        self.add(&self.runs, &[("status", status)], 1);
        self.lasted(&self.run_seconds, ms as f64 / 1000.0);
    }

    /// Counts a request that was answered. The route is its pattern, not its path.
    pub(crate) fn answered(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        let status = status.to_string();
        let labels = [("method", method), ("route", route), ("status", &status)];
        self.requests.1.get_or_create(&owned(&labels)).inc();
        self.request_seconds.1.get_or_create(&owned(&[("route", route)])).observe(took.as_secs_f64());
        self.tell(self.request_seconds.0, &labels, took.as_secs_f64());
    }

    /// Counts how long a run waited for its place.
    pub(crate) fn waited(&self, for_place: Duration) {
        self.lasted(&self.queue_seconds, for_place.as_secs_f64());
    }

    /// Counts a run that was refused because the queue was full.
    pub(crate) fn refused(&self) {
        self.bump(&self.refused, 1);
    }

    /// Counts a time that events could not be written to the journal.
    pub(crate) fn journal_lost(&self) {
        self.bump(&self.journal_lost, 1);
    }

    /// Counts bytes taken in as an upload.
    pub(crate) fn uploaded(&self, bytes: u64) {
        self.bump(&self.uploaded, bytes);
    }

    /// Counts a run that goes on or waits, until what is returned is dropped.
    pub(crate) fn live(self: &Arc<Metrics>) -> Present {
        Present::of(self, |metrics| &metrics.live)
    }

    /// Counts an event stream that is open, until what is returned is dropped.
    pub(crate) fn stream(self: &Arc<Metrics>) -> Present {
        Present::of(self, |metrics| &metrics.streams)
    }

    /// Everything counted, and what this process takes, in the text format of OpenMetrics, which Prometheus reads. Blocks.
    pub(crate) fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode_registry(&mut text, &self.registry)?;
        if let Some(own) = ProcessUse::now() {
            encode_registry(&mut text, &own.registry())?;
        }
        encode_eof(&mut text)?;
        Ok(text)
    }
}

/// One of those that are there at the moment.
pub(crate) struct Present {
    metrics: Arc<Metrics>,
    of: fn(&Metrics) -> &Of<Gauge>,
}

impl Present {
    fn of(metrics: &Arc<Metrics>, of: fn(&Metrics) -> &Of<Gauge>) -> Present {
        metrics.step(of(metrics), 1);
        Present { metrics: Arc::clone(metrics), of }
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        self.metrics.step((self.of)(&self.metrics), -1);
    }
}

#[cfg(test)]
mod tests;
