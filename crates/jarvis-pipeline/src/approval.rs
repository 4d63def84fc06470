//! Leave for what changes the world: which calls wait for it, who is asked, and what the answer means.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use globset::{Glob, GlobSet, GlobSetBuilder};
use indexmap::IndexMap;
use jarvis_catalogue::Host;
use jarvis_engine::{Again, Events, Gate, Job};
use jarvis_events::{Leave, NotWritten};
use jarvis_plan::{
    Approval, Arg, EACH, Effect, ErrorCode, EventKind, Place, Request, RunId, Task, TaskError, TaskId, is_han, text_of,
};
use jarvis_tools::Registry;
use serde::Deserialize;
use serde_json::Value;

/// Which calls wait for leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Approve {
    /// Those that add, change or remove something.
    #[default]
    Writes,
    /// Those that remove something, or cannot be undone.
    Destroys,
    /// None.
    Never,
}

/// A pattern of tool names that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid pattern of tool names `{pattern}`: {reason}")]
pub struct InvalidPattern {
    /// The pattern.
    pub pattern: String,
    /// Why.
    pub reason: String,
}

/// What a configuration and a command allow beforehand.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    approve: Approve,
    approved: GlobSet,
}

impl Rules {
    /// Rules by effect, with names of tools, or patterns of them such as `shop/*`, that need no leave.
    ///
    /// # Errors
    /// When a pattern cannot be read.
    pub fn new<'a>(approve: Approve, approved: impl IntoIterator<Item = &'a str>) -> Result<Rules, InvalidPattern> {
        let invalid = |pattern: &str, error: globset::Error| InvalidPattern {
            pattern: pattern.to_owned(),
            reason: error.kind().to_string(),
        };
        let mut set = GlobSetBuilder::new();
        for pattern in approved {
            set.add(Glob::new(pattern).map_err(|error| invalid(pattern, error))?);
        }
        let approved = set.build().map_err(|error| invalid("", error))?;
        Ok(Rules { approve, approved })
    }

    /// Whether a call of this tool waits for leave.
    pub fn asks(&self, tool: &str, effect: Effect) -> bool {
        let asks = match self.approve {
            Approve::Writes => effect != Effect::Reads,
            Approve::Destroys => effect == Effect::Destroys,
            Approve::Never => false,
        };
        asks && !self.approved.is_match(tool)
    }
}

/// What somebody says who is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Call it, with other arguments where some are given.
    Approve {
        /// The arguments in the place of the planned ones.
        arguments: Option<IndexMap<String, Value>>,
    },
    /// Call it, now and whenever this run calls the tool again.
    ApproveAlways,
    /// Of a call that may have arrived: it did, and is not made again.
    Done,
    /// Do not call it.
    Refuse {
        /// Why, as the end of a sentence.
        reason: String,
        /// What to do to have it called.
        hint: Option<String>,
    },
}

/// Somebody who can be asked for leave.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Asks about one call. It may take as long as a person takes.
    async fn ask(&self, run: &RunId, asked: &Approval) -> Decision;

    /// Whether there is anybody who could answer.
    fn is_there(&self, _run: &RunId) -> bool {
        true
    }

    /// What was asked about a task of a run is asked no more: somebody answered it elsewhere, or the task has ended.
    fn settled(&self, _run: &RunId, _task: TaskId) {}

    /// Where the run waits for the answer, see [`Approval::place`].
    fn place(&self, _run: &RunId, _task: TaskId) -> Option<Place> {
        None
    }
}

/// The most characters of an argument that a question shows.
const SHOWN: usize = 400;

