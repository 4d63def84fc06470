//! Semantic mapping: which known task an unknown task name means.
//!
//! Spelling, aliases and slips are seen without a call; the chat model is asked about what is left, once for each name.
//! Tasks that the chat model serves itself and control tasks are never mapped.

use std::collections::HashMap;

use futures::stream::{self, StreamExt as _};
use jarvis_ask::{AskError, Events};
use jarvis_catalogue::{Family, find};
use jarvis_chat::ChatError;
use jarvis_plan::{Level, Plan, Request, TaskId};
use jarvis_prompt::reader::{Want, read_json, without_reasoning};
use serde_json::{Value, json};

use super::{DecisionError, DecisionSettings, Mapped};
use crate::fit::cut;
use crate::source::Tasks;
use crate::stages::Stages;
use crate::untrusted::{clean, folded};

const STAGE: &str = "map_task";

/// Characters of the request and names that a prompt shows, from the first try to the last.
const SHOWN: [(usize, usize); 5] =
    [(usize::MAX, usize::MAX), (4_000, usize::MAX), (1_000, usize::MAX), (1_000, 50), (1_000, 10)];

/// The longest task name that a prompt shows, in characters.
const NAME: usize = 200;

/// Maps the task names of a plan that the vocabulary does not know (those with [`jarvis_plan::Fault::UnknownTask`]).
/// Names that stay unknown get a note and are not in the result. Without stages no model is asked. The caller emits the
/// events `mapped`.
pub(super) async fn map(
    settings: &DecisionSettings,
    stages: Option<&Stages>,
    plan: &Plan,
    tasks: &Tasks,
    request: &Request,
    events: &Events,
) -> Result<Vec<Mapped>, DecisionError> {
    let names: Vec<(Option<TaskId>, String)> =
        plan.tasks().iter().filter(|task| task.is_unknown()).map(|task| (Some(task.id), task.task.clone())).collect();
    let aliases = |tool: &jarvis_plan::Tool| tool.aliases.clone();
    let known: Vec<Known> =
        tasks.offered.iter().map(|tool| Known { id: tool.name.clone(), aliases: aliases(tool) }).collect();
    let Names { found, unmapped } = names_of(settings, stages, &names, &known, &request.text).await?;
    unmapped.into_iter().for_each(|note| events.note(Level::Warning, note));
    Ok(names
        .into_iter()
        .filter_map(|(task, from)| Some(Mapped { task: task?, to: found.get(&from)?.clone(), from }))
        .collect())
}

#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) id: String,
    pub(super) aliases: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct Names {
    /// The known name by the one that was mapped.
    pub(super) found: HashMap<String, String>,
    /// A sentence for each name that means no known one.
    pub(super) unmapped: Vec<String>,
}

/// Maps names to known ones.
///
/// # Errors
/// Only when a recording does not hold a call: a replay must not go other ways than the recorded run.
pub(super) async fn names_of(
    settings: &DecisionSettings,
    stages: Option<&Stages>,
    names: &[(Option<TaskId>, String)],
    known: &[Known],
    input: &str,
) -> Result<Names, DecisionError> {
    let Names { mut found, mut unmapped } = Names::default();
    let mut open: Vec<(Option<TaskId>, &str)> = Vec::new();
    for (id, name) in names {
        let served = settings.is_llm_served(name) || find(name).is_some_and(|kind| kind.family != Family::Ordinary);
        if served || known.iter().any(|known| known.id == *name) || found.contains_key(name) {
            continue;
        }
        match by_spelling(name, known) {
            Some(to) => drop(found.insert(name.clone(), to.to_owned())),
            // One call for a name, however many tasks have it and however they write it.
            None if open.iter().any(|(_, other)| folded(other) == folded(name)) => {}
            None => open.push((*id, name)),
        }
    }
    let stages = stages.filter(|_| settings.semantic_mapping && !known.is_empty());
    let Some(stages) = stages else {
        unmapped.extend(open.iter().map(|(_, name)| kept(name)));
        return Ok(Names { found, unmapped });
    };
    let ids: Vec<&str> = known.iter().map(|known| known.id.as_str()).collect();
    let calls: Vec<_> = open.iter().map(|(id, name)| ask(stages, *id, name, &ids, input)).collect();
    let answers: Vec<Result<Option<String>, AskError>> =
        stream::iter(calls).buffered(settings.concurrency.max(1)).collect().await;
    for ((_, name), answer) in open.iter().zip(answers) {
        match answer? {
            Some(to) => {
                // Other spellings of the same name mean the same.
                let same = names.iter().filter(|(_, other)| folded(other) == folded(name));
                found.extend(same.map(|(_, other)| (other.clone(), to.clone())));
            }
            None => unmapped.push(kept(name)),
        }
    }
    Ok(Names { found, unmapped })
}

fn kept(name: &str) -> String {
    format!("no available task means `{}`; the name was kept", clean(name, NAME))
}

