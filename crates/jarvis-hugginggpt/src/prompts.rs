//! The prompts of the stages: typed contexts in, turns out. The words are in `prompts/*.md`.
//!
//! What other models, tools and files produced enters as one line of JSON, which cannot forge the text around it. The
//! person's own input enters verbatim.

mod files;
mod pipeline;
mod tools;

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use jarvis_ask::PromptTable as _;
use jarvis_plan::{Kind, Resource, Tool, Turn, pattern};
use jarvis_prompt::template::{Template, TemplateError};
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::decisions::examples::{INFER_OBJECTS, OBJECTS_SEEN};

pub use files::{demos_text, prompt_text};
pub use pipeline::{ModelsShown, PipelineChoice, PipelinePlan};

/// What a person's configuration puts in place of a built-in prompt; each part alone or together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Override {
    /// The system text (`tprompt.<stage>` of the original).
    pub system: Option<String>,
    /// The template of the last user message (`prompt.<stage>`).
    pub user: Option<String>,
    /// The messages between, as a JSON array (the contents of the file `demos_or_presteps.<stage>`).
    pub demos: Option<String>,
}

jarvis_ask::prompts! {
    /// The prompts of this pipeline.
    pub(crate) enum Prompt in "../prompts/" {
        /// The request to tasks.
        ParseTask = "parse_task", "parse_task", [input, context, attachments, tools, tasks, objects_seen, data, more];
        /// What came of a plan to what is done next.
        Replan = "replan", "replan", [input, context, attachments, tools, data, results, next, told];
        /// One model for one task.
        ChooseModel = "choose_model", "choose_model", [input, task, metas];
        /// The answer from the results.
        ResponseResults = "response_results", "response_results", [input, processes, language];
        /// Plain conversation.
        Chitchat = "chitchat", "chitchat", [input];
        /// The form that a reply is to have, said after any other prompt.
        ReplyForm = "reply_form", "response_results", [schema];
        /// A task that the chat model itself performs.
        TaskLlm = "task_llm", "task_llm", [input, task];
        /// The same for a small language model.
        TaskLlmShort = "task_llm_short", "task_llm", [what, wish, text];
        /// A plan in words, before it is executed.
        DescribePlan = "describe_plan", "response_results", [input, plan, language];
        /// Which of the known task names an unknown one means.
        MapTask = "map_task", "map_task", [input, name, tasks];
        /// A scenario to a pipeline.
        PipelineParse = "pipeline_parse", "parse_task", [input, objects_seen, context, tasks, tools];
        /// One model for one task of a pipeline.
        PipelineChoose = "pipeline_choose", "choose_model",
            [input, objects_seen, task, task_info, metas, scenario_description, available_models];
        /// A scenario to a pipeline with its models.
        PipelineUnified = "pipeline_unified", "parse_task", [input, objects_seen, context, tasks, tools, models];
    }
}

#[derive(Debug, Clone)]
pub struct Prompts {
    table: jarvis_ask::Prompts<Prompt>,
    /// Whether the demos of stage 1 are a user's own, which need not fit the tools.
    own_demos: bool,
    fingerprint: String,
}

fn fingerprint(overrides: &BTreeMap<String, Override>) -> String {
    let mut hash = Sha256::new();
    for prompt in Prompt::ALL {
        hash.update(prompt.file().source);
    }
    hash.update(serde_json::to_string(overrides).expect("it has only string keys"));
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// What the prompt of stage 1 holds.
#[derive(Debug, Clone, Copy)]
pub struct ParseTask<'a> {
    pub tools: &'a [Tool],
    /// The earlier turns, oldest first.
    pub history: &'a [Turn],
    pub input: &'a str,
    pub attachments: &'a [Resource],
    /// Whether the plan may say that it is a first part.
    pub more: bool,
    /// Requests with their plans from before, the most alike last.
    pub experience: &'a [&'a [Turn; 2]],
}

