//! A selector and a worker that do as they are told, and plans for them.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jarvis_plan::{Arg, Event, Request, RunId};
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::sleep;

use super::super::*;
use crate::{Events, Job, Selector, Tell, Worker};

/// What one try does, after a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Give,
    Fail(ErrorCode),
    Panic,
    Hang,
}

/// What the cast does with one task. Candidate k of a task plays `tries[k]`.
#[derive(Debug, Clone)]
pub(super) struct Role {
    pub(super) choice: Act,
    pub(super) choice_ms: u64,
    /// Whom the choice names as probable before it is made.
    pub(super) guess: Option<usize>,
    pub(super) tries: Vec<(Act, u64)>,
}

impl Role {
    pub(super) fn giving() -> Role {
        Role { choice: Act::Give, choice_ms: 0, guess: None, tries: vec![(Act::Give, 0)] }
    }

    pub(super) fn trying(acts: &[Act]) -> Role {
        Role { tries: acts.iter().map(|act| (*act, 1)).collect(), ..Role::giving() }
    }

    pub(super) fn choosing(choice: Act) -> Role {
        Role { choice, ..Role::giving() }
    }
}

/// A selector and a worker that play roles and write down what they saw.
#[derive(Debug, Default)]
pub(super) struct Cast {
    pub(super) roles: Vec<Role>,
    pub(super) seen: Mutex<Seen>,
    pub(super) busy: AtomicUsize,
    pub(super) busiest: AtomicUsize,
}

#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) finished: HashSet<TaskId>,
    pub(super) tries: Vec<(TaskId, String)>,
    pub(super) args: Vec<(TaskId, String)>,
    pub(super) complaints: Vec<String>,
}

impl Cast {
    pub(super) fn new(roles: Vec<Role>) -> Arc<Cast> {
        Arc::new(Cast { roles, ..Cast::default() })
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn act(act: Act, ms: u64, who: &str) -> Result<(), TaskError> {
        sleep(Duration::from_millis(ms)).await;
        match act {
            Act::Give => Ok(()),
            Act::Fail(code) => Err(TaskError::new(code, format!("{who} says {code}"))),
            Act::Panic => panic!("{who} gave up"),
            Act::Hang => std::future::pending().await,
        }
    }
}

struct Busy<'a>(&'a AtomicUsize);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn candidate(name: String) -> Candidate {
    Candidate { id: name, host: "native".to_owned(), effective_task: "paint".to_owned() }
}

#[async_trait]
impl Selector for Cast {
    async fn select(&self, task: &Task, _: &Events, guess: Tell<'_>) -> Result<Selection, TaskError> {
        let role = &self.roles[task.id.index()];
        if let Some(at) = role.guess {
            guess(candidate(format!("model-{}", at % role.tries.len())));
        }
        Cast::act(role.choice, role.choice_ms, "the selector").await?;
        let mut names = (0..role.tries.len()).map(|at| candidate(format!("model-{at}")));
        let chosen = names.next().unwrap();
        Ok(Selection { task: task.id, chosen, fallbacks: names.collect(), reason: "cast".to_owned(), notes: vec![] })
    }
}

#[async_trait]
impl Worker for Cast {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        let busy = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
        self.busiest.fetch_max(busy, Ordering::SeqCst);
        let _busy = Busy(&self.busy);
        let id = job.task.id;
        {
            let mut seen = self.seen();
            for dep in &job.task.dep {
                if !seen.finished.contains(dep) {
                    seen.complaints.push(format!("task {id} started before {dep} had finished"));
                }
            }
            seen.tries.push((id, job.candidate.id.clone()));
            seen.args.extend(job.texts().into_values().map(|value| (id, value)));
        }
        let at: usize = job.candidate.id.strip_prefix("model-").unwrap().parse().unwrap();
        let (act, ms) = self.roles[id.index()].tries[at];
        Cast::act(act, ms, "the worker").await?;
        Ok(format!("/images/{id}.png").into())
    }
}

