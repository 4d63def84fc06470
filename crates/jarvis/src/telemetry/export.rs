//! Spans on their way out: named as the conventions name them; and the HTTP client that carries them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use jarvis_net::causes::in_one;
use jarvis_net::http::{LazyClient, read_capped};
use jarvis_net::policy::without_secrets;
use jarvis_net::text::shorten;
use jarvis_net::trace::CONTENT;
use opentelemetry::trace::Status;
use opentelemetry::{Array, KeyValue, Value};
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use tokio::runtime::Handle;

use super::names;

/// Names spans as the conventions do, and hands them on.
#[derive(Debug)]
pub(super) struct Named<E>(pub(super) E);

impl<E: SpanExporter> SpanExporter for Named<E> {
    fn export(&self, mut batch: Vec<SpanData>) -> impl Future<Output = OTelSdkResult> + Send {
        batch.iter_mut().for_each(named);
        self.0.export(batch)
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}

/// Gives a span the names that the conventions have for it.
fn named(span: &mut SpanData) {
    // What was said stands in events of the span, and belongs to the span itself.
    for event in std::mem::take(&mut span.events.events) {
        let fields = event.attributes.into_iter().filter(|field| !matches!(field.key.as_str(), "level" | "target"));
        span.attributes.extend(fields);
    }
    if let Some(row) = names::SPANS.iter().find(|row| row.ours == span.name) {
        let value = |name: &str| {
            span.attributes.iter().find(|field| field.key.as_str() == name).map(|field| field.value.to_string())
        };
        let (subject, method) = (value(row.subject), value("method"));
        let first =
            method.unwrap_or_else(|| if row.operation.is_empty() { row.ours } else { row.operation }.to_owned());
        span.name = match subject {
            Some(subject) => format!("{first} {subject}").into(),
            None => first.into(),
        };
        span.span_kind = row.kind.clone();
        if !row.operation.is_empty() {
            span.attributes.push(KeyValue::new("operation", row.operation));
        }
    }
    for field in &mut span.attributes {
        match field.key.as_str() {
            "error" => span.status = Status::error(""),
            "status" if matches!(field.value, Value::I64(500..)) => span.status = Status::error(""),
            "finish_reason" => field.value = Value::Array(Array::String(vec![field.value.to_string().into()])),
            _ => {}
        }
        field.key = names::field(field.key.as_str()).into();
    }
}

/// Whether an event is one of what was said and done.
pub(super) fn is_content(target: &str) -> bool {
    target == CONTENT
}

/// The most that is read of what it says.
const MOST: u64 = 1 << 20;

/// The client of jarvis, for exporters that run on threads of their own.
pub(super) struct Client {
    runtime: Handle,
    client: Arc<LazyClient>,
    /// How long the collector may take.
    patience: Duration,
    /// Whether the last try failed, so that it is told once.
    fails: AtomicBool,
}

impl Client {
    pub(super) fn new(runtime: Handle, client: Arc<LazyClient>, patience: Duration) -> Client {
        Client { runtime, client, patience, fails: AtomicBool::new(false) }
    }

    /// Tells how a try ended, where that is news. The exporter itself says only that it failed.
    fn tell(&self, address: &str, failure: Option<&str>) {
        let is_news = self.fails.swap(failure.is_some(), Ordering::Relaxed) != failure.is_some();
        match failure {
            Some(failure) if is_news => tracing::error!(
                address,
                failure,
                "traces or metrics are not taken; the variables OTEL_EXPORTER_OTLP_… say where and how they are sent"
            ),
            None if is_news => tracing::warn!(address, "traces and metrics are taken again"),
            Some(_) | None => {}
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (client, patience) = (Arc::clone(&self.client), self.patience);
        let address = without_secrets(&request.uri().to_string());
        let sent = self.runtime.spawn(async move {
            let (parts, body) = request.into_parts();
            let call = client.get().await?.request(parts.method, parts.uri.to_string());
            let reply = call.headers(parts.headers).body(body).timeout(patience).send().await?;
            let mut response = Response::builder().status(reply.status());
            if let Some(headers) = response.headers_mut() {
                *headers = reply.headers().clone();
            }
            Ok::<_, HttpError>(response.body(read_capped(reply, MOST).await?)?)
        });
        let sent = sent.await?;
        match &sent {
            Ok(reply) if reply.status().is_success() => self.tell(&address, None),
            Ok(reply) => {
                let said = String::from_utf8_lossy(reply.body());
                self.tell(&address, Some(&format!("{}: {}", reply.status(), shorten(said.trim(), 200))));
            }
            Err(error) => self.tell(&address, Some(&in_one(&**error))),
        }
        sent
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use opentelemetry::InstrumentationScope;
    use opentelemetry::trace::{Event, SpanContext, SpanId, SpanKind};
    use opentelemetry_sdk::trace::{SpanEvents, SpanLinks};

    use super::*;

    fn span(name: &'static str, fields: &[(&'static str, &str)], content: &[(&'static str, &str)]) -> SpanData {
        let pairs = |pairs: &[(&'static str, &str)]| {
            pairs.iter().map(|(name, value)| KeyValue::new(*name, (*value).to_owned())).collect::<Vec<_>>()
        };
        let mut events = SpanEvents::default();
        if !content.is_empty() {
            events.events.push(Event::new("event", SystemTime::now(), pairs(content), 0));
        }
        SpanData {
            span_context: SpanContext::empty_context(),
            parent_span_id: SpanId::INVALID,
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: name.into(),
            start_time: SystemTime::now(),
            end_time: SystemTime::now(),
            attributes: pairs(fields),
            dropped_attributes_count: 0,
            events,
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: InstrumentationScope::default(),
        }
    }

    #[test]
    fn spans_get_the_names_of_the_conventions() {
        for (ours, fields, content, name, theirs) in [
            ("request", &[("method", "POST"), ("route", "/runs/{id}")][..], &[][..], "POST /runs/{id}", "http.route"),
            ("run", &[("pipeline", "rewoo")], &[], "invoke_workflow rewoo", "gen_ai.workflow.name"),
            ("plan", &[], &[], "plan", "gen_ai.operation.name"),
            ("model_call", &[("model", "m")], &[("messages", "[]")], "chat m", "gen_ai.input.messages"),
            ("tool", &[("tool", "plot")], &[("arguments", "{}")], "execute_tool plot", "gen_ai.tool.call.arguments"),
            ("task", &[("task", "image-to-text")], &[], "task image-to-text", "jarvis.task.type"),
            ("endpoint", &[("streamed", "true")], &[], "endpoint", "jarvis.streamed"),
        ] {
            let mut span = span(ours, fields, content);
            named(&mut span);
            assert_eq!(span.name, name);
            let keys: Vec<&str> = span.attributes.iter().map(|field| field.key.as_str()).collect();
            assert!(keys.contains(&theirs), "{name}: {keys:?}");
            assert!(span.events.is_empty() && span.status == Status::Unset);
        }
        let mut failed = span("task", &[("error", "timeout")], &[]);
        named(&mut failed);
        assert_eq!((failed.attributes[0].key.as_str(), &failed.status), ("error.type", &Status::error("")));
    }
}
