//! Runs that another process left, gone on with from what the journal has of them: at the start of the server, and whenever a
//! process that shares the journal dies.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use jarvis_engine::{Events, Past};
use jarvis_events::{Began, DAY_MS, SERVER};
use jarvis_hugginggpt::GoingOn;
use jarvis_plan::{RunId, TaskId};
use jarvis_react::Asked;
use jarvis_store::{Claim, Journal, JournalError, RunStatus, RunSummary};
use tokio_util::sync::CancellationToken;

use super::{Begin, Frame, Keep, Line, Log, Origin, Tally, Work, short};
use crate::a2a::push;
use crate::error::ApiError;
use crate::routes::runs::left_to;
use crate::state::Server;
use crate::users::Caller;

/// How often it is looked whether a process died that shares the journal, or somebody wants a run cancelled.
const LOOK: Duration = Duration::from_secs(2);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What a run needs to go on.
struct Left {
    summary: RunSummary,
    frames: Vec<Frame>,
    past: Past,
    work: Work<()>,
}

/// Why a run does not go on here.
#[derive(Debug)]
enum Stays {
    /// Another process has it, or it has ended.
    Elsewhere,
    /// The journal does not answer now; it is tried again.
    Again(JournalError),
    /// What it needs is not here; it waits.
    Waits(String),
}

impl From<JournalError> for Stays {
    fn from(error: JournalError) -> Stays {
        Stays::Again(error)
    }
}

