//! What FuncQA, ToolBench and RestBench do alike: choose, fill in, call, answer, sum up, check.

use std::time::Instant;

use futures::stream::{self, StreamExt};
use indexmap::IndexMap;
use jarvis_prompt::literal::Literal;
use jarvis_tools::{Registry, Scope, ToolError, ToolErrorKind, observation_code};
use serde::Serialize;
use serde_json::Value;

use crate::log::{AnsweredTask, Call, ChosenApi, Subtask};
use crate::prompts::Prompt;
use crate::replies;
use crate::stage::{Desk, StageError, millis};

/// Calls of one attempt under way at once.
const CALLS_AT_ONCE: usize = 4;

/// The most calls of one attempt; a model that asks for more is told so.
const MAX_CALLS: usize = 32;

/// A tool as the model sees it while choosing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Offer {
    pub id: i64,
    pub description: String,
}

/// How a subtask ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Solved {
    /// The accepted answer; `None` when the subtask failed.
    pub(crate) answer: Option<String>,
    /// The answers that were not accepted.
    pub(crate) wrong: Vec<String>,
    /// The APIs of the accepted attempt.
    pub(crate) apis: Vec<ChosenApi>,
    /// What they gave, joined.
    pub(crate) result: String,
    /// The same as later prompts show it.
    pub(crate) shown: String,
    pub(crate) instruction: Option<Literal>,
    /// Why a tool was thought to be needed or not.
    pub(crate) reason: Option<Literal>,
    /// The single number that the only call gave.
    pub(crate) value: Option<Literal>,
    /// The tools that retrieval found, best first.
    pub(crate) retrieved: Vec<i64>,
}

/// Which API is called, and for what.
pub(crate) struct Site<'a> {
    pub(crate) task_id: i64,
    pub(crate) attempt: u32,
    pub(crate) tool_id: i64,
    /// The tool and its API, as the record names them.
    pub(crate) tool: &'a str,
    pub(crate) api: &'a str,
    /// Names of the API in the registry; the first that it knows is called.
    pub(crate) names: &'a [&'a str],
    /// What is wrong with a set of parameters, by the instruction.
    pub(crate) faults: &'a (dyn Fn(&Literal) -> Vec<String> + Sync),
}

/// Asks which tool fits.
async fn choose_tool(desk: &Desk<'_>, task: &Subtask, tools: &[&Offer]) -> Result<i64, StageError> {
    #[derive(Serialize)]
    struct Context<'a> {
        task: &'a str,
        tools: &'a [&'a Offer],
    }
    let offered: Vec<i64> = tools.iter().map(|tool| tool.id).collect();
    let context = Context { task: &task.task, tools };
    desk.ask(Prompt::ChooseTool, Some(task.id), &context, |reply| replies::tool_id(reply, &offered)).await
}

/// Tries tools until an attempt is accepted, `tool_attempts` at most; a tool that was tried is not offered again. `attempt` is
/// given the tool's number and the number of the attempt, from 1. False when none was accepted.
pub(crate) async fn try_tools(
    desk: &Desk<'_>,
    task: &Subtask,
    offers: &[Offer],
    mut attempt: impl AsyncFnMut(i64, u32) -> Result<bool, StageError>,
) -> bool {
    let mut used: Vec<i64> = Vec::new();
    for number in (1..).take(desk.limits.tool_attempts.min(offers.len())) {
        let left: Vec<&Offer> = offers.iter().filter(|tool| !used.contains(&tool.id)).collect();
        let chosen = match choose_tool(desk, task, &left).await {
            Ok(chosen) => chosen,
            Err(error) => {
                desk.note_error(format!("subtask {}: {error}", task.id));
                break;
            }
        };
        used.push(chosen);
        match attempt(chosen, number).await {
            Ok(true) => return true,
            Ok(false) => {}
            Err(error) => desk.note_error(format!("subtask {}: {error}", task.id)),
        }
        if desk.lock().unreached {
            break;
        }
    }
    desk.note_error(format!("subtask {} has no accepted answer", task.id));
    false
}

/// How parameters look, for the prompt: two sets of them.
pub(crate) struct Shape {
    pub(crate) single: &'static str,
    pub(crate) second: &'static str,
}

/// One list of numbers.
pub(crate) const NUMBERS: Shape = Shape { single: r#"{"input": [2, 3]}"#, second: r#"{"input": [4, 5]}"# };

/// Named arguments.
pub(crate) const KEYWORDS: Shape = Shape {
    single: r#"{"keyword": "green tea", "language": "en"}"#,
    second: r#"{"keyword": "black tea", "language": "en"}"#,
};

/// Asks for the parameters of an API; with a log, by the prompt for subtasks that need earlier ones.
pub(crate) async fn choose_parameters(
    desk: &Desk<'_>,
    task: &Subtask,
    usage: &str,
    log: Option<&str>,
    shape: &Shape,
) -> Result<Literal, StageError> {
    #[derive(Serialize)]
    struct Context<'a> {
        task: &'a str,
        usage: &'a str,
        log: &'a str,
        single: &'a str,
        second: &'a str,
    }
    let prompt = if log.is_some() { Prompt::ChooseParameterDepend } else { Prompt::ChooseParameter };
    let Shape { single, second } = shape;
    let context = Context { task: &task.task, usage, log: log.unwrap_or_default(), single, second };
    let read = |reply: &str| match replies::parameters(reply) {
        Ok((parameters, _)) if replies::calls_of(&parameters).len() > MAX_CALLS => {
            Err(format!("at most {MAX_CALLS} calls are made at once").into())
        }
        read => read,
    };
    desk.ask(prompt, Some(task.id), &context, read).await
}

