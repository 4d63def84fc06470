//! Requests of callers as runs: started, waited for, streamed, and written down as replies.

use std::path::PathBuf;
use std::sync::Arc;

use axum::response::Response;
use jarvis_engine::Past;
use jarvis_events::MODEL;
use jarvis_hugginggpt::{About, HuggingGpt, Run, RunDocument, RunError};
use jarvis_plan::{Request, Source, Usage};
use jarvis_store::named;

use crate::error::ApiError;
use crate::runs::{CancelOnDrop, Ended, Keep, Place, Started};
use crate::sse;
use crate::state::{Current, Server};
use crate::users::Caller;
use crate::wire::ask::Ask;
use crate::wire::reply::{AnswerReply, Answered, StartedReply, WaitingReply};

/// A request, and the configured pipeline for it: the server's, or that of a caller with a model of their own.
pub(crate) struct RunRequest {
    pub(crate) pipeline: Arc<HuggingGpt>,
    /// Which chat model it plans with.
    pub(crate) model: Model,
    pub(crate) request: Arc<Request>,
    /// What the server worked with when it came.
    pub(crate) setup: Arc<Current>,
    /// Who planned: `offline`, `llm`, or `plan` where the caller brought the plan.
    pub(crate) planner: &'static str,
}

/// Which chat model a request is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Model {
    Configured,
    /// One of the server's that the request names.
    Named(String),
    /// The caller's own.
    Callers,
}

pub(crate) type RunResult = Result<Run, RunError>;

impl RunRequest {
    pub(crate) fn of(server: &Server, ask: &Ask) -> Result<RunRequest, ApiError> {
        let setup = server.setup();
        let request = Arc::new(ask.request(&server.options, setup.unpriced.as_deref())?);
        let (pipeline, model) = pipeline_of(server, &setup, ask)?;
        Ok(RunRequest { planner: pipeline.planner_name(), pipeline, model, setup, request })
    }

    /// Starts the run of a pipeline of the table; of HuggingGPT unless another is named. `can_wait` says whether whoever asks
    /// can be asked for leave.
    pub(crate) fn start(
        &self,
        server: &Server,
        caller: &Caller,
        name: Option<&str>,
        can_wait: bool,
    ) -> Result<Started<RunResult>, ApiError> {
        self.start_after(None, server, caller, name, can_wait)
    }

    /// The same, taking over what another run did.
    pub(crate) fn start_after(
        &self,
        past: Option<Past>,
        server: &Server,
        caller: &Caller,
        name: Option<&str>,
        can_wait: bool,
    ) -> Result<Started<RunResult>, ApiError> {
        let name = name.unwrap_or(jarvis_hugginggpt::NAME);
        let keep = if can_wait { Keep::Answerable } else { Keep::Events };
        let model = self.model.clone();
        let named = server.pipelines_of(&self.setup).into_iter().find(|named| named.name == name).ok_or_else(|| {
            let names: Vec<&str> = server.pipelines().iter().map(|named| named.name).collect();
            ApiError::not_found("there is no such pipeline").hint(format!("the pipelines are: {}", names.join(", ")))
        })?;
        let pipeline = (named.make)(&self.pipeline);
        let pipeline = pipeline.map_err(|reason| ApiError::internal("the pipeline cannot be made", &reason))?;
        let request = Arc::clone(&self.request);
        let (context, chat) = (Arc::clone(&self.setup.context), self.pipeline.chat.clone());
        let meter = self.setup.meter.clone();
        let started = server.runs.start_measured(
            meter,
            past,
            caller,
            &self.request.text,
            keep,
            move |events, cancel| async move {
                match model {
                    Model::Configured => {}
                    Model::Named(model) => events.needs(MODEL, &model),
                    // Their key is not kept, so nobody else can go on with it.
                    Model::Callers => events.needs("chat endpoint", "the caller's own"),
                }
                pipeline.run(request, &context(chat, &events, cancel)).await
            },
        )?;
        started.live.speaks_of(files_of(&self.request));
        Ok(started)
    }

