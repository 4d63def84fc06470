//! The prompt of generation.

use jarvis_chat::Message;
use jarvis_prompt::template::TemplateError;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::data::{BenchTool, DependencyType};
use crate::graph::SampledLink;
use crate::prompts::Prompt;

#[derive(Debug, Clone)]
pub struct Prompts {
    table: jarvis_ask::Prompts<Prompt>,
    prompt: Prompt,
}

#[derive(Debug, Clone, Serialize)]
pub struct Shown<'a> {
    pub nodes: Vec<Value>,
    pub links: &'a [SampledLink],
    /// A number that makes requests differ, 0 to 1,000,000.
    pub seed: u32,
    /// Whether the model is to judge its own result.
    pub check: bool,
}

impl Prompts {
    pub fn new(dependency: DependencyType) -> Result<Prompts, TemplateError> {
        let prompt = match dependency {
            DependencyType::Resource => Prompt::GenerateResource,
            DependencyType::Temporal => Prompt::GenerateTemporal,
        };
        Ok(Prompts { table: jarvis_ask::Prompts::builtin()?, prompt })
    }

    pub fn messages(&self, shown: &Shown<'_>) -> Result<Vec<Message>, TemplateError> {
        self.table.messages(self.prompt, shown)
    }
}

/// A tool as a record keeps it, and with its description as a prompt shows it.
pub(super) fn tool_entry(tool: &BenchTool, dependency: DependencyType, described: bool) -> Value {
    let mut entry = Map::new();
    let mut put = |key: &str, value: Value| entry.insert(key.to_owned(), value);
    put("id", json!(tool.id));
    if described {
        put("desc", json!(tool.desc));
    }
    match dependency {
        DependencyType::Resource => {
            put("input-type", json!(tool.inputs.as_deref().unwrap_or_default()));
            put("output-type", json!(tool.outputs.as_deref().unwrap_or_default()));
        }
        DependencyType::Temporal => {
            put("parameters", json!(tool.parameters.as_deref().unwrap_or_default()));
        }
    }
    Value::Object(entry)
}
