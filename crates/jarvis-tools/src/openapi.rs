//! Calls of a REST API, made for real: arguments become a request, and the answer becomes text.
//!
//! With the API's document arguments are checked before anything is sent. Without one, endpoints are known by method and
//! path alone. The address is the operator's; a model fills in placeholders, queries and bodies, and an argument never
//! leaves its place. Redirects are not followed, so that the key goes nowhere else.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jarvis_catalogue::openapi::{
    ApiDocument, ArgumentFault, Body, KeyPlace, Location, Operation, Parameter, Schema, SchemaKind, Target,
};
use jarvis_plan::{ErrorCode, TaskError};
use jarvis_prompt::literal::Literal;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use url::Url;

use crate::{CallError, CallFault, Observation, ToolCall, ToolCaller};
use jarvis_net::http::{Reply, Route, Service, join};
use jarvis_net::policy::shown;
use jarvis_net::sniff;
use jarvis_net::text::{Secret, shorten};

/// How often a call is tried again after a passing failure.
const MAX_RETRIES: u32 = 3;

/// The longest that a service may make us wait between two tries.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// What marks a text that was cut.
const CUT_MARK: &str = " … [cut]";

/// How an API is called. `Debug` leaves out what may be secret.
#[derive(Clone)]
pub struct OpenApiConfig {
    /// Its address, in place of the document's: `https://api.example.org/v1`.
    pub base: Url,
    /// Its key, if it asks for one.
    pub key: Option<Secret>,
    /// Where the key goes, in place of the document's.
    pub key_place: Option<KeyPlace>,
    /// The longest one try may take.
    pub timeout: Duration,
    /// The largest answer that is read, in bytes.
    pub max_bytes: u64,
    /// The longest text that is passed on, in characters.
    pub max_chars: usize,
    /// The first wait before another try; it doubles each time.
    pub first_wait: Duration,
}

impl OpenApiConfig {
    /// The usual settings for an address: 30 s a try, 8 MiB an answer, 20,000 characters of it passed on.
    pub fn new(base: Url) -> OpenApiConfig {
        OpenApiConfig {
            base,
            key: None,
            key_place: None,
            timeout: Duration::from_secs(30),
            max_bytes: 8 << 20,
            max_chars: 20_000,
            first_wait: Duration::from_millis(500),
        }
    }
}

impl fmt::Debug for OpenApiConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenApiConfig")
            .field("base", &shown(&self.base))
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// Calls the endpoints of one API. An API is named as `GET /movie/{movie_id}` or by its `operationId`; the tool's name does
/// not matter.
#[derive(Debug)]
pub struct OpenApiCaller {
    document: Option<Arc<ApiDocument>>,
    config: OpenApiConfig,
    service: Service,
    /// Where the key goes.
    place: KeyPlace,
}

impl OpenApiCaller {
    /// A caller for the API of a document, or, without one, for whatever endpoints are named. Nothing is sent yet.
    pub fn new(document: Option<Arc<ApiDocument>>, config: OpenApiConfig) -> OpenApiCaller {
        let declared = document.as_ref().and_then(|document| document.keys.first().cloned());
        let place = config.key_place.clone().or(declared).unwrap_or(KeyPlace::Bearer);
        let name = match &document {
            Some(document) => shorten(&document.title, 60),
            None => "the API".to_owned(),
        };
        let service = Service::new(name, config.timeout, config.max_bytes).route(Route::to(&config.base, None));
        OpenApiCaller { document, config, service, place }
    }

    /// The address that a document gives, when it is a whole one.
    pub fn address(document: &ApiDocument) -> Option<Url> {
        let whole = |address: &String| Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        document.servers.iter().find_map(whole)
    }

    /// The request that a call means, checked.
    fn request(&self, api: &str, arguments: &Map<String, Value>) -> Result<(Operation, Target), CallError> {
        let operation = match &self.document {
            Some(document) => document.operation(api).cloned().ok_or_else(|| unknown(api)),
            None => named(api, arguments).ok_or_else(|| unknown(api)),
        }?;
        let target = operation.target(arguments).map_err(|faults| bad_input(&operation, &faults))?;
        Ok((operation, target))
    }

