//! The thirteen functions of the hub, each as a tool.

use async_trait::async_trait;
use jarvis_prompt::literal::Literal;
use serde_json::{Value, json};

use super::{exact, native, on_a_thread};
use crate::hub::{Function, Hub, Mode};
use crate::{CallError, Callable, Observation, Scope, ToolSpec};

/// A function of the hub as a tool; it has the function's published name.
#[derive(Debug)]
pub struct HubFunction {
    function: Function,
    spec: ToolSpec,
}

impl HubFunction {
    /// A function as a tool.
    pub fn new(function: Function) -> HubFunction {
        let example = match function {
            Function::Sqrt | Function::Ln => json!({"input": [16]}),
            Function::Log => json!({"input": [8, 2]}),
            Function::Add
            | Function::Subtract
            | Function::Multiply
            | Function::Divide
            | Function::Power
            | Function::Lcm
            | Function::Gcd
            | Function::Remainder
            | Function::Choose
            | Function::Permutate => json!({"input": [6, 4]}),
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
        HubFunction { function, spec }
    }

    /// All thirteen, in the order of their published ids.
    pub fn all() -> impl Iterator<Item = HubFunction> {
        Function::ALL.into_iter().map(HubFunction::new)
    }
}

#[async_trait]
impl Callable for HubFunction {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, input: &Value, _scope: &Scope) -> Result<Observation, CallError> {
        let (function, input) = (self.function, Literal::from(input));
        // Numbers of many digits take milliseconds.
        let work = move || Hub::new(Mode::Precise).call_named(function.name(), &input);
        let result = on_a_thread(function.name(), work).await?.map_err(CallError::from)?;
        let value = exact(&result.digits());
        Ok(Observation { value, ..Observation::text(result.shown_in_prompt()) })
    }
}
