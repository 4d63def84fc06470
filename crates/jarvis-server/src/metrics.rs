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
pub trait CountToo: Send + Sync {
    /// Adds to a sum or a level, or to a spread of values one more.
    fn add(&self, name: &'static str, labels: &[(&'static str, &str)], value: f64);
}

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
    too: Option<Arc<dyn CountToo>>,
    requests: Of<Sum>,
    request_seconds: Of<Spread>,
    runs: Of<Sum>,
    run_seconds: Of<Spread>,
    queue_seconds: Of<Spread>,
    tasks: Of<Sum>,
    calls: Of<Sum>,
    call_seconds: Of<Spread>,
    tokens: Of<Sum>,
    cost: Of<Amount>,
    fallbacks: Of<Sum>,
    budgets: Of<Sum>,
    refused: Of<Sum>,
    journal_lost: Of<Sum>,
    live: Of<Gauge>,
    streams: Of<Gauge>,
    uploaded: Of<Sum>,
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
const BOUNDS: [f64; 14] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0];

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
    pub(crate) fn new(too: Option<Arc<dyn CountToo>>) -> Metrics {
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
        let fallbacks = sum("fallbacks", "Times that another model did what the chosen one could not");
        let budgets = sum("budgets_spent", "Runs that reached a bound of their budget");
        let refused = sum("runs_refused", "Runs refused because the queue was full");
        let journal_lost = sum("journal_lost", "Failures to write the run journal");
        let mut seconds = |name: &'static str, help: &str| {
            let spread = spread();
            registry.register_with_unit(name, help, Unit::Seconds, spread.clone());
            Of(name, spread)
        };
        let request_seconds = seconds("http_request_duration", "Time to the head of the reply");
        let run_seconds = seconds("run_duration", "Time of a run");
        let queue_seconds = seconds("queue_wait", "Time that a run waited for its place");
        let call_seconds = seconds("model_call_duration", "Time of a call of a chat model");
        let cost = Of("model_cost", Amount::default());
        registry.register(cost.0, "What calls of chat models cost, by the configured prices", cost.1.clone());
        let uploaded = Of("uploaded", Sum::default());
        registry.register_with_unit(uploaded.0, "Uploads taken in", Unit::Bytes, uploaded.1.clone());
        let mut level = |name: &'static str, help: &str| {
            let level = Gauge::default();
            registry.register(name, help, level.clone());
            Of(name, level)
        };
        let live = level("runs_live", "Runs that go on or wait");
        let streams = level("streams_open", "Event streams that are open");
        for Of(_, sum) in [&refused, &journal_lost, &uploaded] {
            // What has not happened yet is nothing, and not unknown.
            drop(sum.get_or_create(&Labels::new()));
        }
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
            fallbacks,
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
                cost,
                ms,
                ..
            } => {
                let ok = if *ok { "true" } else { "false" };
                let model = self.model(model);
                let provider = if model == OTHER { OTHER } else { provider };
                let who = [("stage", stage.as_str()), ("model", model), ("provider", provider)];
                let with = |last| [who.as_slice(), &[last]].concat();
                self.add(&self.calls, &with(("ok", ok)), 1);
                self.took(&self.call_seconds, &who, *ms as f64 / 1000.0);
                self.add(&self.tokens, &with(("kind", "prompt")), *prompt_tokens);
                self.add(&self.tokens, &with(("kind", "completion")), *completion_tokens);
                if let Some(Money { amount, currency }) = cost {
                    let labels = with(("currency", currency));
                    self.cost.1.get_or_create(&owned(&labels)).inc_by(*amount);
                    self.tell(self.cost.0, &labels, *amount);
                }
                if !instead_of.is_empty() {
                    self.add(&self.fallbacks, &[("kind", "model_call"), ("model", self.model(instead_of))], 1);
                }
            }
            EventKind::Budget { spent } => self.add(&self.budgets, &[("bound", &spent.bound)], 1),
            EventKind::TaskAttempt { attempt, .. } => {
                self.add(&self.fallbacks, &[("kind", "task"), ("model", self.model(&attempt.candidate.id))], 1);
            }
            EventKind::TaskFinished { outcome } => {
                // A plan may name anything; only known names become labels.
                let task = jarvis_catalogue::find(&outcome.task).map_or(OTHER, |kind| kind.name);
                self.add(&self.tasks, &[("task", task), ("status", outcome.status.as_str())], 1);
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
        self.took(&self.run_seconds, &[], ms as f64 / 1000.0);
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
        self.took(&self.queue_seconds, &[], for_place.as_secs_f64());
    }

    /// Counts a run that was refused because the queue was full.
    pub(crate) fn refused(&self) {
        self.add(&self.refused, &[], 1);
    }

    /// Counts a time that events could not be written to the journal.
    pub(crate) fn journal_lost(&self) {
        self.add(&self.journal_lost, &[], 1);
    }

    /// Counts bytes taken in as an upload.
    pub(crate) fn uploaded(&self, bytes: u64) {
        self.add(&self.uploaded, &[], bytes);
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
mod tests {
    use super::*;

    /// What was told, a line each.
    #[derive(Default)]
    struct Told(Mutex<Vec<String>>);

    impl CountToo for Told {
        fn add(&self, name: &'static str, labels: &[(&'static str, &str)], value: f64) {
            let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
            self.0.lock().expect("no panic").push(format!("{name}{{{}}} {value}", labels.join(",")));
        }
    }

    fn call(model: &str, instead_of: &str) -> EventKind {
        EventKind::ModelCall {
            stage: "parse_task".into(),
            task: None,
            model: model.into(),
            provider: "openai".into(),
            instead_of: instead_of.into(),
            prompt_tokens: 7,
            cached_tokens: 0,
            completion_tokens: 2,
            estimated: false,
            cost: Some(Money { amount: 0.5, currency: "USD".into() }),
            ms: 1500,
            reply: String::new(),
            ok: true,
            key: String::new(),
            whole: None,
            taken_over: false,
        }
    }

    #[test]
    fn calls_are_counted_by_model_and_told_on() {
        let told = Arc::new(Told::default());
        let metrics = Arc::new(Metrics::new(Some(Arc::clone(&told) as Arc<dyn CountToo>)));
        metrics.observe(&call("small", "large"));
        let live = metrics.live();
        metrics.waited(Duration::from_millis(250));
        let text = metrics.text().expect("it is written");
        let who = r#"stage="parse_task",model="small",provider="openai""#;
        for line in [
            format!("jarvis_model_calls_total{{{who},ok=\"true\"}} 1"),
            format!("jarvis_model_call_duration_seconds_sum{{{who}}} 1.5"),
            format!("jarvis_tokens_total{{{who},kind=\"prompt\"}} 7"),
            format!("jarvis_model_cost_total{{{who},currency=\"USD\"}} 0.5"),
            r#"jarvis_fallbacks_total{kind="model_call",model="large"} 1"#.to_owned(),
            "jarvis_queue_wait_seconds_sum 0.25".to_owned(),
            "jarvis_runs_live 1".to_owned(),
            "process_resident_memory_bytes ".to_owned(),
        ] {
            assert!(text.contains(&line), "{line} is not in\n{text}");
        }
        assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1);
        drop(live);
        assert!(metrics.text().expect("it is written").contains("jarvis_runs_live 0"));
        let told = told.0.lock().expect("no panic");
        for line in [
            "model_call_duration{stage=parse_task,model=small,provider=openai} 1.5",
            "model_cost{stage=parse_task,model=small,provider=openai,currency=USD} 0.5",
            "runs_live{} -1",
        ] {
            assert!(told.iter().any(|told| told == line), "{line} is not in {told:?}");
        }
    }

    #[test]
    fn whoever_names_many_models_makes_no_more_labels() {
        let metrics = Metrics::new(None);
        for at in 0..2 * MOST_MODELS {
            metrics.observe(&call(&format!("m{at}"), ""));
        }
        let text = metrics.text().expect("it is written");
        assert_eq!(text.lines().filter(|line| line.starts_with("jarvis_model_calls_total")).count(), MOST_MODELS + 1);
        let rest = format!(r#"model="other",provider="other",ok="true"}} {MOST_MODELS}"#);
        assert!(text.contains(&rest), "{text}");
    }
}
