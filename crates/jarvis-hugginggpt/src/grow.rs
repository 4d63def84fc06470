//! The look at what came of a plan, and planning on: stage `replan`.
//!
//! It is asked when a task failed, when the plan said that it was a first part, or always; and again after each growth, until it
//! says that the request is answered. What failed and was done by later tasks counts as done only when it says so.

use std::sync::Arc;
use std::time::Instant;

use jarvis_ask::{AskError, Events, conversation_levels};
use jarvis_chat::{ChatModel, ChatReply};
use jarvis_pipeline::RunError;
use jarvis_pipeline::approval::ask_person;
use jarvis_plan::{Draft, ErrorCode, EventKind, Fault, Level, Outcome, Plan, Request, Status, Task, TaskId, Tool};
use jarvis_prompt::plan::{Scope, read_more, read_tool_calls};
use jarvis_prompt::reader::{Want, read_json};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::attached;
use crate::course::Course;
use crate::pipeline::HuggingGpt;
use crate::plan::schema;
use crate::prompts::Replan;
use crate::results::{results_map, shorten};
use crate::settings::Look;
use crate::stages::Stages;

const STAGE: &str = "replan";

/// Looks that add nothing, after which there are no more.
const IDLE: u32 = 2;

/// What the looks at a run came to.
#[derive(Debug, Default)]
pub(crate) struct Grown {
    /// How often the plan was looked at and planned on.
    pub(crate) rounds: u32,
    /// What cannot be done, as the planner says.
    pub(crate) missing: Vec<String>,
    /// Whether the planner said, after tasks that it added, that the request is answered.
    pub(crate) answered: bool,
    /// What it asks the person, where nobody could be asked.
    pub(crate) question: Option<String>,
}

/// What the planner says when it looks.
#[derive(Debug, Clone, PartialEq)]
enum Next {
    Done,
    /// It cannot be done; this is missing.
    Missing(String),
    Tasks(Draft),
    Ask(String),
}

/// What a look is about.
pub(crate) struct Looking<'a> {
    pub(crate) pipeline: &'a HuggingGpt,
    pub(crate) request: &'a Arc<Request>,
    pub(crate) events: &'a Events,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) began: Instant,
}

/// What was looked at before, of a run that goes on.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// How often it was planned on.
    pub(crate) rounds: u32,
    /// What was asked, and answered.
    pub(crate) told: Vec<(String, String)>,
    /// What was asked and waits for its answer.
    pub(crate) question: Option<String>,
}

