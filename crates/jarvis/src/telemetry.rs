//! Traces and metrics for OpenTelemetry, told what to do by the variables that all its programs read: `OTEL_EXPORTER_OTLP_ENDPOINT` turns
//! them on. What was said and done stands in traces only where `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` asks for it.
//!
//! Spans are made where the work is done, in jarvis' own words; [`names`] has what they are called outside.

mod export;
mod metrics;
mod names;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jarvis_net::http::{ClientOptions, LazyClient, Route};
use jarvis_net::trace::{self, Carrier, TraceContext};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{ExporterBuildError, MetricExporter, SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;
use tracing::{Metadata, Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::registry::LookupSpan;
use url::Url;

use crate::config::env_vars;

/// What is exported, until [`Telemetry::end`].
pub(crate) struct Telemetry {
    traces: Option<SdkTracerProvider>,
    metrics: Option<SdkMeterProvider>,
    with_content: bool,
}

/// A kind of what is exported.
struct Signal {
    /// The variable that turns it off, or names another exporter.
    exporter: &'static str,
    endpoint: &'static str,
    protocol_name: &'static str,
    timeout: &'static str,
}

const TRACES: Signal = Signal {
    exporter: "OTEL_TRACES_EXPORTER",
    endpoint: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    protocol_name: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    timeout: "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
};

const METRICS: Signal = Signal {
    exporter: "OTEL_METRICS_EXPORTER",
    endpoint: "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    protocol_name: "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
    timeout: "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT",
};

/// How the collector is spoken to.
enum Protocol {
    Grpc,
    Http(export::Client),
}

/// How long the collector may take unless a variable says otherwise.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the end of a command waits for the collector.
const LAST_WORDS: Duration = Duration::from_secs(3);

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn is_true(name: &str) -> bool {
    variable(name).is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
}

impl Signal {
    /// How it is exported; `None` where it is not.
    fn protocol(&self, runtime: &Handle) -> Result<Option<Protocol>, String> {
        let endpoint = variable(self.endpoint).or_else(|| variable(env_vars::OTEL_ENDPOINT));
        let asked = variable(self.exporter);
        match (asked.as_deref(), endpoint) {
            (Some("none"), _) | (None, None) => Ok(None),
            (None | Some("otlp"), endpoint) => {
                let protocol = variable(self.protocol_name).or_else(|| variable(env_vars::OTEL_PROTOCOL));
                match protocol.as_deref() {
                    Some("grpc") => Ok(Some(Protocol::Grpc)),
                    None | Some("http/protobuf") => {
                        let base = endpoint.and_then(|text| Url::parse(&text).ok());
                        let route = base.map_or(Route::Direct, |base| Route::to(&base, None));
                        let client = LazyClient::new(ClientOptions { route, ..ClientOptions::default() });
                        let (runtime, client, patience) = (runtime.clone(), Arc::new(client), self.patience()?);
                        Ok(Some(Protocol::Http(export::Client::new(runtime, client, patience))))
                    }
                    Some(other) => {
                        Err(format!("the protocol `{other}` is not spoken: it is `grpc` or `http/protobuf`"))
                    }
                }
            }
            (Some(other), _) => Err(format!("{} is `{other}`: it is `otlp` or `none`", self.exporter)),
        }
    }

    /// How long the collector may take.
    fn patience(&self) -> Result<Duration, String> {
        let Some(given) = variable(self.timeout).or_else(|| variable("OTEL_EXPORTER_OTLP_TIMEOUT")) else {
            return Ok(PATIENCE);
        };
        let read = given.trim().parse().map(Duration::from_millis);
        read.map_err(|_| format!("the timeout `{given}` is not a number of milliseconds"))
    }
}

/// What the variables ask for; `None` where they ask for nothing. Within a runtime.
///
/// # Errors
/// When they cannot be understood.
pub(crate) fn start() -> Result<Option<Telemetry>, String> {
    if is_true(env_vars::OTEL_DISABLED) {
        return Ok(None);
    }
    let runtime = Handle::current();
    let (traces, metrics) = (TRACES.protocol(&runtime)?, METRICS.protocol(&runtime)?);
    if traces.is_none() && metrics.is_none() {
        return Ok(None);
    }
    let own_name = variable("OTEL_SERVICE_NAME").is_some()
        || variable("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|text| text.contains("service.name="));
    let resource = Resource::builder();
    let resource = if own_name { resource } else { resource.with_service_name("jarvis") };
    let version = opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let resource = resource.with_attribute(version).build();
    let told = |error: ExporterBuildError| error.to_string();
    let traces = traces.map(span_exporter).transpose().map_err(told)?.map(|exporter| {
        let named = export::Named(exporter);
        SdkTracerProvider::builder().with_batch_exporter(named).with_resource(resource.clone()).build()
    });
    let metrics =
        metrics.map(metric_exporter).transpose().map_err(told)?.map(|exporter| {
            SdkMeterProvider::builder().with_periodic_exporter(exporter).with_resource(resource).build()
        });
    if traces.is_some() {
        trace::carry(Box::new(W3c(TraceContextPropagator::new())));
    }
    Ok(Some(Telemetry { traces, metrics, with_content: is_true(env_vars::OTEL_CONTENT) }))
}

fn span_exporter(protocol: Protocol) -> Result<SpanExporter, ExporterBuildError> {
    match protocol {
        Protocol::Grpc => SpanExporter::builder().with_tonic().build(),
        Protocol::Http(client) => SpanExporter::builder().with_http().with_http_client(client).build(),
    }
}

fn metric_exporter(protocol: Protocol) -> Result<MetricExporter, ExporterBuildError> {
    match protocol {
        Protocol::Grpc => MetricExporter::builder().with_tonic().build(),
        Protocol::Http(client) => MetricExporter::builder().with_http().with_http_client(client).build(),
    }
}

impl Telemetry {
    /// What makes spans of jarvis those of a trace. Of what is logged nothing goes into it.
    pub(crate) fn layer<S>(&self) -> Option<impl Layer<S> + use<S>>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        let tracer = self.traces.as_ref()?.tracer("jarvis");
        let with_content = self.with_content;
        let is_ours = move |of: &Metadata<'_>| match of.is_span() {
            true => of.target().starts_with("jarvis"),
            false => with_content && export::is_content(of.target()),
        };
        let layer = tracing_opentelemetry::layer()
            .with_tracer(tracer)
            // A span begins when somebody asks where it stands: until then it may be put below another.
            .with_context_activation(false)
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_target(false)
            .with_level(false);
        Some(layer.with_filter(FilterFn::new(is_ours)))
    }

    /// Where the server's counts go too.
    pub(crate) fn metrics_sink(&self) -> Option<Arc<dyn jarvis_server::MetricsSink>> {
        self.metrics.as_ref().map(metrics::sink)
    }

    /// Sends what is left. Blocks, for a moment where the collector does not answer.
    pub(crate) fn end(&self) {
        let (done, ended) = std::sync::mpsc::channel();
        let (traces, metrics) = (self.traces.clone(), self.metrics.clone());
        // Neither waits for the other, and the command for neither for long.
        let work: [Box<dyn FnOnce() -> OTelSdkResult + Send>; 2] = [
            Box::new(move || traces.map_or(Ok(()), |traces| traces.shutdown())),
            Box::new(move || metrics.map_or(Ok(()), |metrics| metrics.shutdown())),
        ];
        let started = work.map(|work| {
            let done = done.clone();
            std::thread::spawn(move || drop(done.send(work())))
        });
        let until = Instant::now() + LAST_WORDS;
        for _ in started {
            match ended.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::error!(%error, "not all traces or metrics were sent"),
                Err(_) => return tracing::error!("not all traces or metrics were sent: the collector does not answer"),
            }
        }
    }
}

/// Places in traces, in the form of W3C's Trace Context.
struct W3c(TraceContextPropagator);

impl Carrier for W3c {
    fn place(&self, span: &Span) -> TraceContext {
        let mut fields = HashMap::new();
        self.0.inject_context(&span.context(), &mut fields);
        fields.into_iter().collect()
    }

    fn put(&self, span: &Span, below: &TraceContext) {
        let fields: HashMap<String, String> =
            below.fields().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        // A span that is not traced has no parent to set.
        let _ = span.set_parent(self.0.extract(&fields));
    }
}
