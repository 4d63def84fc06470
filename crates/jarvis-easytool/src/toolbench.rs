//! ToolBench: requests answered with tools of many APIs, given or found by retrieval.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;
use jarvis_ask::{Ask, Events};
use jarvis_chat::ChatModel;
use jarvis_prompt::literal::Literal;
use jarvis_prompt::template::TemplateError;
use jarvis_tools::{RapidApi, Registry};
use serde::Serialize;

use crate::funcqa::{close_record, empty_record, enter, finish, order};
use crate::instruct::check_example;
use crate::instructions::{Guideline, ToolInstruction};
use crate::log::{ChosenApi, ExecuteLog, SolveRecord, Status, Subtask};
use crate::prompts::{Prompt, Prompts};
use crate::replies;
use crate::retrieval::Retriever;
use crate::solve::{self, KEYWORDS, Offer, Site, Solved};
use crate::stage::{Desk, Limits, StageError, Tracer};
use crate::subtasks;

/// Where the tools of a subtask come from.
#[derive(Clone)]
pub enum Candidates {
    /// The data says them.
    Given,
    /// Retrieval over all tools finds the best `top_k` for each subtask.
    Retrieved { retriever: Arc<Retriever>, top_k: usize },
}

/// A request, as the data has it.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The data's own id.
    pub query_id: Option<Literal>,
    pub text: String,
    /// The tools that the data gives for it.
    pub tools: Vec<Offer>,
    /// The shelf of each tool that the data names, by tool name.
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

/// The pipeline.
pub struct Toolbench {
    pub model: Arc<dyn ChatModel>,
    /// The run that calls are reported to; nobody reads it unless set.
    pub events: Events,
    /// The tools that are called: those of [`crate::instruct::server_registry`], of an API, or of this machine.
    pub tools: Arc<Registry>,
    pub tracer: Arc<dyn Tracer>,
    pub instructions: HashMap<i64, ToolInstruction>,
    /// Where the tools of a subtask come from.
    pub candidates: Candidates,
    pub prompts: Prompts,
    /// Limits; the answer stage sees 1,000 characters of a result unless set otherwise.
    pub limits: Limits,
}

impl Toolbench {
    /// The pipeline over these tools, with the tools of each request as the data gives them.
    ///
    /// # Errors
    /// Only when a built-in prompt is broken.
    pub fn new(
        model: Arc<dyn ChatModel>,
        tools: Arc<Registry>,
        tracer: Arc<dyn Tracer>,
        instructions: Vec<ToolInstruction>,
    ) -> Result<Toolbench, TemplateError> {
        Ok(Toolbench {
            model,
            events: Events::unread(),
            tools,
            tracer,
            instructions: instructions.into_iter().map(|tool| (tool.id, tool)).collect(),
            candidates: Candidates::Given,
            prompts: Prompts::load()?,
            limits: Limits { result_chars: 1000, ..Limits::default() },
        })
    }

    fn ask(&self) -> Ask {
        Ask::new(Arc::clone(&self.model), &self.events)
    }

    /// Answers one request. It always returns a record: what went wrong is in it. `id` is the request's number, from 1.
    pub async fn answer(&self, id: u64, query: &Query) -> SolveRecord {
        let desk = Desk::new(self.ask(), &self.prompts, &self.limits, &*self.tracer, id);
        let mut record = SolveRecord {
            query_id: query.query_id.clone(),
            check: None,
            gold_tools: query.tools.iter().map(|tool| tool.id).collect(),
            execute_log: ExecuteLog { parameter_ls: Some(Vec::new()), ..ExecuteLog::default() },
            ..empty_record(id, &query.text)
        };
        let asked = Asked { pipeline: self, desk: &desk, query };
        match asked.split().await {
            Ok(subtasks) => asked.solve(subtasks, &mut record).await,
            Err(error) => {
                record.status = Status::Failed;
                desk.note_error(error.to_string());
            }
        }
        close_record(record, desk)
    }
}

/// One request under way.
struct Asked<'a> {
    pipeline: &'a Toolbench,
    desk: &'a Desk<'a>,
    query: &'a Query,
}

