//! Tools of the registry as performers of tasks: arguments become the input of a call, and what it gave the result.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jarvis_engine::{Job, Worker};
use jarvis_net::http::blocking;
use jarvis_net::sniff::sniff;
use jarvis_plan::{ErrorCode, Inference, Kind, Param, TaskError, Tool};
use jarvis_prompt::reader::{Want, read_json};
use jarvis_store::Media;
use jarvis_tools::{Artifact, CallError, CallFault, Observation, Registry, Scope, ToolSpec};
use serde_json::{Map, Value};

use crate::Inputs;

/// Performs tasks with the tools of a registry: the candidate's id is the tool's name.
#[derive(Debug)]
pub struct ToolWorker {
    registry: Arc<Registry>,
    inputs: Arc<Inputs>,
}

impl ToolWorker {
    /// A worker over a registry.
    pub fn new(registry: Arc<Registry>, inputs: Arc<Inputs>) -> ToolWorker {
        ToolWorker { registry, inputs }
    }

    /// The input of a call: each argument under the property of its name, as the type that the schema says. A text that the
    /// schema knows under another name goes to the only text that it asks for.
    async fn input(&self, spec: &ToolSpec, job: &Job) -> Result<Value, TaskError> {
        let properties = spec.input_schema.get("properties").and_then(Value::as_object);
        let required: Vec<&str> = match spec.input_schema.get("required").and_then(Value::as_array) {
            Some(names) => names.iter().filter_map(Value::as_str).collect(),
            None => Vec::new(),
        };
        let mut input = Map::new();
        let mut homeless = Vec::new();
        for (name, value) in &job.args {
            match properties.and_then(|properties| properties.get(name)) {
                Some(schema) => {
                    input.insert(name.clone(), typed(&self.portable(name, value).await?, schema));
                }
                None => homeless.push((name, value)),
            }
        }
        let missing: Vec<&str> = required.into_iter().filter(|name| !input.contains_key(*name)).collect();
        match (homeless.as_slice(), missing.as_slice()) {
            ([(name, value)], [property]) => {
                let schema = properties.and_then(|properties| properties.get(*property)).unwrap_or(&Value::Null);
                input.insert((*property).to_owned(), typed(&self.portable(name, value).await?, schema));
            }
            (homeless, _) => {
                for (name, value) in homeless {
                    input.insert((*name).clone(), Value::String(self.portable(name, value).await?));
                }
            }
        }
        Ok(Value::Object(input))
    }

    /// A value as others can read it: a medium of this machine becomes a data URL.
    async fn portable(&self, name: &str, value: &str) -> Result<String, TaskError> {
        let kind: Kind = name.parse().unwrap_or(Kind::Text);
        let here = kind.is_media() && !value.contains("://") && !value.starts_with("data:");
        if !here {
            return Ok(value.to_owned());
        }
        let bytes = self.inputs.bytes(value, kind).await?;
        let mime = sniff(&bytes).map_or("application/octet-stream", |found| found.mime);
        blocking(move || Ok(format!("data:{mime};base64,{}", STANDARD.encode(&bytes)))).await
    }
}

#[async_trait]
impl Worker for ToolWorker {
    async fn perform(&self, job: &Job) -> Result<Inference, TaskError> {
        let name = &job.candidate.id;
        let spec = self.registry.spec(name).ok_or_else(|| {
            TaskError::new(ErrorCode::NotConfigured, format!("there is no tool `{name}` here"))
                .hint("Add it to `tools` or `mcp_servers` in the configuration; `jarvis tools list` names those that there are")
        })?;
        let input = self.input(spec, job).await?;
        let scope = Scope { cancel: job.cancel.clone(), ..Scope::default() };
        let observation = self.registry.call(name, &input, &scope).await.map_err(|error| call_failed(&error))?;
        inference_of(observation, self.inputs.media()).await
    }
}

/// A value as the type that a schema says, where it is one: numbers, truth values, lists and objects are written as JSON in
/// plans. A list may be written as its items with commas between.
fn typed(value: &str, schema: &Value) -> Value {
    let is = |wanted: &str| match schema.get("type") {
        Some(Value::String(name)) => name == wanted,
        Some(Value::Array(names)) => names.iter().any(|name| name == wanted),
        _ => false,
    };
    let text = || Value::String(value.to_owned());
    if is("string") {
        return text();
    }
    let trimmed = value.trim();
    if is("integer") || is("number") || is("boolean") {
        return match serde_json::from_str::<Value>(&trimmed.to_lowercase()) {
            Ok(plain @ (Value::Number(_) | Value::Bool(_))) => plain,
            Ok(_) | Err(_) => text(),
        };
    }
    if is("array") {
        if let Ok(read) = read_json(trimmed, Want::Array)
            && trimmed.starts_with('[')
        {
            return read.value;
        }
        let items = schema.get("items").unwrap_or(&Value::Null);
        let parts = trimmed.split([',', '，', '、', ';', '；']).map(str::trim).filter(|part| !part.is_empty());
        return parts.map(|part| typed(part, items)).collect();
    }
    if is("object") {
        return read_json(trimmed, Want::Object).map_or_else(|_| text(), |read| read.value);
    }
    text()
}