pub(super) fn task(id: u32, dep: &[u32], args: &[(&str, Arg)]) -> Task {
    Task {
        task: "paint".to_owned(),
        id: TaskId(id),
        dep: dep.iter().map(|dep| TaskId(*dep)).collect(),
        args: args.iter().map(|(name, arg)| ((*name).to_owned(), arg.clone())).collect(),
        unfolded_from: None,
        faults: Vec::new(),
    }
}

/// A task that takes pictures of other tasks.
pub(super) fn paint(id: u32, from: &[u32]) -> Task {
    let args: Vec<(String, Arg)> =
        from.iter().map(|from| (format!("picture{from}"), Arg::output(TaskId(*from)))).collect();
    let args: Vec<(&str, Arg)> = args.iter().map(|(name, arg)| (name.as_str(), arg.clone())).collect();
    task(id, from, &args)
}

pub(super) fn engine(cast: &Arc<Cast>, limits: Limits) -> (Engine, UnboundedReceiver<Event>) {
    let (events, receiver) = Events::channel(RunId("run".to_owned()));
    let request = Arc::new(Request::new("paint"));
    (Engine::shared(cast.clone()).selector(cast.clone()).request(request).events(events).limits(limits), receiver)
}

/// Runs tasks that no check has seen.
pub(super) async fn run(tasks: Vec<Task>, engine: Engine, finished: impl FnMut(&Outcome) + Send) -> Vec<Outcome> {
    run_from(tasks, engine, Vec::new(), finished).await
}

/// The same where some have ended before.
pub(super) async fn run_from(
    tasks: Vec<Task>,
    engine: Engine,
    ended: Vec<Outcome>,
    finished: impl FnMut(&Outcome) + Send,
) -> Vec<Outcome> {
    let (sender, batches) = unbounded_channel();
    sender.send(Batch { tasks, anew: true, whole: true }).unwrap();
    drop(sender);
    drive(batches, engine, ended, Box::new(finished)).await
}

pub(super) fn drain(mut receiver: UnboundedReceiver<Event>) -> Vec<Event> {
    std::iter::from_fn(|| receiver.try_recv().ok()).collect()
}

/// Runs tasks as one plan and tells each outcome in a line.
pub(super) async fn play(tasks: Vec<Task>, roles: Vec<Role>, limits: Limits) -> (String, String) {
    let cast = Cast::new(roles);
    let (engine, receiver) = engine(&cast, limits);
    let told = Arc::clone(&cast);
    let outcomes = run(tasks, engine, move |outcome| {
        told.seen().finished.insert(outcome.id);
    })
    .await;
    assert_eq!(cast.seen().complaints, Vec::<String>::new());
    let lines: Vec<String> = outcomes.iter().map(line).collect();
    (lines.join("\n"), drain(receiver).iter().map(event_line).collect::<Vec<_>>().join("\n"))
}

pub(super) fn line(outcome: &Outcome) -> String {
    let tries: Vec<String> = outcome
        .attempts
        .iter()
        .map(|attempt| {
            let how = attempt.error.as_ref().map_or("ok", |error| error.code.as_str());
            format!("{}:{how}", attempt.candidate.id)
        })
        .collect();
    let error = outcome.error.as_ref().map_or(String::new(), |error| format!(" {}: {}", error.code, error.message));
    format!("{} {:?} [{}]{error}", outcome.id, outcome.status, tries.join(" "))
}

pub(super) fn event_line(event: &Event) -> String {
    match &event.kind {
        EventKind::ModelChosen { selection, .. } => format!("chosen {}", selection.task),
        EventKind::TaskStarted { id, model, .. } => format!("started {id} {model}"),
        EventKind::TaskAttempt { id, attempt } => format!("attempt {id} {}", attempt.candidate.id),
        EventKind::TaskFinished { outcome } => format!("finished {} {:?}", outcome.id, outcome.status),
        EventKind::Note { message, .. } => format!("note {message}"),
        other => other.name().to_owned(),
    }
}

pub(super) const QUICK: Limits = Limits {
    concurrency: 8,
    task_timeout: Duration::from_secs(10),
    run_timeout: Duration::from_secs(100),
    max_fallbacks: 2,
};
