//! ToolBench: requests answered with tools of many APIs, given or found by retrieval.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use jarvis_ask::{AskError, Events};
use jarvis_chat::ChatModel;
use jarvis_prompt::literal::Literal;
use jarvis_tools::{RapidApi, Registry};
use serde_json::json;

use crate::instruct::check_example;
use crate::instructions::{Guideline, ToolInstruction};
use crate::log::{ChosenApi, ExecuteLog, SolveRecord, Subtask};
use crate::prompts::Prompt;
use crate::question::{self, Earlier, Solver, empty_record};
use crate::replies;
use crate::retrieval::Retriever;
use crate::solve::{self, Attempt, KEYWORDS, Offer, Site, Solved};
use crate::stage::{Limits, Stages};

#[derive(Clone)]
pub enum Candidates {
    Given,
    /// Retrieval over all tools finds the best `top_k` for each subtask.
    Retrieved {
        retriever: Arc<Retriever>,
        top_k: usize,
    },
}

#[derive(Debug, Clone, Default)]
pub struct Query {
    pub query_id: Option<Literal>,
    pub text: String,
    pub tools: Vec<Offer>,
    /// Category at RapidAPI of each tool that the data names, by tool name.
    pub categories: HashMap<String, String>,
}

impl Query {
    /// The category of a tool at RapidAPI, by its instruction or by the data; empty where neither knows it.
    pub fn category_of<'a>(&'a self, tool: &'a ToolInstruction) -> &'a str {
        match tool.category_name.as_str() {
            "" => self.categories.get(&tool.tool_name).map_or("", String::as_str),
            known => known,
        }
    }
}

pub struct Toolbench {
    pub model: Arc<dyn ChatModel>,
    pub events: Events,
    pub tools: Arc<Registry>,
    pub instructions: HashMap<i64, ToolInstruction>,
    pub candidates: Candidates,
    /// The answer stage sees 1,000 characters of a result unless set otherwise.
    pub limits: Limits,
}

impl Toolbench {
    pub fn new(model: Arc<dyn ChatModel>, tools: Arc<Registry>, instructions: Vec<ToolInstruction>) -> Toolbench {
        Toolbench {
            model,
            events: Events::unread(),
            tools,
            instructions: instructions.into_iter().map(|tool| (tool.id, tool)).collect(),
            candidates: Candidates::Given,
            limits: Limits { result_chars: 1000, ..Limits::default() },
        }
    }

    /// Answers one request. It always returns a record: what went wrong is in it. `id` is the request's number, from 1.
    pub async fn answer(self: &Arc<Self>, id: u64, query: Query) -> SolveRecord {
        let record = SolveRecord {
            query_id: query.query_id.clone(),
            gold_tools: query.tools.iter().map(|tool| tool.id).collect(),
            execute_log: ExecuteLog { parameter_ls: Some(Vec::new()), ..ExecuteLog::default() },
            ..empty_record(id, &query.text)
        };
        let stages = Stages::new(&self.model, &self.events, self.limits);
        question::answer(Arc::new(ToolbenchSolver { pipeline: Arc::clone(self), stages, query }), record).await
    }
}

struct ToolbenchSolver {
    pipeline: Arc<Toolbench>,
    stages: Stages,
    query: Query,
}

#[async_trait]
impl Solver for ToolbenchSolver {
    fn stages(&self) -> &Stages {
        &self.stages
    }

    fn question(&self) -> &str {
        &self.query.text
    }

    async fn split(&self) -> Result<Vec<Subtask>, AskError> {
        let context = json!({"question": self.query.text});
        let tasks = self.stages.ask(Prompt::DecomposeToolbench, None, &context, replies::tasks).await?;
        question::order(&self.stages, &self.query.text, tasks).await
    }

    async fn solve(&self, task: &Subtask, earlier: &Earlier<'_>) -> Solved {
        let mut solved = Solved::default();
        let read = |reply: &str| replies::choice(reply).map(|(needed, read)| ((needed, read.clone()), read));
        let alone = json!({"task": task.task});
        let needed = match self.stages.ask(Prompt::ToolCheck, Some(task.id), &alone, read).await {
            Ok((needed, reason)) => {
                solved.reason = Some(reason);
                needed
            }
            Err(error) => {
                self.note(task, format!("{error}; it counts as needing a tool"));
                true
            }
        };
        if self.stages.is_unreachable() {
            return solved;
        }
        if !needed {
            match self.stages.text(Prompt::AnswerDirect, Some(task.id), &alone).await {
                Ok(answer) => solved.answer = Some(answer),
                Err(error) => self.note(task, error),
            }
            return solved;
        }
        let offers = self.offers(task, &mut solved).await;
        let log = task.waits().then(|| solve::json(&earlier.steps(&task.dep, false)));
        solve::try_tools(self, task, &offers, log.as_deref(), &mut solved).await;
        solved
    }

