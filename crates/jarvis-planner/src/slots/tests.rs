//! Values of named parameters in clauses of three languages.

use jarvis_plan::{Kind, Param, Tool};
use serde_json::{Value, json};

use super::fill;
use crate::clauses;
use crate::retrieval::ToolIndex;

/// A tool written as `name: description; param: type: description; …`, a `?` after a name for an optional parameter.
fn tool(text: &str) -> Tool {
    let mut parts = text.split("; ");
    let (name, description) = parts.next().and_then(|part| part.split_once(':')).unwrap_or((text, ""));
    let mut tool = Tool::typed(name, description.trim(), &[], &[]);
    tool.params = parts
        .map(|part| {
            let mut fields = part.splitn(3, ": ");
            let (name, kind) = (fields.next().unwrap_or_default(), fields.next().unwrap_or("string"));
            let required = !name.ends_with('?');
            Param {
                schema: Some(schema(kind)),
                description: fields.next().unwrap_or_default().to_owned(),
                required,
                ..Param::required(name.trim_end_matches('?'), Kind::Text)
            }
        })
        .collect();
    tool
}

fn schema(kind: &str) -> Value {
    match kind.split_once('|') {
        Some(_) => json!({"type": "string", "enum": kind.split('|').collect::<Vec<_>>()}),
        None if matches!(kind, "date" | "uri" | "time" | "email") => json!({"type": "string", "format": kind}),
        None => json!({"type": kind}),
    }
}

/// The table: a tool a line, and below it, indented, requests with the values found in them.
#[test]
fn values_of_three_languages() {
    let table = include_str!("../../tests/cases/slots.txt");
    let mut found: Option<(Tool, ToolIndex)> = None;
    let mut differ = Vec::new();
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some(case) = line.strip_prefix("    ") else {
            let tool = tool(line);
            found = Some((tool.clone(), ToolIndex::new(&[tool])));
            continue;
        };
        let (tool, index) = found.as_ref().expect("a tool comes first");
        let (request, expected) = case.split_once(" =>").expect(case);
        let reading = clauses::read(request, &[], index);
        let values = fill(tool, &tool.params.iter().collect::<Vec<_>>(), &reading.clauses[0], request);
        let shown = values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ");
        if shown != expected.trim_start() {
            differ.push(format!("{}: {request}\n   found: {shown}\n   wants:{expected}", tool.name));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
