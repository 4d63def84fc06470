//! A registry as a source of tools for the pipelines that call by name and literal arguments.

use std::fmt;

use async_trait::async_trait;
use jarvis_prompt::literal::Literal;
use serde_json::Value;

use crate::{CallError, Registry, Scope, ToolCall, ToolCaller};

/// Calls tools of a registry. A call names the tool as its tool or, where pipelines put it there, as its API.
#[derive(Debug, Clone)]
pub struct RegistryCaller {
    registry: Registry,
    scope: Scope,
}

impl RegistryCaller {
    /// Calls the tools of a registry, each call within the same scope.
    pub fn new(registry: Registry, scope: Scope) -> RegistryCaller {
        RegistryCaller { registry, scope }
    }

    /// The tools.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }
}

#[async_trait]
impl ToolCaller for RegistryCaller {
    async fn call(&self, call: &ToolCall) -> Result<String, CallError> {
        let name = [&call.tool, &call.api].into_iter().find_map(|name| self.registry.meant(name));
        let Some(name) = name.map(|spec| spec.name.as_str()) else {
            return Err(self.registry.unknown(&call.tool));
        };
        let input = Value::Object(Literal::fields_to_json(&call.arguments));
        let observation = self.registry.call(name, &input, &self.scope).await?;
        Ok(Told(&observation).to_string())
    }
}

/// An observation as text alone: files that no text speaks of are told.
struct Told<'a>(&'a crate::Observation);

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)?;
        if self.0.text.trim().is_empty() {
            for artifact in &self.0.media {
                write!(f, "[{}, {} bytes]", artifact.mime, artifact.bytes.len())?;
            }
        }
        Ok(())
    }
}
