//! Readers for the reply of each stage. Their errors go into the next prompt.

use jarvis_prompt::literal::{Literal, read_literal};
use jarvis_prompt::reader::Want;
use jarvis_tools::names::standardize;

use crate::log::EndpointChoice;

/// A value with what is written down of it.
pub(crate) type ReadReply<T> = Result<(T, Literal), Unfit>;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unfit {
    /// In words for the next prompt.
    pub(crate) reason: String,
    /// What was read, where it has the form and yet is not one of those offered.
    pub(crate) read: Option<Literal>,
}

impl From<String> for Unfit {
    fn from(reason: String) -> Unfit {
        Unfit { reason, read: None }
    }
}

impl From<&str> for Unfit {
    fn from(reason: &str) -> Unfit {
        reason.to_owned().into()
    }
}

const MAX_ITEMS: usize = 1000;

fn value(reply: &str, want: Want) -> Result<Literal, String> {
    read_literal(reply, want).map_err(|error| error.to_string())
}

/// Subtasks: `{"Tasks": [text, …]}`, a bare list, or objects with `task`.
pub(crate) fn tasks(reply: &str) -> ReadReply<Vec<String>> {
    let read = value(reply, Want::Any)?;
    let items = match &read {
        Literal::List(items) => items,
        Literal::Map(_) => match read.field("Tasks") {
            Some(Literal::List(items)) => items,
            Some(_) => return Err("\"Tasks\" must be a list of texts".into()),
            None => return Err("there is no \"Tasks\" in the object".into()),
        },
        _ => return Err("an object with \"Tasks\" is wanted".into()),
    };
    let text =
        |item: &Literal| item.as_text().or_else(|| item.field("task").and_then(Literal::as_text)).map(str::to_owned);
    let found: Option<Vec<String>> =
        items.iter().take(MAX_ITEMS).map(|item| text(item).filter(|text| !text.trim().is_empty())).collect();
    match found {
        Some(tasks) if !tasks.is_empty() => Ok((tasks, read)),
        Some(_) => Err("\"Tasks\" is empty; at least one subtask is wanted".into()),
        None => Err("each of \"Tasks\" must be a text that is not empty".into()),
    }
}

pub(crate) fn rows(reply: &str) -> ReadReply<Vec<Literal>> {
    let read = value(reply, Want::Array)?;
    let has_id = |row: &Literal| row.field("id").and_then(Literal::id).is_some();
    match &read {
        Literal::List(rows) if !rows.is_empty() && rows.iter().all(has_id) => {
            Ok((rows.iter().take(MAX_ITEMS).cloned().collect(), read))
        }
        _ => Err("a list of objects with \"task\", \"id\" (a whole number) and \"dep\" is wanted".into()),
    }
}

/// `{"Reason", "Choice"}`: whether the choice is yes.
pub(crate) fn choice(reply: &str) -> ReadReply<bool> {
    let read = value(reply, Want::Object)?;
    let given = match read.field("Choice") {
        Some(Literal::Text(given)) => given.to_lowercase(),
        Some(Literal::Bool(given)) => if *given { "yes" } else { "no" }.to_owned(),
        Some(_) => return Err("\"Choice\" must be \"Yes\" or \"No\"".into()),
        None => return Err("there is no \"Choice\" in the object".into()),
    };
    match (given.contains("yes"), given.contains("no")) {
        (true, _) => Ok((true, read)),
        (false, true) => Ok((false, read)),
        (false, false) => Err("\"Choice\" must be \"Yes\" or \"No\"".into()),
    }
}

/// `{"ID": n}`, one of those offered.
pub(crate) fn tool_id(reply: &str, offered: &[i64]) -> ReadReply<i64> {
    let read = value(reply, Want::Object)?;
    let Some(id) = read.field("ID") else { return Err("there is no \"ID\" in the object".into()) };
    let id = match id {
        Literal::List(ids) if ids.len() == 1 => ids.first().and_then(Literal::id),
        id => id.id(),
    };
    match id {
        Some(id) if offered.contains(&id) => Ok((id, read)),
        Some(id) => Err(Unfit { reason: format!("{id} is not among the IDs of the list"), read: Some(read) }),
        None => Err("\"ID\" must be a whole number of the list".into()),
    }
}

