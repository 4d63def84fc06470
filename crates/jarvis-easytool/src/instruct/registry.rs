//! Instructions of the tools of a registry, each with itself as its only API; and a registry of the tools that instructions
//! describe.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use jarvis_prompt::literal::Literal;
use jarvis_tools::{RapidApi, RapidServer, Registry, ToolSource, ToolSpec};
use serde_json::{Map, Value, json};

use super::parameter_schema;
use crate::instructions::{Example, Guideline, Parameter, ToolInstruction};
use crate::toolbench::Query;

/// The APIs of tools as tools at ToolBench's server, each call with that much time. They are known by category, tool and API,
/// with each category that the instructions or the queries give a tool.
pub fn server_registry(
    server: &Arc<RapidServer>,
    tools: &[ToolInstruction],
    queries: &[Query],
    timeout: Duration,
) -> Registry {
    let mut registry = Registry::new();
    let mut known = HashSet::new();
    let none = Query::default();
    for tool in tools {
        let categories: BTreeSet<&str> = queries.iter().chain([&none]).map(|query| query.category_of(tool)).collect();
        for category in categories {
            for (api, guideline) in &tool.tool_guidelines {
                let path = RapidApi::path(category, &tool.tool_name, api);
                if !known.insert(path.clone()) {
                    continue;
                }
                let spec = spec_of(registry.free_name(&path), api, guideline);
                registry.alias(&path, &spec.name);
                let tool = RapidApi::new(spec, Arc::clone(server), category, &tool.tool_name, api);
                registry.add_with(Arc::new(tool), timeout).expect("the name is free, and every field is filled in");
            }
        }
    }
    registry
}

/// A guideline as the description of a tool. Nothing is required: the server itself knows what may be left out.
fn spec_of(name: String, api: &str, guideline: &Guideline) -> ToolSpec {
    let or_name = |text: &str| if text.trim().is_empty() { api.to_owned() } else { text.to_owned() };
    let parameters = guideline.required_parameters.iter().chain(&guideline.optional_parameters);
    let property = |parameter: &Parameter| {
        let schema = match parameter_schema(&parameter.kind).kind.word() {
            "" => json!({"description": parameter.description}),
            word => json!({"type": word, "description": parameter.description}),
        };
        (parameter.name.clone(), schema)
    };
    ToolSpec {
        name,
        description: or_name(&guideline.description),
        when: or_name(&guideline.example.scenario),
        input_schema: json!({"type": "object", "properties": parameters.map(property).collect::<Map<_, _>>()}),
        example: guideline.example.parameters.to_json(),
        output_schema: None,
        effect: jarvis_plan::Effect::Reads,
        source: ToolSource::ToolBench,
    }
}

/// The instructions of all tools of a registry, numbered from 0 in its order.
pub fn of_registry(registry: &Registry) -> Vec<ToolInstruction> {
    (0..).zip(registry.specs()).map(|(id, spec)| of_spec(id, spec)).collect()
}

fn of_spec(id: i64, spec: &ToolSpec) -> ToolInstruction {
    let properties = spec.input_schema.get("properties").and_then(Value::as_object);
    let required = spec.input_schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
    let parameter = |(name, schema): (&String, &Value)| Parameter {
        name: name.clone(),
        kind: kind_of(schema),
        description: schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
        default: None,
    };
    let (needed, optional): (Vec<Parameter>, Vec<Parameter>) =
        properties.into_iter().flatten().map(parameter).partition(|parameter| is_required(&parameter.name));
    let guideline = Guideline {
        name: spec.name.clone(),
        description: spec.description.clone(),
        required_parameters: needed,
        optional_parameters: optional,
        example: Example { scenario: spec.when.clone(), parameters: Literal::from(&spec.example), generated_by: None },
    };
    ToolInstruction {
        id,
        tool_name: spec.name.clone(),
        standardized_name: String::new(),
        category_name: String::new(),
        tool_description: format!("{} Use it when {}", spec.description, spec.when),
        tool_guidelines: IndexMap::from([(spec.name.clone(), guideline)]),
    }
}

/// The type of a property in a word; several types, or none, are any.
fn kind_of(schema: &Value) -> String {
    schema.get("type").and_then(Value::as_str).unwrap_or("any").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_a_registry_are_told_as_instructions() {
        let mut registry = Registry::new();
        jarvis_tools::local::add_to(&mut registry).unwrap();
        let tools = of_registry(&registry);
        let plot = tools.iter().find(|tool| tool.tool_name == "plot").unwrap();
        let guideline = &plot.tool_guidelines["plot"];
        let names = |rows: &[Parameter]| rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&guideline.required_parameters), ["x", "y"]);
        assert!(names(&guideline.optional_parameters).contains(&"title".to_owned()));
        assert!(guideline.example.parameters.field("x").is_some());
        // What the example shows passes the check that calls pass.
        for tool in &tools {
            let guideline = &tool.tool_guidelines[&tool.tool_name];
            let example = guideline.example.parameters.as_map().unwrap();
            assert_eq!(crate::instruct::check_example(guideline, example), [], "{}", tool.tool_name);
        }
    }
}
