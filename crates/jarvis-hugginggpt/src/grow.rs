//! The look at what came of a plan, and planning on: stage `replan`.
//!
//! It is asked when a task failed, when the plan said that it was a first part, or always; and again after each growth, until it
//! says that the request is answered. What failed and was done by later tasks counts as done only when it says so.

use std::sync::Arc;
use std::time::Instant;

use jarvis_ask::{AskError, Events, conversation_levels};
use jarvis_catalogue::TaskOutput;
use jarvis_chat::{ChatModel, ChatReply};
use jarvis_pipeline::RunError;
use jarvis_pipeline::approval::ask_person;
use jarvis_plan::{
    Draft, EACH, Effect, ErrorCode, EventKind, Fault, Level, Note, NoteKind, Outcome, Plan, Request, Status, Task,
    TaskId, Tool,
};
use jarvis_prompt::plan::{Scope, read_more, read_more_calls};
use jarvis_prompt::reader::{Want, read_json};
use jarvis_tools::digest::shape;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::attached;
use crate::course::Course;
use crate::pipeline::HuggingGpt;
use crate::plan::schema;
use crate::prompts::Replan;
use crate::results::results_map;
use crate::settings::Look;
use crate::stages::Stages;

const STAGE: &str = "replan";

/// Looks that add nothing, after which there are no more.
const IDLE: u32 = 2;

/// The most characters of a task's result that a look is shown. All of it is there for later tasks: they refer to it.
const MAX_RESULT: usize = 8_000;

/// What the looks at a run have come to, from one to the next.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Rounds {
    /// How often the plan was looked at and planned on.
    pub(crate) grown: u32,
    /// Looks that added nothing.
    idle: u32,
    /// Why it is looked at. What was looked at once is looked at until the planner says that it is done.
    reason: Option<String>,
    /// What the planner asked the person, with the answers.
    told: Vec<(String, String)>,
    /// What cannot be done, as the planner says.
    missing: Vec<String>,
    /// Whether the planner said, after tasks that it added, that the request is answered.
    pub(crate) answered: bool,
    /// What it asks the person, where nobody could be asked.
    pub(crate) question: Option<String>,
    /// Whether the planner had the last word: that all is done, what is missing, or a question.
    concluded: bool,
    /// Whether the plan said at first that it was a first part.
    first_part: bool,
    /// How many tasks there were at first.
    pub(crate) first_added: usize,
}

impl Rounds {
    /// Before the first look at a plan.
    pub fn of(plan: &Plan) -> Rounds {
        Rounds { first_part: plan.may_grow(), first_added: plan.tasks().len(), ..Rounds::default() }
    }

    /// Goes on with what a person said to the planner's question; without an answer, the question is the last word.
    pub fn told(&mut self, question: String, answer: Option<String>) {
        match answer {
            Some(answer) => self.told.push((question, answer)),
            None => (self.question, self.concluded) = (Some(question), true),
        }
    }

    fn lacks(&mut self, what: impl Into<String>) {
        self.missing.push(what.into());
        self.concluded = true;
    }

    /// What was not done of what the plan and the planner said, once nothing is added any more.
    pub(crate) fn missing(&self, plan: &Plan) -> Vec<String> {
        let open = if self.concluded {
            None
        } else if self.first_part || plan.may_grow() {
            Some("the plan was a first part, and was not planned on to its end")
        } else {
            (!self.told.is_empty()).then_some("what you answered was not acted upon")
        };
        self.missing.iter().cloned().chain(open.map(str::to_owned)).collect()
    }
}

/// What follows from a look.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Nothing is added any more.
    End,
    /// The person is asked, see [`Rounds::told`].
    Ask(String),
    /// The plan grows.
    Grow {
        draft: Draft,
        why: String,
        /// The tasks as they will be added.
        tasks: Vec<Task>,
        /// The notes that come with them.
        notes: Vec<Note>,
        /// Whether the plan is a first part still.
        more: bool,
    },
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

