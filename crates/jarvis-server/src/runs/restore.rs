//! Runs that another process left, gone on with from what the journal has of them: at the start of the server, and whenever a
//! process that shares the journal dies.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use jarvis_engine::{Events, Past};
use jarvis_events::SERVER;
use jarvis_hugginggpt::GoingOn;
use jarvis_plan::{RunId, TaskId};
use jarvis_store::{Claim, Journal, JournalError, Prune, RunRecord};
use tokio_util::sync::CancellationToken;

use super::{Begin, Frame, Keep, Log, Tally, Work, short};
use crate::error::ApiError;
use crate::state::Server;

/// How often it is looked whether a process died that shares the journal, or somebody wants a run cancelled.
const LOOK: Duration = Duration::from_secs(2);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What a run needs to go on.
struct Left {
    record: RunRecord,
    past: Past,
    work: GoingOn,
    pipeline: String,
}

/// Why a run does not go on here.
#[derive(Debug)]
enum Stays {
    /// Another process has it, or it has ended.
    Elsewhere,
    /// What it needs is not here; it waits.
    Waits(String),
}

impl From<JournalError> for Stays {
    fn from(error: JournalError) -> Stays {
        Stays::Waits(format!("the journal cannot be read: {error}"))
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

    /// Removes the runs that have been kept for long enough.
    async fn prune(&self) {
        let (Some(journal), keep, most_bytes) = (&self.parts.journal, self.options.keep, self.options.keep_bytes)
        else {
            return;
        };
        if keep.is_none() && most_bytes.is_none() {
            return;
        }
        let before_ms =
            keep.map(|keep| super::now_ms().saturating_sub(u64::try_from(keep.as_millis()).unwrap_or(u64::MAX)));
        let prune = Prune { before_ms, most_bytes, dry: false };
        match journal.prune(prune, Arc::clone(&self.parts.media)).await {
            Ok(pruned) if pruned.runs == 0 => {}
            Ok(pruned) => tracing::info!(runs = pruned.runs, files = pruned.media.len(), "old runs were removed"),
            Err(error) => tracing::error!(%error, "old runs could not be removed"),
        }
    }

    /// Goes on with what other processes left.
    pub(crate) async fn look(&self) {
        let Some(journal) = &self.parts.journal else { return };
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
        for run in due.left {
            // What waits for something that is missing is not tried again and again.
            if self.runs.waits_for_more(&run) {
                continue;
            }
            match self.go_on(journal, &run).await {
                Ok(()) => tracing::info!(%run, "a run goes on"),
                Err(Stays::Elsewhere) => {}
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
            Err(Stays::Waits(reason)) => Err(conflict("cannot_resume", format!("the run cannot go on: {reason}"))),
        }
    }

    async fn go_on(&self, journal: &Arc<Journal>, run: &RunId) -> Result<(), Stays> {
        let left = self.left(journal, run).await?;
        match journal.claim(run).await? {
            Claim::Ours => {}
            Claim::Held | Claim::Ended | Claim::Unknown => return Err(Stays::Elsewhere),
        }
        self.begin_again(left)
    }

    /// Reads what a run needs, and looks whether it is here.
    async fn left(&self, journal: &Arc<Journal>, run: &RunId) -> Result<Left, Stays> {
        let (read, id) = (Arc::clone(journal), run.0.clone());
        let record = tokio::task::spawn_blocking(move || read.run(&id)).await;
        let record = record.map_err(|error| Stays::Waits(error.to_string()))??;
        if !record.summary.resumable {
            return Err(Stays::Elsewhere);
        }
        let past = Past::of(&record.clone().whole_events()).map_err(|error| Stays::Waits(error.to_string()))?;
        let began = past.began().ok_or_else(|| Stays::Waits("its beginning is not in the journal".to_owned()))?;
        let missing = self.parts.meter.missing(&began.settings);
        if !missing.is_empty() {
            return Err(Stays::Waits(missing.join("; ")));
        }
        let pipeline = began.pipeline.clone();
        let work = self.parts.pipeline.going_on(began).map_err(|error| Stays::Waits(error.to_string()))?;
        Ok(Left { record, past, work, pipeline })
    }

    fn begin_again(&self, left: Left) -> Result<(), Stays> {
        let Left { record, past, work, pipeline } = left;
        let run = record.summary.run_id.clone();
        let work = self.work(&pipeline, work).map_err(Stays::Waits)?;
        let asked = past.asked().cloned().collect();
        let begin = Begin {
            asked,
            stream: Events::resumed(run.clone(), past),
            run_id: run,
            request: short(&record.summary.request),
            started_at_ms: record.summary.started_at_ms,
            keep: Keep::Answerable,
            log: Log::of(record.events.iter().filter_map(Frame::recorded).collect()),
            tally: Tally {
                tasks: record.summary.tasks,
                ok: record.summary.ok,
                failed: record.summary.failed,
                ended: None,
            },
            goes_on: true,
        };
        self.runs.begin(begin, work).map(drop).map_err(|_| Stays::Waits("the server stops".to_owned()))
    }

    /// Tries a run anew as another one, which takes over what was done before a task, or before those that did not succeed.
    /// Returns the new run's id.
    pub(crate) async fn retry(&self, id: &str, from: Option<TaskId>) -> Result<RunId, ApiError> {
        let Some(journal) = self.parts.journal.clone() else {
            return Err(ApiError::not_found("this server keeps no journal to take steps over from"));
        };
        let id = id.to_owned();
        let record = tokio::task::spawn_blocking(move || journal.run(&id)).await;
        let record = record.map_err(|error| ApiError::internal("the run journal cannot be read", &error))??;
        let conflict = |message: String| ApiError::new(StatusCode::CONFLICT, "cannot_retry", message);
        let (old, request) = (record.summary.run_id.clone(), short(&record.summary.request));
        if self.runs.get(&old.0).is_some() {
            return Err(conflict("the run still goes on".to_owned()));
        }
        let past = Past::of(&record.whole_events()).map_err(|error| conflict(error.to_string()))?;
        let past = past.for_retry(old, from).map_err(|error| conflict(error.to_string()))?;
        let began = past.began().ok_or_else(|| conflict("its beginning is not in the journal".to_owned()))?;
        let pipeline = began.pipeline.clone();
        let going = self.parts.pipeline.going_on(began).map_err(|error| conflict(error.to_string()))?;
        let work = self.work(&pipeline, going).map_err(conflict)?;
        let run_id = RunId(uuid::Uuid::now_v7().to_string());
        let begin = Begin {
            stream: Events::resumed(run_id.clone(), past),
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

    /// What a run of a pipeline does.
    fn work(&self, pipeline: &str, going: GoingOn) -> Result<Work<()>, String> {
        let hugginggpt = Arc::clone(&self.parts.pipeline);
        let named = self.pipeline(pipeline);
        let named =
            named.ok_or_else(|| format!("it is a run of `{pipeline}`, which this server does not carry out"))?;
        let made = (named.make)(&hugginggpt)?;
        let (context, chat) = (Arc::clone(&self.parts.context), hugginggpt.chat.clone());
        Ok(Box::new(move |events: Events, cancel: CancellationToken| {
            Box::pin(async move {
                // How it ended is told by its events; nobody waits for more.
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