/// What the prompt of a look at a plan holds.
#[derive(Debug, Clone, Copy)]
pub struct Replan<'a> {
    pub tools: &'a [Tool],
    /// The earlier turns, oldest first.
    pub history: &'a [Turn],
    pub input: &'a str,
    pub attachments: &'a [Resource],
    /// Results by task id, already cut to the budget.
    pub results: &'a Value,
    /// The first id that no task has.
    pub next: usize,
    /// Questions to the person, with their answers.
    pub told: &'a [(String, String)],
}

/// What the prompt of stage 2 holds.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ChooseModel<'a> {
    pub input: &'a str,
    pub task: &'a Value,
    /// The candidates: `[{"id","inference endpoint","likes","description","tags"}]`.
    pub metas: &'a Value,
}

/// What the prompt of stage 4 holds.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ResponseResults<'a> {
    pub input: &'a str,
    /// The results, in ascending id, already cut to the budget.
    pub processes: &'a Value,
    /// The language of the request, in words or as a code; empty when unknown.
    pub language: &'a str,
}

/// The placeholder that decision-only configurations write for the list of task names.
const LIST_PLACEHOLDER: &str = "[TASKS_LIST_WILL_BE_REPLACED_DYNAMICALLY]";

impl Prompts {
    pub const STAGES: [&'static str; 10] = [
        "parse_task",
        "replan",
        "choose_model",
        "response_results",
        "chitchat",
        "task_llm",
        "map_task",
        "pipeline_parse",
        "pipeline_choose",
        "pipeline_unified",
    ];

    pub fn builtin() -> Result<Prompts, TemplateError> {
        Prompts::with(&BTreeMap::new())
    }

    /// The built-in prompts with some replaced, by stage. Stages that do not exist are ignored: the configuration warns
    /// about them.
    ///
    /// # Errors
    /// Names the template and the line of what cannot be understood.
    pub fn with(overrides: &BTreeMap<String, Override>) -> Result<Prompts, TemplateError> {
        let table = jarvis_ask::Prompts::with(|prompt: Prompt, mut template| {
            let name = prompt.file().name;
            let Some(own) = overrides.get(name).filter(|_| Prompts::STAGES.contains(&name)) else {
                return Ok(template);
            };
            if let Some(demos) = &own.demos {
                template = template.with_demos(demos)?;
            }
            if let Some(user) = &own.user {
                template = template.with_user(&with_slot(user))?;
            }
            match &own.system {
                Some(system) if LISTING.contains(&prompt) => with_list(template, system),
                Some(system) => template.with_system(system),
                None => Ok(template),
            }
        })?;
        let own_demos = overrides.get("parse_task").is_some_and(|own| own.demos.is_some());
        Ok(Prompts { table, own_demos, fingerprint: fingerprint(overrides) })
    }

    /// A hash of all texts, built-in and replaced: the same for the same prompts.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// How many demos stage 1 has: the most that [`Prompts::parse_task`] can use.
    pub fn demos(&self) -> usize {
        self.table.template(Prompt::ParseTask).demos()
    }