/// A tool as plans know it: a parameter for each property of its input. Properties named `image`, `audio` or `video` take
/// media.
pub fn planned_tool(spec: &ToolSpec) -> Tool {
    let required = |name: &str| {
        let names = spec.input_schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|one| one == name))
    };
    let properties = spec.input_schema.get("properties").and_then(Value::as_object);
    let param = |(name, schema): (&String, &Value)| Param {
        name: name.clone(),
        kind: name.parse::<Kind>().ok().filter(|kind| kind.is_media()).unwrap_or(Kind::Text),
        required: required(name),
        description: schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
        schema: Some(schema.clone()),
    };
    let outputs = if jarvis_tools::local::draws(&spec.name) { vec![Kind::Image] } else { vec![Kind::Text] };
    Tool {
        params: properties.into_iter().flatten().map(param).collect(),
        example: Some(jarvis_plan::Example { scenario: spec.when.clone(), parameters: spec.example.clone() }),
        ..Tool::typed(&spec.name, &format!("{} Use it when {}", spec.description, spec.when), &[], &outputs)
    }
}

/// What a call gave as the result of a task; pictures and sounds go under the public root.
///
/// # Errors
/// When a file cannot be kept.
pub async fn inference_of(observation: Observation, media: &Arc<Media>) -> Result<Inference, TaskError> {
    let Observation { text, media: artifacts, .. } = observation;
    let mut inference = Inference::text(text);
    let mut images: Vec<String> = Vec::new();
    for artifact in artifacts {
        match keep(artifact, media).await? {
            Some((Kind::Image, url)) => images.push(url),
            Some((Kind::Audio, url)) => inference = inference.with("generated audio", url),
            Some((Kind::Video, url)) => inference = inference.with("generated video", url),
            Some((Kind::Text | Kind::Json, _)) | None => {}
        }
    }
    if let Some(last) = images.last().cloned() {
        inference = inference.with("generated image", last);
    }
    Ok(if images.len() > 1 { inference.with("images", images) } else { inference })
}

/// Puts a file under the public root; what is no medium is left out.
async fn keep(artifact: Artifact, media: &Arc<Media>) -> Result<Option<(Kind, String)>, TaskError> {
    let found = sniff(&artifact.bytes);
    let kinds = [Kind::Image, Kind::Audio, Kind::Video];
    let Some((found, kind)) = found.and_then(|found| Some((found, kinds.into_iter().find(|kind| found.fits(*kind))?)))
    else {
        return Ok(None);
    };
    let media = Arc::clone(media);
    let stored = blocking(move || {
        let stored = media.create(kind, found.extension, &artifact.bytes);
        stored.map_err(|error| TaskError::new(ErrorCode::Internal, format!("the file cannot be kept: {error}")))
    });
    Ok(Some((kind, stored.await?)))
}

/// A failed call as the failure of a task.
pub fn call_failed(error: &CallError) -> TaskError {
    let code = match error.kind {
        CallFault::NoSuchApi => ErrorCode::NotFound,
        CallFault::BadInput => ErrorCode::InvalidInput,
        CallFault::Timeout => ErrorCode::Timeout,
        CallFault::NotWorking | CallFault::Transport => ErrorCode::Unavailable,
        CallFault::Unauthorized | CallFault::Unsubscribed => ErrorCode::Unauthorized,
        CallFault::TooManyRequests | CallFault::RateLimit => ErrorCode::RateLimited,
        CallFault::Message => ErrorCode::Upstream,
    };
    TaskError::new(code, error.message.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testkit::{inputs, job};
    use jarvis_plan::Host;

    #[test]
    fn values_become_what_the_schema_says() {
        for (value, schema, want) in [
            ("5", json!({"type": "string"}), json!("5")),
            ("5", json!({"type": "integer"}), json!(5)),
            (" 2.5 ", json!({"type": "number"}), json!(2.5)),
            ("True", json!({"type": "boolean"}), json!(true)),
            ("many", json!({"type": "number"}), json!("many")),
            ("[1, 2]", json!({"type": "array"}), json!([1, 2])),
            ("1, 2", json!({"type": "array", "items": {"type": "number"}}), json!([1, 2])),
            ("苹果、梨", json!({"type": "array", "items": {"type": "string"}}), json!(["苹果", "梨"])),
            ("{\"a\": 1}", json!({"type": ["object", "null"]}), json!({"a": 1})),
            ("x", json!({}), json!("x")),
        ] {
            assert_eq!(typed(value, &schema), want, "{value} {schema}");
        }
    }

    #[tokio::test]
    async fn a_task_is_done_by_a_tool() {
        let mut registry = Registry::new();
        jarvis_tools::local::add_to(&mut registry).unwrap();
        let (_folder, inputs) = inputs();
        let worker = ToolWorker::new(Arc::new(registry), inputs);
        let made =
            worker.perform(&job(Host::Tool, "calculator", "calculator", &[("expression", "2*21")])).await.unwrap();
        assert_eq!(made.as_text().unwrap(), "42");
        // The only text that is asked for may be called `text` by a plan.
        let made = worker.perform(&job(Host::Tool, "calculator", "calculator", &[("text", "2*21")])).await.unwrap();
        assert_eq!(made.as_text().unwrap(), "42");
        let args = [("x", "苹果、梨"), ("y", "2, 1")];
        let made = worker.perform(&job(Host::Tool, "plot", "plot", &args)).await.unwrap();
        assert!(made.media(Kind::Image).is_some_and(|url| url.starts_with("/images/")), "{made:?}");
        let error = worker.perform(&job(Host::Tool, "nothing", "nothing", &[])).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::NotConfigured);
        let error = worker.perform(&job(Host::Tool, "plot", "plot", &[("x", "a,b"), ("y", "1")])).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidInput);
    }
}
