//! What callers may choose or look at beside pipelines: the chat models that a request may name, and the tools.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jarvis_engine::Meter;
use jarvis_events::{Began, MODEL};
use jarvis_hugginggpt::HuggingGpt;
use jarvis_plan::Effect;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::request::Model;
use crate::served::is_openais;
use crate::state::{Current, Server};
use crate::wire::run as twins;
use crate::wire::schema::JsonSchema;

/// The name that stands for the offline planner.
pub(crate) const OFFLINE: &str = "offline";

/// The chat models that a request may name beside the configured one.
pub trait ChatModels: Send + Sync {
    /// Their names, the offline planner's left out.
    fn names(&self) -> Vec<String>;

    /// The pipeline that plans with a model of [`ChatModels::names`], or without one for `None`.
    ///
    /// # Errors
    /// When it cannot be made; says why.
    fn pipeline(&self, name: Option<&str>) -> Result<Arc<HuggingGpt>, String>;
}

/// Lists the tools, those that wait for approval among them; asks nobody.
pub type ListTools = Arc<dyn Fn() -> Vec<OfferedTool> + Send + Sync>;

/// A tool.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OfferedTool {
    /// `SERVER/TOOL` for tools of MCP servers.
    pub name: String,
    pub description: String,
    /// `native`, `grpc`, `openapi`, `mcp` or `toolbench`.
    #[schema(example = "mcp")]
    pub kind: String,
    /// The MCP server, or the host that it is called at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    #[schema(value_type = twins::Effect)]
    pub effect: Effect,
    pub approval: ToolApproval,
    /// The JSON Schema of its input.
    #[schema(value_type = JsonSchema)]
    pub inputs: Value,
}

/// Whether a person has approved of a tool that others describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolApproval {
    /// It is described here.
    NotNeeded,
    Approved,
    /// It came to a server that was known, and cannot be called before a person approves.
    New,
    /// It is not as it was approved, and cannot be called before a person approves.
    Changed,
}

impl Server {
    /// What is wrong with the tools: what was told at the start, and what waits for approval since.
    pub(crate) fn tool_warnings(&self) -> Vec<String> {
        let setup = self.setup();
        let mut warnings = setup.warnings.clone();
        for tool in (setup.tools)() {
            let what = match tool.approval {
                ToolApproval::New => "is new at its server",
                ToolApproval::Changed => "is not as it was approved",
                ToolApproval::NotNeeded | ToolApproval::Approved => continue,
            };
            let name = format!("`{}`", tool.name);
            if !warnings.iter().any(|told| told.contains(&name)) {
                warnings.push(format!(
                    "{name} {what}; `jarvis tools show {0}`, then `jarvis tools approve {0}`",
                    tool.name
                ));
            }
        }
        warnings
    }

    /// The names of the chat models that a request may name, the default first.
    pub(crate) fn chat_models(&self) -> Vec<String> {
        self.chat_models_of(&self.setup())
    }

    fn chat_models_of(&self, setup: &Current) -> Vec<String> {
        if self.options.models_only {
            return Vec::new();
        }
        let default = setup.pipeline.model_name();
        let others = std::iter::once(OFFLINE.to_owned()).chain(setup.chat_models.names());
        let others: Vec<String> = others.filter(|name| *name != default).collect();
        std::iter::once(default).chain(others).collect()
    }

    /// The pipeline that plans with a chat model of [`Server::chat_models`]. A name of OpenAI's that is none of them stands for the default:
    /// the clients of the original server send one, whatever serves them.
    pub(crate) fn pipeline_with(&self, setup: &Current, name: &str) -> Result<(Arc<HuggingGpt>, Model), ApiError> {
        let configured = || Ok((Arc::clone(&setup.pipeline), Model::Configured));
        if name == setup.pipeline.model_name() {
            return configured();
        }
        let known = self.chat_models_of(setup);
        if !known.iter().any(|known| known == name) {
            if is_openais(name) {
                return configured();
            }
            let shown: String = name.chars().take(100).collect();
            return Err(ApiError::invalid(format!("there is no chat model `{shown}`"))
                .param("model")
                .hint(format!("there are: {}", known.join(", "))));
        }
        let make = || setup.chat_models.pipeline((name != OFFLINE).then_some(name));
        match setup.named.get(name, make) {
            Ok(pipeline) => Ok((pipeline, Model::Named(name.to_owned()))),
            Err(reason) => Err(ApiError::internal("the chat model cannot be used", &reason)),
        }
    }

    /// The pipeline that a run began with, where it is known, and what such runs need.
    pub(crate) fn pipeline_of_run(&self, began: &Began) -> (Arc<HuggingGpt>, Meter) {
        let mut meter = self.setup().meter.clone();
        let named = began.settings.get(MODEL).filter(|name| meter.settings.get(MODEL) != Some(name));
        match named.and_then(|name| Some((name, self.pipeline_with(&self.setup(), name).ok()?.0))) {
            Some((name, pipeline)) => {
                Arc::make_mut(&mut meter.settings).insert(MODEL.to_owned(), name.clone());
                (pipeline, meter)
            }
            None => (Arc::clone(&self.setup().pipeline), meter),
        }
    }
}

/// The pipelines of chat models that were asked for, each made once.
#[derive(Default)]
pub(crate) struct NamedPipelines(Mutex<HashMap<String, Arc<HuggingGpt>>>);

impl NamedPipelines {
    fn get(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<Arc<HuggingGpt>, String>,
    ) -> Result<Arc<HuggingGpt>, String> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(name) {
            return Ok(Arc::clone(known));
        }
        let pipeline = make()?;
        made.insert(name.to_owned(), Arc::clone(&pipeline));
        Ok(pipeline)
    }
}
