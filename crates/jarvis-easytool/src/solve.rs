//! Steps shared by FuncQA, ToolBench and RestBench: choose, fill in, call, answer, sum up, check.

use std::time::Instant;

use futures::stream::{self, StreamExt};
use jarvis_ask::AskError;
use jarvis_prompt::literal::Literal;
use jarvis_tools::{Registry, Scope, ToolError, ToolErrorKind, observation_code};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::instructions::{FunctionInstruction, ToolInstruction};
use crate::log::{AnsweredTask, Call, ChosenApi, Subtask};
use crate::prompts::Prompt;
use crate::question::Solver;
use crate::replies;
use crate::stage::{Stages, millis};

const CALLS_AT_ONCE: usize = 4;

/// The most calls of one attempt; a model that asks for more is told so.
const MAX_CALLS: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    #[serde(rename(deserialize = "ID"), deserialize_with = "number_or_text")]
    pub id: i64,
    #[serde(rename(deserialize = "Description"), default)]
    pub description: String,
}

fn number_or_text<'de, D: serde::Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    let id = Literal::deserialize(from)?;
    id.id().ok_or_else(|| serde::de::Error::custom(format!("{id} is not the number of a tool")))
}

impl From<&ToolInstruction> for Offer {
    fn from(tool: &ToolInstruction) -> Offer {
        Offer { id: tool.id, description: tool.tool_description.clone() }
    }
}

impl From<&FunctionInstruction> for Offer {
    fn from(function: &FunctionInstruction) -> Offer {
        Offer { id: function.id, description: function.description.clone() }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Solved {
    /// The accepted answer; `None` when the subtask failed.
    pub(crate) answer: Option<String>,
    pub(crate) wrong: Vec<String>,
    pub(crate) apis: Vec<ChosenApi>,
    pub(crate) result: String,
    pub(crate) shown: String,
    pub(crate) instruction: Option<Literal>,
    pub(crate) reason: Option<Literal>,
    /// The single number that the only call gave.
    pub(crate) value: Option<Literal>,
    pub(crate) retrieved: Vec<i64>,
}

pub(crate) struct Site<'a> {
    pub(crate) task_id: i64,
    pub(crate) attempt: u32,
    pub(crate) tool_id: i64,
    pub(crate) tool: &'a str,
    pub(crate) api: &'a str,
    /// Names of the API in the registry; the first that it knows is called.
    pub(crate) names: &'a [&'a str],
    pub(crate) faults: &'a (dyn Fn(&Literal) -> Vec<String> + Sync),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) task: &'a Subtask,
    pub(crate) tool: i64,
    pub(crate) number: u32,
    /// What the subtask knows of those before it, as JSON.
    pub(crate) log: Option<&'a str>,
}

async fn choose_tool(stages: &Stages, task: &Subtask, tools: &[&Offer]) -> Result<i64, AskError> {
    let offered: Vec<i64> = tools.iter().map(|tool| tool.id).collect();
    let context = json!({"task": task.task, "tools": tools});
    stages.ask(Prompt::ChooseTool, Some(task.id), &context, |reply| replies::tool_id(reply, &offered)).await
}

/// Tries tools until an attempt is accepted, `tool_attempts` at most; a tool that was tried is not offered again.
pub(crate) async fn try_tools(
    solver: &dyn Solver,
    task: &Subtask,
    offers: &[Offer],
    log: Option<&str>,
    solved: &mut Solved,
) {
    let stages = solver.stages();
    let mut used: Vec<i64> = Vec::new();
    for number in (1..).take(stages.limits.tool_attempts.min(offers.len())) {
        let left: Vec<&Offer> = offers.iter().filter(|tool| !used.contains(&tool.id)).collect();
        let tool = match choose_tool(stages, task, &left).await {
            Ok(tool) => tool,
            Err(error) => {
                stages.note_error(format!("subtask {}: {error}", task.id));
                break;
            }
        };
        used.push(tool);
        match solver.attempt(&Attempt { task, tool, number, log }, solved).await {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => stages.note_error(format!("subtask {}: {error}", task.id)),
        }
        if stages.is_unreachable() {
            break;
        }
    }
    stages.note_error(format!("subtask {} has no accepted answer", task.id));
}

