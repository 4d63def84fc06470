//! FuncQA: questions of arithmetic, answered with the functions of the hub.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use indexmap::IndexMap;
use jarvis_ask::{Ask, Events};
use jarvis_chat::ChatModel;
use jarvis_prompt::literal::Literal;
use jarvis_tools::Registry;
use jarvis_tools::hub::{self, Function, Mode};
use serde::Serialize;

use crate::instructions::{FunctionInstruction, builtin_functions};
use crate::log::{AnsweredTask, ChosenApi, ExecuteLog, SolveRecord, Status, Subtask};
use crate::prompts::{Prompt, Prompts};
use crate::replies;
use crate::solve::{self, NUMBERS, Offer, Site, Solved};
use crate::stage::{Desk, Limits, StageError, Tracer};
use crate::subtasks;

/// Whether a question is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Split into subtasks that may need each other.
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

/// The pipeline.
pub struct Funcqa {
    pub model: Arc<dyn ChatModel>,
    /// The run that calls are reported to; nobody reads it unless set.
    pub events: Events,
    /// The functions: usually [`jarvis_tools::local::HubFunction::registry`].
    pub tools: Arc<Registry>,
    pub tracer: Arc<dyn Tracer>,
    /// The functions with their instructions.
    pub functions: Vec<FunctionInstruction>,
    /// What the model sees while choosing.
    pub offers: Vec<Offer>,
    pub prompts: Prompts,
    pub limits: Limits,
}

impl Funcqa {
    /// The pipeline with the thirteen functions that come with jarvis.
    ///
    /// # Errors
    /// Only when a built-in prompt is broken.
    pub fn new(
        model: Arc<dyn ChatModel>,
        tools: Arc<Registry>,
        tracer: Arc<dyn Tracer>,
    ) -> Result<Funcqa, jarvis_prompt::template::TemplateError> {
        let functions = builtin_functions();
        let offer =
            |function: &FunctionInstruction| Offer { id: function.id, description: function.description.clone() };
        Ok(Funcqa {
            model,
            events: Events::unread(),
            tools,
            tracer,
            offers: functions.iter().map(offer).collect(),
            functions,
            prompts: Prompts::load()?,
            limits: Limits::default(),
        })
    }

    fn ask(&self) -> Ask {
        Ask::new(Arc::clone(&self.model), &self.events)
    }

    /// Answers one question. It always returns a record: what went wrong is in it. `id` is the question's number, from 1.
    pub async fn answer(&self, id: u64, question: &str, kind: Kind) -> SolveRecord {
        let desk = Desk::new(self.ask(), &self.prompts, &self.limits, &*self.tracer, id);
        let asked = Asked { pipeline: self, desk: &desk, question };
        let subtasks = match kind {
            Kind::OneHop => Ok(subtasks::independent(&[question.to_owned()])),
            Kind::MultiHop => asked.split().await,
        };
        let mut record = empty_record(id, question);
        match subtasks {
            Ok(subtasks) => asked.solve(subtasks, &mut record).await,
            Err(error) => {
                record.status = Status::Failed;
                desk.note_error(error.to_string());
            }
        }
        close_record(record, desk)
    }
}

/// A record in which nothing has happened yet.
pub(crate) fn empty_record(id: u64, question: &str) -> SolveRecord {
    SolveRecord {
        id,
        query_id: None,
        question: question.to_owned(),
        final_answer: String::new(),
        subtask: Vec::new(),
        answer_subtask: Vec::new(),
        answer_wrong: Vec::new(),
        check_index: -1,
        execute_log: ExecuteLog { tool_instruction_ls: Some(Vec::new()), ..ExecuteLog::default() },
        check: Some(0),
        final_value: None,
        status: Status::Succeeded,
        errors: Vec::new(),
        retrieved: Vec::new(),
        gold_tools: Vec::new(),
        calls: Vec::new(),
        stage_trace: Vec::new(),
    }
}

/// The record with what the desk has written down. Traces are in the order of the subtasks, however they ran.
pub(crate) fn close_record(mut record: SolveRecord, desk: Desk<'_>) -> SolveRecord {
    let trace = desk.into_trace();
    let place = |id: Option<i64>| match id {
        Some(id) => record.subtask.iter().position(|task| task.id == id).unwrap_or(usize::MAX),
        None => 0,
    };
    let mut calls = trace.calls;
    calls.sort_by_key(|call| place(Some(call.task_id)));
    record.stage_trace = crate::stage::in_order(trace.stages, place);
    record.calls = calls;
    record.errors.extend(trace.errors);
    record
}

/// One question under way.
struct Asked<'a> {
    pipeline: &'a Funcqa,
    desk: &'a Desk<'a>,
    question: &'a str,
}