/// The question about a call, in words: what would be called, with what, and where that came from.
pub fn question(asked: &Approval) -> String {
    if asked.tool == ASK_PERSON {
        let question = asked.arguments.get("question").map(text_of).unwrap_or_default();
        let question = jarvis_net::text::cut(&question, SHOWN, "…");
        return format!("The planner, a model, asks: {question}\n");
    }
    let does = match asked.effect {
        Effect::Reads => "reads something",
        Effect::Writes => "changes something",
        Effect::Destroys => "removes something",
    };
    let (number, tool) = (asked.task.number(), &asked.tool);
    let mut text = match asked.unknown {
        false => format!("Task {number} calls `{tool}`, which {does}:\n"),
        true => format!(
            "Task {number} called `{tool}`, which {does}, and the run was cut off before an answer came. It may have been done:\n"
        ),
    };
    for (name, value) in &asked.arguments {
        let from = asked.sources.get(name).map_or("the plan", String::as_str);
        let calls = value.as_array().filter(|_| asked.each);
        let Some(calls) = calls else {
            text.push_str(&format!("  {}: {}  (from {from})\n", named(name), shown(value)));
            continue;
        };
        text.push_str(&format!("  {} calls, one for each element of a list (from {from})\n", calls.len()));
        for (at, call) in calls.iter().enumerate() {
            text.push_str(&format!("  {}. {}\n", at + 1, shown(call)));
        }
    }
    text
}

/// A name as it is, or quoted where it could pass for another line of the question.
fn named(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || "_-.<>[] ".contains(c));
    if is_plain { name.to_owned() } else { Value::from(name).to_string() }
}

/// A value as JSON; where it is cut, with how much more there is.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.chars().count().checked_sub(SHOWN).filter(|more| *more > 0) {
        Some(more) => jarvis_net::text::cut(&text, SHOWN, &format!("… and {more} characters more")),
        None => text,
    }
}

/// What stands in the place of a tool where a planner asks the person something: its only argument is the `question`, and the
/// arguments of the [`Decision`] are the `answer`.
pub const ASK_PERSON: &str = "ask_person";

/// The question of a planner, in the name of the task that would come next.
pub fn question_of(next: TaskId, question: &str, place: Option<Place>) -> Approval {
    Approval {
        task: next,
        tool: ASK_PERSON.to_owned(),
        effect: Effect::Reads,
        arguments: IndexMap::from([("question".to_owned(), Value::from(question))]),
        each: false,
        unknown: false,
        sources: IndexMap::new(),
        place,
    }
}

/// Asks the person what a planner wants to know, in the name of the task that would come next. `None` where nobody answers.
pub async fn ask_person(approver: &dyn Approver, events: &Events, next: TaskId, question: &str) -> Option<String> {
    let run = events.run_id();
    let asked = question_of(next, question, approver.place(run, next));
    events.emit(EventKind::ApprovalNeeded { approval: asked.clone() });
    if let Some(before) = events.take_leave(next, ASK_PERSON, false) {
        return before.answer;
    }
    // Nobody is asked what could not be asked again; the run ends at its next step.
    events.written().await.ok()?;
    let held = events.hold();
    let answer = match approver.ask(run, &asked).await {
        Decision::Approve { arguments } => {
            let answer = arguments.as_ref().and_then(|arguments| arguments.get("answer"));
            answer.map(|answer| text_of(answer).trim().to_owned()).filter(|answer| !answer.is_empty())
        }
        Decision::ApproveAlways | Decision::Done | Decision::Refuse { .. } => None,
    };
    drop(held);
    let given = EventKind::ApprovalGiven {
        id: next,
        tool: asked.tool,
        approved: answer.is_some(),
        answer: answer.clone(),
        arguments: None,
        always: false,
        done: false,
    };
    events.emit(given);
    events.written().await.ok()?;
    answer
}

/// Where nobody can be asked.
#[derive(Debug, Clone)]
pub struct Nobody {
    /// How calls are allowed beforehand; `{}` stands for the tool's name.
    pub hint: String,
}

#[async_trait]
impl Approver for Nobody {
    async fn ask(&self, _: &RunId, asked: &Approval) -> Decision {
        let hint = Some(self.hint.replace("{}", &asked.tool));
        Decision::Refuse { reason: "nobody can be asked here".to_owned(), hint }
    }

    fn is_there(&self, _: &RunId) -> bool {
        false
    }
}

/// Holds back the calls of tools that change something until the rules or somebody allow them.
pub struct Gatekeeper {
    tools: Arc<Registry>,
    /// The strongest effect of the tools that serve a task type.
    serving: HashMap<String, Effect>,
    rules: Rules,
    approver: Arc<dyn Approver>,
    always: Mutex<HashSet<(RunId, String)>>,
}

