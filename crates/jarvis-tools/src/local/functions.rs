//! The thirteen functions of the hub, each as a tool.

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_prompt::literal::Literal;
use serde_json::{Value, json};

use super::{exact, native, on_a_thread};
use crate::hub::{Function, Hub, Mode};
use crate::{Observation, Registry, Scope, Tool, ToolError, ToolSpec};

/// A function of the hub as a tool; it has the function's published name.
#[derive(Debug)]
pub struct HubFunction {
    function: Function,
    mode: Mode,
    /// Whether the text has every digit that the mode shows, rather than as many as a model needs.
    every_digit: bool,
    spec: ToolSpec,
}

impl HubFunction {
    /// A function as a tool for models: floats in its text have at most 12 significant digits.
    pub fn new(function: Function) -> HubFunction {
        let example = match function {
            Function::Sqrt | Function::Ln => json!({"input": [16]}),
            Function::Log => json!({"input": [8, 2]}),
            _ => json!({"input": [6, 4]}),
        };
        let spec = native(
            function.name(),
            &format!("Takes a list of numbers. {}.", function.summary()),
            "exactly this function of known numbers is needed",
            json!({
                "type": "object",
                "properties": {"input": {"type": "array", "items": {"type": "number"}, "description": "the numbers, in order"}},
                "required": ["input"],
            }),
            example,
        );
        HubFunction { function, mode: Mode::Precise, every_digit: false, spec }
    }

    /// All thirteen, in the order of their published ids.
    pub fn all() -> impl Iterator<Item = HubFunction> {
        Function::ALL.into_iter().map(HubFunction::new)
    }

    /// A registry of all thirteen, whose results are shown in a mode and in full. Their names are known without the
    /// underscore at the end too.
    pub fn registry(mode: Mode) -> Registry {
        let mut registry = Registry::new();
        for function in Function::ALL {
            let name = function.name();
            let tool = HubFunction { mode, every_digit: true, ..HubFunction::new(function) };
            registry.add(Arc::new(tool)).expect("the functions have different names and whole descriptions");
            registry.alias(name.trim_end_matches('_'), name);
        }
        registry
    }
}

#[async_trait]
impl Tool for HubFunction {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, input: &Value, _scope: &Scope) -> Result<Observation, ToolError> {
        let (function, hub, input) = (self.function, Hub::new(self.mode), Literal::from(input));
        // Numbers of many digits take milliseconds.
        let work = move || hub.call_named(function.name(), &input);
        let result = on_a_thread(function.name(), work).await?.map_err(ToolError::from)?;
        let value = exact(&result.digits());
        let text = if self.every_digit { result.text } else { result.shown_in_prompt() };
        Ok(Observation { value, ..Observation::text(text) })
    }
}