    /// Stage 1: the request to tasks, with up to `demos` demos. Built-in demos that name a task which is not among the
    /// tools are left out; the last of the others give way to experience, of which the most alike stay longest. Demos of a user's own
    /// stay as they are.
    pub fn parse_task(&self, ask: &ParseTask<'_>, demos: usize) -> Result<Vec<Turn>, TemplateError> {
        let template = self.table.template(Prompt::ParseTask);
        let names: HashSet<&str> = ask.tools.iter().map(|tool| tool.name.as_str()).collect();
        let fitting: Vec<usize> = (0..template.demos())
            .filter(|demo| {
                self.own_demos || demo_names(template, *demo).iter().all(|name| names.contains(name.as_str()))
            })
            .take(demos)
            .collect();
        // The few that are left of the built-in ones show no call of these tools.
        let wanted = if self.own_demos { 0 } else { demos.min(tools::DEMOS).saturating_sub(fitting.len()) };
        let mut of_tools = tools::demos(ask.tools, wanted);
        let experience = if self.own_demos { &[] } else { ask.experience };
        let experience = experience.get(experience.len().saturating_sub(demos)..).unwrap_or_default();
        let fixed = (fitting.len() + of_tools.len() / 2).saturating_sub(experience.len());
        of_tools.truncate(2 * fixed.saturating_sub(fitting.len()));
        let fitting: Vec<usize> = fitting.into_iter().take(fixed).collect();
        let attachments: Vec<Value> = ask.attachments.iter().map(attachment).collect();
        let objects = ask.input.rsplit_once(OBJECTS_SEEN).filter(|(_, objects)| !objects.contains('\n'));
        let (mut input, objects) = match objects.filter(|_| template.uses("objects_seen")) {
            Some((input, objects)) => (input.to_owned(), objects),
            None => (ask.input.to_owned(), INFER_OBJECTS),
        };
        if !attachments.is_empty() && !template.uses("attachments") {
            input.push_str(&format!("\nAttached, as one line of JSON: {}", Value::from(attachments.clone())));
        }
        let quoted: Vec<String> = ask.tools.iter().map(|tool| format!("\"{}\"", tool.name)).collect();
        let context = json!({
            "input": input,
            "context": ask.history,
            "attachments": attachments,
            "tools": ask.tools.iter().map(tools::line).collect::<Vec<_>>(),
            "tasks": quoted.join(", "),
            "objects_seen": objects,
            "data": ask.tools.iter().any(|tool| tool.output_schema.is_some()),
            "more": ask.more,
        });
        let mut turns = template.render_with(&context, |demo| fitting.contains(&demo))?;
        let last = turns.len().saturating_sub(1);
        let shown = experience.iter().flat_map(|turns| turns.iter().cloned());
        turns.splice(last..last, of_tools.into_iter().chain(shown));
        Ok(turns)
    }

    /// A look at what came of a plan.
    pub fn replan(&self, ask: &Replan<'_>) -> Result<Vec<Turn>, TemplateError> {
        let told = |(question, answer): &(String, String)| json!({"question": question, "answer": answer});
        let context = json!({
            "input": ask.input,
            "context": ask.history,
            "attachments": ask.attachments.iter().map(attachment).collect::<Vec<_>>(),
            "tools": ask.tools.iter().map(tools::line).collect::<Vec<_>>(),
            "data": ask.tools.iter().any(|tool| tool.output_schema.is_some()),
            "results": ask.results,
            "next": ask.next,
            "told": ask.told.iter().map(told).collect::<Vec<_>>(),
        });
        self.table.turns(Prompt::Replan, &context)
    }

    pub fn choose_model(&self, ask: &ChooseModel<'_>) -> Result<Vec<Turn>, TemplateError> {
        self.table.turns(Prompt::ChooseModel, ask)
    }

    pub fn response_results(&self, ask: &ResponseResults<'_>) -> Result<Vec<Turn>, TemplateError> {
        self.table.turns(Prompt::ResponseResults, ask)
    }

    /// Plain conversation: the earlier turns stand between the system text and the request.
    pub fn chitchat(&self, history: &[Turn], input: &str) -> Result<Vec<Turn>, TemplateError> {
        let mut turns = self.table.turns(Prompt::Chitchat, &json!({"input": input}))?;
        let last = turns.len().saturating_sub(1);
        turns.splice(last..last, history.iter().cloned());
        Ok(turns)
    }

    /// The JSON Schema that a reply is to follow, in words.
    pub(crate) fn reply_form(&self, schema: &Value) -> Result<Vec<Turn>, TemplateError> {
        self.table.turns(Prompt::ReplyForm, &json!({"schema": schema}))
    }

    pub fn task_llm(&self, input: &str, task: &Value) -> Result<Vec<Turn>, TemplateError> {
        self.table.turns(Prompt::TaskLlm, &json!({"input": input, "task": task}))
    }

