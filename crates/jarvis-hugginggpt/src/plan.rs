//! Stage 1 with a chat model: ask for a plan, read the reply, ask once more when there is none in it or it has faults.

pub(crate) mod schema;

use std::sync::Arc;

use jarvis_ask::{AskError, conversation_levels};
use jarvis_chat::{ChatReply, Message};
use jarvis_plan::{Draft, Fault, Plan, Request, Tool, Turn, Vocabulary, check};
use jarvis_prompt::plan::{Scope, read_plan, read_tool_calls};
use jarvis_prompt::reader::{Want, read_json};
use serde_json::Value;

use crate::attached;
use crate::decisions::pipeline;
use crate::experience::Demonstration;
use crate::live::Live;
use crate::prompts::ParseTask;
use crate::settings::Look;
use crate::stages::Stages;

const STAGE: &str = "parse_task";

/// What stage 1 asks with.
pub(crate) struct Planning<'a> {
    pub(crate) stages: &'a Stages,
    /// The tools that the model may use.
    pub(crate) offered: &'a [Tool],
    /// The schema of a plan over them.
    pub(crate) schema: &'a (dyn Fn() -> Arc<Value> + Sync),
    /// The tools that a plan may name.
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) request: &'a Request,
    /// Whether a path leads to a file that the run can open although the request does not name it.
    pub(crate) exists: &'a (dyn Fn(&str) -> bool + Sync),
    /// Faults that somebody else mends.
    pub(crate) tolerates: fn(&Fault) -> bool,
    /// Requests and plans from before that are shown, the most alike last.
    pub(crate) demos: &'a [Demonstration],
    /// What the request asks for by the words of the offline planner, where all of it was understood.
    pub(crate) asked: Option<&'a Plan>,
}

impl Planning<'_> {
    /// Asks for a plan. One with faults is sent back once with their list; the second may have faults again. Its tasks start as they
    /// are written where `live` starts them.
    ///
    /// # Errors
    /// [`AskError::Unreadable`] when no reply holds a plan.
    pub(crate) async fn ask(&self, mut live: Option<&mut Live<'_>>) -> Result<Draft, AskError> {
        let Planning { stages, offered, request, demos, .. } = *self;
        let settings = &stages.settings;
        let question = stages.ask.stage(STAGE).messages(prompt(stages, offered, request, demos)?);
        let question = question.favour(&highlight(offered), settings.parse_bias).schema("plan", self.schema);
        let question = question.asking(if settings.reask { 2 } else { 1 });
        let mut attempts = question.wanted("a JSON array of tasks").noted_as("the planner's reply").attempts();
        let mut kept: Option<Draft> = None;
        loop {
            let asked = match live.as_deref_mut().filter(|_| settings.stream_plan) {
                Some(live) => {
                    live.begin();
                    attempts.next_streamed(|piece| live.piece(piece, |list| self.sound(list))).await
                }
                None => attempts.next().await,
            };
            let reply = match asked {
                Ok(reply) => reply,
                Err(error) => match kept {
                    Some(draft) => return Ok(draft),
                    None => return Err(error),
                },
            };
            let refused = match self.read(&reply) {
                Ok(draft) => match self.faults(&draft) {
                    None => return Ok(draft),
                    Some(faults) => {
                        kept = Some(draft);
                        attempts.refuse(&reply, &faults)
                    }
                },
                Err(reason) => attempts.refuse(&reply, &reason),
            };
            match (refused, kept.take()) {
                (Ok(()), draft) => kept = draft,
                (Err(_), Some(draft)) => return Ok(draft),
                (Err(error), None) => return Err(error),
            }
        }
    }

    /// The plan of a list of tasks, as a whole reply would be read.
    fn sound(&self, list: &str) -> Option<Plan> {
        let scope = Scope { tools: self.vocabulary, request: self.request, exists: self.exists };
        let draft = read(list, scope).ok()?;
        Some(check(&draft, self.vocabulary, self.stages.settings.plan))
    }

    fn read(&self, reply: &ChatReply) -> Result<Draft, String> {
        let scope = Scope { tools: self.vocabulary, request: self.request, exists: self.exists };
        if !reply.tool_uses.is_empty() {
            let called = reply.tool_uses.iter().map(|used| (used.name.clone(), Value::String(used.arguments.clone())));
            return Ok(read_tool_calls(&called.collect::<Vec<_>>(), scope));
        }
        read(&reply.text, scope)
    }

    /// The faults of a plan, as a list that the model can act on.
    fn faults(&self, draft: &Draft) -> Option<String> {
        let plan = check(draft, self.vocabulary, self.stages.settings.plan);
        let mut faults = listed(&plan, self.tolerates);
        if faults.is_empty() {
            faults.extend(missing(self.request, &plan, self.asked).into_iter().map(|what| format!("- {what}")));
        }
        (!faults.is_empty())
            .then(|| format!("the plan has faults:\n{}\nMend these and keep the rest", faults.join("\n")))
    }
}

