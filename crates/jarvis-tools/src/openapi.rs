//! Calls of a REST API, made for real: arguments become a request, and the answer becomes text.
//!
//! With the API's document arguments are checked before anything is sent. Without one, endpoints are known by method and
//! path alone. The address is the operator's; a model fills in placeholders, queries and bodies, and an argument never
//! leaves its place. Redirects are not followed, so that the key goes nowhere else.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jarvis_catalogue::openapi::{
    ApiDocument, ArgumentFault, Body, KeyPlace, Location, Operation, Parameter, Schema, SchemaKind, Target,
};
use jarvis_plan::Effect;
use jarvis_plan::{ErrorCode, TaskError};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use url::Url;

use crate::service::{Reply, Service, join};
use crate::{
    Observation, Registry, RegistryError, Scope, Tool, ToolAddress, ToolError, ToolErrorKind, ToolSource, ToolSpec,
    names, template, untrusted,
};
use jarvis_net::http::Route;
use jarvis_net::policy::ServiceUrl;
use jarvis_net::retry::Retries;
use jarvis_net::text::{Secret, shorten};
use jarvis_store::sniff;

/// Retries of a call after a transient failure.
const MAX_RETRIES: usize = 3;

/// The longest that a service may make us wait between two tries.
const MAX_WAIT: Duration = Duration::from_secs(20);

const MAX_DEPTH: usize = 8;

/// How an API is called. `Debug` leaves out what may be secret.
#[derive(Debug, Clone)]
pub struct OpenApiConfig {
    /// Its address, in place of the document's: `https://api.example.org/v1`.
    pub base: ServiceUrl,
    /// Its key, if it asks for one.
    pub key: Option<Secret>,
    /// Where the key goes, in place of the document's.
    pub key_place: Option<KeyPlace>,
    /// The longest one try may take.
    pub timeout: Duration,
    /// The largest answer that is read, in bytes.
    pub max_bytes: u64,
    /// The first wait before another try; it doubles each time.
    pub first_wait: Duration,
    /// The header that takes the key of a call, where the service knows a call by it and changes nothing twice.
    pub key_header: Option<HeaderName>,
}

impl OpenApiConfig {
    /// The usual settings for an address: 30 s a try, 8 MiB an answer.
    pub fn new(base: Url) -> OpenApiConfig {
        OpenApiConfig {
            base: base.into(),
            key: None,
            key_place: None,
            timeout: Duration::from_secs(30),
            max_bytes: 8 << 20,
            first_wait: Duration::from_millis(500),
            key_header: None,
        }
    }
}