/// Names of APIs, in order and once each; those not offered are left out.
pub(crate) fn apis(reply: &str, offered: &[&str]) -> ReadReply<Vec<String>> {
    let read = match value(reply, Want::Array) {
        Ok(read) => read,
        // One name, bare or in quotes.
        Err(error) => match known(reply.trim().trim_matches(['"', '\'', '`']), offered) {
            Some(name) => Literal::Text(name),
            None => return Err(error.into()),
        },
    };
    let given: Vec<&str> = match &read {
        Literal::List(items) => items.iter().filter_map(Literal::as_text).collect(),
        Literal::Text(name) => vec![name],
        _ => Vec::new(),
    };
    let mut chosen: Vec<String> = Vec::new();
    for name in given.iter().filter_map(|name| known(name, offered)) {
        if !chosen.contains(&name) {
            chosen.push(name);
        }
    }
    match (chosen.is_empty(), given.is_empty()) {
        (false, _) => Ok((chosen, read)),
        (true, true) => Err("a list of names from the list of APIs is wanted".into()),
        (true, false) => {
            let reason = format!("none of {read} is in the list of APIs; write the names exactly as they stand there");
            Err(Unfit { reason, read: Some(read) })
        }
    }
}

/// The offered name that is meant: exactly, in other case, or in the letters that ToolBench allows.
fn known(given: &str, offered: &[&str]) -> Option<String> {
    let given = given.trim();
    let found = (offered.iter().find(|name| **name == given))
        .or_else(|| offered.iter().find(|name| name.eq_ignore_ascii_case(given)))
        .or_else(|| offered.iter().find(|name| !given.is_empty() && standardize(name) == standardize(given)));
    found.map(|name| (*name).to_owned())
}

/// `{"Parameters": …}`: an object, or a list of objects.
pub(crate) fn parameters(reply: &str) -> ReadReply<Literal> {
    let read = value(reply, Want::Object)?;
    let parameters = match read.field("Parameters") {
        Some(parameters @ Literal::Map(_)) => parameters,
        Some(parameters @ Literal::List(calls))
            if !calls.is_empty() && calls.iter().all(|call| call.as_map().is_some()) =>
        {
            parameters
        }
        Some(_) => return Err("\"Parameters\" must be an object, or a list of objects".into()),
        None => return Err("there is no \"Parameters\" in the object".into()),
    };
    Ok((parameters.clone(), read))
}

pub(crate) fn calls_of(parameters: &Literal) -> Vec<&Literal> {
    match parameters {
        Literal::List(calls) => calls.iter().collect(),
        one => vec![one],
    }
}

/// A path: `[{"Task", "ID"}, …]`.
pub(crate) fn path(reply: &str) -> ReadReply<Vec<EndpointChoice>> {
    let read = value(reply, Want::Array)?;
    let Literal::List(items) = &read else { return Err("a list of objects with \"Task\" and \"ID\" is wanted".into()) };
    let row = |item: &Literal| {
        let id = item.field("ID")?.clone();
        let fits = match &id {
            Literal::List(ids) => ids.iter().all(|id| id.id().is_some()),
            id => id.id().is_some(),
        };
        let task = item.field("Task").and_then(Literal::as_text).unwrap_or_default().to_owned();
        fits.then_some(EndpointChoice { task, id })
    };
    match items.iter().take(MAX_ITEMS).map(row).collect::<Option<Vec<_>>>() {
        Some(path) if !path.is_empty() => Ok((path, read)),
        Some(_) => Err("the list is empty; at least one step is wanted".into()),
        None => Err("each step must be an object with \"Task\" and a whole number as \"ID\"".into()),
    }
}