impl Looking<'_> {
    /// Waits for the tasks of a run and plans on, as often as its settings and what came of it ask for.
    ///
    /// # Errors
    /// When the prompt cannot be made. Failures of the call end the looks.
    pub(crate) async fn rounds(&self, course: &mut Course) -> Result<Rounds, RunError> {
        let mut rounds = Rounds::of(course.plan());
        if self.pipeline.chat.is_none() {
            return Ok(rounds);
        }
        while course.settled().await {
            let outcomes: Vec<Outcome> = course.outcomes().cloned().collect();
            match self.step(&mut rounds, course.plan(), &outcomes).await? {
                Step::End => break,
                Step::Ask(question) => {
                    let next = TaskId(u32::try_from(course.plan().tasks().len()).unwrap_or(u32::MAX));
                    let answer = tokio::select! {
                        biased;
                        () = self.cancel.cancelled() => None,
                        answer = ask_person(self.pipeline.approver.as_ref(), self.events, next, &question) => answer,
                    };
                    rounds.told(question, answer);
                    if rounds.concluded {
                        break;
                    }
                }
                Step::Grow { draft, why, tasks, notes, more: _ } => {
                    let notes = notes.into_iter().map(|note| note.text).collect();
                    // Whoever follows hears of tasks before they start.
                    self.events.emit(EventKind::PlanGrew { round: rounds.grown, why, tasks, notes });
                    let (vocabulary, limits) = (&self.pipeline.vocabulary, self.pipeline.settings.plan);
                    if course.grow(&draft, vocabulary, limits).is_err() {
                        // The run has ended in between.
                        break;
                    }
                }
            }
        }
        Ok(rounds)
    }

    /// Looks at what came of the tasks so far, until the planner wants something, says that it is done, or nothing more may be added.
    ///
    /// # Errors
    /// As [`Looking::rounds`].
    pub(crate) async fn step(&self, rounds: &mut Rounds, plan: &Plan, outcomes: &[Outcome]) -> Result<Step, RunError> {
        let settings = &self.pipeline.settings;
        let Some(chat) = self.pipeline.chat.clone() else { return Ok(Step::End) };
        loop {
            if self.cancel.is_cancelled() || rounds.concluded {
                return Ok(Step::End);
            }
            let reason = rounds.reason.take().or_else(|| self.reason(plan, outcomes).map(str::to_owned));
            rounds.reason.clone_from(&reason);
            let Some(why) = reason.filter(|_| self.may_look(plan)) else { return Ok(Step::End) };
            let next = match self.look(&chat, plan, outcomes, &rounds.told).await {
                Ok(Some(next)) => next,
                Ok(None) => return Ok(Step::End),
                // Recordings of runs that were not looked at are followed as they are.
                Err(error) if error.is_replay_miss() => return Ok(Step::End),
                Err(error) => match RunError::from(error) {
                    RunError::Model { source, .. } => {
                        self.events.note(Level::Warning, format!("the plan could not be looked at ({source})"));
                        return Ok(Step::End);
                    }
                    RunError::Unreadable { reason, .. } => {
                        self.events.note(Level::Warning, format!("the plan was not planned on: {reason}"));
                        return Ok(Step::End);
                    }
                    error => return Err(error),
                },
            };
            match next {
                Next::Done => (rounds.answered, rounds.concluded) = (rounds.grown > 0, true),
                Next::Missing(what) => rounds.lacks(what),
                Next::Ask(question) if rounds.told.len() >= settings.max_rounds as usize => rounds.told(question, None),
                Next::Ask(question) => return Ok(Step::Ask(question)),
                Next::Tasks(_) if rounds.grown >= settings.max_rounds => {
                    let most = settings.max_rounds;
                    let message = format!("the plan was planned on {most} times, and is not any more");
                    self.events.note(Level::Warning, message);
                    rounds.lacks("the planner wanted to go on; `planning.max_rounds` allows no more");
                }
                Next::Tasks(draft) => {
                    let mut trial = plan.clone();
                    let tasks = trial.grow(&draft, &self.pipeline.vocabulary, settings.plan).to_vec();
                    if !tasks.is_empty() {
                        rounds.grown += 1;
                        let notes = trial.notes().iter().skip(plan.notes().len()).cloned().collect();
                        return Ok(Step::Grow { draft, why, tasks, notes, more: trial.may_grow() });
                    }
                    rounds.idle += 1;
                    if rounds.idle >= IDLE {
                        self.events.note(Level::Warning, "the planner adds nothing new; it is asked no more");
                        return Ok(Step::End);
                    }
                }
            }
        }
    }

    /// Whether anything may be added to the plan.
    fn may_look(&self, plan: &Plan) -> bool {
        self.pipeline.settings.replan != Look::Never && self.events.refused().is_none() && !is_withheld(plan)
    }

    /// Why the plan is looked at, if it is.
    fn reason(&self, plan: &Plan, outcomes: &[Outcome]) -> Option<&'static str> {
        // What the caller is to do first is nothing that another plan does.
        let is_handed_back =
            |outcome: &Outcome| outcome.error.as_ref().is_some_and(|error| error.code == ErrorCode::HandedBack);
        if outcomes.iter().any(is_handed_back) {
            return None;
        }
        // Of the faults of a plan its planner was told before.
        let is_sound = |outcome: &Outcome| plan.task(outcome.id).is_some_and(|task| task.faults.is_empty());
        if outcomes.iter().any(|outcome| is_sound(outcome) && is_ground(outcome)) {
            return Some("failures");
        }
        if plan.may_grow() {
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
        plan: &Plan,
        outcomes: &[Outcome],
        told: &[(String, String)],
    ) -> Result<Option<Next>, AskError> {
        let stages = self.pipeline.stages(Arc::clone(chat), self.events);
        let left = self.pipeline.left(self.began, self.events);
        let offered = self.pipeline.offered();
        let asked = self.ask(&stages, plan, outcomes, &offered, told);
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
        let brief = results_map(plan, outcomes).into_iter().map(|(id, result)| (id, briefly(&result)));
        let results = Value::Object(brief.collect());
        let (results, _) = shape(&results, room, |value| model.count_tokens(STAGE, &value.to_string()));
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
            return self.sound(read_more_calls(&called.collect::<Vec<_>>(), plan, scope), plan);
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
        self.sound(read_more(&reply.text, plan, scope).map_err(|error| error.to_string())?, plan)
    }

    /// New tasks that can be added as they are; the error says what is wrong with them.
    fn sound(&self, draft: Draft, plan: &Plan) -> Result<Next, String> {
        let mut grown = plan.clone();
        let added = grown.grow(&draft, &self.pipeline.vocabulary, self.pipeline.settings.plan).to_vec();
        // Part of what is to be done next may be worse than nothing of it.
        let is_left_out = |note: &&Note| note.kind == NoteKind::LeftOut;
        if let Some(note) = grown.notes().iter().skip(plan.notes().len()).find(is_left_out) {
            return Err(note.to_string());
        }
        let line = |fault: &Fault, id: &dyn std::fmt::Display, task: &str| format!("- task {id} (`{task}`): {fault}");
        let faults: Vec<String> = added
            .iter()
            .flat_map(|task| task.faults.iter().map(move |fault| line(fault, &task.id, &task.task)))
            .collect();
        // What was all called before adds nothing.
        let is_known =
            |task: &Task| plan.tasks().iter().any(|known| known.task == task.task && known.args == task.args);
        // After a change they may give something else.
        let changes = |task: &Task| self.pipeline.gate.effect(task) != Effect::Reads;
        if added.iter().all(is_known) && !plan.tasks().iter().any(changes) {
            return Ok(Next::Tasks(Draft { notes: draft.notes, ..Draft::default() }));
        }
        if faults.is_empty() {
            return Ok(Next::Tasks(draft));
        }
        Err(format!("the new tasks have faults:\n{}\nMend these and keep the rest", faults.join("\n")))
    }
}

