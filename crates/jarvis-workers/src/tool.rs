//! Tools of the registry as performers of tasks: arguments become the input of a call, and what it gave the result.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jarvis_catalogue::{DATA, TABLE, TaskOutput};
use jarvis_engine::{Job, Worker};
use jarvis_plan::{ErrorCode, Kind, Medium, Source, TaskError, Tool, medium, schema};
use jarvis_prompt::reader::{Want, read_json};
use jarvis_store::Media;
use jarvis_store::blocking;
use jarvis_store::sniff::sniff;
use jarvis_tools::{Artifact, Documents, Observation, Registry, Scope, ToolError, ToolErrorKind, ToolSpec};
use serde_json::{Map, Value};

use crate::Inputs;

/// Performs tasks with the tools of a registry: the candidate's id is the tool's name.
#[derive(Debug)]
pub struct ToolWorker {
    registry: Arc<Registry>,
    inputs: Arc<Inputs>,
}

impl ToolWorker {
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
                    input.insert(name.clone(), typed(self.portable(medium(name, schema), value).await?, schema));
                }
                None => homeless.push((name, value)),
            }
        }
        let missing: Vec<&str> = required.into_iter().filter(|name| !input.contains_key(*name)).collect();
        match (homeless.as_slice(), missing.as_slice()) {
            ([(_, value)], [property]) => {
                let schema = properties.and_then(|properties| properties.get(*property)).unwrap_or(&Value::Null);
                let value = self.portable(medium(property, schema), value).await?;
                input.insert((*property).to_owned(), typed(value, schema));
            }
            (homeless, _) => {
                for (name, value) in homeless {
                    let medium = medium(name, &Value::Null);
                    input.insert((*name).clone(), self.portable(medium, value).await?);
                }
            }
        }
        Ok(Value::Object(input))
    }

    /// A value as others can read it: a medium of this machine becomes a data URL. A path that the service opens itself stays.
    async fn portable(&self, medium: Medium, value: &Value) -> Result<Value, TaskError> {
        let Medium::Kind(kind) = medium else { return Ok(value.clone()) };
        let local = |path: &&str| !path.contains("://") && !path.starts_with("data:");
        let Some(path) = value.as_str().filter(local) else { return Ok(value.clone()) };
        let bytes = self.inputs.bytes(path, kind).await?;
        let mime = sniff(&bytes).map_or("application/octet-stream", |found| found.mime);
        blocking(move || Ok(format!("data:{mime};base64,{}", STANDARD.encode(&bytes)).into())).await
    }

    async fn output(&self, job: &Job) -> Result<TaskOutput, TaskError> {
        let name = &job.candidate.id;
        let spec = self.registry.spec(name).ok_or_else(|| {
            TaskError::new(ErrorCode::NotConfigured, format!("there is no tool `{name}` here"))
                .hint("Add it to `tools` or `mcp_servers` in the configuration; `jarvis tools list` names those that there are")
        })?;
        let input = self.input(spec, job).await?;
        let files = job.request.attachments.iter().filter(|file| matches!(file.source, Source::Public(_)));
        let scope = Scope {
            cancel: job.cancel.clone(),
            key: job.key(),
            documents: Documents::attached(&job.request),
            files: files.map(|file| (file.kind, file.as_arg().to_owned())).collect(),
        };
        let observation = self.registry.call(name, &input, &scope).await.map_err(|error| call_failed(&error))?;
        inference_of(observation, self.inputs.media()).await
    }
}

#[async_trait]
impl Worker for ToolWorker {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        self.output(job).await.map(Value::from)
    }
}

/// A text as the type that a schema asks for, where it can be read as that. Anything else stays as it is, and the registry
/// says what is wrong with it.
fn typed(value: Value, schema: &Value) -> Value {
    let list =
        value.as_str().filter(|text| text.trim_start().starts_with(['[', '{']) && !schema::takes(schema, &value));
    let read = list.and_then(|text| read_json(text, Want::Any).ok()).map(|read| read.value);
    schema::coerced(read.unwrap_or(value), schema)
}

/// A tool as plans know it, see [`Tool::of_schema`].
pub fn planned_tool(spec: &ToolSpec) -> Tool {
    let outputs = if jarvis_tools::local::draws(&spec.name) { vec![Kind::Image] } else { vec![Kind::Text] };
    let description = format!("{} Use it when {}", spec.description, spec.when);
    Tool {
        outputs,
        effect: spec.effect,
        output_schema: spec.output_schema.clone(),
        example: Some(jarvis_plan::Example { scenario: spec.when.clone(), parameters: spec.example.clone() }),
        ..Tool::of_schema(&spec.name, &description, &spec.input_schema)
    }
}

