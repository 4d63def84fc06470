//! What spans, their fields and metrics are called outside: the one table.
//!
//! Left is what jarvis says, right what OpenTelemetry's conventions do, those for generative AI among them. These are still in development,
//! so when they change, only this file does. What has no name there is called `jarvis.…`.

use opentelemetry::Value;
use opentelemetry::trace::SpanKind;

/// A kind of span.
pub(super) struct SpanName {
    pub(super) ours: &'static str,
    /// `gen_ai.operation.name`; empty where the conventions know none.
    pub(super) operation: &'static str,
    pub(super) kind: SpanKind,
    /// The field that its name ends with.
    pub(super) subject: &'static str,
}

const fn span(ours: &'static str, operation: &'static str, kind: SpanKind, subject: &'static str) -> SpanName {
    SpanName { ours, operation, kind, subject }
}

/// A span is named by its operation, or else by what jarvis calls it, and by its subject.
pub(super) const SPANS: [SpanName; 13] = [
    span("request", "", SpanKind::Server, "route"),
    span("mcp_call", "execute_tool", SpanKind::Server, "tool"),
    span("run", "invoke_workflow", SpanKind::Internal, "pipeline"),
    span("plan", "plan", SpanKind::Internal, ""),
    span("execute", "", SpanKind::Internal, ""),
    span("answer", "", SpanKind::Internal, ""),
    span("choose", "", SpanKind::Internal, "task"),
    span("approve", "", SpanKind::Internal, "task"),
    span("task", "", SpanKind::Internal, "task"),
    span("guess", "", SpanKind::Internal, "task"),
    span("tool", "execute_tool", SpanKind::Internal, "tool"),
    span("model_call", "chat", SpanKind::Client, "model"),
    span("embed", "embeddings", SpanKind::Client, "model"),
];

/// Fields of spans.
pub(super) const FIELDS: [(&str, &str); 30] = [
    ("answered_by", "gen_ai.response.model"),
    ("arguments", "gen_ai.tool.call.arguments"),
    ("cached_tokens", "gen_ai.usage.cache_read.input_tokens"),
    ("completion_tokens", "gen_ai.usage.output_tokens"),
    ("effect", "jarvis.tool.effect"),
    ("error", "error.type"),
    ("finish_reason", "gen_ai.response.finish_reasons"),
    ("host", "jarvis.model.host"),
    ("max_tokens", "gen_ai.request.max_tokens"),
    ("messages", "gen_ai.input.messages"),
    ("method", "http.request.method"),
    ("model", "gen_ai.request.model"),
    ("pipeline", "gen_ai.workflow.name"),
    ("planner", "jarvis.planner"),
    ("prompt_tokens", "gen_ai.usage.input_tokens"),
    ("provider", "gen_ai.provider.name"),
    ("reply", "gen_ai.output.messages"),
    ("request_id", "jarvis.request.id"),
    ("result", "gen_ai.tool.call.result"),
    ("route", "http.route"),
    ("run_id", "jarvis.run.id"),
    ("source", "jarvis.tool.source"),
    ("stage", "jarvis.stage"),
    ("status", "http.response.status_code"),
    ("task", "jarvis.task.type"),
    ("task_id", "jarvis.task.id"),
    ("tool", "gen_ai.tool.name"),
    ("operation", "gen_ai.operation.name"),
    ("grpc_status", "rpc.grpc.status_code"),
    ("mcp_method", "mcp.method.name"),
];

/// How a metric is counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Instrument {
    /// It only grows.
    Counter,
    /// It goes up and down.
    UpDownCounter,
    /// Each value is one observation; the bounds of its buckets.
    Histogram(&'static [f64]),
}

pub(super) struct MetricName {
    pub(super) ours: &'static str,
    pub(super) theirs: &'static str,
    pub(super) unit: &'static str,
    pub(super) instrument: Instrument,
    /// What its labels are called; one that is not here is left out.
    pub(super) labels: &'static [(&'static str, &'static str)],
    /// What stands at each of its points.
    pub(super) always: &'static [(&'static str, &'static str)],
}

const fn metric(ours: &'static str, theirs: &'static str, unit: &'static str, instrument: Instrument) -> MetricName {
    MetricName { ours, theirs, unit, instrument, labels: &[], always: &[] }
}

impl MetricName {
    const fn with(self, labels: &'static [(&'static str, &'static str)]) -> MetricName {
        MetricName { labels, ..self }
    }