    async fn send(&self, operation: &Operation, target: &Target) -> Result<Reply, CallError> {
        let url = self.address_of(target).map_err(|error| self.failed(&error))?;
        let mut headers = HeaderMap::new();
        for (name, value) in &target.headers {
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                headers.append(name, value);
            }
        }
        if let Some(key) = &self.config.key {
            let (name, value) = match &self.place {
                KeyPlace::Query(_) => (None, String::new()),
                KeyPlace::Header(name) => (HeaderName::try_from(name).ok(), key.expose().to_owned()),
                KeyPlace::Bearer => (Some(reqwest::header::AUTHORIZATION), format!("Bearer {}", key.expose())),
            };
            if let (Some(name), Ok(mut value)) = (name, HeaderValue::try_from(value)) {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
        }
        let method =
            reqwest::Method::from_bytes(operation.method.as_bytes()).map_err(|_| unknown(&operation.usage()))?;
        let request = self.service.request(method, url).await.map_err(|error| self.failed(&error))?;
        let request = request.headers(headers);
        let request = match &target.body {
            None => request,
            Some((media_type, body)) if media_type.contains("json") => {
                request.header(reqwest::header::CONTENT_TYPE, media_type).body(body.to_string())
            }
            Some((media_type, body)) if media_type.starts_with("application/x-www-form-urlencoded") => {
                request.header(reqwest::header::CONTENT_TYPE, media_type).body(form(body))
            }
            Some((media_type, body)) => {
                let text = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
                request.header(reqwest::header::CONTENT_TYPE, media_type).body(text)
            }
        };
        self.service.send(request).await.map_err(|error| self.failed(&error))
    }

    /// The whole address of a request.
    fn address_of(&self, target: &Target) -> Result<Url, TaskError> {
        // The path is encoded already; it goes below the base as it is.
        let mut url = join(&self.config.base, [])?;
        let path = format!("{}{}", url.path().trim_end_matches('/'), target.path);
        url.set_path(&path);
        let base_query = url.query().map(str::to_owned);
        let mut pairs: Vec<String> = base_query.into_iter().chain([target.query.clone()]).collect();
        if let (Some(key), KeyPlace::Query(name)) = (&self.config.key, &self.place) {
            let pair = url::form_urlencoded::Serializer::new(String::new()).append_pair(name, key.expose()).finish();
            pairs.push(pair);
        }
        pairs.retain(|pair| !pair.is_empty());
        url.set_query((!pairs.is_empty()).then(|| pairs.join("&")).as_deref());
        Ok(url)
    }

    /// An error of the transport in the words of calls.
    fn failed(&self, error: &TaskError) -> CallError {
        let kind = match error.code {
            ErrorCode::Timeout => CallFault::Timeout,
            ErrorCode::NotConfigured => CallFault::NotWorking,
            _ => CallFault::Transport,
        };
        CallError::new(kind, self.harmless(&error.message))
    }

    /// A text without the key.
    fn harmless(&self, text: &str) -> String {
        match &self.config.key {
            Some(key) => key.redact(text),
            None => text.to_owned(),
        }
    }

    /// The text of an answer, or what it tells of.
    fn read(&self, reply: &Reply) -> Result<Observation, CallError> {
        let status = reply.status.as_u16();
        if reply.status.is_success() {
            let observation = Observation { value: reply.json.clone(), ..Observation::text(self.text(reply)) };
            return Ok(observation.cleaned(|text| self.harmless(text)));
        }
        let words = reply.error_message().map(|words| shorten(&words, 400));
        let words = words.or_else(|| {
            let plain = sniff::sniff(&reply.body).is_some_and(|found| found.extension == "txt");
            let text = plain.then(|| String::from_utf8_lossy(&reply.body).into_owned())?;
            (!text.trim().is_empty()).then(|| shorten(&text, 400))
        });
        let words = words.or_else(|| Some(shorten(&reply.json.as_ref()?.to_string(), 400)));
        let reason = reply.status.canonical_reason().unwrap_or("an error");
        let words = words.unwrap_or_else(|| reason.to_owned());
        let (kind, what) = match status {
            401 | 403 => (CallFault::Unauthorized, "the service does not let us in"),
            429 => (CallFault::TooManyRequests, "the service takes no more calls now"),
            400 | 422 => (CallFault::BadInput, "the service refuses the arguments"),
            300..=399 => (CallFault::NotWorking, "the service redirects elsewhere, which is not followed"),
            500..=599 => (CallFault::NotWorking, "the service does not work"),
            _ => (CallFault::Message, "the service answers with an error"),
        };
        Err(CallError::new(kind, self.harmless(&format!("{what} ({status}): {words}"))))
    }

    /// A success as text: JSON compact, text as it is, the rest described.
    fn text(&self, reply: &Reply) -> String {
        if let Some(json) = &reply.json {
            return self.cut(self.harmless(&json.to_string()));
        }
        if reply.body.iter().all(u8::is_ascii_whitespace) {
            return String::new();
        }
        let found = sniff::sniff(&reply.body);
        if found.is_some_and(|found| matches!(found.extension, "txt" | "json")) {
            return self.cut(self.harmless(&String::from_utf8_lossy(&reply.body)));
        }
        format!("[not text: {}, {} bytes]", sniff::describe(&reply.body), reply.body.len())
    }