/// What a plan leaves undone of what the request asks for: files that it names, and steps that the offline planner found where
/// each task of the plan is one of its own too.
pub(crate) fn missing(request: &Request, plan: &Plan, asked: Option<&Plan>) -> Vec<String> {
    let unused = attached::unused(request, plan).into_iter();
    let mut missing: Vec<String> =
        unused.map(|name| format!("the request names `{name}`, and no task takes it")).collect();
    let Some(asked) = asked.filter(|_| !plan.tasks().is_empty()) else { return missing };
    let mut open: Vec<&str> = asked.tasks().iter().map(|task| task.task.as_str()).collect();
    for task in plan.tasks() {
        match open.iter().position(|name| *name == task.task) {
            Some(at) => drop(open.remove(at)),
            None => return missing,
        }
    }
    missing.extend(open.into_iter().map(|name| format!("the request asks for `{name}` too, and no task does it")));
    missing
}

/// The faults of a plan, a line each.
fn listed(plan: &Plan, tolerates: fn(&Fault) -> bool) -> Vec<String> {
    let of = |task: &jarvis_plan::Task| {
        let line = |fault: &Fault| format!("- task {} (`{}`): {fault}", task.id, task.task);
        task.faults.iter().filter(|fault| !tolerates(fault)).map(line).collect::<Vec<_>>()
    };
    plan.tasks().iter().flat_map(of).collect()
}

pub(crate) fn prompt(
    stages: &Stages,
    tools: &[Tool],
    request: &Request,
    shown: &[Demonstration],
) -> Result<Vec<Message>, AskError> {
    let demos = 2 * stages.prompts.demos().max(shown.len());
    let shown: Vec<&[Turn; 2]> = shown.iter().map(|shown| &shown.turns).collect();
    let attachments = attached::shown(request);
    let levels = conversation_levels(request.history.len(), demos);
    let fitted = stages.ask.fit(STAGE, &levels, |left_out| {
        let history = left_out.kept(&request.history);
        let more = stages.settings.replan != Look::Never;
        let input = &request.text;
        let context = ParseTask { tools, history, input, attachments: &attachments, more, experience: &shown };
        stages.prompts.parse_task(&context, demos.saturating_sub(left_out.demos) / 2)
    });
    fitted.map(|(_, messages)| messages)
}

/// Reads a reply as a draft; the error says what is wrong in words that the model can act on.
pub(crate) fn read(reply: &str, scope: Scope<'_>) -> Result<Draft, String> {
    if let Ok(read) = read_json(reply, Want::Array)
        && pipeline::read::is_pipeline(&read.value)
    {
        let mut draft = pipeline::read::to_draft(&pipeline::read::value(&read.value)?.tasks);
        draft.raw = reply.to_owned();
        let mends = read.mended.iter().map(|mend| format!("the planner's reply was mended: {mend}").into());
        draft.notes.splice(0..0, mends);
        return Ok(draft);
    }
    read_plan(reply, scope).map_err(|error| error.to_string())
}

/// A line that holds every word of the plan format, for the highlight ids.
fn highlight(tools: &[Tool]) -> String {
    let names: Vec<String> = tools.iter().map(|tool| format!("\"{}\"", tool.name)).collect();
    format!(r#"{{"task": {}, "args", "text", "path", "dep", "id", "<GENERATED>-"}}"#, names.join(", "))
}