impl std::fmt::Debug for Gatekeeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gatekeeper").field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl Gatekeeper {
    /// A gate for these tools. `serving` names tools that serve task types, as pairs of task type and tool.
    pub fn new<'a>(
        tools: Arc<Registry>,
        serving: impl IntoIterator<Item = (&'a str, &'a str)>,
        rules: Rules,
        approver: Arc<dyn Approver>,
    ) -> Gatekeeper {
        let mut strongest: HashMap<String, Effect> = HashMap::new();
        for (task, tool) in serving {
            let effect = tools.spec(tool).map_or(Effect::Reads, |spec| spec.effect);
            let known = strongest.entry(task.to_owned()).or_default();
            *known = effect.max(*known);
        }
        Gatekeeper { tools, serving: strongest, rules, approver, always: Mutex::default() }
    }

    fn always(&self) -> std::sync::MutexGuard<'_, HashSet<(RunId, String)>> {
        self.always.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks about a call, unless that was answered before its run was cut off. Question and answer are kept before anything
    /// follows from them.
    async fn ask(&self, job: &Job, effect: Effect, unknown: bool) -> Result<Decision, TaskError> {
        let (tool, run) = (&job.candidate.id, job.events.run_id());
        let asked = Approval {
            task: job.task.id,
            tool: tool.clone(),
            effect,
            arguments: job.args.clone(),
            each: job.task.each().is_some(),
            unknown,
            sources: sources(&job.task, &job.args, &job.request),
            place: self.approver.place(run, job.task.id),
        };
        job.events.emit(EventKind::ApprovalNeeded { approval: asked.clone() });
        if let Some(before) = job.events.take_leave(asked.task, tool, unknown) {
            let reason = "it was refused".to_owned();
            return Ok(match before {
                Leave { approved: false, .. } => Decision::Refuse { reason, hint: None },
                Leave { done: true, .. } => Decision::Done,
                Leave { always: true, .. } => Decision::ApproveAlways,
                Leave { arguments, .. } => Decision::Approve { arguments },
            });
        }
        let not_recorded = |why: NotWritten| {
            let message = format!("`{tool}` was not called: that it was allowed could not be recorded ({why})");
            TaskError::new(ErrorCode::Internal, message)
        };
        job.events.written().await.map_err(not_recorded)?;
        if unknown && !self.approver.is_there(run) {
            // Nobody has decided anything: the run waits for somebody who can.
            let why = format!(
                "task {} called `{tool}` before the run was cut off, which may have been done, and nobody can be asked here",
                asked.task.number()
            );
            job.events.stop(NotWritten::Unknown(why.clone()));
            return Err(TaskError::new(ErrorCode::NotApproved, why));
        }
        let decision = self.approver.ask(run, &asked).await;
        let arguments = match &decision {
            Decision::Approve { arguments } => arguments.clone(),
            Decision::ApproveAlways | Decision::Done | Decision::Refuse { .. } => None,
        };
        job.events.emit(EventKind::ApprovalGiven {
            id: asked.task,
            tool: tool.clone(),
            approved: !matches!(decision, Decision::Refuse { .. }),
            answer: None,
            arguments,
            always: decision == Decision::ApproveAlways,
            done: decision == Decision::Done,
        });
        job.events.written().await.map_err(not_recorded)?;
        Ok(decision)
    }

    /// What calling the tool of a job does.
    fn effect_of(&self, job: &Job) -> Effect {
        let tool = &job.candidate.id;
        let is_tool = job.candidate.host == Host::Tool.as_str() || self.tools.spec(&job.task.task).is_some();
        self.tools.spec(tool).filter(|_| is_tool).map_or(Effect::Reads, |spec| spec.effect)
    }

    /// The call goes on with these arguments, or why it does not.
    fn decided(&self, job: &Job, effect: Effect, decision: Decision) -> Result<IndexMap<String, Value>, TaskError> {
        let tool = &job.candidate.id;
        match decision {
            Decision::Approve { arguments } => Ok(arguments.unwrap_or_else(|| job.args.clone())),
            Decision::ApproveAlways => {
                self.always().insert((job.events.run_id().clone(), tool.clone()));
                Ok(job.args.clone())
            }
            // Of a call that was not begun nobody can say so.
            Decision::Done => Err(TaskError::new(ErrorCode::NotApproved, format!("`{tool}` was not called"))),
            Decision::Refuse { reason, hint } => {
                let verb = if effect == Effect::Destroys { "removes something" } else { "changes something" };
                let message = format!("`{tool}` {verb}, and was not called: {reason}");
                Err(TaskError { code: ErrorCode::NotApproved, message, hint })
            }
        }
    }
}