/// What a call gave as the result of a task; pictures and sounds go under the public root.
///
/// # Errors
/// When a file cannot be kept.
pub async fn inference_of(observation: Observation, media: &Arc<Media>) -> Result<TaskOutput, TaskError> {
    let Observation { text, media: artifacts, value } = observation;
    let said = serde_json::from_str::<Value>(&text).ok();
    let mut inference = TaskOutput::text(text);
    if let Some(data) = value.filter(|data| said.as_ref() != Some(data) && !data.is_string() && !data.is_null()) {
        inference = inference.with(DATA, data);
    }
    let mut images: Vec<String> = Vec::new();
    for artifact in artifacts {
        match keep(artifact, media).await? {
            Some((Kind::Image, url)) => images.push(url),
            Some((Kind::Audio, url)) => inference = inference.with("generated audio", url),
            Some((Kind::Video, url)) => inference = inference.with("generated video", url),
            Some((Kind::Json, url)) => inference = inference.with(TABLE, url),
            Some((Kind::Text, _)) | None => {}
        }
    }
    if let Some(last) = images.last().cloned() {
        inference = inference.with("generated image", last);
    }
    Ok(if images.len() > 1 { inference.with("images", images) } else { inference })
}

/// Puts a file under the public root; files of other kinds are left out.
async fn keep(artifact: Artifact, media: &Arc<Media>) -> Result<Option<(Kind, String)>, TaskError> {
    let found = sniff(&artifact.bytes);
    let kinds = [Kind::Image, Kind::Audio, Kind::Video];
    let medium = found.and_then(|found| Some((found.extension, kinds.into_iter().find(|kind| found.fits(*kind))?)));
    // A table is text, which nothing tells apart by its first bytes.
    let is_table = || artifact.mime == "text/csv" && std::str::from_utf8(&artifact.bytes).is_ok();
    let table = Some(("csv", Kind::Json)).filter(|_| is_table());
    let Some((extension, kind)) = medium.or(table) else { return Ok(None) };
    let media = Arc::clone(media);
    let stored = blocking(move || {
        let stored = media.create(kind, extension, &artifact.bytes);
        stored.map_err(|error| TaskError::new(ErrorCode::Internal, format!("the file cannot be kept: {error}")))
    });
    Ok(Some((kind, stored.await?)))
}

pub fn call_failed(error: &ToolError) -> TaskError {
    let code = match error.kind {
        ToolErrorKind::UnknownTool => ErrorCode::NotFound,
        ToolErrorKind::InvalidInput => ErrorCode::InvalidInput,
        ToolErrorKind::Timeout => ErrorCode::Timeout,
        ToolErrorKind::Unavailable | ToolErrorKind::Transport => ErrorCode::Unavailable,
        ToolErrorKind::Unauthorized | ToolErrorKind::Unsubscribed => ErrorCode::Unauthorized,
        ToolErrorKind::TooManyRequests | ToolErrorKind::RateLimited => ErrorCode::RateLimited,
        ToolErrorKind::Failed => ErrorCode::Upstream,
    };
    TaskError::new(code, error.message.clone())
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;

    use super::*;
    use crate::testkit::{inputs, job};
    use jarvis_catalogue::Host;

    #[test]
    fn values_become_what_the_schema_says() {
        for (value, schema, want) in rows::<(String, Value, Value)>(include_str!("tool.json"), "typed") {
            assert_eq!(typed(value.as_str().into(), &schema), want, "{value} {schema}");
        }
    }

    #[tokio::test]
    async fn a_task_is_done_by_a_tool() {
        let mut registry = Registry::new();
        jarvis_tools::local::add_to(&mut registry).unwrap();
        let (_folder, inputs) = inputs();
        let worker = ToolWorker::new(Arc::new(registry), inputs);
        let made =
            worker.output(&job(Host::Tool, "calculator", "calculator", &[("expression", "2*21")])).await.unwrap();
        assert_eq!(made.as_text().unwrap(), "42");
        // The only text that is asked for may be called `text` by a plan.
        let made = worker.output(&job(Host::Tool, "calculator", "calculator", &[("text", "2*21")])).await.unwrap();
        assert_eq!(made.as_text().unwrap(), "42");
        let args = [("x", r#"["苹果", "梨"]"#), ("y", "[2, 1]")];
        let made = worker.output(&job(Host::Tool, "plot", "plot", &args)).await.unwrap();
        assert!(made.media(Kind::Image).is_some_and(|url| url.starts_with("/images/")), "{made:?}");
        let error = worker.output(&job(Host::Tool, "nothing", "nothing", &[])).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::NotConfigured);
        let error =
            worker.output(&job(Host::Tool, "plot", "plot", &[("x", r#"["a", "b"]"#), ("y", "[1]")])).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidInput);
    }
}