    /// Of calls of chat models.
    const fn of_calls(self, labels: &'static [(&'static str, &'static str)]) -> MetricName {
        MetricName { labels, always: &[("gen_ai.operation.name", "chat")], ..self }
    }
}

/// Seconds, as the conventions bound those of requests and calls.
const SECONDS: Instrument =
    Instrument::Histogram(&[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 300.0]);
/// Tokens, as the conventions bound them.
const TOKENS: Instrument =
    Instrument::Histogram(&[1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0, 65536.0, 262_144.0, 1_048_576.0]);

/// The metrics, by the names that `/metrics` gives them after `jarvis_`. How many calls and requests there were, their durations count.
pub(super) const METRICS: [MetricName; 16] = [
    metric("http_request_duration", "http.server.request.duration", "s", SECONDS).with(&[
        ("method", "http.request.method"),
        ("route", "http.route"),
        ("status", "http.response.status_code"),
    ]),
    metric("model_call_duration", "gen_ai.client.operation.duration", "s", SECONDS).of_calls(&[
        ("stage", "jarvis.stage"),
        ("model", "gen_ai.request.model"),
        ("provider", "gen_ai.provider.name"),
        ("ok", "error.type"),
    ]),
    metric("tokens", "gen_ai.client.token.usage", "{token}", TOKENS).of_calls(&[
        ("stage", "jarvis.stage"),
        ("model", "gen_ai.request.model"),
        ("provider", "gen_ai.provider.name"),
        ("kind", "gen_ai.token.type"),
    ]),
    metric("model_cost", "jarvis.model.cost", "1", Instrument::Counter).of_calls(&[
        ("stage", "jarvis.stage"),
        ("model", "gen_ai.request.model"),
        ("provider", "gen_ai.provider.name"),
        ("currency", "jarvis.cost.currency"),
    ]),
    metric("model_fallbacks", "jarvis.model.fallbacks", "{call}", Instrument::Counter)
        .with(&[("model", "gen_ai.request.model")]),
    metric("task_fallbacks", "jarvis.task.fallbacks", "{task}", Instrument::Counter)
        .with(&[("task", "jarvis.task.type")]),
    metric("runs", "jarvis.runs", "{run}", Instrument::Counter).with(&[("status", "jarvis.run.status")]),
    metric("run_duration", "jarvis.run.duration", "s", SECONDS),
    metric("queue_wait", "jarvis.queue.wait", "s", SECONDS),
    metric("runs_live", "jarvis.runs.live", "{run}", Instrument::UpDownCounter),
    metric("runs_refused", "jarvis.runs.refused", "{run}", Instrument::Counter),
    metric("tasks", "jarvis.tasks", "{task}", Instrument::Counter)
        .with(&[("task", "jarvis.task.type"), ("status", "jarvis.task.status")]),
    metric("budgets_spent", "jarvis.budgets.spent", "{run}", Instrument::Counter)
        .with(&[("bound", "jarvis.budget.bound")]),
    metric("journal_lost", "jarvis.journal.lost", "{failure}", Instrument::Counter),
    metric("streams_open", "jarvis.streams.open", "{stream}", Instrument::UpDownCounter),
    metric("uploaded", "jarvis.uploaded", "By", Instrument::Counter),
];

/// A value of a label as it is outside; `None` where it says nothing there.
pub(super) fn value(field: &str, ours: &str) -> Option<Value> {
    match (field, ours) {
        ("ok", "true") => None,
        // Which failure it was is in the trace.
        ("ok", "given_up") => Some("cancelled".into()),
        ("ok", _) => Some("_OTHER".into()),
        ("kind", "prompt") => Some("input".into()),
        ("kind", "completion") => Some("output".into()),
        ("status", number) => Some(number.parse::<i64>().map_or_else(|_| number.to_owned().into(), Value::I64)),
        (_, text) => Some(text.to_owned().into()),
    }
}

/// What this process takes, observed when metrics are sent.
pub(super) const MEMORY: &str = "process.memory.usage";
pub(super) const CPU: &str = "process.cpu.time";
pub(super) const OPEN_FILES: &str = "process.unix.file_descriptor.count";

/// What a field is called outside.
pub(super) fn field(ours: &str) -> String {
    match FIELDS.iter().find(|(name, _)| *name == ours) {
        Some((_, theirs)) => (*theirs).to_owned(),
        None => format!("jarvis.{ours}"),
    }
}
