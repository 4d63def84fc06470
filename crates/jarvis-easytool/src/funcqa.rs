//! FuncQA: questions of arithmetic, answered with the functions of the hub.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use jarvis_ask::{AskError, Events};
use jarvis_chat::ChatModel;
use jarvis_prompt::literal::Literal;
use jarvis_tools::Registry;
use jarvis_tools::hub::{self, Function, Mode};
use serde::Serialize;
use serde_json::json;

use crate::instructions::{FunctionInstruction, builtin_functions};
use crate::log::{ChosenApi, ExecuteLog, SolveRecord, Subtask};
use crate::prompts::Prompt;
use crate::question::{self, Earlier, Solver, empty_record};
use crate::replies;
use crate::solve::{self, Attempt, NUMBERS, Offer, Site, Solved, Step};
use crate::stage::{Limits, Stages};
use crate::subtasks;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    MultiHop,
    OneHop,
}

impl Kind {
    /// The original's name of the data set.
    pub fn data_type(self) -> &'static str {
        match self {
            Kind::MultiHop => "funcqa_mh",
            Kind::OneHop => "funcqa_oh",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::MultiHop => "multi-hop",
            Kind::OneHop => "one-hop",
        })
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Kind, String> {
        match text {
            "multi-hop" | "funcqa_mh" => Ok(Kind::MultiHop),
            "one-hop" | "funcqa_oh" => Ok(Kind::OneHop),
            _ => Err("it is `multi-hop` or `one-hop`".into()),
        }
    }
}

pub struct Funcqa {
    pub model: Arc<dyn ChatModel>,
    pub events: Events,
    pub tools: Arc<Registry>,
    pub functions: Vec<FunctionInstruction>,
    pub offers: Vec<Offer>,
    pub limits: Limits,
}

impl Funcqa {
    pub fn new(model: Arc<dyn ChatModel>, tools: Arc<Registry>) -> Funcqa {
        let functions = builtin_functions();
        let offers = functions.iter().map(Offer::from).collect();
        Funcqa { model, events: Events::unread(), tools, offers, functions, limits: Limits::default() }
    }

    /// Answers one question. It always returns a record: what went wrong is in it. `id` is the question's number, from 1.
    pub async fn answer(self: &Arc<Self>, id: u64, question: &str, kind: Kind) -> SolveRecord {
        let record = SolveRecord {
            check: Some(0),
            execute_log: ExecuteLog { tool_instruction_ls: Some(Vec::new()), ..ExecuteLog::default() },
            ..empty_record(id, question)
        };
        let stages = Stages::new(&self.model, &self.events, self.limits);
        let solver = FuncqaSolver { pipeline: Arc::clone(self), stages, question: question.to_owned(), kind };
        question::answer(Arc::new(solver), record).await
    }
}

struct FuncqaSolver {
    pipeline: Arc<Funcqa>,
    stages: Stages,
    question: String,
    kind: Kind,
}

#[async_trait]
impl Solver for FuncqaSolver {
    fn stages(&self) -> &Stages {
        &self.stages
    }

    fn question(&self) -> &str {
        &self.question
    }

    async fn split(&self) -> Result<Vec<Subtask>, AskError> {
        if self.kind == Kind::OneHop {
            return Ok(subtasks::independent(std::slice::from_ref(&self.question)));
        }
        let context = json!({"question": self.question, "tools": self.pipeline.offers});
        let tasks = self.stages.ask(Prompt::DecomposeFuncqa, None, &context, replies::tasks).await?;
        question::order(&self.stages, &self.question, tasks).await
    }

    async fn solve(&self, task: &Subtask, earlier: &Earlier<'_>) -> Solved {
        #[derive(Serialize)]
        struct Log<'a> {
            #[serde(rename = "Original Question")]
            question: &'a str,
            steps: Vec<Step<'a>>,
        }
        // What a subtask needs, directly and by way of others, with raw results beside the prose.
        let log = task.waits().then(|| {
            let steps = earlier.steps(&subtasks::needed(earlier.subtasks, task), true);
            solve::json(&Log { question: &self.question, steps })
        });
        let mut solved = Solved::default();
        solve::try_tools(self, task, &self.pipeline.offers, log.as_deref(), &mut solved).await;
        solved
    }

    async fn attempt(&self, attempt: &Attempt<'_>, solved: &mut Solved) -> Result<bool, AskError> {
        let Attempt { task, tool, number, log } = *attempt;
        let Some(function) = self.pipeline.functions.iter().find(|function| function.id == tool) else {
            self.stages.note_error(format!("subtask {}: the tool {tool} has no instruction", task.id));
            return Ok(false);
        };
        let name = &function.standardized_name;
        let usage = format!("{name}: {}", solve::json(&function.usage));
        let parameters = solve::choose_parameters(&self.stages, task, &usage, log, NUMBERS).await?;
        let site = Site {
            task_id: task.id,
            attempt: number,
            tool_id: tool,
            tool: name,
            api: name,
            names: &[name],
            faults: &missing_list,
        };
        let results = solve::call_all(&self.stages, &self.pipeline.tools, &site, &parameters).await;
        let shown = solve::shown(&results, in_prompt);
        let answer = solve::answer(&self.stages, task, &shown, log).await?;
        // A true result of -1 is a success: the status of the calls decides, not their text.
        if results.iter().all(Result::is_err) {
            solved.wrong.push(answer);
            return Ok(false);
        }
        solved.result = solve::joined(&results);
        solved.shown = shown;
        solved.value = match results.as_slice() {
            [Ok(only)] => {
                Literal::parse(only).ok().filter(|value| matches!(value, Literal::Int(_) | Literal::Float(_)))
            }
            _ => None,
        };
        solved.apis = vec![ChosenApi { api_name: name.clone(), parameters }];
        solved.instruction = Some(solve::literal(function));
        solved.answer = Some(answer);
        Ok(true)
    }
}

/// A result as later prompts show it: numbers with at most twelve significant digits, whole ones in full.
fn in_prompt(result: &str) -> String {
    let Ok(number @ Literal::Float(_)) = Literal::parse(result) else { return result.to_owned() };
    match hub::call(Function::Add, &[number], Mode::Precise) {
        Ok(written) => written.shown_in_prompt(),
        Err(_) => result.to_owned(),
    }
}

/// What is wrong with the parameters of a function: they are one list.
fn missing_list(parameters: &Literal) -> Vec<String> {
    let list = parameters.field("input").or_else(|| parameters.field("args"));
    match list {
        Some(Literal::List(_)) => Vec::new(),
        Some(_) => vec!["`input` is not a list".into()],
        None => vec!["`input` is missing".into()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_show_twelve_digits_and_whole_numbers_in_full() {
        for (result, shown) in [
            ("0.333333333333333314829616256247", "0.333333333333"),
            ("19964438.5", "19964438.5"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("0.00000000015", "0.00000000015"),
            ("1234567.891234567", "1234567.89123"),
            ("not a number", "not a number"),
        ] {
            assert_eq!(in_prompt(result), shown);
        }
    }
}