#[async_trait]
impl Gate for Gatekeeper {
    fn effect(&self, task: &Task) -> Effect {
        let own = self.tools.spec(&task.task).map_or(Effect::Reads, |spec| spec.effect);
        // Without its text a task may be performed as another, and by what serves that one.
        let other = jarvis_catalogue::find(&task.task).and_then(|kind| kind.without_text);
        let serving = |name: &str| self.serving.get(name).copied().unwrap_or_default();
        own.max(serving(&task.task)).max(other.map(serving).unwrap_or_default())
    }

    async fn admit(&self, job: &Job) -> Result<IndexMap<String, Value>, TaskError> {
        let (tool, effect) = (&job.candidate.id, self.effect_of(job));
        let always = || self.always().contains(&(job.events.run_id().clone(), tool.clone()));
        if !self.rules.asks(tool, effect) || always() {
            return Ok(job.args.clone());
        }
        let decision = self.ask(job, effect, false).await?;
        self.decided(job, effect, decision)
    }

    /// A tool that knows the key of a call makes it once, however often it is asked. For any other somebody says what became of it,
    /// whatever the rules allow.
    async fn admit_again(&self, job: &Job) -> Result<Again, TaskError> {
        let (tool, effect) = (&job.candidate.id, self.effect_of(job));
        // It was called with what was allowed then.
        let before = job.events.take_leave(job.task.id, tool, false);
        let args = before.and_then(|leave| leave.arguments).unwrap_or_else(|| job.args.clone());
        // A run that takes over what another did has keys of its own.
        let is_known = self.tools.takes_key(tool) && !job.events.takes_over();
        if effect == Effect::Reads || is_known {
            return Ok(Again::Make(args));
        }
        let job = Job { args, ..job.clone() };
        match self.ask(&job, effect, true).await? {
            Decision::Done => Ok(Again::Made(Value::from(MADE_BEFORE))),
            Decision::Refuse { reason, hint } => {
                let message =
                    format!("`{tool}` was called before the run was cut off, and is not called again: {reason}");
                Err(TaskError { code: ErrorCode::NotApproved, message, hint })
            }
            decision => self.decided(&job, effect, decision).map(Again::Make),
        }
    }
}

/// The output of a call of which somebody said that it was made.
const MADE_BEFORE: &str = "done, as somebody said who looked; what it answered is not known";

/// Where each argument came from, in words.
fn sources(task: &Task, args: &IndexMap<String, Value>, request: &Request) -> IndexMap<String, String> {
    let said = request.text.to_lowercase();
    let source = |name: &String, value: &Value| {
        let planned = task.args.get(name).and_then(|arg| Arg::references(arg).next());
        // The calls for the elements of a list are asked about together.
        let listed = || task.each().filter(|_| name == EACH).map(|(of, _)| of);
        if let Some(of) = planned.or_else(listed) {
            return format!("task {}", of.number());
        }
        let text = text_of(value);
        let text = text.trim();
        if request.attachments.iter().any(|one| one.as_arg() == text || one.name.as_deref() == Some(text)) {
            "attached file".to_owned()
        } else if stands_in(&text.to_lowercase(), &said) {
            "the request".to_owned()
        } else {
            "the plan".to_owned()
        }
    };
    args.iter().map(|(name, value)| (name.clone(), source(name, value))).collect()
}

/// Whether a value stands in a text as words of its own, and not as a part of others.
fn stands_in(value: &str, text: &str) -> bool {
    let continues = |one: Option<char>, other: Option<char>| matches!((one, other), (Some(one), Some(other)) if [one, other].iter().all(|c| c.is_alphanumeric() && !is_han(*c)));
    !value.is_empty()
        && text.match_indices(value).any(|(at, found)| {
            let (before, after) =
                (text.get(..at).unwrap_or_default(), text.get(at + found.len()..).unwrap_or_default());
            !continues(before.chars().next_back(), value.chars().next())
                && !continues(value.chars().next_back(), after.chars().next())
        })
}

#[cfg(test)]
mod tests;
