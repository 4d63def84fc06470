//! Unfolding: a task given a list of outputs, or of pictures, sounds or videos where it takes one, runs once for each.

use super::{Node, Notes};
use serde_json::Value;

use crate::{Arg, DraftRef, Limits, Param, Piece, Vocabulary};

/// Unfolds until no argument is such a list. Each copy keeps the other arguments; the first keeps the id, the
/// others get fresh ones and stand right after it. Whoever refers to the task then refers to all copies: as a list in a
/// media argument (which unfolds in turn), as lines in a text.
pub(super) fn all(nodes: &mut Vec<Node>, vocabulary: &Vocabulary, limits: Limits, notes: &mut Notes) {
    while let Some((at, name, list)) = next(nodes, vocabulary) {
        unfold(nodes, at, &name, list, vocabulary, limits, notes);
    }
}

fn next(nodes: &[Node], vocabulary: &Vocabulary) -> Option<(usize, String, Vec<Arg<DraftRef>>)> {
    nodes.iter().enumerate().filter(|(_, node)| node.faults.is_empty()).find_map(|(at, node)| {
        let tool = vocabulary.find(&node.task);
        let takes_list = |name: &str| tool.and_then(|tool| tool.param(name)).is_some_and(Param::takes_list);
        let lists = node.args.iter().filter(|(name, _)| !takes_list(name));
        let outputs = |arg: &Arg<DraftRef>| Some(arg.as_list()?.into_iter().map(Arg::output).collect());
        let is_medium = |name: &str| tool.is_some_and(|tool| tool.arg_kind(name).is_media());
        let items = |name: &str, arg: &Arg<DraftRef>| outputs(arg).or_else(|| media(arg).filter(|_| is_medium(name)));
        lists.filter_map(|(name, arg)| Some((at, name.clone(), items(name, arg)?))).next()
    })
}

/// The media of a list of several; each is a path or an output.
fn media(arg: &Arg<DraftRef>) -> Option<Vec<Arg<DraftRef>>> {
    let items = match arg {
        Arg::List(items) => items.clone(),
        Arg::Value(Value::Array(items)) => items.iter().cloned().map(Arg::Value).collect(),
        Arg::Value(_) | Arg::Text(_) | Arg::Object(_) => return None,
    };
    let is_one = |item: &Arg<DraftRef>| item.as_output().is_some() || item.as_value().is_some_and(Value::is_string);
    (items.len() > 1 && items.iter().all(is_one)).then_some(items)
}

fn unfold(
    nodes: &mut Vec<Node>,
    at: usize,
    name: &str,
    mut list: Vec<Arg<DraftRef>>,
    vocabulary: &Vocabulary,
    limits: Limits,
    notes: &mut Notes,
) {
    let Some(original) = nodes.get(at).cloned() else { return };
    let room = limits.max_tasks.saturating_sub(nodes.len()) + 1;
    if list.len() > room {
        notes.left_out(format!(
            "task {} would become {} tasks; the limit of {} leaves room for {room}",
            original.number(),
            list.len(),
            limits.max_tasks
        ));
        list.truncate(room);
    }
    let fresh = super::ids::fresh(nodes);
    let dropped: Vec<i64> = original.args.get(name).into_iter().flat_map(Arg::references).filter_map(|r| r.0).collect();
    let copies: Vec<Node> = list
        .iter()
        .zip(std::iter::once(original.id).chain(fresh))
        .map(|(item, id)| {
            let mut copy = Node { id, ..original.clone() };
            copy.args.insert(name.to_owned(), item.clone());
            // The other elements of the list are no dependency of this copy, unless another argument needs them.
            let needed = copy.referenced();
            copy.dep.retain(|dep| needed.contains(dep) || !dropped.contains(dep));
            if list.len() > 1 {
                copy.unfolded_from = original.unfolded_from.or(Some(original.id));
            }
            copy
        })
        .collect();
    let ids: Vec<i64> = copies.iter().map(|copy| copy.id).collect();
    if ids.len() > 1 {
        let names = ids.iter().map(|id| (id + 1).to_string()).collect::<Vec<_>>().join(", ");
        notes.push(format!("task {} runs once for each of its inputs: tasks {names}", original.number()));
    }
    nodes.splice(at..=at, copies);
    if ids.len() > 1 {
        for node in nodes.iter_mut().filter(|node| !ids.contains(&node.id)) {
            follow(node, original.id, &ids, vocabulary);
        }
    }
}

/// Makes a task that waits for or refers to `from` wait for and refer to all of `to`.
fn follow(node: &mut Node, from: i64, to: &[i64], vocabulary: &Vocabulary) {
    if let Some(at) = node.dep.iter().position(|dep| *dep == from) {
        node.dep.splice(at..=at, to.iter().copied());
    }
    let tool = vocabulary.find(&node.task);
    for (name, arg) in &mut node.args {
        let kind = tool.map_or_else(|| crate::tool::arg_name_kind(name), |tool| tool.arg_kind(name));
        let separator = if kind.is_media() { "," } else { "\n" };
        *arg = arg.map(&mut |reference| {
            if reference.0 != Some(from) {
                return vec![Piece::Output(reference)];
            }
            let mut pieces = Vec::with_capacity(to.len() * 2);
            for id in to {
                if !pieces.is_empty() {
                    pieces.push(Piece::Text(separator.to_owned()));
                }
                pieces.push(Piece::Output(DraftRef(Some(*id))));
            }
            pieces
        });
    }
}
