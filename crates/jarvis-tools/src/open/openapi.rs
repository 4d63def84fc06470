//! Entries for operations of HTTP APIs.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jarvis_catalogue::openapi::{ApiDocument, Operation, Schema, SchemaKind};
use serde_json::{Map, Value, json};
use url::Url;

use super::{OpenError, Opening, blocking, complete, timeout_of};
use crate::config::{OpenApiEntry, ToolEntry};
use crate::openapi::{OpenApiCaller, OpenApiConfig};
use crate::untrusted::{self, Found, MAX_DESCRIPTION};
use crate::{CallError, Callable, Observation, Scope, ToolSource, ToolSpec, template};

/// How deep schemas are told.
const MAX_DEPTH: usize = 8;

impl Opening {
    pub(super) async fn add_openapi(
        &mut self,
        called: &str,
        entry: &ToolEntry,
        api: &OpenApiEntry,
    ) -> Result<(), OpenError> {
        let invalid = |reason: String| OpenError::Invalid { entry: called.to_owned(), reason };
        let timeout = timeout_of(called, entry.timeout_s)?;
        let document = match &api.document {
            Some(path) => {
                let path = self.path(path);
                let shown = path.clone();
                let failed = |source| OpenError::Document { entry: called.to_owned(), path: shown, source };
                Some(Arc::new(blocking(called, move || ApiDocument::read(&path), failed).await?))
            }
            None => None,
        };
        let base = match &api.base_url {
            Some(address) => Url::parse(address)
                .ok()
                .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
                .ok_or_else(|| invalid("its `base_url` is not a web address".into()))?,
            None => document
                .as_deref()
                .and_then(OpenApiCaller::address)
                .ok_or_else(|| OpenError::Missing { entry: called.to_owned(), missing: "`openapi.base_url`".into() })?,
        };
        let key = self.token(called, api.api_key_env.as_deref());
        let config = OpenApiConfig { key, timeout, ..OpenApiConfig::new(base) };
        let caller = Arc::new(OpenApiCaller::new(document.clone(), config));
        let tool = |spec: ToolSpec, api: String| {
            Arc::new(OpenApiTool { spec, caller: Arc::clone(&caller), api, observation: entry.observation.clone() })
        };
        let whole = timeout + Duration::from_secs(1);
        match (&document, &api.operation) {
            (None, None) => {
                let missing = "`openapi.document` or `openapi.operation`".to_owned();
                Err(OpenError::Missing { entry: called.to_owned(), missing })
            }
            (None, Some(operation)) => {
                let spec = bare(entry);
                complete(called, &spec)?;
                self.take(called, tool(spec, operation.clone()), whole, entry.serves.clone())
            }
            (Some(document), Some(wanted)) => {
                let operation = document.operation(wanted).ok_or_else(|| {
                    let wanted = jarvis_net::text::shorten(wanted, 120);
                    invalid(format!("the document has no operation `{wanted}`"))
                })?;
                let mut spec = bare(entry);
                self.describe(&mut spec, entry, operation);
                complete(called, &spec)?;
                self.take(called, tool(spec, operation.usage()), whole, entry.serves.clone())
            }
            (Some(document), None) => {
                if entry.input_schema.is_some() || entry.example.is_some() {
                    return Err(invalid("`input_schema` and `example` need one `openapi.operation`".into()));
                }
                for operation in &document.operations {
                    let mut spec = bare(entry);
                    let words =
                        [&operation.summary, &operation.description].map(|text| untrusted::first_sentence(text));
                    let about = words.into_iter().find(|words| !words.is_empty()).unwrap_or_else(|| operation.usage());
                    if !spec.name.is_empty() {
                        spec.name = format!("{}.{}", spec.name, id_of(operation));
                    }
                    if !spec.when.trim().is_empty() {
                        spec.when = format!("{}; this one: {about}", spec.when.trim_end_matches(['.', ' ']));
                    }
                    // The entry's description is of the whole API.
                    spec.description.clear();
                    self.describe(&mut spec, entry, operation);
                    if spec.description.is_empty() {
                        spec.description = about;
                    }
                    complete(called, &spec)?;
                    self.take(called, tool(spec, operation.usage()), whole, entry.serves.clone())?;
                }
                Ok(())
            }
        }
    }