/// A result as a look is shown it.
fn briefly(result: &Value) -> Value {
    shape(result, MAX_RESULT, |value| value.to_string().chars().count()).0
}

/// Whether an outcome is a reason to plan on: another tool, or another way, may do it. What somebody refused stays undone.
fn is_ground(outcome: &Outcome) -> bool {
    let code = outcome.error.as_ref().map(|error| error.code);
    let is_end = |code: ErrorCode| matches!(code, ErrorCode::NotApproved | ErrorCode::Budget | ErrorCode::Cancelled);
    // One call of many that failed is one too.
    let is_partial =
        || TaskOutput::of(outcome).is_some_and(|output| output.0.get(EACH).is_some() && !output.not_done().is_empty());
    (outcome.status == Status::Failed && !code.is_some_and(is_end)) || (outcome.succeeded() && is_partial())
}

/// Whether a plan was kept from running because it would change something and was not sound: then nothing is added to it.
fn is_withheld(plan: &Plan) -> bool {
    let withheld = |fault: &Fault| {
        matches!(fault, Fault::Withheld { .. } | Fault::WithheldBeside { .. } | Fault::NotOrdered { .. })
    };
    plan.tasks().iter().flat_map(|task| &task.faults).any(withheld)
}

/// Marks what did not succeed and was made up for, where the planner said that all is answered: by a task that was planned later,
/// from the place `first_added` on, succeeded, and `stands_in` for it. What a person refused is not made up for, and neither is a
/// call that may have changed something all the same.
pub(crate) fn make_up(outcomes: &mut [Outcome], first_added: usize, stands_in: impl Fn(&Outcome, &Outcome) -> bool) {
    let later: Vec<Outcome> =
        outcomes.iter().skip(first_added).filter(|outcome| outcome.succeeded()).cloned().collect();
    for outcome in outcomes.iter_mut().filter(|outcome| !outcome.succeeded()) {
        let refused = outcome.error.as_ref().is_some_and(|error| error.code == ErrorCode::NotApproved);
        outcome.made_up_for = !refused && later.iter().any(|later| later.id > outcome.id && stands_in(outcome, later));
    }
}
