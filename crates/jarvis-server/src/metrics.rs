//! What the server counts, for Prometheus. Labels take few values: routes, words and task types that are known.

use std::sync::atomic::AtomicU64;

use jarvis_plan::{EventKind, Money};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Labels, Counter>,
    request_seconds: Family<Labels, Histogram, fn() -> Histogram>,
    runs: Family<Labels, Counter>,
    run_seconds: Histogram,
    tasks: Family<Labels, Counter>,
    calls: Family<Labels, Counter>,
    tokens: Family<Labels, Counter>,
    cost: Family<Labels, Counter<f64, AtomicU64>>,
    /// Times that a run stopped at a bound of its budget.
    budgets: Family<Labels, Counter>,
    /// Runs refused because the queue was full.
    pub(crate) refused: Counter,
    /// Times that events could not be written to the journal.
    pub(crate) journal_lost: Counter,
    pub(crate) live: Gauge,
    pub(crate) streams: Gauge,
    /// Bytes taken in as uploads.
    pub(crate) uploaded: Counter<u64, AtomicU64>,
}

/// Names and values, in the order in which they are written.
type Labels = Vec<(&'static str, String)>;

fn labels<const N: usize>(labels: [(&'static str, &str); N]) -> Labels {
    labels.map(|(name, value)| (name, value.to_owned())).into()
}

/// Upper bounds of the histograms, in seconds: from a cached reply to the longest run.
const BOUNDS: [f64; 14] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0];

fn histogram() -> Histogram {
    Histogram::new(BOUNDS)
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        let mut metrics = Metrics {
            registry: Registry::with_prefix("jarvis"),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(histogram),
            runs: Family::default(),
            run_seconds: histogram(),
            tasks: Family::default(),
            calls: Family::default(),
            tokens: Family::default(),
            cost: Family::default(),
            budgets: Family::default(),
            refused: Counter::default(),
            journal_lost: Counter::default(),
            live: Gauge::default(),
            streams: Gauge::default(),
            uploaded: Counter::default(),
        };
        let registry = &mut metrics.registry;
        registry.register("http_requests", "HTTP requests answered", metrics.requests.clone());
        registry.register_with_unit(
            "http_request_duration",
            "Time to the head of the reply",
            Unit::Seconds,
            metrics.request_seconds.clone(),
        );
        registry.register("runs", "Runs that ended", metrics.runs.clone());
        registry.register_with_unit("run_duration", "Time of a run", Unit::Seconds, metrics.run_seconds.clone());
        registry.register("tasks", "Tasks that ended", metrics.tasks.clone());
        registry.register("model_calls", "Calls of the chat model", metrics.calls.clone());
        registry.register("tokens", "Tokens as chat endpoints reported them", metrics.tokens.clone());
        registry.register(
            "model_cost",
            "What calls of chat models cost, by the configured prices",
            metrics.cost.clone(),
        );
        registry.register("budgets_spent", "Runs that reached a bound of their budget", metrics.budgets.clone());
        registry.register("runs_refused", "Runs refused because the queue was full", metrics.refused.clone());
        registry.register("journal_lost", "Failures to write the run journal", metrics.journal_lost.clone());
        registry.register("runs_live", "Runs that go on or wait", metrics.live.clone());
        registry.register("streams_open", "Event streams that are open", metrics.streams.clone());
        registry.register_with_unit("uploaded", "Uploads taken in", Unit::Bytes, metrics.uploaded.clone());
        metrics
    }

    pub(crate) fn observe(&self, event: &EventKind) {
        match event {
            EventKind::ModelCall { stage, prompt_tokens, completion_tokens, ok, cost, .. } => {
                let ok = if *ok { "true" } else { "false" };
                self.calls.get_or_create(&labels([("stage", stage), ("ok", ok)])).inc();
                for (kind, tokens) in [("prompt", prompt_tokens), ("completion", completion_tokens)] {
                    self.tokens.get_or_create(&labels([("stage", stage), ("kind", kind)])).inc_by(*tokens);
                }
                if let Some(Money { amount, currency }) = cost {
                    self.cost.get_or_create(&labels([("stage", stage), ("currency", currency)])).inc_by(*amount);
                }
            }
            EventKind::Budget { spent } => {
                self.budgets.get_or_create(&labels([("bound", &spent.bound)])).inc();
            }
            EventKind::TaskFinished { outcome } => {
                // A plan may name anything; only known names become labels.
                let task = jarvis_catalogue::find(&outcome.task).map_or("other", |kind| kind.name);
                let status = outcome.status.as_str();
                self.tasks.get_or_create(&labels([("task", task), ("status", status)])).inc();
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
        self.runs.get_or_create(&labels([("status", status)])).inc();
        self.run_seconds.observe(ms as f64 / 1000.0);
    }

    /// Counts a request that was answered. The route is its pattern, not its path.
    pub(crate) fn answered(&self, method: &'static str, route: &str, status: u16, took: std::time::Duration) {
        self.request_seconds.get_or_create(&labels([("route", route)])).observe(took.as_secs_f64());
        let status = status.to_string();
        self.requests.get_or_create(&labels([("method", method), ("route", route), ("status", &status)])).inc();
    }

    /// Everything counted, in the text format of OpenMetrics, which Prometheus reads.
    pub(crate) fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
