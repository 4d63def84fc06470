//! What a plan leaves open, and what it makes up: required media and texts that an earlier task gives or the request holds,
//! and texts that neither gives.

use std::collections::HashSet;

use jarvis_plan::{Arg, Draft, DraftRef, DraftTask, Fault, Kind, Piece, Tool, is_han, stem};

use super::Scope;
use super::media::Files;
use super::reference::quoted;

/// Gives tasks the required media and texts that they lack: the output of the task that they are to wait for, or else of the
/// only earlier task that gives such a thing which nothing takes, or the only attachment of the kind. Where there is more
/// than one, none is taken. Parameters with a schema get nothing that was not said.
pub(super) fn fill(draft: &mut Draft, scope: Scope<'_>) {
    let files = Files::new(scope);
    for at in 0..draft.tasks.len() {
        let Some(task) = draft.tasks.get(at).filter(|task| task.faults.is_empty()) else { continue };
        let Some(tool) = scope.tools.find(&task.task) else { continue };
        let missing: Vec<(String, Kind)> = (tool.params.iter())
            .filter(|param| param.required && param.schema.is_none() && param.kind != Kind::Json)
            .filter(|param| is_blank(task.args.get(&param.name)))
            .map(|param| (param.name.clone(), param.kind))
            .collect();
        for (name, kind) in missing {
            let made = giver(draft, at, kind, scope);
            let attached = files.only(kind).filter(|_| kind.is_media());
            let awaited = |id: &i64| draft.tasks.get(at).is_some_and(|task| task.dep.contains(id));
            // Of several files and a result, none is meant more than the others.
            let made = made.filter(|id| awaited(id) || !files.has(kind) || attached.is_some());
            let (arg, from) = match (made, attached) {
                (Some(id), None) => (Arg::output(DraftRef(Some(id))), format!("the output of task {}", id + 1)),
                (None, Some(path)) if unused(draft, at, kind, scope).is_empty() => {
                    (Arg::literal(path), format!("`{path}`"))
                }
                _ => continue,
            };
            if let Some(task) = draft.tasks.get_mut(at) {
                draft.notes.push(format!("task {}: `{name}` was missing and became {from}", task.id + 1).into());
                task.args.insert(name, arg);
            }
        }
    }
}

fn is_blank(arg: Option<&Arg<DraftRef>>) -> bool {
    arg.is_none_or(|arg| arg.as_literal().is_some_and(|text| text.trim().is_empty()))
}

/// Whether the tool of a task gives a kind.
fn gives(task: &DraftTask, kind: Kind, scope: Scope<'_>) -> bool {
    scope.tools.find(&task.task).is_some_and(|tool| tool.gives(kind))
}

