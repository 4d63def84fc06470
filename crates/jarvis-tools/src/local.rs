//! The tools that work in this process: charts, arithmetic, counting, and search within a document.
//!
//! All are pure: they read nothing but their input and the document of the call, and reach no network and no file.

mod calculator;
mod count;
mod functions;
mod numbers;
pub mod passages;
pub mod plot;
mod search;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::Value;

use crate::{Registry, RegistryError, Tool, ToolError, ToolErrorKind, ToolSource, ToolSpec};

pub use calculator::{CalcError, Calculator, evaluate};
pub use count::{Count, Counts};
pub use functions::HubFunction;
pub use numbers::{narrow, number};
pub use search::SearchDocument;

/// Adds all native tools, the thirteen functions of the hub after the others.
///
/// # Errors
/// When a name is taken.
pub fn add_to(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add(Arc::new(plot::Plot::default()))?;
    registry.add(Arc::new(Calculator::default()))?;
    registry.add(Arc::new(Count::default()))?;
    registry.add(Arc::new(SearchDocument::default()))?;
    for function in HubFunction::all() {
        registry.add(Arc::new(function))?;
    }
    Ok(())
}

/// Whether a native tool makes a picture.
pub fn draws(name: &str) -> bool {
    name == plot::NAME
}

/// Whether a tool is a function of the hub. There are thirteen of them, and the calculator does what they do.
pub fn is_of_hub(spec: &ToolSpec) -> bool {
    spec.source == ToolSource::Native && HubFunction::all().any(|function| function.spec().name == spec.name)
}

/// The description of a native tool.
fn native(name: &str, description: &str, when: &str, input_schema: Value, example: Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        when: when.to_owned(),
        input_schema,
        example,
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
async fn on_a_thread<T: Send + 'static>(tool: &str, work: impl FnOnce() -> T + Send + 'static) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| ToolError::new(ToolErrorKind::Unavailable, format!("`{tool}` broke down")))
}