impl Asked<'_> {
    /// Splits the question and finds out what waits for what.
    async fn split(&self) -> Result<Vec<Subtask>, StageError> {
        #[derive(Serialize)]
        struct Context<'a> {
            question: &'a str,
            tools: &'a [Offer],
        }
        let context = Context { question: self.question, tools: &self.pipeline.offers };
        let tasks = self.desk.ask(Prompt::DecomposeFuncqa, None, &context, replies::tasks).await?;
        order(self.desk, self.question, tasks).await
    }

    /// Solves the subtasks, sums up and checks.
    async fn solve(&self, subtasks: Vec<Subtask>, record: &mut SolveRecord) {
        let all = &subtasks;
        let solved = subtasks::run(all, self.desk.limits.concurrency, |at, finished| async move {
            match all.get(at) {
                Some(task) => self.subtask(task, all, &finished).await,
                None => Solved::default(),
            }
        });
        let solved = solved.await;
        record.final_value = solved
            .iter()
            .rev()
            .find_map(|(_, solved)| solved.answer.as_ref().and(Some(solved)))
            .and_then(|last| last.value.clone());
        record.subtask = subtasks;
        enter(record, solved);
        finish(self.desk, self.question, record).await;
    }

    async fn subtask(&self, task: &Subtask, all: &[Subtask], finished: &IndexMap<i64, Solved>) -> Solved {
        let log = (task.dep.first() != Some(&-1)).then(|| self.log(task, all, finished));
        let mut solved = Solved::default();
        solve::try_tools(self.desk, task, &self.pipeline.offers, async |tool, attempt| {
            self.attempt(task, tool, attempt, log.as_deref(), &mut solved).await
        })
        .await;
        solved
    }

    /// One attempt with one tool: whether its answer is accepted.
    async fn attempt(
        &self,
        task: &Subtask,
        tool: i64,
        attempt: u32,
        log: Option<&str>,
        solved: &mut Solved,
    ) -> Result<bool, StageError> {
        let Some(function) = self.pipeline.functions.iter().find(|function| function.id == tool) else {
            self.desk.note_error(format!("subtask {}: the tool {tool} has no instruction", task.id));
            return Ok(false);
        };
        let usage = solve::json(&function.usage);
        let usage = format!("{}: {usage}", function.standardized_name);
        let parameters = solve::choose_parameters(self.desk, task, &usage, log, &NUMBERS).await?;
        let name = &function.standardized_name;
        let site = Site {
            task_id: task.id,
            attempt,
            tool_id: tool,
            tool: name,
            api: name,
            names: &[name],
            faults: &|arguments| missing_list(arguments),
        };
        let results = solve::call_all(self.desk, &self.pipeline.tools, &site, &parameters).await;
        let shown = solve::shown(&results, in_prompt);
        let answer = solve::answer(self.desk, task, &shown, log).await?;
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
        solved.instruction = serde_json::to_string(function).ok().and_then(|text| Literal::parse(&text).ok());
        solved.answer = Some(answer);
        Ok(true)
    }

    /// The log of what a subtask needs, directly and by way of others, with raw results beside the prose.
    fn log(&self, task: &Subtask, all: &[Subtask], finished: &IndexMap<i64, Solved>) -> String {
        #[derive(Serialize)]
        struct Log<'a> {
            #[serde(rename = "Original Question")]
            question: &'a str,
            steps: Vec<solve::Step<'a>>,
        }
        let steps = solve::steps(all, &subtasks::needed(all, task), finished, true);
        solve::json(&Log { question: self.question, steps })
    }
}

/// Asks what the subtasks wait for. Where no order can be had they run one after another, each knowing all before it.
pub(crate) async fn order(desk: &Desk<'_>, question: &str, mut tasks: Vec<String>) -> Result<Vec<Subtask>, StageError> {
    #[derive(Serialize)]
    struct Row<'a> {
        task: &'a str,
        id: i64,
    }
    #[derive(Serialize)]
    struct Context<'a> {
        question: &'a str,
        tasks: String,
    }
    if tasks.len() > desk.limits.subtasks {
        desk.note_error(format!("{} subtasks are too many; the first {} are done", tasks.len(), desk.limits.subtasks));
        tasks.truncate(desk.limits.subtasks);
    }
    let numbered: Vec<Row<'_>> = tasks.iter().zip(1..).map(|(task, id)| Row { task, id }).collect();
    let context = Context { question, tasks: solve::json(&numbered) };
    match desk.ask(Prompt::Topology, None, &context, replies::rows).await {
        Ok(rows) => {
            let (ordered, notes) = subtasks::topology(&tasks, &rows);
            notes.into_iter().for_each(|note| desk.note_error(note));
            Ok(ordered)
        }
        Err(error @ StageError::Exhausted { .. }) => {
            desk.note_error(format!("{error}; the subtasks run one after another"));
            Ok(subtasks::one_after_another(&tasks))
        }
        Err(error @ (StageError::Chat { .. } | StageError::Prompt { .. })) => Err(error),
    }
}

/// Enters how the subtasks ended, in their order.
pub(crate) fn enter(record: &mut SolveRecord, solved: Vec<(i64, Solved)>) {
    for (id, solved) in solved {
        let task = record.subtask.iter().find(|task| task.id == id).map(|task| task.task.clone()).unwrap_or_default();
        for answer in solved.wrong {
            record.answer_wrong.push(AnsweredTask { task: task.clone(), answer });
        }
        record.execute_log.tool_check_reason_ls.extend(solved.reason);
        if !solved.retrieved.is_empty() {
            record.retrieved.push(solved.retrieved);
        }
        let Some(answer) = solved.answer else {
            record.status = Status::Partial;
            continue;
        };
        record.answer_subtask.push(AnsweredTask { task, answer });
        if let Some(parameters) = &mut record.execute_log.parameter_ls {
            parameters.push(solved.apis.iter().map(|api| api.parameters.clone()).collect());
        }
        record.execute_log.api_result_ls.push(solved.apis);
        record.execute_log.call_result_ls.push(solved.result);
        if let (Some(list), Some(instruction)) = (&mut record.execute_log.tool_instruction_ls, solved.instruction) {
            list.push(instruction);
        }
    }
}

/// Sums up and checks.
pub(crate) async fn finish(desk: &Desk<'_>, question: &str, record: &mut SolveRecord) {
    if desk.lock().unreached && record.answer_subtask.is_empty() {
        record.status = Status::Failed;
        return;
    }
    match solve::summarize(desk, question, &record.answer_subtask).await {
        Ok(answer) => record.final_answer = answer,
        Err(error) => {
            desk.note_error(error.to_string());
            record.status = Status::Failed;
            return;
        }
    }
    record.check_index = if solve::check(desk, None, question, &record.final_answer).await { 1 } else { -1 };
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
mod tests;
