//! `FileBasedQA`: a question and a document in, words and pictures out, at once or step by step.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{Stream, StreamExt};
use jarvis_engine::Events;
use jarvis_plan::{EventKind, Language};
use jarvis_proto::file_based_qa::file_based_qa_server::FileBasedQa;
use jarvis_proto::file_based_qa::query_event::Event as StreamEvent;
use jarvis_proto::file_based_qa::{Action, Problem, QueryEvent, QueryRequest, QueryResponse, Step};
use jarvis_react::{AgentAnswer, AskError, Asked};
use jarvis_store::Media;
use jarvis_store::blocking;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

use super::{deadline, status};
use crate::runs::{CancelOnDrop, Ended, Keep, Started};
use crate::state::Server;
use crate::users::{Caller, Right};

/// The largest answer that clients accept by default, less some space for what surrounds the pictures.
pub(super) const MODEST: usize = (4 << 20) - (256 << 10);

/// The largest picture that is sent, in bytes.
const MAX_IMAGE: u64 = 32 << 20;

/// How long a run whose time is up may take to say so.
const LAST_WORDS: Duration = Duration::from_millis(5);

/// Events that may wait for a slow reader.
const WAITING: usize = 16;

pub(super) struct Questions {
    pub(super) server: Server,
    pub(super) max_file: usize,
}

type End = Result<AgentAnswer, AskError>;

#[tonic::async_trait]
impl FileBasedQa for Questions {
    async fn query_file(&self, request: Request<QueryRequest>) -> Result<Response<QueryResponse>, Status> {
        let caller = caller(&request)?;
        let asked = self.asked(request).await?;
        let until = asked.until;
        let agent = Arc::clone(&self.server.setup().agent);
        let question = asked.asked.question.clone();
        let work = move |events, cancel| async move { agent.ask(&asked.now(), &events, cancel).await };
        let Started { live, end } = self
            .server
            .runs
            .start(&caller, &question, Keep::Events, work)
            .map_err(|error| status::of_refusal(&error))?;
        // A client that goes away cancels the run.
        let mut guard = CancelOnDrop::new(&live);
        let ended = in_time(end, until).await?;
        guard.disarm();
        let stopping = self.server.runs.is_closing();
        let answered = ended.result.map_err(status::of_lost)?.map_err(|error| match error {
            AskError::Cancelled if stopping => Status::unavailable("the server is stopping"),
            error => status::of(&error),
        })?;
        let pictures = pictures(&self.server.parts.media, &answered.images).await?;
        Ok(Response::new(response(answered, pictures)))
    }

    type QueryFileStreamStream = Pin<Box<dyn Stream<Item = Result<QueryEvent, Status>> + Send>>;

    async fn query_file_stream(
        &self,
        request: Request<QueryRequest>,
    ) -> Result<Response<Self::QueryFileStreamStream>, Status> {
        let caller = caller(&request)?;
        let asked = self.asked(request).await?;
        let (agent, media) = (Arc::clone(&self.server.setup().agent), Arc::clone(&self.server.parts.media));
        let question = asked.asked.question.clone();
        let (sender, receiver) = mpsc::channel(WAITING);
        let steps_to = sender.clone();
        let own_media = Arc::clone(&media);
        let patience = self.server.options.write_timeout;
        let until = asked.until;
        let work = move |events: Events, cancel: CancellationToken| async move {
            let given_up = cancel.clone();
            let mut told = events.listen();
            let passed = async {
                while let Some(event) = told.recv().await {
                    for step in stream_events(&event.kind, &own_media).await {
                        // A reader that went away cancels the run by dropping its guard; one that takes nothing is
                        // not waited for, since it would keep the place of another.
                        if let Ok(Err(_)) | Err(_) = tokio::time::timeout(patience, steps_to.send(Ok(step))).await {
                            given_up.cancel();
                        }
                    }
                    if event.kind.is_end() {
                        return;
                    }
                }
            };
            let asked = asked.now();
            futures::future::join(agent.ask(&asked, &events, cancel), passed).await.0
        };
        let Started { live, end } = self
            .server
            .runs
            .start(&caller, &question, Keep::Events, work)
            .map_err(|error| status::of_refusal(&error))?;
        tokio::spawn(async move {
            let last = last_event(in_time(end, until).await, &media).await;
            // A client that reads nothing does not get the last event.
            let _ = tokio::time::timeout(patience, sender.send(last)).await;
        });
        let guard = CancelOnDrop::new(&live);
        let events = ReceiverStream::new(receiver).map(move |event| {
            let _held = &guard;
            event
        });
        Ok(Response::new(Box::pin(events)))
    }
}