    /// Waits for the end of a run of this request and replies with its answer; or until it waits for leave, and replies with
    /// what it waits for. Where it is detached, replies at once with where it is followed.
    pub(crate) async fn respond(
        &self,
        server: &Server,
        started: Started<RunResult>,
        detached: bool,
    ) -> Result<Answered, ApiError> {
        let live = Arc::clone(&started.live);
        if detached {
            return Ok(Answered::Started(StartedReply::of(&live.run_id, live.is_queued())));
        }
        let mut guard = CancelOnDrop::new(&live);
        tokio::select! {
            biased;
            ended = end_of(started) => {
                guard.disarm();
                let (run_id, ended) = ended?;
                Ok(Answered::Done(Box::new(self.reply(run_id, ended)?)))
            }
            Some(waiting) = server.runs.desk().waits(&live.run_id) => {
                // It goes on by itself, even if it was answered this moment.
                guard.disarm();
                Ok(Answered::Waiting(WaitingReply { run_id: live.run_id.0.clone(), status: "waiting", waiting }))
            }
        }
    }

    /// The reply to whoever asked.
    fn reply(&self, run_id: String, ended: Ended<RunResult>) -> Result<AnswerReply, ApiError> {
        let run = ended.result??;
        // Where files are on the server's disk is not the caller's business.
        let document = self.document(&run_id, &run, ended.usage, ended.ms, |_| None);
        Ok(AnswerReply { message: run.answer.text, run: document })
    }

    /// The document of a run of this request; `disk` maps a display path to the file on disk.
    pub(crate) fn document(
        &self,
        run_id: &str,
        run: &Run,
        usage: Usage,
        ms: u64,
        disk: impl Fn(&str) -> Option<PathBuf>,
    ) -> RunDocument {
        let (request, model) = (&self.request.text, &self.pipeline.model_name());
        RunDocument::new(run, About { run_id, request, planner: self.planner, model, usage, ms }, disk)
    }
}

/// The files that a request speaks of.
fn files_of(request: &Request) -> Vec<String> {
    let attached = request.attachments.iter().filter_map(|resource| match &resource.source {
        Source::Public(path) => Some(path.as_str()),
        Source::Inline(_) | Source::Url(_) => None,
    });
    let said = request.history.iter().map(|turn| turn.content.as_str()).chain([request.text.as_str()]);
    attached.chain(said.flat_map(named)).map(str::to_owned).collect()
}

/// The server's HuggingGPT pipeline, with the chat model that is asked for, or that of a caller with a model of their own.
pub(crate) fn pipeline_of(server: &Server, setup: &Current, ask: &Ask) -> Result<(Arc<HuggingGpt>, Model), ApiError> {
    if let Some(own) = ask.caller(&server.options.caller)? {
        let pipeline = (setup.for_caller)(own).map_err(ApiError::invalid)?;
        return Ok((pipeline, Model::Callers));
    }
    match ask.model.as_deref().map(str::trim) {
        None | Some("") => Ok((Arc::clone(&setup.pipeline), Model::Configured)),
        Some(name) => server.pipeline_with(setup, name),
    }
}

/// Waits for the end of a run; dropping the future cancels the run.
pub(crate) async fn wait<T>(started: Started<T>) -> Result<(String, Ended<T>), ApiError> {
    let mut guard = CancelOnDrop::new(&started.live);
    let ended = end_of(started).await;
    guard.disarm();
    ended
}

/// Waits for the end of a run, and leaves it alone.
async fn end_of<T>(started: Started<T>) -> Result<(String, Ended<T>), ApiError> {
    let ended = started.end.await;
    let ended = ended.map_err(|_| ApiError::internal("the run broke off", &"its task ended without a result"))?;
    Ok((started.live.run_id.0.clone(), ended))
}

/// Waits for the result of a run; dropping the future cancels the run.
pub(crate) async fn result<T, E>(started: Started<Result<T, E>>) -> Result<T, ApiError>
where
    ApiError: From<E>,
{
    Ok(wait(started).await?.1.result??)
}

/// The events of a run that is this caller's alone. Unless it is detached, the run is cancelled when the caller goes away.
pub(crate) fn streamed<T>(server: &Server, started: Started<T>, detached: bool) -> Response {
    let guard = (!detached).then(|| CancelOnDrop::new(&started.live));
    let frames = Arc::clone(&started.live.log).follow(Place::default());
    let mut response = sse::reply(frames, guard, server);
    if let Ok(id) = started.live.run_id.0.parse() {
        response.headers_mut().insert("x-run-id", id);
    }
    response
}