/// The client of one API.
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

    fn request(&self, api: &str, arguments: &Map<String, Value>) -> Result<(Operation, Target), ToolError> {
        let operation = match &self.document {
            Some(document) => document.operation(api).cloned().ok_or_else(|| unknown(api)),
            None => named(api, arguments).ok_or_else(|| unknown(api)),
        }?;
        let target = operation.target(arguments).map_err(|faults| bad_input(&operation, &faults))?;
        Ok((operation, target))
    }

    async fn send(&self, operation: &Operation, target: &Target, key: Option<&str>) -> Result<Reply, ToolError> {
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
        if let (Some(name), Some(Ok(value))) = (&self.config.key_header, key.map(HeaderValue::try_from)) {
            headers.insert(name, value);
        }
        let method =
            reqwest::Method::from_bytes(operation.method.as_bytes()).map_err(|_| unknown(&operation.usage()))?;
        let request = self.service.request(method, url).await.map_err(|error| self.failed(&error))?;
        let request = request.headers(headers);
        let request = match &target.body {
            None => request,
            Some((media_type, body)) => {
                let text = match body {
                    body if media_type.contains("json") => body.to_string(),
                    body if media_type.starts_with("application/x-www-form-urlencoded") => form(body),
                    Value::String(text) => text.clone(),
                    body => body.to_string(),
                };
                request.header(reqwest::header::CONTENT_TYPE, media_type).body(text)
            }
        };
        self.service.send(request).await.map_err(|error| self.failed(&error))
    }

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

    fn failed(&self, error: &TaskError) -> ToolError {
        let kind = match error.code {
            ErrorCode::Timeout => ToolErrorKind::Timeout,
            ErrorCode::NotConfigured => ToolErrorKind::Unavailable,
            _ => ToolErrorKind::Transport,
        };
        ToolError::new(kind, self.redact(&error.message))
    }

    fn redact(&self, text: &str) -> String {
        Secret::redact_from(self.config.key.as_ref(), text)
    }

    fn read(&self, reply: &Reply) -> Result<Observation, ToolError> {
        let status = reply.status.as_u16();
        if reply.status.is_success() {
            let observation = Observation { value: reply.json.clone(), ..Observation::text(text_of(reply)) };
            return Ok(observation.cleaned(|text| self.redact(text)));
        }
        let text = || {
            let is_text = sniff::sniff(&reply.body).is_some_and(|found| found.extension == "txt");
            let text = is_text.then(|| String::from_utf8_lossy(&reply.body).into_owned());
            text.filter(|text| !text.trim().is_empty())
        };
        let words = reply.error_message().or_else(text).or_else(|| Some(reply.json.as_ref()?.to_string()));
        let words = words.map_or_else(
            || reply.status.canonical_reason().unwrap_or("an error").to_owned(),
            |words| shorten(&words, 400),
        );
        let kind = match status {
            401 | 403 => ToolErrorKind::Unauthorized,
            429 => ToolErrorKind::TooManyRequests,
            400 | 422 => ToolErrorKind::InvalidInput,
            300..=399 | 500..=599 => ToolErrorKind::Unavailable,
            _ => ToolErrorKind::Failed,
        };
        let what = match status {
            300..=399 => "the service redirects elsewhere, which is not followed",
            _ => kind.sentence(),
        };
        Err(ToolError::new(kind, self.redact(&format!("{what} ({status}): {words}"))))
    }

    /// Calls an endpoint, named as `GET /movie/{movie_id}` or by its `operationId`. Only what reads is called again after a
    /// lost answer.
    ///
    /// # Errors
    /// When there is no such endpoint, the arguments are invalid or the call fails.
    pub async fn call(
        &self,
        api: &str,
        arguments: &Map<String, Value>,
        effect: Effect,
    ) -> Result<Observation, ToolError> {
        self.call_with_key(api, arguments, effect, None).await
    }

    /// The same with the key of the call. Where the service takes keys, a call that changes something is called again after a lost
    /// answer too.
    ///
    /// # Errors
    /// As [`OpenApiCaller::call`].
    pub async fn call_with_key(
        &self,
        api: &str,
        arguments: &Map<String, Value>,
        effect: Effect,
        key: Option<&str>,
    ) -> Result<Observation, ToolError> {
        let (operation, target) = self.request(api, arguments)?;
        // What changes something may have been done although the answer was lost; only 429 says that it was not.
        let reads = effect == Effect::Reads || (key.is_some() && self.config.key_header.is_some());
        let attempt = || async {
            let sent = self.send(&operation, &target, key).await;
            let transient = match &sent {
                Ok(reply) => match reply.status.as_u16() {
                    429 => true,
                    502..=504 => reads,
                    _ => false,
                },
                Err(error) => reads && error.kind.is_retryable(),
            };
            if transient { Err(sent) } else { Ok(sent) }
        };
        let retries = Retries { max: MAX_RETRIES, first_pause: self.config.first_wait, ..Retries::default() };
        let asked = |sent: &Result<Reply, ToolError>| sent.as_ref().ok()?.retry_after;
        let pause = |sent: &_, scheduled| Some(asked(sent).unwrap_or(scheduled)).filter(|pause| *pause <= MAX_WAIT);
        let sent = match retries.run(attempt, pause).await {
            Ok(sent) | Err(sent) => sent?,
        };
        self.read(&sent)
    }
}

/// A success as text: JSON compact, text as it is, the rest described.
fn text_of(reply: &Reply) -> String {
    if let Some(json) = &reply.json {
        return json.to_string();
    }
    if reply.body.iter().all(u8::is_ascii_whitespace) {
        return String::new();
    }
    let found = sniff::sniff(&reply.body);
    if found.is_some_and(|found| matches!(found.extension, "txt" | "json")) {
        return String::from_utf8_lossy(&reply.body).into_owned();
    }
    format!("[not text: {}, {} bytes]", sniff::describe(&reply.body), reply.body.len())
}