    /// Puts what the document says where the configuration says nothing.
    fn describe(&mut self, spec: &mut ToolSpec, entry: &ToolEntry, operation: &Operation) {
        let mut found = Found::default();
        if spec.description.trim().is_empty() {
            let text = if operation.summary.is_empty() { &operation.description } else { &operation.summary };
            spec.description = untrusted::clean(text, MAX_DESCRIPTION, &mut found);
        }
        if entry.input_schema.is_none() {
            let schema = input_schema(operation);
            spec.input_schema = untrusted::clean_schema(&schema, &mut found).unwrap_or_else(|| {
                // The names at least: what they may be is checked when the tool is called.
                let names = operation.parameters.iter().map(|one| (one.name.clone(), json!({})));
                json!({"type": "object", "properties": names.collect::<Map<_, _>>()})
            });
        }
        if entry.example.is_none() {
            spec.example = example(operation);
        }
        if let Some(words) = found.words() {
            self.warnings.push(format!("`{}`: {words}", spec.name));
        }
    }
}

/// What the entry itself says.
fn bare(entry: &ToolEntry) -> ToolSpec {
    ToolSpec {
        name: entry.name.trim().to_owned(),
        description: entry.description.clone(),
        when: entry.when.clone(),
        input_schema: entry.input_schema.clone().unwrap_or_default(),
        example: entry.example.clone().unwrap_or_default(),
        source: ToolSource::OpenApi,
    }
}

/// An operation's id as part of a name; made of method and path where the document has none.
fn id_of(operation: &Operation) -> String {
    let text = if operation.id.is_empty() { operation.usage().to_lowercase() } else { operation.id.clone() };
    let mut id = String::new();
    for c in text.chars().take(80) {
        if c.is_alphanumeric() || matches!(c, '_' | '-' | '.') {
            id.push(c);
        } else if !id.ends_with('_') {
            id.push('_');
        }
    }
    id.trim_matches('_').to_owned()
}

/// The JSON Schema of what an operation takes.
fn input_schema(operation: &Operation) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let optional_body = operation.body.as_ref().is_some_and(|body| !body.required);
    for parameter in &operation.parameters {
        let mut schema = schema_json(&parameter.schema, 0);
        if let (false, Some(fields)) = (parameter.description.is_empty(), schema.as_object_mut()) {
            fields.insert("description".into(), parameter.description.clone().into());
        }
        let in_body = parameter.location == jarvis_catalogue::openapi::Location::Body;
        if parameter.required && !(in_body && optional_body) {
            required.push(Value::from(parameter.name.as_str()));
        }
        properties.insert(parameter.name.clone(), schema);
    }
    json!({"type": "object", "properties": properties, "required": required})
}

/// An input made up: what must be given, or the first thing that can be.
fn example(operation: &Operation) -> Value {
    let must = operation.parameters.iter().filter(|parameter| parameter.required);
    let fields: Map<String, Value> =
        must.map(|parameter| (parameter.name.clone(), parameter.schema.sample(&parameter.name))).collect();
    match operation.parameters.first() {
        Some(first) if fields.is_empty() => json!({ first.name.as_str(): first.schema.sample(&first.name) }),
        Some(_) | None => Value::Object(fields),
    }
}

/// A schema as JSON Schema.
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
    put("description", text(&schema.description));
    put("enum", (!schema.enumeration.is_empty()).then(|| schema.enumeration.clone().into()));
    put("default", schema.default.clone());
    put("examples", schema.example.clone().map(|example| json!([example])));
    put("minimum", schema.minimum.map(number));
    put("maximum", schema.maximum.map(number));
    if depth < MAX_DEPTH {
        put("items", schema.items.as_ref().map(|items| schema_json(items, depth + 1)));
        let properties: Map<String, Value> =
            schema.properties.iter().map(|(name, one)| (name.clone(), schema_json(one, depth + 1))).collect();
        put("properties", (!properties.is_empty()).then(|| properties.into()));
        put("required", (!schema.required.is_empty()).then(|| schema.required.clone().into()));
    }
    Value::Object(fields)
}

/// A bound, whole where it is.
fn number(bound: f64) -> Value {
    if bound.fract() == 0.0 && bound.abs() < 9e15 { json!(bound as i64) } else { json!(bound) }
}

/// An operation as a tool.
struct OpenApiTool {
    spec: ToolSpec,
    caller: Arc<OpenApiCaller>,
    /// The operation, by method and path.
    api: String,
    observation: Option<String>,
}

#[async_trait]
impl Callable for OpenApiTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, input: &Value, _scope: &Scope) -> Result<Observation, CallError> {
        let arguments = input.as_object().cloned().unwrap_or_default();
        let mut observation = self.caller.call_json(&self.api, &arguments).await?;
        if let (Some(template), Some(answer)) = (&self.observation, &observation.value) {
            observation.text = template::fill(template, answer);
        }
        Ok(observation)
    }
}
