//! The models that a plan file names: each must be known, and must serve its task.

use jarvis_catalogue::Host;
use jarvis_plan::{Candidate, Selection, TaskId};

use super::Faults;
use super::rows::Row;
use crate::choose::effective_of;
use crate::source::{CHAT_MODEL_ID, Sources};

/// The model that a row pins to its task, under any id; `None` when it names none, or none that will do, which is a fault.
pub(super) fn pin(
    row: &Row,
    task: &str,
    sources: &Sources,
    faults: &mut Faults,
    notes: &mut Vec<String>,
) -> Option<Selection> {
    let Some(model) = &row.model else {
        notes.push(format!("task {}: the plan names no model; one is chosen now", row.id));
        return None;
    };
    let has_text = row.args.get("text").is_some_and(|text| !text.as_str().is_some_and(|text| text.trim().is_empty()));
    let effective = effective_of(task, has_text);
    let chosen = match resolve(model, row.hosted_on.as_deref(), effective, sources) {
        Ok(chosen) => chosen,
        Err(Unfit { message, hint }) => {
            faults.advise(&row.id, row.names.model, message, hint);
            return None;
        }
    };
    if row.hosted_on.as_deref().is_some_and(|given| given != chosen.host.as_str() && given != "unknown") {
        notes.push(format!("task {}: `{model}` runs on `{}`, whatever `hosted_on` says", row.id, chosen.host));
    }
    let mut fallbacks: Vec<Candidate> = Vec::new();
    for (id, host) in &row.alternatives {
        match resolve(id, host.as_deref(), effective, sources) {
            Ok(candidate) if candidate != chosen && !fallbacks.contains(&candidate) => fallbacks.push(candidate),
            Ok(_) => {}
            Err(_) => notes
                .push(format!("task {}: the alternative `{id}` does not serve `{effective}` and is dropped", row.id)),
        }
    }
    let reason = if row.reason.is_empty() { "the plan names it".to_owned() } else { row.reason.clone() };
    Some(Selection { task: TaskId(0), chosen, fallbacks, reason, notes: Vec::new() })
}

struct Unfit {
    message: String,
    hint: String,
}

/// The candidate that a model's id means for a task, on the given host where the model can be there, else on its own.
fn resolve(id: &str, given: Option<&str>, task: &str, sources: &Sources) -> Result<Candidate, Unfit> {
    let candidate = |host: Host| Candidate { id: id.to_owned(), host: host.into(), effective_task: task.to_owned() };
    let fitting = || format!("`jarvis models list --task {task}` shows those that do; without a model one is chosen");
    let kind = jarvis_catalogue::find(task);
    if id == CHAT_MODEL_ID || sources.chat.as_deref() == Some(id) && given.is_none_or(|host| host == Host::Llm.as_str())
    {
        return match kind.is_some_and(jarvis_catalogue::TaskType::is_chat_served) {
            true => Ok(candidate(Host::Llm)),
            false => Err(Unfit { message: format!("the chat model does not serve `{task}`"), hint: fitting() }),
        };
    }
    if let Some(endpoint) = sources.ready().iter().find(|one| one.model.id == id && one.model.task == task) {
        return Ok(candidate(endpoint.host));
    }
    if let Some(tool) = sources.tool(task).filter(|tool| tool.id == id) {
        return Ok(tool);
    }
    if kind.and_then(jarvis_catalogue::TaskType::control_model).is_some_and(|model| model == id) {
        return Ok(candidate(Host::Local));
    }
    if let Some(model) = sources.catalogue.get(id, Some(task)) {
        // A Hub model may be loaded on the model server too.
        let elsewhere = [Host::Local, Host::Huggingface];
        let host = elsewhere.into_iter().find(|host| given == Some(host.as_str()));
        return Ok(candidate(host.filter(|_| elsewhere.contains(&model.host)).unwrap_or(model.host)));
    }
    if given == Some(Host::Api.as_str()) {
        let message = format!("`{id}` is a model of a catalogue service, which jarvis plans with and does not call");
        return Err(Unfit { message, hint: fitting() });
    }
    match sources.catalogue.get(id, None) {
        Some(model) => Err(Unfit { message: format!("`{id}` serves `{}`, not `{task}`", model.task), hint: fitting() }),
        None => Err(Unfit { message: format!("no model `{id}` is known"), hint: fitting() }),
    }
}