/// An operation of an API as a tool.
pub struct OpenApiTool {
    spec: ToolSpec,
    caller: Arc<OpenApiCaller>,
    /// The operation, by method and path or by its id.
    api: String,
    /// The template of the text, where the answer is JSON.
    observation: Option<String>,
}

impl OpenApiTool {
    /// The operation that a caller knows by a name, as a tool.
    pub fn new(spec: ToolSpec, caller: Arc<OpenApiCaller>, api: String, observation: Option<String>) -> OpenApiTool {
        OpenApiTool { spec, caller, api, observation }
    }
}

#[async_trait]
impl Tool for OpenApiTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, input: &Value, scope: &Scope) -> Result<Observation, ToolError> {
        let arguments = input.as_object().cloned().unwrap_or_default();
        let called = self.caller.call_with_key(&self.api, &arguments, self.spec.effect, scope.key.as_deref());
        let mut observation = called.await?;
        if let (Some(template), Some(answer)) = (&self.observation, &observation.value) {
            observation.text = template::fill(template, answer);
        }
        Ok(observation)
    }

    fn takes_key(&self) -> bool {
        self.caller.config.key_header.is_some()
    }

    fn address(&self) -> ToolAddress {
        ToolAddress::Url(self.caller.config.base.to_string())
    }
}

impl OpenApiCaller {
    /// Adds the API's operations to a registry, each call with that much time. They are known by their ids, by method and
    /// path, and by the names in `apis` too; without a document the API has the operations in `apis` and no others.
    ///
    /// # Errors
    /// Never: names are made so that they are free, and descriptions so that they are whole.
    pub fn add_to<'a>(
        self: &Arc<Self>,
        registry: &mut Registry,
        apis: impl IntoIterator<Item = &'a str>,
        timeout: Duration,
    ) -> Result<(), RegistryError> {
        let mut add = |spec: ToolSpec, api: String| {
            let name = registry.free_name(&spec.name);
            registry.alias(&api, &name);
            let spec = ToolSpec { name, ..spec };
            registry.add_with(Arc::new(OpenApiTool::new(spec, Arc::clone(self), api, None)), timeout)
        };
        let Some(document) = &self.document else {
            for api in apis {
                let effect = effect_of(api.split_whitespace().next().unwrap_or_default());
                add(ToolSpec { effect, ..described(api, api, json!({"type": "object"}), json!({})) }, api.to_owned())?;
            }
            return Ok(());
        };
        for operation in &document.operations {
            let (about, usage) = (about(operation), operation.usage());
            let spec = described(&id_of(operation), &about, input_schema(operation), example(operation));
            let (effect, output_schema) = (effect_of(&operation.method), output_schema(document, operation));
            add(ToolSpec { effect, output_schema, ..spec }, usage)?;
        }
        for operation in &document.operations {
            if let (false, Some(name)) = (operation.id.is_empty(), registry.named(&operation.usage())) {
                registry.alias(&operation.id, &name);
            }
        }
        for api in apis {
            if let Some(name) = document.operation(api).and_then(|operation| registry.named(&operation.usage())) {
                registry.alias(api, &name);
            }
        }
        Ok(())
    }
}

/// What an operation does to the world, by its method (RFC 9110, 9.2.1: safe methods).
pub(crate) fn effect_of(method: &str) -> Effect {
    match method.to_ascii_uppercase().as_str() {
        "GET" | "HEAD" | "OPTIONS" => Effect::Reads,
        "DELETE" => Effect::Destroys,
        _ => Effect::Writes,
    }
}

/// What an operation does, in the first sentence of the document's words.
pub(crate) fn about(operation: &Operation) -> String {
    let words = [&operation.summary, &operation.description].map(|text| untrusted::first_sentence(text));
    words.into_iter().find(|words| !words.is_empty()).unwrap_or_else(|| operation.usage())
}

fn described(name: &str, about: &str, input_schema: Value, example: Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: about.to_owned(),
        when: format!("this is wanted: {about}"),
        input_schema,
        example,
        output_schema: None,
        effect: Effect::Writes,
        source: ToolSource::OpenApi,
    }
}