impl Looking<'_> {
    /// Waits for the tasks of a run and plans on, as often as its settings and what came of it ask for.
    ///
    /// # Errors
    /// When the prompt cannot be made. Failures of the call end the looks.
    pub(crate) async fn rounds(&self, course: &mut Course, looked: Looked) -> Result<Grown, RunError> {
        let settings = &self.pipeline.settings;
        let Looked { rounds: before, mut told, question } = looked;
        let mut grown = Grown { rounds: before, ..Grown::default() };
        let Some(chat) = self.pipeline.chat.clone() else { return Ok(grown) };
        // What was begun with a look goes on with one.
        let mut reason = (before > 0 || question.is_some()).then_some("answer");
        let (mut idle, mut open) = (0, question.map(Next::Ask));
        loop {
            if !course.settled().await || self.cancel.is_cancelled() {
                return Ok(grown);
            }
            // What was looked at once is looked at until the planner says that it is done.
            reason = reason.or_else(|| self.reason(course));
            let Some(why) = reason.filter(|_| self.may_look(course.plan())) else { return Ok(grown) };
            let looked = match open.take() {
                Some(next) => Ok(Some(next)),
                None => self.look(&chat, course, &told).await,
            };
            let next = match looked {
                Ok(Some(next)) => next,
                Ok(None) => return Ok(grown),
                // Recordings of runs that were not looked at are followed as they are.
                Err(error) if error.is_replay_miss() => return Ok(grown),
                Err(error) => match RunError::from(error) {
                    RunError::Model { source, .. } => {
                        self.events.note(Level::Warning, format!("the plan could not be looked at ({source})"));
                        return Ok(grown);
                    }
                    RunError::Unreadable { reason, .. } => {
                        self.events.note(Level::Warning, format!("the plan was not planned on: {reason}"));
                        return Ok(grown);
                    }
                    error => return Err(error),
                },
            };
            match next {
                Next::Done => {
                    grown.answered = grown.rounds > 0;
                    return Ok(grown);
                }
                Next::Missing(what) => {
                    grown.missing.push(what);
                    return Ok(grown);
                }
                Next::Ask(question) if told.len() >= settings.max_rounds as usize => {
                    grown.question = Some(question);
                    return Ok(grown);
                }
                Next::Ask(question) => {
                    let next = TaskId(u32::try_from(course.plan().tasks().len()).unwrap_or(u32::MAX));
                    let answer = tokio::select! {
                        biased;
                        () = self.cancel.cancelled() => None,
                        answer = ask_person(self.pipeline.approver.as_ref(), self.events, next, &question) => answer,
                    };
                    match answer {
                        Some(answer) => told.push((question, answer)),
                        None => {
                            grown.question = Some(question);
                            return Ok(grown);
                        }
                    }
                }
                Next::Tasks(_) if grown.rounds - before >= settings.max_rounds => {
                    let most = settings.max_rounds;
                    let message = format!("the plan was planned on {most} times, and is not any more");
                    self.events.note(Level::Warning, message);
                    grown.missing.push("the planner wanted to go on; `planning.max_rounds` allows no more".to_owned());
                    return Ok(grown);
                }
                Next::Tasks(draft) => {
                    let notes = draft.notes.iter().map(|note| note.text.clone()).collect();
                    let added = course.grow(&draft, &self.pipeline.vocabulary, settings.plan);
                    // The run has ended in between.
                    let Ok(added) = added else { return Ok(grown) };
                    if added.is_empty() {
                        idle += 1;
                        if idle >= IDLE {
                            self.events.note(Level::Warning, "the planner adds nothing new; it is asked no more");
                            return Ok(grown);
                        }
                        continue;
                    }
                    grown.rounds += 1;
                    let (round, why, tasks) = (grown.rounds, why.to_owned(), added.to_vec());
                    self.events.emit(EventKind::PlanGrew { round, why, tasks, notes });
                }
            }
        }
    }

    /// Whether anything may be added to the plan.
    fn may_look(&self, plan: &Plan) -> bool {
        self.pipeline.settings.replan != Look::Never && self.events.refused().is_none() && !is_withheld(plan)
    }

    /// Why the plan is looked at, if it is.
    fn reason(&self, course: &Course) -> Option<&'static str> {
        // Of the faults of a plan its planner was told before.
        let is_sound = |outcome: &Outcome| course.plan().task(outcome.id).is_some_and(|task| task.faults.is_empty());
        if course.outcomes().any(|outcome| is_sound(outcome) && is_ground(outcome)) {
            return Some("failures");
        }
        if course.plan().may_grow() {
            return Some("more");
        }
        match self.pipeline.settings.replan {
            Look::Always => Some("always"),
            Look::Failures | Look::Never => None,
        }
    }

    /// Asks what is to be done now; `None` when the run ends meanwhile.
    async fn look(
        &self,
        chat: &Arc<dyn ChatModel>,
        course: &Course,
        told: &[(String, String)],
    ) -> Result<Option<Next>, AskError> {
        let stages = self.pipeline.stages(Arc::clone(chat), self.events);
        let left = self.pipeline.settings.engine.run_timeout.saturating_sub(self.began.elapsed());
        let outcomes: Vec<Outcome> = course.outcomes().cloned().collect();
        let offered = self.pipeline.offered();
        let asked = self.ask(&stages, course.plan(), &outcomes, &offered, told);
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Ok(None),
            next = tokio::time::timeout(left, asked) => next.map_or(Ok(None), |next| next.map(Some)),
        }
    }

    async fn ask(
        &self,
        stages: &Stages,
        plan: &Plan,
        outcomes: &[Outcome],
        offered: &[Tool],
        told: &[(String, String)],
    ) -> Result<Next, AskError> {
        let Stages { ask, prompts, settings } = stages;
        let request = self.request.as_ref();
        let attachments = attached::shown(request);
        let bare = Replan {
            tools: offered,
            history: &request.history,
            input: &request.text,
            attachments: &attachments,
            results: &Value::Null,
            next: plan.tasks().len(),
            told,
        };
        let around = prompts.replan(&bare).map_err(|source| AskError::Prompt { stage: STAGE, source })?;
        let model = ask.model();
        let around: usize = around.iter().map(|turn| model.count_tokens(STAGE, &turn.content)).sum();
        let room = model.context_tokens(STAGE).saturating_sub(settings.reserve_tokens + around + 64);
        let mut results = Value::Object(results_map(plan, outcomes));
        shorten(&mut results, room, |value| model.count_tokens(STAGE, &value.to_string()));
        let levels = conversation_levels(request.history.len(), 0);
        let question = ask.stage(STAGE).fitted(&levels, |left_out| {
            prompts.replan(&Replan { history: left_out.kept(&request.history), results: &results, ..bare })
        })?;
        let question = question.schema("next", || schema::next(offered));
        let question =
            question.asking(if settings.reask { 2 } else { 1 }).wanted(r#"{"done": …}, {"tasks": […]} or {"ask": …}"#);
        question.noted_as("the planner's reply").read(|reply| self.read(reply, plan)).await
    }

    fn read(&self, reply: &ChatReply, plan: &Plan) -> Result<Next, String> {
        let scope =
            Scope { tools: &self.pipeline.vocabulary, request: self.request, exists: self.pipeline.exists.as_ref() };
        if !reply.tool_uses.is_empty() {
            let called = reply.tool_uses.iter().map(|used| (used.name.clone(), Value::String(used.arguments.clone())));
            return Ok(Next::Tasks(read_tool_calls(&called.collect::<Vec<_>>(), scope)));
        }
        let said = read_json(&reply.text, Want::Object).ok().map(|read| read.value);
        let text = |name: &str| {
            let text = said.as_ref().and_then(|said| said.get(name)?.as_str()).map(str::trim);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let has_tasks =
            said.as_ref().and_then(|said| said.get("tasks")?.as_array()).is_some_and(|tasks| !tasks.is_empty());
        if let Some(question) = text("ask").filter(|_| !has_tasks) {
            return Ok(Next::Ask(question));
        }
        match said.as_ref().and_then(|said| said.get("done")).and_then(Value::as_bool).filter(|_| !has_tasks) {
            Some(true) => return Ok(Next::Done),
            Some(false) => {
                return text("missing").map(Next::Missing).ok_or_else(|| {
                    "it says that the request is not done, and neither gives tasks nor says what is `missing`"
                        .to_owned()
                });
            }
            None => {}
        }
        let draft = read_more(&reply.text, plan, scope).map_err(|error| error.to_string())?;
        let mut grown = plan.clone();
        let added = grown.grow(&draft, &self.pipeline.vocabulary, self.pipeline.settings.plan);
        let line = |fault: &Fault, id: &dyn std::fmt::Display, task: &str| format!("- task {id} (`{task}`): {fault}");
        let faults: Vec<String> = added
            .iter()
            .flat_map(|task| task.faults.iter().map(move |fault| line(fault, &task.id, &task.task)))
            .collect();
        // What was all called before adds nothing.
        let is_known =
            |task: &Task| plan.tasks().iter().any(|known| known.task == task.task && known.args == task.args);
        if added.iter().all(is_known) {
            return Ok(Next::Tasks(Draft { notes: draft.notes, ..Draft::default() }));
        }
        if faults.is_empty() {
            return Ok(Next::Tasks(draft));
        }
        Err(format!("the new tasks have faults:\n{}\nMend these and keep the rest", faults.join("\n")))
    }
}

/// Whether an outcome is a reason to plan on: another tool, or another way, may do it. What somebody refused stays undone.
fn is_ground(outcome: &Outcome) -> bool {
    let code = outcome.error.as_ref().map(|error| error.code);
    let is_end = |code: ErrorCode| matches!(code, ErrorCode::NotApproved | ErrorCode::Budget | ErrorCode::Cancelled);
    outcome.status == Status::Failed && !code.is_some_and(is_end)
}

/// Whether a plan was kept from running because it would change something and was not sound: then nothing is added to it.
fn is_withheld(plan: &Plan) -> bool {
    let withheld = |fault: &Fault| {
        matches!(fault, Fault::Withheld { .. } | Fault::WithheldBeside { .. } | Fault::NotOrdered { .. })
    };
    plan.tasks().iter().flat_map(|task| &task.faults).any(withheld)
}

/// Marks what did not succeed and was made up for: where the planner said that all is answered, what stands before a task that
/// was planned later, from the place `first_added` on, and succeeded. A task that was to change something is made up for by one
/// that changes something alone.
pub(crate) fn make_up(outcomes: &mut [Outcome], first_added: usize, changes: impl Fn(&Outcome) -> bool) {
    let (mut done, mut changed) = (false, false);
    for (at, outcome) in outcomes.iter_mut().enumerate().rev() {
        if outcome.succeeded() {
            done |= at >= first_added;
            changed |= at >= first_added && changes(outcome);
        } else {
            outcome.made_up_for = if changes(outcome) { changed } else { done };
        }
    }
}