impl Questions {
    async fn asked(&self, request: Request<QueryRequest>) -> Result<Timed, Status> {
        let until = deadline::of(request.metadata()).map(|time| Instant::now() + time.saturating_sub(margin(time)));
        let QueryRequest { question, file_data, language, max_steps } = request.into_inner();
        if question.trim().is_empty() {
            return Err(status::of(&AskError::EmptyQuestion));
        }
        if file_data.len() > self.max_file {
            return Err(Status::invalid_argument(format!(
                "the document has {} bytes, and {} are taken at most",
                file_data.len(),
                self.max_file
            )));
        }
        let language = match language.trim() {
            "" => None,
            "en" => Some(Language::English),
            "ru" => Some(Language::Russian),
            "zh" => Some(Language::Chinese),
            other => {
                let other: String = other.chars().take(20).collect();
                return Err(Status::invalid_argument(format!("`{other}` is no language: en, ru or zh")));
            }
        };
        let document = self.server.setup().agent.read(file_data).await.map_err(|error| status::of_document(&error))?;
        let max_steps = Some(max_steps);
        let asked = Asked { language, max_steps, warnings: document.warnings, ..Asked::new(question, document.text) };
        Ok(Timed { asked, until })
    }
}

/// Who asks, as the interceptor found; somebody who may.
fn caller(request: &Request<QueryRequest>) -> Result<Caller, Status> {
    let known = request.extensions().get::<Caller>().cloned();
    let caller = known.ok_or_else(|| Status::internal("nobody looked who calls"))?;
    caller.must(Right::Run).map_err(|error| status::of_refusal(&error))?;
    Ok(caller)
}

struct Timed {
    asked: Asked,
    until: Option<Instant>,
}

impl Timed {
    fn now(&self) -> Asked {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        Asked { deadline: left, ..self.asked.clone() }
    }
}

/// How much sooner than its caller a call ends, so that it can still say why.
fn margin(time: Duration) -> Duration {
    (time / 20).min(Duration::from_millis(100))
}