/// A value as a prompt shows it.
pub(crate) fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("names, texts and literals are JSON")
}

/// Calls the API once for each set of parameters, and writes the calls down in their order.
pub(crate) async fn call_all(
    desk: &Desk<'_>,
    tools: &Registry,
    site: &Site<'_>,
    parameters: &Literal,
) -> Vec<Result<String, ToolError>> {
    let limit = desk.limits.tool_timeout;
    // The registry itself reports a name that it does not know.
    let name = site.names.iter().find_map(|name| tools.meant(name)).map_or(site.api, |spec| spec.name.as_str());
    let one = |arguments: Literal| async move {
        let begun = Instant::now();
        let input = Value::Object(arguments.as_map().map(Literal::fields_to_json).unwrap_or_default());
        let done = match tokio::time::timeout(limit, tools.call(name, &input, &Scope::default())).await {
            Ok(done) => done.map(|observation| observation.in_words()),
            Err(_) => {
                Err(ToolError::new(ToolErrorKind::Timeout, format!("no answer within {} s", limit.as_secs_f32())))
            }
        };
        (arguments, done, millis(begun))
    };
    let sets: Vec<Literal> = replies::calls_of(parameters).into_iter().cloned().collect();
    let done: Vec<_> = stream::iter(sets.into_iter().map(one)).buffered(CALLS_AT_ONCE).collect().await;
    let mut results = Vec::with_capacity(done.len());
    for (arguments, result, ms) in done {
        desk.note_call(Call {
            task_id: site.task_id,
            attempt: site.attempt,
            tool_id: site.tool_id,
            tool: site.tool.to_owned(),
            api: site.api.to_owned(),
            parameter_faults: (site.faults)(&arguments),
            arguments,
            result: result.as_ref().ok().cloned(),
            error: result.as_ref().err().map(ToString::to_string),
            code: result.as_ref().map_or_else(|error| observation_code(error.kind), |_| 0),
            ms,
        });
        results.push(result);
    }
    results
}

/// The results that succeeded, joined as the original joins them.
pub(crate) fn joined(results: &[Result<String, ToolError>]) -> String {
    let good: Vec<&str> = results.iter().filter_map(|result| result.as_ref().ok()).map(String::as_str).collect();
    good.join("\n\n")
}

/// All results for the answer stage: those that succeeded by `show`, and why others failed.
pub(crate) fn shown(results: &[Result<String, ToolError>], show: impl Fn(&str) -> String) -> String {
    let all: Vec<String> = results
        .iter()
        .map(|result| match result {
            Ok(text) => show(text),
            Err(error) => format!("(the call failed: {error})"),
        })
        .collect();
    all.join("\n\n")
}

/// The first characters of a text, with a marker where it was cut.
pub(crate) fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((at, _)) => {
            let all = text.chars().count();
            format!("{}\n… (cut after {chars} of {all} characters)", text.get(..at).unwrap_or_default())
        }
    }
}

/// Asks for the answer to a subtask.
pub(crate) async fn answer(
    desk: &Desk<'_>,
    task: &Subtask,
    result: &str,
    log: Option<&str>,
) -> Result<String, StageError> {
    #[derive(Serialize)]
    struct Context<'a> {
        task: &'a str,
        result: String,
        log: &'a str,
    }
    let prompt = if log.is_some() { Prompt::AnswerGenerationDepend } else { Prompt::AnswerGeneration };
    let result = match result.trim() {
        "" => "(nothing)".to_owned(),
        _ => cut(result, desk.limits.result_chars),
    };
    desk.tell(prompt, Some(task.id), &Context { task: &task.task, result, log: log.unwrap_or_default() }).await
}

/// Asks for the final answer.
pub(crate) async fn summarize(desk: &Desk<'_>, question: &str, answers: &[AnsweredTask]) -> Result<String, StageError> {
    #[derive(Serialize)]
    struct Context<'a> {
        question: &'a str,
        answers: String,
    }
    let answers = json(answers);
    desk.tell(Prompt::Summarize, None, &Context { question, answers }).await
}

/// Asks whether an answer is one. A stage that fails counts as no, with a note.
pub(crate) async fn check(desk: &Desk<'_>, task: Option<i64>, question: &str, answer: &str) -> bool {
    #[derive(Serialize)]
    struct Context<'a> {
        question: &'a str,
        answer: &'a str,
    }
    let attempts = desk.limits.text_attempts;
    let context = Context { question, answer };
    match desk.attempts(Prompt::Check, task, &context, attempts, replies::choice).await {
        Ok(good) => good,
        Err(error) => {
            desk.note_error(format!("{error}; the answer counts as not good"));
            false
        }
    }
}

/// What a dependant is shown of a subtask that it needs.
#[derive(Debug, Serialize)]
pub(crate) struct Step<'a> {
    pub(crate) id: i64,
    pub(crate) task: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<&'static str>,
}

/// The steps with these ids, as far as they have ended; one that failed is told as such, never as an answer.
pub(crate) fn steps<'a>(
    subtasks: &'a [Subtask],
    ids: &[i64],
    finished: &'a IndexMap<i64, Solved>,
    with_results: bool,
) -> Vec<Step<'a>> {
    let step = |id: &i64| {
        let task = subtasks.iter().find(|task| task.id == *id)?;
        let solved = finished.get(id)?;
        let answer = solved.answer.as_deref();
        Some(Step {
            id: *id,
            task: &task.task,
            answer,
            result: answer.and(Some(solved.shown.as_str())).filter(|shown| with_results && !shown.is_empty()),
            failed: answer.is_none().then_some("this step failed; there is no result"),
        })
    };
    ids.iter().filter_map(step).collect()
}

#[cfg(test)]
mod tests;