    /// The task in as few words as will do, for a small language model: `task` as for [`Prompts::task_llm`].
    pub fn task_llm_short(&self, input: &str, task: &Value) -> Result<Vec<Turn>, TemplateError> {
        let task_type = task.get("task").and_then(Value::as_str).unwrap_or_default();
        let args = task.get("args").and_then(Value::as_object);
        let texts = args.into_iter().flatten().filter_map(|(name, value)| Some((name, value.as_str()?)));
        let text = match texts.collect::<Vec<_>>().as_slice() {
            [(_, text)] => (*text).to_owned(),
            texts => texts.iter().map(|(name, text)| format!("{name}: {text}")).collect::<Vec<_>>().join("\n\n"),
        };
        // What is to be written is said by the text itself.
        let says_itself = matches!(task_type, "text-generation" | "conversational" | "text2text-generation");
        let found = jarvis_catalogue::find(task_type).filter(|_| !says_itself);
        let what = found.map_or("", |found| found.description);
        let wish = if task_type == "translation" && !text.contains(input) { input } else { "" };
        self.table.turns(Prompt::TaskLlmShort, &json!({"what": what, "wish": wish, "text": text}))
    }

    pub fn describe_plan(&self, input: &str, plan: &Value, language: &str) -> Result<Vec<Turn>, TemplateError> {
        self.table.turns(Prompt::DescribePlan, &json!({"input": input, "plan": plan, "language": language}))
    }
}

/// The task names in the answer of a built-in demo.
fn demo_names(template: &Template, demo: usize) -> Vec<String> {
    let answer = template.demo_answer(demo).expect("the template has this demo");
    let tasks: Vec<Value> = serde_json::from_str(&answer).expect("a built-in demo answers with tasks");
    tasks.iter().filter_map(|task| task.get("task")?.as_str().map(str::to_owned)).collect()
}

/// The prompts that list the tasks a plan may use.
const LISTING: [Prompt; 3] = [Prompt::ParseTask, Prompt::PipelineParse, Prompt::PipelineUnified];

/// The list as the pipeline form shows it.
const TASK_LINES: &str = "Task types, one line of JSON each:\n{% for tool in tools %}\n{{tool}}\n{% endfor %}";

/// Puts a person's system text in, with the list of tasks where its placeholder or a list of the original's own tasks
/// stands, or at its end.
fn with_list(template: Template, system: &str) -> Result<Template, TemplateError> {
    let system = with_slot(system);
    let template = template.with_system(&system)?;
    if template.uses("tasks") || template.uses("tools") {
        return Ok(template);
    }
    match STOCK_LIST.find_iter(&system).find(|found| is_stock_list(found.as_str())) {
        Some(list) => template.with_system(&format!(
            "{}{{{{tasks}}}}{}",
            system.get(..list.start()).expect("the list stands in the text"),
            system.get(list.end()..).expect("the list stands in the text")
        )),
        None if template.name() == "parse_task" => template.with_system(&format!("{system}\n\nTasks: {{{{tasks}}}}")),
        None => template.with_system(&format!("{system}\n\n{TASK_LINES}")),
    }
}

/// The placeholder as the slot that it stands for.
fn with_slot(text: &str) -> String {
    text.replace(LIST_PLACEHOLDER, "{{tasks}}")
}

/// Six or more quoted names with commas between.
static STOCK_LIST: LazyLock<Regex> = LazyLock::new(|| {
    // A literal pattern; the tests compile it.
    pattern(r#""[\w-]+"(?:\s*,\s*(?:and\s+|or\s+)?"[\w-]+"){5,}"#)
});

/// True for a list most of whose names are task types of the registry: configurations of the original hold it.
fn is_stock_list(list: &str) -> bool {
    let names: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    let stock = names.iter().filter(|name| tools::is_stock(name)).count();
    stock * 2 > names.len()
}

fn attachment(resource: &Resource) -> Value {
    let key = match resource.kind {
        Kind::Text | Kind::Json => "text",
        Kind::Image => "image",
        Kind::Audio => "audio",
        Kind::Video => "video",
    };
    // A file is told under the one spelling that a plan may use; of a text, its name says how it begins.
    match resource.name.as_ref().filter(|_| !resource.kind.is_media()) {
        Some(name) => json!({key: resource.as_arg(), "name": name}),
        None => json!({key: resource.as_arg()}),
    }
}

#[cfg(test)]
mod tests;
