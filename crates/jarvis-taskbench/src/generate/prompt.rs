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
    /// The links between them.
    pub links: &'a [SampledLink],
    /// A number that makes requests differ, 0 to 1,000,000.
    pub seed: u32,
    /// Whether the model is to judge its own result.
    pub check: bool,
}

impl Prompts {
    /// The built-in prompt for this kind of links.
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

/// A tool as a prompt shows it: name, description, and kinds or parameters.
pub(super) fn shown_tool(tool: &BenchTool, dependency: DependencyType) -> Value {
    let mut shown = Map::new();
    shown.insert("id".into(), json!(tool.id));
    shown.insert("desc".into(), json!(tool.desc));
    describe(&mut shown, tool, dependency);
    Value::Object(shown)
}

/// A tool as a record keeps it: name, and kinds or parameters.
pub(super) fn kept_tool(tool: &BenchTool, dependency: DependencyType) -> Value {
    let mut kept = Map::new();
    kept.insert("id".into(), json!(tool.id));
    describe(&mut kept, tool, dependency);
    Value::Object(kept)
}

fn describe(entry: &mut Map<String, Value>, tool: &BenchTool, dependency: DependencyType) {
    match dependency {
        DependencyType::Resource => {
            entry.insert("input-type".into(), json!(tool.inputs.as_deref().unwrap_or_default()));
            entry.insert("output-type".into(), json!(tool.outputs.as_deref().unwrap_or_default()));
        }
        DependencyType::Temporal => {
            entry.insert("parameters".into(), json!(tool.parameters.as_deref().unwrap_or_default()));
        }
    }
}
