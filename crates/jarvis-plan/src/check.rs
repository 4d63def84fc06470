//! The check: a [`Draft`] in, a [`Plan`] out, whatever the draft looks like.
//!
//! Names are put in their proper spelling, ids made unique and dense, bare references bound, dependencies united with
//! references, cycles broken, lists of references unfolded into copies, values typed by the schemas of the tools. A task that
//! cannot run keeps its place with its [`Fault`]s; nothing else is lost without a note. Checking a checked plan again changes
//! nothing.
//!
//! It does not look at whether files exist or models are available: that is the work of later stages.

mod args;
mod cycles;
mod ids;
mod unfold;

use indexmap::IndexMap;

use crate::{Arg, Draft, DraftRef, DraftTask, Fault, Note, Piece, Plan, Task, TaskId, Vocabulary};

/// Limits of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most tasks a plan may have, copies from unfolding included.
    pub max_tasks: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { max_tasks: 32 }
    }
}

/// A task on its way through the check. Ids are unique and not negative from [`ids::unique`] on.
#[derive(Debug, Clone)]
struct Node {
    id: i64,
    task: String,
    /// All dependencies, explicit ones first; united with the references after [`unite`].
    dep: Vec<i64>,
    args: IndexMap<String, Arg<DraftRef>>,
    unfolded_from: Option<i64>,
    faults: Vec<Fault>,
}

impl Node {
    /// The ids that the arguments refer to, without repeats. References of a faulty task are not followed.
    fn referenced(&self) -> Vec<i64> {
        let mut ids = Vec::new();
        for id in self.args.values().flat_map(Arg::references).filter_map(|reference| reference.0) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    /// The task's number as people count: from 1.
    fn number(&self) -> i64 {
        self.id.saturating_add(1)
    }

    fn fail(&mut self, fault: Fault) {
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }
}

/// The notes of a check, as they come.
struct Notes(Vec<Note>);

impl Notes {
    /// Something was mended or is odd.
    fn push(&mut self, text: String) {
        self.0.push(text.into());
    }

