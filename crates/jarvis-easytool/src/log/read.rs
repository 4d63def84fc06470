//! Lenient readers for logs of every form: fields that a row lacks are empty, and lines that cannot be read become notes.

use std::path::Path;

use indexmap::IndexMap;
use jarvis_prompt::literal::Literal;

use super::calls::{LoggedCall, OfferedFunction, calls_of, functions_in};
use super::published;
use super::record::EndpointChoice;
use crate::input::{InputError, lines, text_of_log};

#[derive(Debug, Clone, PartialEq)]
pub struct Logged<T> {
    pub rows: Vec<T>,
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoggedAnswer {
    /// The question's number in the data, from 1, where the row has one.
    pub number: Option<u64>,
    pub query_id: Option<String>,
    pub question: String,
    pub final_answer: String,
    /// ToolBench: whether the run came to its end. A run that failed has no answer.
    pub finished: bool,
    pub gave_up: bool,
    /// FuncQA: the full-precision result of the last accepted call.
    pub final_value: Option<Literal>,
    /// The result of the last accepted attempt; empty when it gave nothing.
    pub last_result: Option<String>,
    /// A person's verdict. The original writes `false` before anyone has looked.
    pub human_check: Option<bool>,
    pub calls: Vec<LoggedCall>,
    pub functions: Vec<OfferedFunction>,
    /// Choices of a tool or an API that were read and turned down because they were not offered.
    pub rejected_choices: usize,
    pub rejected_parameters: usize,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoggedPath {
    pub number: Option<u64>,
    pub question: String,
    /// The steps as the model wrote them; a step that is only a text has no number.
    pub task_path: Vec<EndpointChoice>,
    pub path: Option<Vec<String>>,
}

/// Reads a log of FuncQA or ToolBench: ours, the original's, a replay, or ToolBench's converted form.
pub fn read_answers(path: &Path) -> Result<Logged<LoggedAnswer>, InputError> {
    let text = text_of_log(path)?;
    if let Some(rows) = published::read_converted(&text) {
        return Ok(Logged { rows, notes: Vec::new() });
    }
    rows_of(path, &text, answer_of)
}

/// Reads a log of RestBench: ours, the original's, or a replay.
pub fn read_paths(path: &Path) -> Result<Logged<LoggedPath>, InputError> {
    rows_of(path, &text_of_log(path)?, path_of)
}

pub(super) type Fields = IndexMap<String, Literal>;

fn rows_of<T>(path: &Path, text: &str, of: fn(&Fields) -> T) -> Result<Logged<T>, InputError> {
    let mut logged = Logged { rows: Vec::new(), notes: Vec::new() };
    if text.trim_start().starts_with('[')
        && let Ok(Literal::List(rows)) = Literal::parse(text.trim())
    {
        logged.rows = rows.iter().filter_map(Literal::as_map).filter(|row| is_row(row)).map(of).collect();
    } else {
        let last = text.lines().count();
        for (at, line) in lines(text) {
            match Literal::parse(line.trim()) {
                Ok(Literal::Map(row)) if is_row(&row) => logged.rows.push(of(&row)),
                Ok(Literal::Map(_)) => {}
                Ok(_) => logged.notes.push(format!("line {} is no record and is left out", at + 1)),
                Err(_) if at + 1 == last => {
                    logged.notes.push(format!("line {}, the last, is torn and is left out", at + 1));
                }
                Err(error) => logged.notes.push(format!("line {} cannot be read and is left out: {error}", at + 1)),
            }
        }
    }
    if logged.rows.is_empty() {
        let reason = logged.notes.first().map_or("it has no record of a question", String::as_str);
        return Err(InputError::shape(path, format!("not a log: {reason}")));
    }
    Ok(logged)
}

/// A record of a question; the first line of our logs holds the settings.
fn is_row(row: &Fields) -> bool {
    row.contains_key("question") || row.contains_key("query")
}

fn answer_of(row: &Fields) -> LoggedAnswer {
    let query_id = row.get("query_id").map(plain).filter(|id| !id.is_empty());
    let executed = row.get("execute_log").and_then(Literal::as_map);
    let results = executed.and_then(|log| log.get("call_result_ls")).and_then(Literal::as_list);
    let steps = row.get("steps").and_then(Literal::as_list);
    let last_step = steps.and_then(<[Literal]>::last).and_then(Literal::as_map);
    let finish = row.get("finish_raw").filter(|raw| **raw != Literal::Null).map(|raw| published::finish(&plain(raw)));
    let failed = row.get("status").and_then(Literal::as_text) == Some("failed");
    let rejected = rejections(row);
    LoggedAnswer {
        number: number_of(row, query_id.is_some()),
        query_id,
        question: text(row, &["question", "query"]),
        final_answer: text(row, &["final_answer"]),
        finished: !failed && (finish.is_some() || !row.contains_key("available_tools")),
        gave_up: finish.is_some_and(|finish| finish.gave_up),
        final_value: row.get("final_value").filter(|value| **value != Literal::Null).cloned(),
        last_result: match (results, last_step) {
            (Some(results), _) => results.last().map(plain),
            (None, Some(step)) => step.get("logged_result").map(plain),
            (None, None) => None,
        },
        human_check: row.get("human_check").or_else(|| row.get("check")).and_then(truth),
        calls: calls_of(row, executed),
        functions: row.get("available_tools").map(functions_in).unwrap_or_default(),
        rejected_choices: rejected.0,
        rejected_parameters: rejected.1,
    }
}

/// How many replies of the model that could be read were turned down: choices, parameters.
fn rejections(row: &Fields) -> (usize, usize) {
    let trace = row.get("stage_trace").and_then(Literal::as_list).unwrap_or_default();
    let turned_down = |call: &&Fields| {
        let has = |name: &str| call.get(name).is_some_and(|value| *value != Literal::Null);
        has("parsed") && has("error")
    };
    let of = |stages: &[&str]| {
        let calls = trace.iter().filter_map(Literal::as_map).filter(turned_down);
        calls.filter(|call| call.get("stage").and_then(Literal::as_text).is_some_and(|at| stages.contains(&at))).count()
    };
    (of(&["choose_tool", "choose_api"]), of(&["choose_parameter", "choose_parameter_depend"]))
}

fn path_of(row: &Fields) -> LoggedPath {
    let steps = row.get("task_path").and_then(Literal::as_list).unwrap_or_default();
    let path = ["tool_choice_ls", "tool_path"].iter().find_map(|name| row.get(*name)).and_then(Literal::as_list);
    LoggedPath {
        number: number_of(row, false),
        question: text(row, &["question", "query"]),
        task_path: steps.iter().map(step).collect(),
        path: path.map(|path| path.iter().map(plain).collect()),
    }
}

fn step(step: &Literal) -> EndpointChoice {
    match step.as_map() {
        Some(fields) => EndpointChoice {
            task: text(fields, &["Task", "task"]),
            id: ["ID", "id"].iter().find_map(|name| fields.get(*name)).cloned().unwrap_or(Literal::Null),
        },
        None => EndpointChoice { task: plain(step), id: Literal::Null },
    }
}

/// The question's number: `ID`, or the digits at the end of a replay's id, such as `mh-chatgpt-007`.
fn number_of(row: &Fields, has_query_id: bool) -> Option<u64> {
    if let Some(id) = row.get("ID") {
        return plain(id).trim().parse().ok();
    }
    let id = plain(row.get("id").filter(|_| !has_query_id)?);
    id.rsplit('-').next()?.parse().ok()
}

pub(super) fn text(fields: &Fields, names: &[&str]) -> String {
    names.iter().find_map(|name| fields.get(*name)).map(plain).unwrap_or_default()
}

/// A text as it is, anything else as JSON, nothing for null.
pub(super) fn plain(value: &Literal) -> String {
    match value {
        Literal::Null => String::new(),
        Literal::Text(text) => text.clone(),
        other => other.to_string(),
    }
}

fn truth(value: &Literal) -> Option<bool> {
    match value {
        Literal::Bool(truth) => Some(*truth),
        Literal::Int(int) => Some(*int != 0.into()),
        Literal::Float(float) => Some(*float != 0.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
