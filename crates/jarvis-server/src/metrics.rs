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
use prometheus_client::registry::{Metric, Registry, Unit};

pub use process::ProcessUse;

/// Told of everything that is counted, by the name that it has at `/metrics` without `jarvis_`, its unit and `_total`.
pub trait MetricsSink: Send + Sync {
    /// Adds to a counter or a gauge, or one more value to a histogram.
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

type Counters = Family<Labels, Counter>;
type Amounts = Family<Labels, Counter<f64, AtomicU64>>;
type Histograms = Family<Labels, Histogram, fn() -> Histogram>;

/// Something that is counted, under its name.
#[derive(Debug, Clone)]
struct Of<M>(&'static str, M);

impl<M: Metric + Clone + Default> Of<M> {
    fn new(registry: &mut Registry, name: &'static str, help: &str, unit: Option<Unit>) -> Of<M> {
        Of::made(registry, name, help, unit, M::default())
    }
}

impl<M: Metric + Clone> Of<M> {
    fn made(registry: &mut Registry, name: &'static str, help: &str, unit: Option<Unit>, metric: M) -> Of<M> {
        match unit {
            Some(unit) => registry.register_with_unit(name, help, unit, metric.clone()),
            None => registry.register(name, help, metric.clone()),
        }
        Of(name, metric)
    }
}

pub(crate) struct Metrics {
    registry: Registry,
    sink: Option<Arc<dyn MetricsSink>>,
    requests: Of<Counters>,
    request_seconds: Of<Histograms>,
    runs: Of<Counters>,
    run_seconds: Of<Histogram>,
    queue_seconds: Of<Histogram>,
    tasks: Of<Counters>,
    calls: Of<Counters>,
    call_seconds: Of<Histograms>,
    tokens: Of<Counters>,
    cost: Of<Amounts>,
    model_fallbacks: Of<Counters>,
    task_fallbacks: Of<Counters>,
    budgets: Of<Counters>,
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

fn histograms() -> Histograms {
    Family::new_with_constructor(histogram)
}

fn owned(labels: &[(&'static str, &str)]) -> Labels {
    labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
}

impl Metrics {
    pub(crate) fn new(sink: Option<Arc<dyn MetricsSink>>) -> Metrics {
        let mut registry = Registry::with_prefix("jarvis");
        let all = &mut registry;
        let seconds = Unit::Seconds;
        Metrics {
            requests: Of::new(all, "http_requests", "HTTP requests answered", None),
            request_seconds: Of::made(
                all,
                "http_request_duration",
                "Time to the head of the reply",
                Some(seconds.clone()),
                histograms(),
            ),
            runs: Of::new(all, "runs", "Runs that ended", None),
            run_seconds: Of::made(all, "run_duration", "Time of a run", Some(seconds.clone()), histogram()),
            queue_seconds: Of::made(
                all,
                "queue_wait",
                "Time that a run waited for its place",
                Some(seconds.clone()),
                histogram(),
            ),
            tasks: Of::new(all, "tasks", "Tasks that ended", None),
            calls: Of::new(all, "model_calls", "Calls of chat models", None),
            call_seconds: Of::made(
                all,
                "model_call_duration",
                "Time of a call of a chat model",
                Some(seconds),
                histograms(),
            ),
            tokens: Of::new(all, "tokens", "Tokens of chat models, as endpoints reported them or counted here", None),
            cost: Of::new(all, "model_cost", "What calls of chat models cost, by the configured prices", None),
            model_fallbacks: Of::new(
                all,
                "model_fallbacks",
                "Calls of a chat model that another answered, since it could not",
                None,
            ),
            task_fallbacks: Of::new(
                all,
                "task_fallbacks",
                "Tasks that another model did, since the chosen one could not",
                None,
            ),
            budgets: Of::new(all, "budgets_spent", "Runs that reached a bound of their budget", None),
            refused: Of::new(all, "runs_refused", "Runs refused because the queue was full", None),
            journal_lost: Of::new(all, "journal_lost", "Failures to write the run journal", None),
            live: Of::new(all, "runs_live", "Runs that go on or wait", None),
            streams: Of::new(all, "streams_open", "Event streams that are open", None),
            uploaded: Of::new(all, "uploaded", "Uploads taken in", Some(Unit::Bytes)),
            models: Mutex::default(),
            sink,
            registry,
        }
    }

    fn add(&self, Of(name, counters): &Of<Counters>, labels: &[(&'static str, &str)], by: u64) {
        counters.get_or_create(&owned(labels)).inc_by(by);
        self.tell(name, labels, by as f64);
    }

    fn took(&self, Of(name, histograms): &Of<Histograms>, labels: &[(&'static str, &str)], seconds: f64) {
        histograms.get_or_create(&owned(labels)).observe(seconds);
        self.tell(name, labels, seconds);
    }

    fn bump(&self, Of(name, counter): &Of<Counter>, by: u64) {
        counter.inc_by(by);
        self.tell(name, &[], by as f64);
    }

    fn lasted(&self, Of(name, histogram): &Of<Histogram>, seconds: f64) {
        histogram.observe(seconds);
        self.tell(name, &[], seconds);
    }

    fn step(&self, Of(name, gauge): &Of<Gauge>, by: i64) {
        gauge.inc_by(by);
        self.tell(name, &[], by as f64);
    }

    fn tell(&self, name: &'static str, labels: &[(&'static str, &str)], value: f64) {
        debug_assert!(METRICS.contains(&name), "`{name}` is not listed");
        if let Some(sink) = &self.sink {
            sink.add(name, labels, value);
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