/// Asks about one name. What goes wrong is a note and no mapping; only a replay that does not hold the call fails.
async fn ask(
    stages: &Stages,
    task: Option<TaskId>,
    name: &str,
    ids: &[&str],
    input: &str,
) -> Result<Option<String>, AskError> {
    let Stages { ask, prompts, .. } = stages;
    let name = clean(name, NAME);
    let mut closest = ids.to_vec();
    closest.sort_by_cached_key(|id| strsim::osa_distance(&folded(&name), &folded(id)));
    let asked = async {
        let question = ask.stage(STAGE).task(task.map(|id| i64::from(id.0))).fitted(&SHOWN, |(shown, most)| {
            // A list that does not fit is cut to the names that look most alike.
            let names = closest.get(..*most).filter(|_| ids.len() > *most).unwrap_or(ids);
            prompts.map_task(&cut(input, *shown), &name, names)
        })?;
        question.schema("mapping", || schema(ids)).call().await
    };
    match asked.await {
        Ok(reply) => Ok(read(&reply.text, ids)),
        Err(error) if error.is_replay_miss() => Err(error),
        Err(error) => {
            let why = match error {
                AskError::Prompt { source, .. } => source.to_string(),
                error => ChatError::from(error).to_string(),
            };
            ask.events().note(Level::Warning, format!("cannot ask what `{name}` means: {why}"));
            Ok(None)
        }
    }
}

/// The known name in a reply: that of the first flat object with `task_id`, taken only when it is exactly a known one.
fn read(reply: &str, ids: &[&str]) -> Option<String> {
    let named = |value: &Value| {
        let given = value.get("task_id")?.as_str()?.trim();
        let bare = given.trim_matches(|char: char| matches!(char, '"' | '\'' | '`') || char.is_whitespace());
        Some(ids.iter().find(|id| **id == bare).map(|id| (*id).to_owned()))
    };
    let reply = without_reasoning(reply);
    let mut rest = reply;
    while let Some(start) = rest.find('{') {
        let tail = rest.get(start + 1..)?;
        let Some(end) = tail.find(['{', '}']) else { break };
        if tail.as_bytes().get(end) == Some(&b'}') {
            let object = rest.get(start..start + end + 2)?;
            if let Some(found) = read_json(object, Want::Object).ok().and_then(|read| named(&read.value)) {
                return found;
            }
        }
        rest = tail.get(end..)?;
    }
    // Cut off, or without its closing bracket.
    read_json(reply, Want::Object).ok().and_then(|read| named(&read.value)).flatten()
}

fn schema(ids: &[&str]) -> Value {
    let mut names = ids.to_vec();
    names.push("");
    json!({
        "type": "object",
        "properties": {"task_id": {"type": "string", "enum": names}},
        "required": ["task_id"],
        "additionalProperties": false,
    })
}

/// The known name that a name is another spelling, an alias, or a slip of; none where two could be meant.
fn by_spelling<'a>(name: &str, known: &'a [Known]) -> Option<&'a str> {
    let wanted = folded(name);
    if wanted.is_empty() {
        return None;
    }
    let only = |fits: &dyn Fn(&Known) -> bool| {
        let mut fitting = known.iter().filter(|known| fits(known));
        let first = fitting.next()?;
        fitting.next().is_none().then_some(first.id.as_str())
    };
    let registered = find(name).map(|kind| kind.name);
    only(&|known| folded(&known.id) == wanted)
        .or_else(|| only(&|known| known.aliases.iter().any(|alias| folded(alias) == wanted)))
        .or_else(|| only(&|known| registered.is_some() && find(&known.id).map(|kind| kind.name) == registered))
        .or_else(|| only(&|known| is_slip(&wanted, &folded(&known.id))))
}

/// True when two names have the same words, in any order, but for a plural or one slip in a longer word. Names that
/// differ in a short word, or in how a word begins, mean different things.
fn is_slip(name: &str, known: &str) -> bool {
    let mut left: Vec<&str> = known.split('-').collect();
    let words: Vec<&str> = name.split('-').collect();
    if words.len() != left.len() {
        return false;
    }
    words.iter().all(|word| {
        let alike = left
            .iter()
            .position(|other| other == word)
            .or_else(|| left.iter().position(|other| same_word(word, other)));
        alike.map(|at| left.swap_remove(at)).is_some()
    })
}

fn same_word(a: &str, b: &str) -> bool {
    /// Shorter words are other words when a letter differs.
    const LONG: usize = 6;
    let plural = |one: &str, many: &str| many.strip_suffix('s') == Some(one) && one.len() > 2;
    if a == b || plural(a, b) || plural(b, a) {
        return true;
    }
    let long = a.chars().count() >= LONG && b.chars().count() >= LONG;
    long && a.chars().next() == b.chars().next() && strsim::osa_distance(a, b) <= 1
}

#[cfg(test)]
mod tests;
