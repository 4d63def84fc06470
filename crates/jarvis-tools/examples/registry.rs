//! A tool of one's own beside the native ones, and how a wrong call is refused: `cargo run -p jarvis-tools --example registry`.
//!
//! ```text
//! table-query {"sql":"SELECT name FROM guests WHERE nights > 2"}
//! Ada
//!
//! price {"nights":3}
//! 285 euros
//!
//! calculator {"expression":"285 / 0.95"}
//! 300
//!
//! price {"nights":0}
//! InvalidInput: `nights` must be a whole number above 0
//!
//! prise {"nights":3}
//! UnknownTool: there is no tool `prise`; did you mean `price`?
//! ```
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_plan::Effect;
use jarvis_tools::{
    Documents, Observation, Registry, Scope, Tool, ToolError, ToolErrorKind, ToolSource, ToolSpec, local,
};
use serde_json::{Value, json};

/// What a room costs.
struct Price(ToolSpec);

impl Price {
    fn new() -> Price {
        Price(ToolSpec {
            name: "price".to_owned(),
            description: "Gives the price of a room in euros.".to_owned(),
            when: "a stay is to be paid for".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {"nights": {"type": "integer", "minimum": 1}},
                "required": ["nights"],
            }),
            example: json!({"nights": 2}),
            output_schema: None,
            effect: Effect::Reads,
            source: ToolSource::Native,
        })
    }
}

#[async_trait]
impl Tool for Price {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, input: &Value, _: &Scope) -> Result<Observation, ToolError> {
        // A tool of this process says itself what is wrong; the registry checks those of servers against their schemas.
        let Some(nights @ 1..) = input.get("nights").and_then(Value::as_u64) else {
            return Err(ToolError::new(ToolErrorKind::InvalidInput, "`nights` must be a whole number above 0"));
        };
        let euros = nights.saturating_mul(95);
        Ok(Observation::text(format!("{euros} euros")).with_value(json!(euros)))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut registry = Registry::new();
    local::add_to(&mut registry)?;
    registry.add(Arc::new(Price::new()))?;

    let guests = ("guests.csv".to_owned(), "name,nights\nAda,3\nGrace,2\n".into());
    let scope = Scope { documents: Documents::new(vec![guests]), ..Scope::default() };
    let calls = [
        ("table-query", json!({"sql": "SELECT name FROM guests WHERE nights > 2"})),
        ("price", json!({"nights": 3})),
        ("calculator", json!({"expression": "285 / 0.95"})),
        ("price", json!({"nights": 0})),
        ("prise", json!({"nights": 3})),
    ];
    for (name, input) in calls {
        println!("{name} {input}");
        match registry.call(name, &input, &scope).await {
            Ok(observation) => println!("{}\n", observation.text.trim_end()),
            Err(error) => println!("{:?}: {error}\n", error.kind),
        }
    }
    Ok(())
}
