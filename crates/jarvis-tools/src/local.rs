//! The tools that work in this process: charts, arithmetic, counting, search within documents, and queries
//! of their tables.
//!
//! All are pure: they read nothing but their input and the documents of the call, and reach no network and no file.

mod attached;
mod calculator;
mod count;
mod functions;
mod numbers;
pub mod passages;
pub mod plot;
mod query;
mod search;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_plan::Effect;
use serde_json::Value;

use crate::hub::Function;
use crate::{Observation, Registry, RegistryError, Scope, Tool, ToolError, ToolErrorKind, ToolSource, ToolSpec};

pub use calculator::{CalcError, evaluate};
pub use count::Counts;
pub use functions::HubFunction;
pub use numbers::number;

/// Adds all native tools, the thirteen functions of the hub after the others.
///
/// # Errors
/// When a name is taken.
pub fn add_to(registry: &mut Registry) -> Result<(), RegistryError> {
    for tool in [plot::tool(), calculator::tool(), count::tool(), search::tool(), query::tool()] {
        registry.add(Arc::new(tool))?;
    }
    for function in HubFunction::all() {
        registry.add(Arc::new(function))?;
    }
    Ok(())
}

/// Adds `attached-files`, which only plans have a use for.
///
/// # Errors
/// When its name is taken.
pub fn add_attached(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add(Arc::new(attached::tool()))
}

/// The tools that plans of a chat model may use without configuration.
pub const OFFERED: [&str; 5] = [PLOT, "calculator", "count", "search_document", TABLE_QUERY];

/// The tool that lists attached files, for the plans of the offline planner.
pub use attached::NAME as ATTACHED_FILES;
/// The tool that draws charts.
pub use plot::NAME as PLOT;
/// The tool that asks tables.
pub use query::NAME as TABLE_QUERY;

/// Whether a native tool makes a picture.
pub fn draws(name: &str) -> bool {
    name == plot::NAME
}

/// Whether a tool is a function of the hub. There are thirteen of them, and the calculator does what they do.
pub fn is_of_hub(spec: &ToolSpec) -> bool {
    spec.source == ToolSource::Native && Function::ALL.into_iter().any(|function| function.name() == spec.name)
}

type Work = Box<dyn FnOnce() -> Result<Observation, ToolError> + Send>;
type Prepare = Box<dyn Fn(&Value, &Scope) -> Result<Work, ToolError> + Send + Sync>;

/// A tool that reads its input at once and works off the runtime's threads.
struct NativeTool {
    spec: ToolSpec,
    prepare: Prepare,
}

#[async_trait]
impl Tool for NativeTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, input: &Value, scope: &Scope) -> Result<Observation, ToolError> {
        on_a_thread(&self.spec.name, (self.prepare)(input, scope)?).await?
    }
}

fn wrong(what: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorKind::InvalidInput, what)
}

fn native(name: &str, description: &str, when: &str, input_schema: Value, example: Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        when: when.to_owned(),
        input_schema,
        example,
        output_schema: None,
        effect: Effect::Reads,
        source: ToolSource::Native,
    }
}

/// A number in decimal digits as JSON: a number where JSON keeps every digit of it, else its digits as a string. `None` for
/// any other text, such as `about 1.2e400`.
fn exact(digits: &str) -> Option<Value> {
    match serde_json::from_str::<Value>(digits) {
        Ok(Value::Number(number)) => {
            let written = number.to_string();
            Some(if written == digits { number.into() } else { digits.into() })
        }
        Ok(_) => None,
        // Beyond the range of floats.
        Err(_) => {
            digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.')).then(|| digits.into())
        }
    }
}

/// Does work that takes milliseconds off the runtime's threads.
pub(crate) async fn on_a_thread<T: Send + 'static>(
    tool: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| ToolError::new(ToolErrorKind::Unavailable, format!("`{tool}` broke down")))
}