/// The only task that can be meant to give a kind.
fn giver(draft: &Draft, at: usize, kind: Kind, scope: Scope<'_>) -> Option<i64> {
    let task = draft.tasks.get(at)?;
    let waits_for = |other: &&DraftTask| task.dep.contains(&other.id) && gives(other, kind, scope);
    let mut awaited = draft.tasks.iter().filter(waits_for);
    if let (Some(only), None) = (awaited.next(), awaited.next()) {
        return Some(only.id);
    }
    match unused(draft, at, kind, scope).as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// The tasks before a task that give a kind which nothing takes.
fn unused(draft: &Draft, at: usize, kind: Kind, scope: Scope<'_>) -> Vec<i64> {
    let args = draft.tasks.iter().flat_map(|task| task.args.values());
    let taken: HashSet<i64> = args.flat_map(Arg::references).filter_map(|reference| reference.0).collect();
    let earlier = draft.tasks.iter().take(at);
    earlier.filter(|task| gives(task, kind, scope) && !taken.contains(&task.id)).map(|task| task.id).collect()
}

/// Marks texts that a model made up in the place of what there is or will be: the request does not give them, and an earlier
/// task's text, or a file of the request, is taken by nothing.
pub(super) fn hold(draft: &mut Draft, scope: Scope<'_>) {
    let files = Files::new(scope);
    let literals = draft.tasks.iter().flat_map(|task| task.args.values()).map(ToString::to_string);
    let untaken = files.untaken(&literals.collect::<Vec<_>>());
    let said = words(&scope.request.text);
    let mut found: Vec<(usize, Fault)> = Vec::new();
    for (at, task) in draft.tasks.iter().enumerate() {
        let Some(tool) = scope.tools.find(&task.task).filter(|_| task.faults.is_empty()) else { continue };
        for param in tool.params.iter().filter(|param| param.kind == Kind::Text && param.schema.is_none()) {
            let Some(text) = task.args.get(&param.name).and_then(Arg::as_literal) else { continue };
            let own = words(&text);
            let letters = text.chars().filter(|ch| ch.is_alphanumeric()).count();
            // "%s" is a place for a text.
            let stands_in = text.trim_start().starts_with('%') || text.contains(|ch: char| ch.is_ascii_digit());
            let short = own.is_empty() && (letters > 1 || letters > 0 && stands_in);
            let in_request = || {
                !short && own.iter().filter(|word| said.contains(*word)).count() * 2 >= own.len()
                    || scope.request.text.contains(text.trim())
            };
            let is_worked_on = works_on_text(tool);
            let is_given = || if is_worked_on { files.is_given(&text) } else { in_request() };
            let said_short = || scope.request.text.to_lowercase().contains(&text.trim().to_lowercase());
            if own.is_empty() && (!short || said_short()) || is_given() {
                continue;
            }
            let (arg, value) = (param.name.clone(), quoted(&text));
            if let Some(unused) = unused(draft, at, Kind::Text, scope).last() {
                found.push((at, Fault::NotGiven { arg, value, unused: *unused }));
            } else if is_worked_on && !untaken.is_empty() {
                let names: Vec<String> = untaken.iter().map(|name| format!("`{name}`")).collect();
                let takes =
                    format!("a text that the request gives, or made of {}, which no task takes", names.join(", "));
                found.push((at, Fault::BadValue { arg, value, takes }));
            }
        }
    }
    mark(draft, found);
}

/// Whether a tool works on a text as it is: it takes one and nothing else, and makes no picture and no prose of its own from
/// it.
fn works_on_text(tool: &Tool) -> bool {
    let makes = [Kind::Image, Kind::Video].iter().any(|kind| tool.gives(*kind));
    let writes = ["generat", "convers", "chat", "card"].iter().any(|word| tool.name.contains(word));
    matches!(tool.params.as_slice(), [only] if only.kind == Kind::Text && only.schema.is_none()) && !makes && !writes
}

/// Marks tasks in which several references say no task, and several of those that they wait for may be meant.
pub(super) fn unnamed(draft: &mut Draft) {
    let mut found: Vec<(usize, Fault)> = Vec::new();
    for (at, task) in draft.tasks.iter().enumerate().filter(|(_, task)| task.faults.is_empty()) {
        let named: Vec<i64> =
            task.args.values().flat_map(Arg::references).filter_map(|reference| reference.0).collect();
        let is_open = |arg: &Arg<DraftRef>| arg.references().any(|reference| reference.0.is_none());
        let open: Vec<&String> = task.args.iter().filter(|(_, arg)| is_open(arg)).map(|(name, _)| name).collect();
        let readings: Vec<&i64> = task.dep.iter().filter(|id| !named.contains(id)).collect();
        if let ([first, _, ..], true) = (open.as_slice(), readings.len() > 1) {
            let readings = readings.into_iter().map(|id| format!("<GENERATED>-{id}")).collect();
            let value = "<GENERATED>".to_owned();
            found.push((at, Fault::Ambiguous { arg: (*first).clone(), value, readings }));
        }
    }
    mark(draft, found);
}

/// Marks tasks that wait for a result and take a file in its place, when nothing else takes the result: either may be meant.
pub(super) fn part(draft: &mut Draft, scope: Scope<'_>) {
    let args = draft.tasks.iter().flat_map(|task| task.args.values());
    let taken: HashSet<i64> = args.flat_map(Arg::references).filter_map(|reference| reference.0).collect();
    let files = Files::new(scope);
    let mut found: Vec<(usize, Fault)> = Vec::new();
    for (at, task) in draft.tasks.iter().enumerate() {
        let Some(tool) = scope.tools.find(&task.task).filter(|_| task.faults.is_empty()) else { continue };
        let open = draft.tasks.iter().filter(|other| task.dep.contains(&other.id) && !taken.contains(&other.id));
        let found_here =
            open.flat_map(|other| tool.params.iter().map(move |param| (other, param))).find_map(|(other, param)| {
                let is_medium = param.kind.is_media() || works_on_text(tool);
                let file = task.args.get(&param.name).and_then(Arg::as_literal).filter(|file| files.is_file(file))?;
                (is_medium && gives(other, param.kind, scope)).then(|| Fault::Ambiguous {
                    arg: param.name.clone(),
                    value: quoted(&file),
                    readings: vec![file.into_owned(), format!("<GENERATED>-{}", other.id)],
                })
            });
        found.extend(found_here.map(|fault| (at, fault)));
        // Of a task that gives a text no picture is to be had. A question about what it says is one about its own picture.
        for param in tool.params.iter().filter(|param| param.kind.is_media() && !tool.gives(Kind::Text)) {
            let Some(Piece::Output(DraftRef(Some(of)))) = task.args.get(&param.name).and_then(Arg::as_reference) else {
                continue;
            };
            let Some(other) = draft.tasks.iter().find(|other| other.id == *of) else { continue };
            let Some(giver) = scope.tools.find(&other.task) else { continue };
            if !giver.outputs.is_empty() && giver.outputs.iter().all(|kind| *kind == Kind::Text) {
                let value = format!("\"<GENERATED>-{of}\"");
                let takes = format!("{}, and `{}` gives a text", param.takes(), giver.name);
                found.push((at, Fault::BadValue { arg: param.name.clone(), value, takes }));
            }
        }
    }
    mark(draft, found);
}

fn mark(draft: &mut Draft, found: Vec<(usize, Fault)>) {
    for (at, fault) in found {
        if let Some(task) = draft.tasks.get_mut(at) {
            task.faults.push(fault);
        }
    }
}

/// The stems of the words of a text that carry its meaning: those of four letters and more, and single Chinese characters.
fn words(text: &str) -> HashSet<String> {
    let lower = text.to_lowercase();
    let mut found: HashSet<String> = lower.chars().filter(|c| is_han(*c)).map(String::from).collect();
    let parts = lower.split(|c: char| !c.is_alphanumeric() || is_han(c));
    found.extend(parts.filter(|word| word.chars().count() > 3).map(stem));
    found
}