/// An operation's id as part of a name; made of method and path where the document has none.
pub(crate) fn id_of(operation: &Operation) -> String {
    let text = if operation.id.is_empty() { operation.usage().to_lowercase() } else { operation.id.clone() };
    let text: String = text.chars().take(80).map(|c| if c == '/' { ' ' } else { c }).collect();
    names::tool_name(&text)
}

pub(crate) fn input_schema(operation: &Operation) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let optional_body = operation.body.as_ref().is_some_and(|body| !body.required);
    for parameter in &operation.parameters {
        let mut schema = schema_json(&parameter.schema, 0);
        if let (false, Some(fields)) = (parameter.description.is_empty(), schema.as_object_mut()) {
            fields.insert("description".into(), parameter.description.clone().into());
        }
        let in_body = parameter.location == Location::Body;
        if parameter.required && !(in_body && optional_body) {
            required.push(Value::from(parameter.name.as_str()));
        }
        properties.insert(parameter.name.clone(), schema);
    }
    json!({"type": "object", "properties": properties, "required": required})
}

/// What an operation answers when all is well, where the document says it in JSON.
pub(crate) fn output_schema(document: &ApiDocument, operation: &Operation) -> Option<Value> {
    let response = document.response(operation);
    let schema = response.schema.filter(|_| response.media_type.contains("json"))?;
    Some(schema_json(&schema, 0)).filter(|schema| schema.as_object().is_some_and(|fields| !fields.is_empty()))
}

/// An input made up: what must be given, or the first thing that can be.
pub(crate) fn example(operation: &Operation) -> Value {
    let must = operation.parameters.iter().filter(|parameter| parameter.required);
    let fields: Map<String, Value> =
        must.map(|parameter| (parameter.name.clone(), parameter.schema.sample(&parameter.name))).collect();
    match operation.parameters.first() {
        Some(first) if fields.is_empty() => json!({ first.name.as_str(): first.schema.sample(&first.name) }),
        Some(_) | None => Value::Object(fields),
    }
}

fn schema_json(schema: &Schema, depth: usize) -> Value {
    let mut fields = Map::new();
    if schema.kind != SchemaKind::Any && !schema.loose {
        let word = schema.kind.word();
        fields.insert("type".into(), if schema.nullable { json!([word, "null"]) } else { word.into() });
    }
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            fields.insert(name.to_owned(), value);
        }
    };
    let text = |text: &str| (!text.is_empty()).then(|| Value::from(text));
    put("format", text(&schema.format));
    put("contentMediaType", text(&schema.media_type));
    put("contentEncoding", text(&schema.encoding));
    put("description", text(&schema.description));
    put("enum", (!schema.enumeration.is_empty()).then(|| schema.enumeration.clone().into()));
    put("default", schema.default.clone());
    put("examples", schema.example.clone().map(|example| json!([example])));
    put("minimum", schema.minimum.map(number));
    put("maximum", schema.maximum.map(number));
    for (word, value) in &schema.checks {
        put(word, Some(value.clone()));
    }
    if depth < MAX_DEPTH {
        put("items", schema.items.as_ref().map(|items| schema_json(items, depth + 1)));
        let properties: Map<String, Value> =
            schema.properties.iter().map(|(name, one)| (name.clone(), schema_json(one, depth + 1))).collect();
        put("properties", (!properties.is_empty()).then(|| properties.into()));
        put("required", (!schema.required.is_empty()).then(|| schema.required.clone().into()));
    }
    Value::Object(fields)
}

fn number(bound: f64) -> Value {
    if bound.fract() == 0.0 && bound.abs() < 9e15 { json!(bound as i64) } else { json!(bound) }
}

fn unknown(api: &str) -> ToolError {
    ToolError::new(ToolErrorKind::UnknownTool, format!("there is no API `{}`", shorten(api, 120)))
}

fn bad_input(operation: &Operation, faults: &[ArgumentFault]) -> ToolError {
    let reasons: Vec<String> = faults.iter().take(8).map(ToString::to_string).collect();
    ToolError::new(ToolErrorKind::InvalidInput, format!("{}: {}", operation.usage(), reasons.join("; ")))
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
    let mut operation = Operation { method, path: path.to_owned(), ..Operation::default() };
    let parameter = |name: &str, location: Location, kind: SchemaKind| {
        Parameter::new(name, location, location == Location::Path, Schema { kind, ..Schema::default() })
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