    /// A part of what was asked for is not in the plan.
    fn left_out(&mut self, text: String) {
        self.0.push(Note::left_out(text));
    }
}

/// Turns a draft into a plan. Never fails: what cannot be mended becomes a task with a [`Fault`], or a note.
pub fn check(draft: &Draft, vocabulary: &Vocabulary, limits: Limits) -> Plan {
    let mut plan = Plan::default();
    plan.grow(draft, vocabulary, limits);
    plan
}

impl Plan {
    /// Adds the tasks of a draft and returns them as they were added. Their references and dependencies may name tasks that
    /// are already in the plan; those do not change, and neither do their ids. A drafted id that is taken is replaced.
    ///
    /// `limits` bound the whole plan. Like [`check`] it never fails.
    pub fn grow(&mut self, draft: &Draft, vocabulary: &Vocabulary, limits: Limits) -> &[Task] {
        let before = self.tasks.len();
        let mut notes = Notes(draft.notes.clone());
        let mut nodes: Vec<Node> = self.tasks.iter().map(checked).collect();
        nodes.extend(draft.tasks.iter().map(|task| start(task, vocabulary)));
        if nodes.len() > limits.max_tasks {
            notes.left_out(format!("the plan has {} tasks; only the first {} are kept", nodes.len(), limits.max_tasks));
            nodes.truncate(limits.max_tasks.max(before));
        }
        ids::tame_references(&mut nodes, &mut notes);
        ids::unique(&mut nodes, &mut notes);
        bind(&mut nodes, vocabulary, &mut notes);
        ids::mark_dangling(&mut nodes, &mut notes);
        unite(&mut nodes, &mut notes);
        cycles::break_all(&mut nodes, &mut notes);
        unfold::all(&mut nodes, vocabulary, limits, &mut notes);
        unite(&mut nodes, &mut notes);
        args::hold(nodes.get_mut(before..).expect("tasks were only added"), vocabulary, &mut notes);
        args::one_list(nodes.get_mut(before..).expect("tasks were only added"));
        args::follow(&mut nodes, vocabulary);
        ids::dense(&mut nodes, &mut notes);
        self.tasks.extend(nodes.into_iter().skip(before).map(finish));
        self.notes.append(&mut notes.0);
        self.more = draft.more;
        self.tasks.get(before..).expect("tasks were only added")
    }
}

/// A task that was checked before, as the check reads it. What stands in its values is no reference any more.
fn checked(task: &Task) -> Node {
    let id = |id: TaskId| i64::from(id.0);
    let drafted = |arg: &Arg| arg.map(&mut |of| vec![Piece::Output(DraftRef(Some(id(of))))]);
    Node {
        id: id(task.id),
        task: task.task.clone(),
        dep: task.dep.iter().copied().map(id).collect(),
        args: task.args.iter().map(|(name, arg)| (name.clone(), drafted(arg))).collect(),
        unfolded_from: task.unfolded_from,
        faults: task.faults.clone(),
    }
}

fn start(task: &DraftTask, vocabulary: &Vocabulary) -> Node {
    let tool = vocabulary.find(&task.task);
    let mut faults = task.faults.clone();
    if tool.is_none() && !faults.iter().any(|fault| matches!(fault, Fault::AmbiguousTask { .. })) {
        faults.insert(0, Fault::UnknownTask { nearest: vocabulary.nearest(&task.task) });
    }
    Node {
        id: task.id,
        task: tool.map_or_else(|| task.task.clone(), |tool| tool.name.clone()),
        dep: task.dep.clone(),
        args: task.args.clone(),
        unfolded_from: task.unfolded_from,
        faults,
    }
}

/// Binds `<GENERATED>` without an id to the nearest earlier task that gives the kind the argument takes.
fn bind(nodes: &mut [Node], vocabulary: &Vocabulary, notes: &mut Notes) {
    for at in 0..nodes.len() {
        let (earlier, rest) = nodes.split_at_mut(at);
        let Some(node) = rest.first_mut() else { continue };
        let tool = vocabulary.find(&node.task);
        let mut unbound = None;
        let number = node.number();
        for (name, arg) in &mut node.args {
            if !arg.references().any(|reference| reference.0.is_none()) {
                continue;
            }
            let kind = tool.map_or_else(|| crate::tool::arg_name_kind(name), |tool| tool.arg_kind(name));
            let giver = earlier
                .iter()
                .rev()
                .find(|giver| vocabulary.find(&giver.task).is_some_and(|tool| tool.gives(kind)))
                .map(|giver| giver.id);
            match giver {
                Some(id) => {
                    *arg = arg.map(&mut |reference| vec![Piece::Output(DraftRef(reference.0.or(Some(id))))]);
                    notes.push(format!("task {}: `{name}` named no task and was bound to task {}", number, id + 1));
                }
                None => unbound = Some(name.clone()),
            }
        }
        if let Some(arg) = unbound {
            node.fail(Fault::UnboundReference { arg });
        }
    }
}

/// Makes `dep` the union of the explicit dependencies and the referenced ids, in that order; drops what is unknown,
/// repeated, or the task itself.
fn unite(nodes: &mut [Node], notes: &mut Notes) {
    let known: std::collections::HashSet<i64> = nodes.iter().map(|node| node.id).collect();
    for node in nodes {
        let mut dep: Vec<i64> = Vec::with_capacity(node.dep.len());
        for id in &node.dep {
            if *id == node.id || !known.contains(id) {
                let why = if *id == node.id { "itself" } else { "not in the plan" };
                notes.push(format!("task {}: dependency on {id} ({why}) was left out", node.number()));
            } else if !dep.contains(id) {
                dep.push(*id);
            }
        }
        // References inside a cycle are kept as written but are not followed.
        if !node.faults.contains(&Fault::ReferenceCycle) {
            for id in node.referenced() {
                if id != node.id && known.contains(&id) && !dep.contains(&id) {
                    dep.push(id);
                }
            }
        }
        node.dep = dep;
    }
}

/// The last step: ids fit `u32`, and references of faulty tasks become the text they were.
fn finish(node: Node) -> Task {
    let id = |id: i64| TaskId(u32::try_from(id).expect("ids are dense and fewer than the limit of tasks"));
    let dep: Vec<TaskId> = node.dep.iter().map(|dep| id(*dep)).collect();
    let args = node
        .args
        .iter()
        .map(|(name, arg)| {
            let arg = arg.map(&mut |reference| match reference.0 {
                Some(to) if node.dep.contains(&to) => vec![Piece::Output(id(to))],
                // This spelling keeps its meaning whatever text follows.
                Some(to) => vec![Piece::Text(format!("<GENERATED-{to}>"))],
                None => vec![Piece::Text("<GENERATED>".to_owned())],
            });
            (name.clone(), arg)
        })
        .collect();
    let unfolded_from = node.unfolded_from.filter(|id| ids::is_usable(*id));
    Task { task: node.task, id: id(node.id), dep, args, unfolded_from, faults: node.faults }
}
