//! The one JSON document of a run: what `run --json` prints, and what the other doors send.

use std::path::Path;

use jarvis_catalogue::{Output, TaskOutput};
use jarvis_pipeline::approval::ASK_PERSON;
use jarvis_plan::{Language, Outcome, Spent, TaskError, Usage, export};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::json::set;
use crate::results::{reason, results_map};
use jarvis_pipeline::Run;

/// What the document is made from, beside the run itself.
#[derive(Debug, Clone)]
pub struct About<'a> {
    pub run_id: &'a str,
    pub request: &'a str,
    /// `offline`, `llm`, or `plan` where a plan was given.
    pub planner: &'a str,
    /// The chat model's name, or `offline`.
    pub model: &'a str,
    pub usage: Usage,
    pub ms: u64,
}

#[derive(Debug, Serialize)]
pub struct RunDocument {
    run_id: String,
    request: String,
    planner: String,
    model: String,
    language: Language,
    /// Whether the request was carried out.
    ok: bool,
    /// Why it is not ok, as a stable word.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// What was asked for and not done, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_done: Vec<String>,
    /// How often what came of the plan was looked at and planned on.
    #[serde(skip_serializing_if = "is_zero")]
    rounds: u32,
    /// What the planner asks the person; an answer is the next turn of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<Value>,
    /// The bound of the budget that is used up.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<Spent>,
    plan: Value,
    outcomes: Vec<Value>,
    results: Map<String, Value>,
    answer: Value,
    usage: Usage,
    ms: u64,
}

impl RunDocument {
    /// Makes the document. `disk` maps a display path to the file on disk, for those that were not put elsewhere.
    pub fn new(run: &Run, about: About<'_>, disk: impl Fn(&str) -> Option<std::path::PathBuf>) -> RunDocument {
        let put = |url: &str| run.answer.resources.iter().find(|made| made.url == url)?.path.clone();
        let file = |url: &str| put(url).or_else(|| disk(url)).map(|path| text(&path));
        let resources: Vec<Value> = run
            .answer
            .resources
            .iter()
            .map(|resource| {
                let path = file(&resource.url);
                json!({"kind": resource.kind, "name": resource.name, "path": path, "url": resource.url, "from": resource.from})
            })
            .collect();
        let mut answer = json!({"text": run.answer.text, "resources": resources});
        if !run.answer.notes.is_empty() {
            set(&mut answer, "notes", run.answer.notes.clone());
        }
        RunDocument {
            run_id: about.run_id.to_owned(),
            request: about.request.to_owned(),
            planner: about.planner.to_owned(),
            model: about.model.to_owned(),
            language: Language::of(about.request),
            ok: run.ok(),
            reason: run.reason(),
            not_done: run.not_done.clone(),
            rounds: run.rounds,
            waiting: run.question.as_ref().map(|question| {
                let task = run.plan.tasks().len();
                json!({"task": task, "tool": ASK_PERSON, "arguments": {"question": question}})
            }),
            budget: run.spent.clone(),
            plan: plan_json(run),
            outcomes: run.outcomes.iter().map(|outcome| outcome_json(outcome, &file)).collect(),
            results: results_map(&run.plan, &run.outcomes),
            answer,
            usage: about.usage,
            ms: about.ms,
        }
    }
}

fn plan_json(run: &Run) -> Value {
    let mut plan = json!({"tasks": export::tasks_json(&run.plan), "notes": run.plan.notes()});
    if run.plan.may_grow() {
        set(&mut plan, "more", true);
    }
    plan
}

fn is_zero(rounds: &u32) -> bool {
    *rounds == 0
}

fn outcome_json(outcome: &Outcome, file: &impl Fn(&str) -> Option<String>) -> Value {
    let outputs: Vec<Value> = outcome
        .output
        .iter()
        .flat_map(|output| TaskOutput(output.clone()).outputs())
        .map(|output| output_json(output, file))
        .collect();
    let performer = outcome.performer();
    let mut value = json!({
        "id": outcome.id,
        "task": outcome.task,
        "status": outcome.status.as_str(),
        "model": performer.map(|performer| performer.id.as_str()),
        "host": performer.map(|performer| performer.host.as_str()),
        "reason": reason(outcome),
        "outputs": outputs,
        "error": outcome.error.as_ref().map(error_json),
        "ms": outcome.ms,
    });
    if let Some(performer) = performer.filter(|performer| performer.effective_task != outcome.task) {
        set(&mut value, "effective_task", performer.effective_task.clone());
    }
    if outcome.made_up_for {
        set(&mut value, "made_up_for", true);
    }
    let notes: Vec<&String> =
        outcome.notes.iter().chain(outcome.selection.iter().flat_map(|selection| &selection.notes)).collect();
    if !notes.is_empty() {
        set(&mut value, "notes", json!(notes));
    }
    value
}

fn output_json(output: Output, file: &impl Fn(&str) -> Option<String>) -> Value {
    let kind = output.kind();
    match output {
        Output::Image { url } | Output::Audio { url } | Output::Video { url } | Output::Table { url } => {
            json!({"kind": kind, "path": file(&url), "url": url})
        }
        Output::Text { text } => json!({"kind": kind, "text": text}),
        Output::Json { value } => json!({"kind": kind, "value": value}),
    }
}

fn error_json(error: &TaskError) -> Value {
    let mut value = json!({"code": error.code, "message": error.message});
    if let Some(hint) = &error.hint {
        set(&mut value, "hint", hint.clone());
    }
    value
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
