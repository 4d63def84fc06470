//! AG-UI 1.0, the protocol of agents and their front ends: one request, answered by a stream of its events. What a run's events mean
//! in it is said in [`events`] alone.
//!
//! A run that waits for leave ends the exchange with an interrupt, and goes on: the next exchange brings the answer (`resume`) and
//! tells what follows.

mod events;

use std::collections::VecDeque;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::response::sse::Event;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::stream::BoxStream;
use futures::{FutureExt, Stream, StreamExt};
use jarvis_plan::{Kind, Role, Thread, Turn};
use serde_json::Value;

use crate::answers;
use crate::error::{ApiError, Failures};
use crate::extract::ApiJson;
use crate::files::taken_in;
use crate::request::RunRequest;
use crate::routes::approvals;
use crate::routes::openai::Links;
use crate::routes::runs::whole;
use crate::runs::{CancelOnDrop, Frame, Live, Place, no_such_run};
use crate::sse;
use crate::state::Server;
use crate::users::{Caller, Right};
use crate::wire::ag_ui::{AgUiContent, AgUiMessage, AgUiPart, ResumeEntry, ResumeStatus, RunAgentInput, Source};
use crate::wire::ask::{Ask, Attachment};
use crate::wire::stream::AgUiSseEvent;

use events::{Interrupt, Teller};

/// Run a request for an AG-UI front end
///
/// Server-sent events of AG-UI 1.0. A run that waits for leave, or for an answer, ends the exchange with an interrupt; the next one
/// answers it by `resume` and tells what follows. Closing the connection cancels a run that does not wait.
#[utoipa::path(post, path = "/ag-ui", operation_id = "run_ag_ui", tag = "pipeline", request_body = RunAgentInput,
    responses((status = 200, description = "The events", body = AgUiSseEvent, content_type = "text/event-stream"), Failures))]
pub(crate) async fn run(
    State(server): State<Server>,
    caller: Caller,
    headers: HeaderMap,
    ApiJson(input): ApiJson<RunAgentInput>,
) -> Result<Response, ApiError> {
    let links = Links::of(&server, &headers);
    let resume = input.resume.as_deref().unwrap_or_default();
    let (live, after) = match resume {
        [] => (start(&server, &caller, &input).await?, None),
        answers => {
            let (live, after) = answered(&server, &caller, answers).await?;
            (live, Some(after))
        }
    };
    let frames = Arc::clone(&live.log).follow(Place::default()).boxed();
    let teller = Teller::new(&input, &live.run_id.0, links);
    let told =
        Telling { teller, frames, after, guard: CancelOnDrop::new(&live), ready: VecDeque::new(), is_over: false };
    Ok(sse::open(told.events().await, (), &server))
}

/// Starts the run of the last message.
async fn start(server: &Server, caller: &Caller, input: &RunAgentInput) -> Result<Arc<Live>, ApiError> {
    caller.must(Right::Run)?;
    let name = match input.forwarded_props.get("pipeline") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name.as_str()),
        Some(_) => return Err(ApiError::invalid("the pipeline is named by a text").param("forwardedProps.pipeline")),
    };
    let most = server.options.max_messages;
    if input.messages.len() > most {
        return Err(ApiError::invalid(format!("a conversation may have {most} messages")).param("messages"));
    }
    let (mut messages, mut attachments) = (Vec::new(), Vec::new());
    for (at, message) in input.messages.iter().enumerate() {
        let role = match message.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" | "developer" => Role::System,
            // Calls, results, activities and thoughts are jarvis' own.
            _ => continue,
        };
        let content = text(message);
        if !content.trim().is_empty() {
            messages.push(Turn::said(role, content));
        }
        if let (Role::User, Some(AgUiContent::Parts(parts))) = (role, &message.content) {
            for part in parts {
                attachments.extend(attachment(server, caller, &format!("messages[{at}]"), part).await?);
            }
        }
    }
    let ask = Ask { messages, attachments, ..Ask::default() };
    let mut run = RunRequest::of(server, &ask)?;
    let message = input.messages.last().map(|message| message.id.clone()).unwrap_or_default();
    Arc::make_mut(&mut run.request).thread = Some(Box::new(Thread { id: input.thread_id.clone(), message }));
    let live = run.start(server, caller, name, true)?.live;
    let _ = live.thread.set(input.thread_id.clone());
    Ok(live)
}

