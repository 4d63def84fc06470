//! Where a call stands in a trace, as W3C's Trace Context writes it: told to whoever is called, and taken from whoever calls.
//!
//! It knows no exporter. Whoever exports traces installs a [`Carrier`]; without one there is no context, and nothing is sent.

use std::sync::OnceLock;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tracing::Span;

/// The target of what was said and done, word for word, at the level `trace`: for traces whose readers asked for it, and for no log.
pub const CONTENT: &str = "jarvis::content";

/// The names of its fields: headers of HTTP, metadata of gRPC, members of `_meta` in MCP.
pub const FIELDS: [&str; 2] = ["traceparent", "tracestate"];

/// A place in a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceContext([Option<String>; 2]);

/// Knows which place in a trace a span has.
pub trait Carrier: Send + Sync {
    /// The place of a span; an empty one where it is not traced.
    fn place(&self, span: &Span) -> TraceContext;

    /// Puts a span below a place, unless somebody asked for its own before.
    fn put(&self, span: &Span, below: &TraceContext);
}

static CARRIER: OnceLock<Box<dyn Carrier>> = OnceLock::new();

/// Has traces go over calls from now on. The first carrier stays.
pub fn carry(carrier: Box<dyn Carrier>) {
    let _ = CARRIER.set(carrier);
}

impl TraceContext {
    /// Where the work of now stands.
    pub fn current() -> TraceContext {
        CARRIER.get().map(|carrier| carrier.place(&Span::current())).unwrap_or_default()
    }

    /// What a call brings, each of [`FIELDS`] by its name.
    pub fn read<'a>(field: impl Fn(&'static str) -> Option<&'a str>) -> TraceContext {
        // Nobody asks for it where no traces are exported.
        match CARRIER.get() {
            Some(_) => TraceContext(FIELDS.map(|name| field(name).map(str::to_owned))),
            None => TraceContext::default(),
        }
    }

    /// What the headers of a call bring.
    pub fn of_headers(headers: &HeaderMap) -> TraceContext {
        TraceContext::read(|name| headers.get(name)?.to_str().ok())
    }

    /// Whether it is no place.
    pub fn is_empty(&self) -> bool {
        self.0[0].is_none()
    }

    /// Its fields with their values.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        FIELDS.into_iter().zip(&self.0).filter_map(|(name, value)| Some((name, value.as_deref()?)))
    }

    /// The same as headers.
    pub fn headers(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        self.fields()
            .filter_map(|(name, value)| Some((HeaderName::from_static(name), HeaderValue::from_str(value).ok()?)))
    }

    /// Puts a span below it, whose own place nobody asked for yet.
    pub fn adopt(&self, span: Span) -> Span {
        if let Some(carrier) = CARRIER.get().filter(|_| !self.is_empty()) {
            carrier.put(&span, self);
        }
        span
    }
}

impl FromIterator<(String, String)> for TraceContext {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(fields: T) -> TraceContext {
        let mut context = TraceContext::default();
        for (name, value) in fields {
            if let Some(at) = FIELDS.iter().position(|field| *field == name)
                && let Some(place) = context.0.get_mut(at)
                && !value.is_empty()
            {
                *place = Some(value);
            }
        }
        context
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_kept_by_name_and_nothing_else_is() {
        let given = [("tracestate", ""), ("baggage", "user=1"), ("traceparent", "00-a-b-01")];
        let context: TraceContext =
            given.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
        assert_eq!(context.fields().collect::<Vec<_>>(), [("traceparent", "00-a-b-01")]);
        assert_eq!(context.headers().count(), 1);
        assert_eq!(TraceContext::current().fields().count(), 0, "nobody carries it here");
    }
}