    async fn attempt(&self, attempt: &Attempt<'_>, solved: &mut Solved) -> Result<bool, AskError> {
        let Attempt { task, tool, number, log } = *attempt;
        let Some(tool) = self.pipeline.instructions.get(&tool) else {
            self.note(task, format!("the tool {tool} is not in the instructions"));
            return Ok(false);
        };
        let mut apis = Vec::new();
        let mut results = Vec::new();
        for name in self.choose_apis(task, tool).await? {
            let Some(guideline) = tool.tool_guidelines.get(&name) else { continue };
            let usage = solve::json(guideline);
            match solve::choose_parameters(&self.stages, task, &usage, log, KEYWORDS).await {
                Ok(parameters) => apis.push((name, guideline, parameters)),
                Err(error @ AskError::Unreadable { .. }) => {
                    self.note(task, format!("{name}: {error}; the API is left out"));
                }
                Err(error) => return Err(error),
            }
        }
        if apis.is_empty() {
            self.note(task, format!("no API of {} could be called", tool.tool_name));
            return Ok(false);
        }
        // All parameters first, then the calls.
        for (name, guideline, parameters) in &apis {
            let at_server = RapidApi::path(self.query.category_of(tool), &tool.tool_name, name);
            let site = Site {
                task_id: task.id,
                attempt: number,
                tool_id: tool.id,
                tool: &tool.tool_name,
                api: name,
                names: &[&at_server, name, &tool.tool_name],
                faults: &|arguments| faults(guideline, arguments),
            };
            results.extend(solve::call_all(&self.stages, &self.pipeline.tools, &site, parameters).await);
        }
        let shown = solve::shown(&results, str::to_owned);
        let answer = solve::answer(&self.stages, task, &shown, log).await?;
        if !solve::check(&self.stages, Some(task.id), &task.task, &answer).await {
            solved.wrong.push(answer);
            return Ok(false);
        }
        solved.result = solve::joined(&results);
        solved.shown = shown;
        solved.apis = apis.into_iter().map(|(api_name, _, parameters)| ChosenApi { api_name, parameters }).collect();
        solved.answer = Some(answer);
        Ok(true)
    }
}

impl ToolbenchSolver {
    fn note(&self, task: &Subtask, what: impl std::fmt::Display) {
        self.stages.note_error(format!("subtask {}: {what}", task.id));
    }

    async fn offers(&self, task: &Subtask, solved: &mut Solved) -> Vec<Offer> {
        let (retriever, top_k) = match &self.pipeline.candidates {
            Candidates::Given => {
                if self.query.tools.is_empty() {
                    self.note(task, "the data gives no tools for this request");
                }
                return self.query.tools.clone();
            }
            Candidates::Retrieved { retriever, top_k } => (retriever, *top_k),
        };
        let found = match retriever.retrieve(&task.task, top_k).await {
            Ok(found) => found,
            Err(error) => {
                self.note(task, format!("retrieval: {error}"));
                return Vec::new();
            }
        };
        solved.retrieved = found.iter().map(|tool| tool.id).collect();
        solved.retrieved.iter().filter_map(|id| self.pipeline.instructions.get(id)).map(Offer::from).collect()
    }

    async fn choose_apis(&self, task: &Subtask, tool: &ToolInstruction) -> Result<Vec<String>, AskError> {
        let names: Vec<&str> = tool.tool_guidelines.keys().map(String::as_str).collect();
        let context = json!({"task": task.task, "description": tool.tool_description, "apis": solve::json(&names)});
        let read = |reply: &str| replies::apis(reply, &names);
        self.stages.ask(Prompt::ChooseApi, Some(task.id), &context, read).await
    }
}

pub(crate) fn faults(guideline: &Guideline, arguments: &Literal) -> Vec<String> {
    match arguments {
        Literal::Map(arguments) => check_example(guideline, arguments).iter().map(ToString::to_string).collect(),
        _ => vec!["the parameters are not an object".to_owned()],
    }
}