pub(crate) const NUMBERS: [&str; 2] = [r#"{"input": [2, 3]}"#, r#"{"input": [4, 5]}"#];

pub(crate) const KEYWORDS: [&str; 2] =
    [r#"{"keyword": "green tea", "language": "en"}"#, r#"{"keyword": "black tea", "language": "en"}"#];

/// Asks for the parameters of an API; with a log, by the prompt for subtasks that need earlier ones.
pub(crate) async fn choose_parameters(
    stages: &Stages,
    task: &Subtask,
    usage: &str,
    log: Option<&str>,
    [single, second]: [&str; 2],
) -> Result<Literal, AskError> {
    let prompt = if log.is_some() { Prompt::ChooseParameterDepend } else { Prompt::ChooseParameter };
    let context = json!({"task": task.task, "usage": usage, "log": log, "single": single, "second": second});
    let read = |reply: &str| match replies::parameters(reply) {
        Ok((parameters, _)) if replies::calls_of(&parameters).len() > MAX_CALLS => {
            Err(format!("at most {MAX_CALLS} calls are made at once").into())
        }
        read => read,
    };
    stages.ask(prompt, Some(task.id), &context, read).await
}

pub(crate) fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("names, texts and literals are JSON")
}

pub(crate) fn literal(value: &impl Serialize) -> Literal {
    Literal::parse(&json(value)).expect("JSON is a literal")
}

/// Calls the API once for each set of parameters, and writes the calls down in their order.
pub(crate) async fn call_all(
    stages: &Stages,
    tools: &Registry,
    site: &Site<'_>,
    parameters: &Literal,
) -> Vec<Result<String, ToolError>> {
    let limit = stages.limits.tool_timeout;
    // The registry itself reports a name that it does not know.
    let name = site.names.iter().find_map(|name| tools.meant(name)).map_or(site.api, |spec| spec.name.as_str());
    let one = |arguments: Literal| async move {
        let begun = Instant::now();
        let fields = arguments.as_map().expect("only objects are read as parameters");
        let input = Value::Object(Literal::fields_to_json(fields));
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
        stages.note_call(Call {
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

pub(crate) fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((at, _)) => {
            let all = text.chars().count();
            format!("{}\n… (cut after {chars} of {all} characters)", text.split_at(at).0)
        }
    }
}

pub(crate) async fn answer(
    stages: &Stages,
    task: &Subtask,
    result: &str,
    log: Option<&str>,
) -> Result<String, AskError> {
    let prompt = if log.is_some() { Prompt::AnswerGenerationDepend } else { Prompt::AnswerGeneration };
    let result = match result.trim() {
        "" => "(nothing)".to_owned(),
        _ => cut(result, stages.limits.result_chars),
    };
    stages.text(prompt, Some(task.id), &json!({"task": task.task, "result": result, "log": log})).await
}

pub(crate) async fn summarize(stages: &Stages, question: &str, answers: &[AnsweredTask]) -> Result<String, AskError> {
    stages.text(Prompt::Summarize, None, &json!({"question": question, "answers": json(answers)})).await
}

/// Asks whether an answer is one. A stage that fails counts as no, with a note.
pub(crate) async fn check(stages: &Stages, task: Option<i64>, question: &str, answer: &str) -> bool {
    let attempts = stages.limits.text_attempts;
    let context = json!({"question": question, "answer": answer});
    match stages.attempts(Prompt::Check, task, &context, attempts, replies::choice).await {
        Ok(good) => good,
        Err(error) => {
            stages.note_error(format!("{error}; the answer counts as not good"));
            false
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_results_are_cut_between_characters() {
        assert_eq!(cut("абв", 3), "абв");
        assert_eq!(cut("абвг", 2), "аб\n… (cut after 2 of 4 characters)");
    }

    #[test]
    fn failed_calls_are_shown_and_not_joined() {
        let results = [
            Ok("8.56".to_owned()),
            Err(ToolError::new(ToolErrorKind::InvalidInput, "`x` is missing")),
            Ok("4.19".to_owned()),
        ];
        assert_eq!(joined(&results), "8.56\n\n4.19");
        assert_eq!(shown(&results, str::to_uppercase), "8.56\n\n(the call failed: `x` is missing)\n\n4.19");
    }
}