impl Asked<'_> {
    async fn split(&self) -> Result<Vec<Subtask>, StageError> {
        #[derive(Serialize)]
        struct Context<'a> {
            question: &'a str,
        }
        let context = Context { question: &self.query.text };
        let tasks = self.desk.ask(Prompt::DecomposeToolbench, None, &context, replies::tasks).await?;
        order(self.desk, &self.query.text, tasks).await
    }

    async fn solve(&self, subtasks: Vec<Subtask>, record: &mut SolveRecord) {
        let all = &subtasks;
        let solved = subtasks::run(all, self.desk.limits.concurrency, |at, finished| async move {
            match all.get(at) {
                Some(task) => self.subtask(task, all, &finished).await,
                None => Solved::default(),
            }
        });
        let solved = solved.await;
        record.subtask = subtasks;
        enter(record, solved);
        finish(self.desk, &self.query.text, record).await;
    }

    async fn subtask(&self, task: &Subtask, all: &[Subtask], finished: &IndexMap<i64, Solved>) -> Solved {
        let mut solved = Solved::default();
        let needed = match self.tool_check(task).await {
            Ok((needed, reason)) => {
                solved.reason = Some(reason);
                needed
            }
            Err(error) => {
                self.desk.note_error(format!("subtask {}: {error}; it counts as needing a tool", task.id));
                true
            }
        };
        if self.desk.lock().unreached {
            return solved;
        }
        if !needed {
            match self.answer_direct(task).await {
                Ok(answer) => solved.answer = Some(answer),
                Err(error) => self.desk.note_error(format!("subtask {}: {error}", task.id)),
            }
            return solved;
        }
        let offers = self.offers(task, &mut solved).await;
        let log = (task.dep.first() != Some(&-1)).then(|| {
            let steps = solve::steps(all, &task.dep, finished, false);
            solve::json(&steps)
        });
        solve::try_tools(self.desk, task, &offers, async |tool, attempt| {
            self.attempt(task, tool, attempt, log.as_deref(), &mut solved).await
        })
        .await;
        solved
    }

    /// Whether a tool is needed, and the reason as the model gave it.
    async fn tool_check(&self, task: &Subtask) -> Result<(bool, Literal), StageError> {
        let read = |reply: &str| replies::choice(reply).map(|(needed, read)| ((needed, read.clone()), read));
        self.desk.ask(Prompt::ToolCheck, Some(task.id), &Alone { task: &task.task }, read).await
    }

    async fn answer_direct(&self, task: &Subtask) -> Result<String, StageError> {
        self.desk.tell(Prompt::AnswerDirect, Some(task.id), &Alone { task: &task.task }).await
    }

    /// The tools that a subtask may choose from.
    async fn offers(&self, task: &Subtask, solved: &mut Solved) -> Vec<Offer> {
        let (retriever, top_k) = match &self.pipeline.candidates {
            Candidates::Given => {
                if self.query.tools.is_empty() {
                    self.desk.note_error(format!("subtask {}: the data gives no tools for this request", task.id));
                }
                return self.query.tools.clone();
            }
            Candidates::Retrieved { retriever, top_k } => (retriever, *top_k),
        };
        let found = match retriever.retrieve(&task.task, top_k).await {
            Ok(found) => found,
            Err(error) => {
                self.desk.note_error(format!("subtask {}: retrieval: {error}", task.id));
                return Vec::new();
            }
        };
        solved.retrieved = found.iter().map(|tool| tool.id).collect();
        let offer = |id: &i64| {
            let tool = self.pipeline.instructions.get(id)?;
            Some(Offer { id: *id, description: tool.tool_description.clone() })
        };
        solved.retrieved.iter().filter_map(offer).collect()
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
        let note = |what: String| self.desk.note_error(format!("subtask {}: {what}", task.id));
        let Some(tool) = self.pipeline.instructions.get(&tool) else {
            note(format!("the tool {tool} is not in the instructions"));
            return Ok(false);
        };
        let mut apis = Vec::new();
        let mut results = Vec::new();
        for name in self.choose_apis(task, tool).await? {
            let Some(guideline) = tool.tool_guidelines.get(&name) else { continue };
            let usage = solve::json(guideline);
            let parameters = match solve::choose_parameters(self.desk, task, &usage, log, &KEYWORDS).await {
                Ok(parameters) => parameters,
                Err(error @ StageError::Exhausted { .. }) => {
                    note(format!("{name}: {error}; the API is left out"));
                    continue;
                }
                Err(error @ (StageError::Chat { .. } | StageError::Prompt { .. })) => return Err(error),
            };
            apis.push((name, guideline, parameters));
        }
        if apis.is_empty() {
            note(format!("no API of {} could be called", tool.tool_name));
            return Ok(false);
        }
        // All parameters first, then the calls.
        for (name, guideline, parameters) in &apis {
            let at_server = RapidApi::path(self.query.category_of(tool), &tool.tool_name, name);
            let site = Site {
                task_id: task.id,
                attempt,
                tool_id: tool.id,
                tool: &tool.tool_name,
                api: name,
                names: &[&at_server, name, &tool.tool_name],
                faults: &|arguments| faults(guideline, arguments),
            };
            results.extend(solve::call_all(self.desk, &self.pipeline.tools, &site, parameters).await);
        }
        let shown = solve::shown(&results, str::to_owned);
        let answer = solve::answer(self.desk, task, &shown, log).await?;
        if !solve::check(self.desk, Some(task.id), &task.task, &answer).await {
            solved.wrong.push(answer);
            return Ok(false);
        }
        solved.result = solve::joined(&results);
        solved.shown = shown;
        solved.apis = apis.into_iter().map(|(api_name, _, parameters)| ChosenApi { api_name, parameters }).collect();
        solved.answer = Some(answer);
        Ok(true)
    }

    async fn choose_apis(&self, task: &Subtask, tool: &ToolInstruction) -> Result<Vec<String>, StageError> {
        #[derive(Serialize)]
        struct Context<'a> {
            task: &'a str,
            description: &'a str,
            apis: String,
        }
        let names: Vec<&str> = tool.tool_guidelines.keys().map(String::as_str).collect();
        let context = Context { task: &task.task, description: &tool.tool_description, apis: solve::json(&names) };
        let read = |reply: &str| replies::apis(reply, &names);
        self.desk.ask(Prompt::ChooseApi, Some(task.id), &context, read).await
    }
}

/// A prompt about one subtask.
#[derive(Serialize)]
struct Alone<'a> {
    task: &'a str,
}

/// What is wrong with arguments, by the API's guideline.
pub(crate) fn faults(guideline: &Guideline, arguments: &Literal) -> Vec<String> {
    match arguments {
        Literal::Map(arguments) => check_example(guideline, arguments).iter().map(ToString::to_string).collect(),
        Literal::Null
        | Literal::Bool(_)
        | Literal::Int(_)
        | Literal::Float(_)
        | Literal::Text(_)
        | Literal::List(_) => vec!["the parameters are not an object".to_owned()],
    }
}