    fn cut(&self, text: String) -> String {
        match text.char_indices().nth(self.config.max_chars) {
            Some((at, _)) => format!("{}{CUT_MARK}", text.get(..at).unwrap_or_default()),
            None => text,
        }
    }
}

#[async_trait]
impl ToolCaller for OpenApiCaller {
    async fn call(&self, call: &ToolCall) -> Result<String, CallError> {
        Ok(self.call_json(&call.api, &Literal::fields_to_json(&call.arguments)).await?.text)
    }
}

impl OpenApiCaller {
    /// Calls an endpoint with arguments as JSON.
    ///
    /// # Errors
    /// As [`ToolCaller::call`].
    pub async fn call_json(&self, api: &str, arguments: &Map<String, Value>) -> Result<Observation, CallError> {
        let (operation, target) = self.request(api, arguments)?;
        let mut wait = self.config.first_wait;
        for tried in 0.. {
            let sent = self.send(&operation, &target).await;
            // What changes something may have been done although the answer was lost.
            let safe = matches!(operation.method.as_str(), "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS");
            let (again, asked) = match &sent {
                Ok(reply) => match reply.status.as_u16() {
                    429 | 503 => (true, reply.retry_after),
                    502 | 504 => (safe, reply.retry_after),
                    _ => (false, None),
                },
                Err(error) => (safe && error.kind.is_passing(), None),
            };
            let pause = asked.unwrap_or(wait);
            if !again || tried >= MAX_RETRIES || pause > MAX_WAIT {
                return self.read(&sent?);
            }
            tokio::time::sleep(pause).await;
            wait *= 2;
        }
        Err(CallError::new(CallFault::Transport, "the call was given up"))
    }
}

fn unknown(api: &str) -> CallError {
    CallError::new(CallFault::NoSuchApi, format!("there is no API `{}`", shorten(api, 120)))
}

fn bad_input(operation: &Operation, faults: &[ArgumentFault]) -> CallError {
    let reasons: Vec<String> = faults.iter().take(8).map(ToString::to_string).collect();
    CallError::new(CallFault::BadInput, format!("{}: {}", operation.usage(), reasons.join("; ")))
}

/// An operation of which only method and path are known: what is no placeholder goes into the query, or, for methods that
/// have one, into a JSON body.
fn named(api: &str, arguments: &Map<String, Value>) -> Option<Operation> {
    let (method, path) = api.trim().split_once(char::is_whitespace)?;
    let (method, path) = (method.to_ascii_uppercase(), path.trim());
    let known = ["GET", "HEAD", "DELETE", "OPTIONS", "POST", "PUT", "PATCH"];
    if !known.contains(&method.as_str()) || !path.starts_with('/') || path.contains(['?', '#', ' ']) {
        return None;
    }
    let in_query = matches!(method.as_str(), "GET" | "HEAD" | "DELETE" | "OPTIONS");
    let mut operation = Operation {
        method,
        path: path.to_owned(),
        id: String::new(),
        summary: String::new(),
        description: String::new(),
        parameters: Vec::new(),
        body: None,
        deprecated: false,
        public: false,
    };
    let parameter = |name: &str, location: Location, kind: SchemaKind| Parameter {
        name: name.to_owned(),
        location,
        required: location == Location::Path,
        description: String::new(),
        schema: Schema { kind, ..Schema::default() },
        explode: true,
        deprecated: false,
    };
    let mut parameters: Vec<Parameter> =
        operation.placeholders().into_iter().map(|name| parameter(name, Location::Path, SchemaKind::Text)).collect();
    let location = if in_query { Location::Query } else { Location::Body };
    for name in arguments.keys() {
        if !parameters.iter().any(|one| one.name == *name) {
            parameters.push(parameter(name, location, SchemaKind::Any));
        }
    }
    let has_body = parameters.iter().any(|one| one.location == Location::Body);
    operation.body = has_body.then(|| Body { media_type: "application/json".into(), required: true, whole: false });
    operation.parameters = parameters;
    Some(operation)
}

/// A body as a form.
fn form(body: &Value) -> String {
    let mut pairs = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in body.as_object().into_iter().flatten() {
        match value {
            Value::String(text) => pairs.append_pair(name, text),
            other => pairs.append_pair(name, &other.to_string()),
        };
    }
    pairs.finish()
}

#[cfg(test)]
mod tests;
