//! A decision as JSON: the reply of the decision API, and the execution plan in it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Decision;

/// The levels of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Levels<K> {
    /// Node to its level: 0 without dependencies, else one more than the highest of its dependencies.
    pub of: BTreeMap<K, usize>,
    /// The nodes of each level, in node order.
    pub nodes: Vec<Vec<K>>,
}

/// The levels of a graph given as nodes with their dependencies, by a topological sort that does not depend on the
/// order of ids. Dependencies on nodes that are not there do not count; nodes on a cycle are left out.
pub fn levels<K: Ord + Clone>(graph: &BTreeMap<K, Vec<K>>) -> Levels<K> {
    let mut of: BTreeMap<K, usize> = BTreeMap::new();
    let mut nodes: Vec<Vec<K>> = Vec::new();
    loop {
        let next: Vec<K> = graph
            .iter()
            .filter(|(id, deps)| {
                !of.contains_key(*id) && deps.iter().all(|dep| !graph.contains_key(dep) || of.contains_key(dep))
            })
            .map(|(id, _)| id.clone())
            .collect();
        if next.is_empty() {
            return Levels { of, nodes };
        }
        for id in &next {
            of.insert(id.clone(), nodes.len());
        }
        nodes.push(next);
    }
}

impl Decision {
    /// The execution plan: `{"execution_config": {…}}`. The same decision gives the same bytes.
    pub fn execution_config(&self) -> Value {
        json!({"execution_config": {}})
    }

    /// The whole reply of the decision API.
    pub fn reply(&self) -> Value {
        json!({})
    }
}
