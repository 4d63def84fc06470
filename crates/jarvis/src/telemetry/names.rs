//! What spans, their fields and metrics are called outside: the one table.
//!
//! Left is what jarvis says, right what OpenTelemetry's conventions do, those for generative AI among them. These are still in development,
//! so when they change, only this file does. What has no name there is called `jarvis.…`.

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
pub(super) const SPANS: [SpanName; 12] = [
    span("request", "", SpanKind::Server, "route"),
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

/// Fields of spans, and labels of metrics.
pub(super) const FIELDS: [(&str, &str); 30] = [
    ("answered_by", "gen_ai.response.model"),
    ("arguments", "gen_ai.tool.call.arguments"),
    ("cached_tokens", "gen_ai.usage.cache_read.input_tokens"),
    ("completion_tokens", "gen_ai.usage.output_tokens"),
    ("currency", "jarvis.cost.currency"),
    ("effect", "jarvis.tool.effect"),
    ("error", "error.type"),
    ("finish_reason", "gen_ai.response.finish_reasons"),
    ("host", "jarvis.model.host"),
    ("kind", "gen_ai.token.type"),
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
];

/// Values that have another name outside: the field, ours, theirs.
pub(super) const VALUES: [(&str, &str, &str); 2] = [("kind", "prompt", "input"), ("kind", "completion", "output")];

/// How a metric is counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Counting {
    /// It only grows.
    Sum,
    /// It goes up and down.
    Level,
    /// Each value is one observation; the bounds of its buckets.
    Spread(&'static [f64]),
}

pub(super) struct MetricName {
    pub(super) ours: &'static str,
    pub(super) theirs: &'static str,
    pub(super) unit: &'static str,
    pub(super) counting: Counting,
}

const fn metric(ours: &'static str, theirs: &'static str, unit: &'static str, counting: Counting) -> MetricName {
    MetricName { ours, theirs, unit, counting }
}

/// Seconds, as the conventions bound those of requests and calls.
const SECONDS: Counting =
    Counting::Spread(&[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 300.0]);
/// Tokens, as the conventions bound them.
const TOKENS: Counting =
    Counting::Spread(&[1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0, 65536.0, 262_144.0, 1_048_576.0]);

/// The metrics, by the names that `/metrics` gives them after `jarvis_`.
pub(super) const METRICS: [MetricName; 14] = [
    metric("http_request_duration", "http.server.request.duration", "s", SECONDS),
    metric("model_call_duration", "gen_ai.client.operation.duration", "s", SECONDS),
    metric("tokens", "gen_ai.client.token.usage", "{token}", TOKENS),
    metric("model_cost", "jarvis.model.cost", "1", Counting::Sum),
    metric("fallbacks", "jarvis.fallbacks", "{fallback}", Counting::Sum),
    metric("runs", "jarvis.runs", "{run}", Counting::Sum),
    metric("run_duration", "jarvis.run.duration", "s", SECONDS),
    metric("queue_wait", "jarvis.queue.wait", "s", SECONDS),
    metric("runs_live", "jarvis.runs.live", "{run}", Counting::Level),
    metric("runs_refused", "jarvis.runs.refused", "{run}", Counting::Sum),
    metric("tasks", "jarvis.tasks", "{task}", Counting::Sum),
    metric("budgets_spent", "jarvis.budgets.spent", "{run}", Counting::Sum),
    metric("journal_lost", "jarvis.journal.lost", "{failure}", Counting::Sum),
    metric("streams_open", "jarvis.streams.open", "{stream}", Counting::Level),
];

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

/// What a value of a field is called outside.
pub(super) fn value<'a>(field: &str, ours: &'a str) -> &'a str {
    let renamed = VALUES.iter().find(|(of, name, _)| *of == field && *name == ours);
    renamed.map_or(ours, |(_, _, theirs)| theirs)
}
