//! Learns from the gold plans of domain folders which words of requests speak of which tools, and which tools follow which;
//! `crates/jarvis-planner/data/learned.json` is what it prints.
//!
//! `cargo run --release -p jarvis-taskbench --example learn -- FOLDER … > learned.json`

#![allow(clippy::print_stdout, reason = "what was learned is printed")]

use std::collections::HashMap;

use jarvis_planner::{Learned, Lesson};
use jarvis_taskbench::data::Domain;
use serde_json::Value;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut lessons = Vec::new();
    for folder in std::env::args().skip(1) {
        let domain = Domain::open(&folder)?;
        let asked = domain.path("user_requests.json").exists().then(|| domain.requests()).transpose()?;
        let asked: HashMap<Value, String> = asked
            .into_iter()
            .flat_map(|asked| asked.requests)
            .map(|request| (request.id.to_value(), request.text))
            .collect();
        for line in std::fs::read_to_string(domain.path("data.json"))?.lines() {
            lessons.extend(serde_json::from_str(line).ok().and_then(|record| lesson(&record, &asked)));
        }
    }
    println!("{}", serde_json::to_string(&Learned::of(&lessons))?);
    Ok(())
}

/// What a gold plan teaches; its lists may stand as text.
fn lesson(record: &Value, asked: &HashMap<Value, String>) -> Option<Lesson> {
    let list = |names: [&str; 2]| -> Vec<Value> {
        let found = names.iter().find_map(|name| record.get(name));
        match found {
            Some(Value::Array(items)) => items.clone(),
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
            _ => Vec::new(),
        }
    };
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let request = text(record, "user_request").or_else(|| asked.get(record.get("id")?).cloned())?;
    let tools: Vec<String> = list(["task_nodes", "tool_nodes"]).iter().filter_map(|node| text(node, "task")).collect();
    let links = list(["task_links", "tool_links"]);
    let links = links.iter().filter_map(|link| Some((text(link, "source")?, text(link, "target")?))).collect();
    (!tools.is_empty()).then_some(Lesson { request, tools, links })
}
