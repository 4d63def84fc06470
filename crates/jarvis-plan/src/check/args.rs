//! Arguments against what the tool takes: typed, complete, nothing beside.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Value, json};

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
    let number = node.number();
    for (name, arg) in &mut node.args {
        let Some(param) = tool.param(name) else { continue };
        let (Some(schema), Some(value)) = (&param.schema, arg.as_value()) else { continue };
        let read = coerced(value.clone(), schema);
        if read != *value {
            notes.push(format!("task {}: `{name}` was read as {}", number, shown(&read)));
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

/// Gives each task that cannot run once for each element of a list the fault of it: its arguments take elements of one list,
/// and elements of elements stand for nothing.
pub(super) fn one_list(nodes: &mut [Node]) {
    for node in nodes {
        let lists: HashSet<_> = node.args.values().flat_map(Arg::lists).collect();
        let nested = node.args.values().flat_map(Arg::parts).any(|(_, path)| path.is_nested());
        let problem = match lists.len() {
            _ if nested => "an argument takes elements of elements",
            0 | 1 => continue,
            _ => "its arguments take elements of several lists",
        };
        node.fail(Fault::NotEach { problem: problem.to_owned() });
    }
}

/// Gives each task that needs a part of an output which the tool does not give the fault of it.
pub(super) fn follow(nodes: &mut [Node], vocabulary: &Vocabulary) {
    let schema_of = |id: i64| {
        let node = nodes.iter().find(|node| node.id == id)?;
        let own = vocabulary.find(&node.task)?.output_schema.as_ref()?;
        Some(match node.args.values().any(|arg| arg.lists().next().is_some()) {
            // Definitions are found from the root.
            true => Cow::Owned(json!({"type": "array", "items": own, "$defs": own.get("$defs")})),
            false => Cow::Borrowed(own),
        })
    };
    let faults = |node: &Node| -> Vec<Fault> {
        let parts = node.args.iter().flat_map(|(name, arg)| arg.parts().map(move |(of, path)| (name, of, path)));
        parts
            .filter_map(|(name, of, path)| {
                let of = of.0?;
                let schema = schema_of(of)?;
                let problem = path.fits(&schema).err()?;
                let (path, problem) = (path.to_string(), problem.to_string());
                Some(Fault::NoSuchField { arg: name.clone(), of, path, problem })
            })
            .collect()
    };
    let found: Vec<Vec<Fault>> = nodes.iter().map(faults).collect();
    for (node, faults) in nodes.iter_mut().zip(found) {
        faults.into_iter().for_each(|fault| node.fail(fault));
    }
}