fn text(message: &AgUiMessage) -> String {
    match &message.content {
        Some(AgUiContent::Text(text)) => text.clone(),
        Some(AgUiContent::Parts(parts)) => {
            let texts = parts.iter().filter_map(|part| match part {
                AgUiPart::Text { text } => Some(text.as_str()),
                AgUiPart::Image { .. }
                | AgUiPart::Audio { .. }
                | AgUiPart::Video { .. }
                | AgUiPart::Document { .. } => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        Some(AgUiContent::Other(_)) | None => String::new(),
    }
}

async fn attachment(
    server: &Server,
    caller: &Caller,
    at: &str,
    part: &AgUiPart,
) -> Result<Option<Attachment>, ApiError> {
    let (kind, source) = match part {
        AgUiPart::Text { .. } => return Ok(None),
        AgUiPart::Image { source } => (Kind::Image, source),
        AgUiPart::Audio { source } => (Kind::Audio, source),
        AgUiPart::Video { source } => (Kind::Video, source),
        AgUiPart::Document { source } => (Kind::Text, source),
    };
    match source {
        Source::Url { value } => {
            Ok(Some(Attachment { kind, path: None, text: None, url: Some(value.clone()), name: None }))
        }
        Source::File {} => Err(ApiError::invalid("a file is given as `data` or `url`").param(at)),
        Source::Data { value, mime_type } => {
            let bytes = STANDARD
                .decode(value.trim())
                .map_err(|error| ApiError::invalid(format!("a file is not valid base64: {error}")).param(at))?;
            let ending = crate::files::ending(mime_type).unwrap_or("txt");
            taken_in(server, caller, &format!("file.{ending}"), bytes).await.map(Some)
        }
    }
}

/// Gives the answers, and finds the run that they are for, with the place of the last event that the client was told.
async fn answered(server: &Server, caller: &Caller, answers: &[ResumeEntry]) -> Result<(Arc<Live>, Place), ApiError> {
    let read = |entry: &ResumeEntry| {
        let unknown = || ApiError::invalid("it is no interrupt of this server").param("resume");
        entry.interrupt_id.parse::<Interrupt>().map_err(|()| unknown())
    };
    let named = answers.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = named.first() else { return Err(no_such_run()) };
    if named.iter().any(|other| other.run != first.run) {
        return Err(ApiError::invalid("the interrupts are of several runs").param("resume"));
    }
    let run = whole(first.run.clone())?;
    let live = server.runs.of(caller, &run)?.ok_or_else(no_such_run)?;
    for (interrupt, entry) in named.iter().zip(answers) {
        let asked = live.pending_about(interrupt.task).await;
        // Somebody else may have answered it, and the run has gone on.
        let Some(asked) = asked.iter().find(|asked| asked.task == interrupt.task) else { continue };
        let ask = match entry.status {
            ResumeStatus::Cancelled => answers::declined(asked),
            ResumeStatus::Resolved => {
                let (words, data) = match &entry.payload {
                    Value::Object(fields) => (String::new(), Some(fields.clone())),
                    Value::String(words) => (words.clone(), None),
                    other => (other.to_string(), None),
                };
                answers::answer(asked, &words, data)?
            }
        };
        let path = Path((run.clone(), interrupt.task.to_string()));
        let _ = approvals::decide(State(server.clone()), caller.clone(), path, ApiJson(ask)).await?;
    }
    let after = named.iter().map(|interrupt| interrupt.after).min().unwrap_or_default();
    Ok((live, after))
}

/// An exchange: a run as it is told.
struct Telling {
    teller: Teller,
    frames: BoxStream<'static, Frame>,
    /// The last event that was told before.
    after: Option<Place>,
    guard: CancelOnDrop,
    ready: VecDeque<Value>,
    is_over: bool,
}

impl Telling {
    async fn events(mut self) -> impl Stream<Item = Event> + Send {
        if let Some(after) = self.after {
            // What was told before is only remembered.
            while let Some(Some(frame)) = self.frames.next().now_or_never() {
                let is_last = frame.at >= after;
                self.teller.take(&frame);
                if is_last {
                    break;
                }
            }
        }
        self.ready.extend(self.teller.begins());
        futures::stream::unfold(self, |mut told| async move {
            loop {
                if let Some(event) = told.ready.pop_front() {
                    let event = Event::default().data(event.to_string());
                    return Some((event, told));
                }
                if told.is_over {
                    return None;
                }
                told.next().await;
            }
        })
    }

    /// Waits for what comes; where nothing comes because somebody is asked, the exchange ends.
    async fn next(&mut self) {
        let frame = match self.frames.next().now_or_never() {
            Some(frame) => frame,
            None if self.teller.is_asking() => {
                self.guard.disarm();
                self.is_over = true;
                return self.ready.extend(self.teller.interrupted());
            }
            None => self.frames.next().await,
        };
        match frame {
            Some(frame) => {
                self.ready.extend(self.teller.take(&frame));
                self.is_over = self.teller.is_over();
            }
            None => {
                self.is_over = true;
                self.ready.extend(self.teller.breaks_off());
            }
        }
        if self.is_over {
            self.guard.disarm();
        }
    }
}
