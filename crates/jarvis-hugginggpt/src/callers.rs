//! Tools that the caller performs: planned with like any other, and handed back instead of performed.
//!
//! A run that comes to such a call has nothing more to do there: it ends with the calls that the caller is to make
//! ([`Answer::calls`](jarvis_plan::Answer)). What they gave comes with another request, in [`Request::after`]; then a call with the
//! same arguments has its result, and what waited for it goes on.

use std::sync::Arc;

use async_trait::async_trait;
use indexmap::IndexMap;
use jarvis_catalogue::TaskOutput;
use jarvis_engine::{Job, Worker};
use jarvis_plan::{EACH, ErrorCode, Outcome, Param, Plan, Request, TaskError, Tool, ToolCall, schema};
use serde_json::{Map, Value};

use crate::pipeline::HuggingGpt;

impl HuggingGpt {
    /// The same pipeline for a request that brings tools of the caller's; none where it brings none. A tool of ours with the name of
    /// one of theirs is not there for it.
    pub(crate) fn with_callers_tools(&self, request: &Request) -> Option<HuggingGpt> {
        if request.tools.is_empty() {
            return None;
        }
        let tools: Vec<Tool> =
            request.tools.iter().map(|tool| Tool::of_schema(&tool.name, &tool.description, &tool.schema)).collect();
        let sources = Arc::new(self.sources.with_tools(&tools));
        let vocabulary = Arc::new(sources.vocabulary());
        let calls = request.after.iter().chain(&request.history).flat_map(|turn| &turn.calls);
        let answered = calls.filter(|call| call.result.is_some()).cloned().collect();
        let worker = Arc::new(HandBack { worker: Arc::clone(&self.worker), tools, answered });
        Some(HuggingGpt { vocabulary, sources, worker, cache: Default::default(), ..self.clone() })
    }
}

/// Gives the calls of the caller's tools their results, and hands back those that have none.
struct HandBack {
    /// Performs everything else.
    worker: Arc<dyn Worker>,
    tools: Vec<Tool>,
    answered: Vec<ToolCall>,
}

#[async_trait]
impl Worker for HandBack {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        let name = &job.task.task;
        let Some(tool) = self.tools.iter().find(|tool| tool.name == *name) else {
            return self.worker.perform(job).await;
        };
        let arguments = arguments(&tool.params, &job.args);
        match self.answered.iter().find(|call| call.is_of(name, &arguments)).and_then(|call| call.result.as_deref()) {
            Some(result) => Ok(output(result).into()),
            None => Err(TaskError::new(ErrorCode::HandedBack, format!("`{name}` is for the caller to call"))),
        }
    }
}

/// What a call gave as the result of a task.
fn output(result: &str) -> TaskOutput {
    let output = TaskOutput::text(result);
    match serde_json::from_str::<Value>(result) {
        Ok(data @ (Value::Object(_) | Value::Array(_))) => output.with(jarvis_catalogue::DATA, data),
        Ok(_) | Err(_) => output,
    }
}

/// The arguments of a call, each as the type that the tool says.
fn arguments(params: &[Param], args: &IndexMap<String, Value>) -> Value {
    let typed = |name: &String, value: &Value| {
        let schema = params.iter().find(|param| param.name == *name).and_then(|param| param.schema.as_ref());
        schema.map_or_else(|| value.clone(), |schema| schema::coerced(value.clone(), schema))
    };
    Value::Object(args.iter().map(|(name, value)| (name.clone(), typed(name, value))).collect::<Map<_, _>>())
}

/// The calls that the caller is to make before the plan goes on, in the order of their tasks. Those that were answered before are not
/// among them.
pub(crate) fn handed_back(request: &Request, plan: &Plan, outcomes: &[Outcome]) -> Vec<ToolCall> {
    let mut calls: Vec<ToolCall> = Vec::new();
    let is_handed_back =
        |outcome: &&Outcome| outcome.error.as_ref().is_some_and(|error| error.code == ErrorCode::HandedBack);
    let answered: Vec<&ToolCall> = request.after.iter().chain(&request.history).flat_map(|turn| &turn.calls).collect();
    for outcome in outcomes.iter().filter(is_handed_back) {
        let Some(task) = plan.task(outcome.id) else { continue };
        let tool = request.tools.iter().find(|tool| tool.name == task.task);
        let params = tool.map(|tool| Tool::of_schema(&tool.name, "", &tool.schema).params).unwrap_or_default();
        let each: Vec<IndexMap<String, Value>> = match outcome.args.get(EACH) {
            Some(each) => serde_json::from_value(each.clone()).unwrap_or_default(),
            None => vec![outcome.args.clone()],
        };
        for args in each {
            let arguments = arguments(&params, &args);
            let is_known = |call: &ToolCall| call.is_of(&task.task, &arguments);
            let is_answered = answered.iter().any(|call| call.result.is_some() && is_known(call));
            if !is_answered && !calls.iter().any(is_known) {
                calls.push(ToolCall::open(&task.task, arguments.to_string()));
            }
        }
    }
    calls
}
