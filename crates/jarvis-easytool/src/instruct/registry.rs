//! Instructions out of a registry of tools: each tool with itself as its only API.

use indexmap::IndexMap;
use jarvis_prompt::literal::Literal;
use jarvis_tools::{Registry, ToolSpec};
use serde_json::Value;

use crate::instructions::{Example, Guideline, Parameter, ToolInstruction};

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
        example: Example {
            scenario: spec.when.clone(),
            parameters: Literal::parse(&spec.example.to_string()).unwrap_or_else(|_| Example::default().parameters),
            generated_by: None,
        },
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
