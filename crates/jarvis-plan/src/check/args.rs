//! Arguments against what the tool takes: typed, complete, nothing beside.

use serde_json::Value;

use super::{Node, Notes};
use crate::schema::{Checker, coerced, shown};
use crate::{Arg, Fault, Tool, Vocabulary};

/// Gives each task whose tool is known the faults of its arguments. Values become what the schema asks for where there is
/// one way to read them; values in which outputs of other tasks stand are held against it when the task runs.
pub(super) fn hold(nodes: &mut [Node], vocabulary: &Vocabulary, notes: &mut Notes) {
    for node in nodes {
        if let Some(tool) = vocabulary.find(&node.task) {
            values(node, tool, notes);
            required(node, tool);
        }
    }
}

fn values(node: &mut Node, tool: &Tool, notes: &mut Notes) {
    let mut faults = Vec::new();
    for (name, arg) in &mut node.args {
        let Some(param) = tool.param(name) else { continue };
        let (Some(schema), Some(value)) = (&param.schema, arg.as_value()) else { continue };
        let read = coerced(value.clone(), schema);
        if read != *value {
            notes.push(format!("task {}: `{name}` was read as {}", node.id, shown(&read)));
            *arg = Arg::Value(read.clone());
        }
        let problems = Checker::new(schema).map(|checker| checker.problems(&read)).unwrap_or_default();
        if let Some((at, problem)) = problems.into_iter().next() {
            let takes = param.takes();
            let takes = if at.is_empty() { takes } else { format!("{takes} ({at}: {problem})") };
            faults.push(Fault::BadValue { arg: name.clone(), value: shown(&read), takes });
        }
    }
    faults.into_iter().for_each(|fault| node.fail(fault));
}

fn required(node: &mut Node, tool: &Tool) {
    let blank = |value: &Value| value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty());
    let given = |name: &str| node.args.get(name).is_some_and(|arg| !arg.as_value().is_some_and(blank));
    let missing: Vec<Fault> = (tool.params.iter())
        .filter(|param| param.required && !given(&param.name))
        .map(|param| Fault::MissingArgument { arg: param.name.clone(), takes: param.takes() })
        .collect();
    missing.into_iter().for_each(|fault| node.fail(fault));
}