/// The end of a run, unless its caller waits no longer: it may not even have had a slot.
async fn in_time(end: oneshot::Receiver<Ended<End>>, until: Option<Instant>) -> Result<Ended<End>, Status> {
    let late = async {
        match until {
            // The run itself ends at that time too, and says more.
            Some(until) => tokio::time::sleep_until((until + LAST_WORDS).into()).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        ended = end => ended.map_err(|_| Status::internal("the run broke off")),
        () = late => Err(Status::deadline_exceeded("the question got no slot, or no answer, in the time given")),
    }
}

/// An event of a run as events of the gRPC stream; most have no counterpart there.
async fn stream_events(kind: &EventKind, media: &Arc<Media>) -> Vec<QueryEvent> {
    match kind {
        EventKind::Thought { step, text } => vec![event(*step, StreamEvent::Thought(text.clone()))],
        EventKind::Action { step, tool, input } => {
            vec![event(*step, StreamEvent::Action(Action { tool: tool.clone(), input: input.clone() }))]
        }
        EventKind::Observation { step, text, images } => {
            let made = pictures(media, images).await.unwrap_or_default();
            let observation = std::iter::once(StreamEvent::Observation(text.clone()));
            observation.chain(made.into_iter().map(StreamEvent::Image)).map(|made| event(*step, made)).collect()
        }
        EventKind::Queued { .. }
        | EventKind::Resumed { .. }
        | EventKind::RunStarted { .. }
        | EventKind::ModelCall { .. }
        | EventKind::Plan { .. }
        | EventKind::Mapped { .. }
        | EventKind::ApprovalNeeded { .. }
        | EventKind::ApprovalGiven { .. }
        | EventKind::PlanGrew { .. }
        | EventKind::Budget { .. }
        | EventKind::ModelChosen { .. }
        | EventKind::ExecutionConfig { .. }
        | EventKind::TaskStarted { .. }
        | EventKind::TaskAttempt { .. }
        | EventKind::TaskFinished { .. }
        | EventKind::Token { .. }
        | EventKind::Answer { .. }
        | EventKind::Note { .. }
        | EventKind::Done { .. }
        | EventKind::Error { .. } => Vec::new(),
    }
}

fn event(step: u32, event: StreamEvent) -> QueryEvent {
    QueryEvent { step, event: Some(event) }
}

/// The last event of a stream: the answer, or why there is none.
async fn last_event(ended: Result<Ended<End>, Status>, media: &Arc<Media>) -> Result<QueryEvent, Status> {
    match ended?.result.map_err(status::of_lost)? {
        Ok(answered) => {
            let step = u32::try_from(answered.rounds.len()).unwrap_or(u32::MAX);
            let last: Vec<String> = answered.images.last().cloned().into_iter().collect();
            let picture = pictures(media, &last).await?;
            let mut response = response(answered, picture);
            response.images = Vec::new();
            Ok(event(step, StreamEvent::Final(response)))
        }
        Err(error) => {
            let message = match error.hint() {
                Some(hint) => format!("{}; {hint}", error.whole()),
                None => error.whole(),
            };
            Ok(event(0, StreamEvent::Error(Problem { code: error.code().to_owned(), message })))
        }
    }
}

async fn pictures(media: &Arc<Media>, urls: &[String]) -> Result<Vec<Vec<u8>>, Status> {
    if urls.is_empty() {
        return Ok(Vec::new());
    }
    let (media, urls) = (Arc::clone(media), urls.to_vec());
    let read = move || {
        let read = |url: &String| {
            media
                .read(url, MAX_IMAGE)
                .map_err(|error| jarvis_plan::TaskError::new(jarvis_plan::ErrorCode::Internal, error.to_string()))
        };
        urls.iter().map(read).collect::<Result<Vec<Vec<u8>>, _>>()
    };
    blocking(read).await.map_err(|error| {
        tracing::error!(%error, "a picture that was made cannot be read");
        Status::internal("a picture that was made cannot be read")
    })
}

/// The reply: the last picture is the one that belongs to the answer.
fn response(answered: AgentAnswer, pictures: Vec<Vec<u8>>) -> QueryResponse {
    let mut warnings = answered.warnings;
    let image_data = pictures.last().cloned().unwrap_or_default();
    let all: usize = pictures.iter().map(Vec::len).sum();
    let images = if all + image_data.len() > MODEST {
        warnings.push(format!("only the last of {} pictures is sent: together they are too large", pictures.len()));
        Vec::new()
    } else {
        pictures
    };
    let step = |round: jarvis_react::Round| Step {
        thought: round.thought,
        action: round.action,
        action_input: round.input,
        observation: round.observation,
    };
    QueryResponse {
        has_text: !answered.text.is_empty(),
        text_answer: answered.text,
        has_image: !image_data.is_empty(),
        image_data,
        steps: answered.rounds.into_iter().map(step).collect(),
        finish_reason: answered.finish.as_str().to_owned(),
        warnings,
        images,
    }
}