impl Server {
    /// Looks every now and then until `stop` is cancelled, see [`Server::look`].
    pub(crate) async fn look_after_runs(&self, stop: CancellationToken) {
        let mut prune = tokio::time::interval(DAY);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = prune.tick() => self.prune().await,
                () = tokio::time::sleep(LOOK) => self.look().await,
            }
        }
    }

    /// Goes on with what other processes left, and learns what their users took.
    pub(crate) async fn look(&self) {
        let Some(journal) = &self.parts.journal else { return };
        if self.users.are_bounded() {
            let day = super::now_ms() / DAY_MS;
            match self.read_journal(move |journal| journal.spent_on(day)).await {
                Ok(used) => self.users.learn(day, &used),
                Err(_) => tracing::error!("what users took today cannot be read"),
            }
        }
        let read = Arc::clone(journal);
        let due = match tokio::task::spawn_blocking(move || read.due(SERVER)).await {
            Ok(Ok(due)) => due,
            Ok(Err(error)) => return tracing::error!(%error, "it cannot be read which runs were left"),
            Err(error) => return tracing::error!(%error, "it cannot be read which runs were left"),
        };
        for run in due.to_cancel {
            if let Some(live) = self.runs.get(&run.0) {
                live.cancel.cancel();
            }
        }
        if !self.options.resume {
            return;
        }
        // As many at a time as may run at once; the next look takes the next.
        let left = due.left.into_iter().filter(|run| !self.runs.waits_for_more(run));
        for run in left.take(self.options.max_running.max(1)) {
            match self.go_on(journal, &run).await {
                Ok(()) => {
                    tracing::info!(%run, "a run goes on");
                    if let Some(live) = self.runs.get(&run.0) {
                        push::again(self, &live).await;
                    }
                }
                Err(Stays::Elsewhere) => {}
                Err(Stays::Again(error)) => tracing::warn!(%run, %error, "a run cannot go on yet"),
                Err(Stays::Waits(reason)) => {
                    tracing::warn!(%run, reason, "a run cannot go on here, and waits");
                    self.runs.leave(run);
                }
            }
        }
    }

    /// Goes on with a run that was cut off, because somebody asks for it.
    pub(crate) async fn resume(&self, id: &str) -> Result<(), ApiError> {
        let Some(journal) = self.parts.journal.clone() else {
            return Err(ApiError::not_found("this server keeps no journal to go on from"));
        };
        let run = RunId(id.to_owned());
        let conflict = |code, message: String| ApiError::new(StatusCode::CONFLICT, code, message);
        match self.go_on(&journal, &run).await {
            Ok(()) => Ok(()),
            Err(Stays::Elsewhere) => {
                Err(conflict("not_cut_off", "the run was not cut off: it goes on, or has ended".into()))
            }
            Err(Stays::Again(error)) => Err(error.into()),
            Err(Stays::Waits(reason)) => Err(conflict("cannot_resume", format!("the run cannot go on: {reason}"))),
        }
    }

    /// Cancels a run that another process has, or that nobody has: false where it has ended.
    pub(crate) async fn cancel_elsewhere(&self, journal: &Journal, run: &RunId) -> Result<bool, ApiError> {
        match journal.ask_to_cancel(run).await? {
            Claim::Held => Ok(true),
            Claim::Ended | Claim::Unknown => Ok(false),
            Claim::Ours => Ok(journal.end_cancelled(run).await?),
        }
    }

    /// Goes on with a run once it is this process's; where that cannot be, it is left to others again.
    async fn go_on(&self, journal: &Arc<Journal>, run: &RunId) -> Result<(), Stays> {
        match journal.claim(run).await? {
            Claim::Ours => {}
            Claim::Held | Claim::Ended | Claim::Unknown => return Err(Stays::Elsewhere),
        }
        let begun = match self.left(journal, run).await {
            Ok(left) => self.begin_again(left),
            Err(stays) => Err(stays),
        };
        begun.inspect_err(|_| journal.abandon(run))
    }

    /// Reads what a run needs, and looks whether it is here.
    async fn left(&self, journal: &Arc<Journal>, run: &RunId) -> Result<Left, Stays> {
        let (read, id) = (Arc::clone(journal), run.0.clone());
        let read = tokio::task::spawn_blocking(move || read_whole(&read, &id)).await;
        let (summary, frames, past) = read.map_err(|error| Stays::Waits(error.to_string()))??;
        let began = past.began().ok_or_else(|| Stays::Waits("its beginning is not in the journal".to_owned()))?;
        let missing = self.pipeline_of_run(began).1.missing(&past);
        if !missing.is_empty() {
            return Err(Stays::Waits(missing.join("; ")));
        }
        let work = self.work(began).map_err(Stays::Waits)?;
        Ok(Left { summary, frames, past, work })
    }

    fn begin_again(&self, left: Left) -> Result<(), Stays> {
        let Left { summary, frames, past, work } = left;
        let run = summary.run_id.clone();
        self.runs.forget_left(&run);
        let begin = Begin {
            origin: Origin::default(),
            meter: self.setup().meter.clone(),
            asked: past.asked().cloned().collect(),
            account: self.users.account(&summary.user),
            line: Line::of(&summary.user, None),
            stream: Events::resumed(run.clone(), past),
            run_id: run,
            request: short(&summary.request),
            started_at_ms: summary.started_at_ms,
            keep: Keep::Answerable,
            log: Log::of(frames),
            tally: Tally { tasks: summary.tasks, ok: summary.ok, failed: summary.failed, ended: None },
            goes_on: true,
        };
        self.runs.begin(begin, work).map(drop).map_err(|_| Stays::Waits("the server stops".to_owned()))
    }

    /// What a run takes over that brings the results of calls which another run of the caller's handed back. Where that one is no
    /// longer known, or cannot be taken over, it is planned anew, and the results are found by what was called.
    pub(crate) async fn handed_back(&self, caller: &Caller, run: &RunId) -> Option<Past> {
        let (journal, id) = (self.parts.journal.clone()?, run.0.clone());
        let record = tokio::task::spawn_blocking(move || journal.run(&id)).await.ok()?.ok()?;
        let is_over = record.summary.status == RunStatus::Done && caller.reaches(&record.summary.user);
        if !is_over || record.engine().is_some() {
            return None;
        }
        let past = Past::of(&record.whole_events()).ok()?;
        let is_ours =
            past.began().is_some_and(|began| began.pipeline == jarvis_hugginggpt::NAME && began.given.is_none());
        if !is_ours || !self.setup().meter.missing(&past).is_empty() {
            return None;
        }
        past.for_retry(run.clone(), None).ok()
    }

    /// Tries a run anew as another one, which takes over what was done before a task, or before those that did not succeed.
    /// Returns the new run's id.
    pub(crate) async fn retry(&self, caller: &Caller, id: &str, from: Option<TaskId>) -> Result<RunId, ApiError> {
        let Some(journal) = self.parts.journal.clone() else {
            return Err(ApiError::not_found("this server keeps no journal to take steps over from"));
        };
        let id = id.to_owned();
        let record = tokio::task::spawn_blocking(move || journal.run(&id)).await;
        let record = record.map_err(|error| ApiError::internal("the run journal cannot be read", &error))??;
        let user = record.summary.user.clone();
        let conflict = |message: String| ApiError::new(StatusCode::CONFLICT, "cannot_retry", message);
        let (old, request) = (record.summary.run_id.clone(), short(&record.summary.request));
        let has_ended =
            record.summary.resumable || !matches!(record.summary.status, RunStatus::Running | RunStatus::Waiting);
        if !has_ended || self.runs.get(&old.0).is_some() {
            return Err(conflict("the run still goes on".to_owned()));
        }
        if let Some(engine) = record.engine().filter(|_| record.summary.resumable) {
            return Err(left_to(engine));
        }
        let past = Past::of(&record.whole_events()).map_err(|error| conflict(error.to_string()))?;
        let past = past.for_retry(old, from).map_err(|error| conflict(error.to_string()))?;
        let began = past.began().ok_or_else(|| conflict("its beginning is not in the journal".to_owned()))?;
        let work = self.work(began).map_err(conflict)?;
        let run_id = RunId(uuid::Uuid::now_v7().to_string());
        let begin = Begin {
            origin: Origin::of(caller),
            meter: self.setup().meter.clone(),
            stream: Events::resumed(run_id.clone(), past),
            account: self.users.account(&user),
            line: Line::of(&user, None),
            run_id: run_id.clone(),
            request,
            started_at_ms: super::now_ms(),
            keep: Keep::Answerable,
            log: Log::new(),
            tally: Tally::default(),
            asked: Vec::new(),
            goes_on: false,
        };
        self.runs.begin(begin, work)?;
        Ok(run_id)
    }

    /// What a run that began so does.
    fn work(&self, began: &Began) -> Result<Work<()>, String> {
        if let Some(asked) = Asked::of(began).filter(|_| began.pipeline == jarvis_react::NAME) {
            let agent = Arc::clone(&self.setup().agent);
            return Ok(Box::new(move |events: Events, cancel: CancellationToken| {
                // How it ended is told by its events; nobody waits for more.
                Box::pin(async move { drop(agent.ask(&asked, &events, cancel).await) })
            }));
        }
        let (hugginggpt, pipeline) = (self.pipeline_of_run(began).0, &began.pipeline);
        let going = hugginggpt.going_on(began).map_err(|error| error.to_string())?;
        let named = self.pipeline(pipeline);
        let named =
            named.ok_or_else(|| format!("it is a run of `{pipeline}`, which this server does not carry out"))?;
        let made = (named.make)(&hugginggpt)?;
        let (context, chat) = (Arc::clone(&self.setup().context), hugginggpt.chat.clone());
        Ok(Box::new(move |events: Events, cancel: CancellationToken| {
            Box::pin(async move {
                let ended = match going {
                    GoingOn::Request(request) => made.run(Arc::new(*request), &context(chat, &events, cancel)).await,
                    GoingOn::Plan(request, plan) => {
                        hugginggpt.run_plan(Arc::new(*request), &plan, &events, cancel).await
                    }
                };
                drop(ended);
            })
        }))
    }
}

/// Reads a run: its summary, its events for whoever follows, and its record, with what it took over of another run. Blocks.
fn read_whole(journal: &Journal, id: &str) -> Result<(RunSummary, Vec<Frame>, Past), Stays> {
    let record = journal.run(id)?;
    let summary = record.summary.clone();
    let frames = record.events.iter().filter_map(Frame::recorded).collect();
    let unreadable = |error: jarvis_events::Unreadable| Stays::Waits(error.to_string());
    let mut past = Past::of(&record.whole_events()).map_err(unreadable)?;
    if let Some((other, from)) = past.took_over().cloned() {
        let base = Past::of(&journal.run(&other.0)?.whole_events()).map_err(unreadable)?;
        // What it could not take over then it cannot now.
        if let Ok(base) = base.for_retry(other, from) {
            past = past.over(base);
        }
    }
    Ok((summary, frames, past))
}
