//! What clients may do, whatever binding they speak: send a message, follow, read and cancel tasks. A task is a run, by the same id; a
//! message starts one, or answers what one waits for.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use futures::stream::BoxStream;
use futures::{FutureExt, Stream, StreamExt};
use jarvis_plan::{RunId, Thread, Turn};
use jarvis_proto::a2a::stream_response::Payload;
use jarvis_proto::a2a::{
    CancelTaskRequest, GetTaskRequest, Message, SendMessageConfiguration, SendMessageRequest, StreamResponse,
    SubscribeToTaskRequest, Task, TaskState,
};
use jarvis_store::Changed;

use super::fault::{Fault, Wrong};
use super::intake;
use super::push::{From, Webhook};
use super::telling::{Telling, response};
use crate::request::RunRequest;
use crate::routes::approvals;
use crate::routes::runs::{self, Whereabouts, whereabouts, whole};
use crate::runs::{Frame, Live, Place};
use crate::state::Server;
use crate::users::{Caller, Right};
use crate::wire::ask::Ask;

/// How long a run may take to end when it is cancelled; then it is told as it is.
const CANCELLED: Duration = Duration::from_secs(10);

/// How many earlier tasks of a conversation a new one is told of.
const REMEMBERED: u32 = 10;

/// The most bytes of the name of a conversation and of a message.
const LONGEST_ID: usize = 256;

/// A client at one of the bindings.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) server: Server,
    pub(super) caller: Caller,
    /// Where the client reaches this server over HTTP.
    pub(super) base: String,
}

/// A run as it is followed: what it has come to, and what comes.
pub(super) struct Followed {
    pub(super) telling: Telling,
    pub(super) rest: BoxStream<'static, Frame>,
}

impl Followed {
    /// Reads on until the task is over, waits for somebody, or is told no further.
    async fn settled(mut self) -> Telling {
        while !self.telling.is_over()
            && self.telling.asked().is_empty()
            && let Some(frame) = self.rest.next().await
        {
            self.telling.take(&frame);
        }
        self.telling
    }

    /// The task as it is now, and then what changes of it until it is over; also until it waits, where that ends the exchange.
    fn told(self, until_asked: bool) -> impl Stream<Item = StreamResponse> + Send + use<> {
        let first = Payload::Task(self.telling.task(None, true));
        let is_last = move |telling: &Telling| telling.is_over() || (until_asked && !telling.asked().is_empty());
        let rest = futures::stream::unfold(self, move |mut followed| async move {
            loop {
                if is_last(&followed.telling) {
                    return None;
                }
                let frame = followed.rest.next().await?;
                if let Some(changed) = followed.telling.take(&frame) {
                    return Some((changed, followed));
                }
            }
        });
        futures::stream::once(async { first }).chain(rest).map(response)
    }
}

/// What a run that goes on here has come to, and what comes.
pub(super) fn followed_live(live: &Arc<Live>, base: &str) -> Followed {
    let telling = Telling::new(&live.run_id.0, live.thread.get().map(String::as_str), base);
    let rest = Arc::clone(&live.log).follow(Place::default()).boxed();
    so_far(Followed { telling, rest })
}

/// Reads what is there without waiting.
fn so_far(mut followed: Followed) -> Followed {
    while let Some(Some(frame)) = followed.rest.next().now_or_never() {
        followed.telling.take(&frame);
    }
    followed
}

impl Client {
    /// Finds a task of the caller's.
    pub(super) async fn follow(&self, id: &str) -> Result<Followed, Fault> {
        let missing = |error| Fault::from(error).of_task(id);
        let run = whole(id.to_owned()).map_err(missing)?;
        if let Some(live) = self.server.runs.of(&self.caller, &run).map_err(missing)? {
            return Ok(followed_live(&live, &self.base));
        }
        let telling = Telling::new(&run, None, &self.base);
        let rest = match whereabouts(&self.server, &self.caller, &run).await.map_err(missing)? {
            Whereabouts::There { elsewhere, record: None } => {
                let id = RunId(run);
                let known: Vec<Frame> = elsewhere
                    .so_far(&id)
                    .await
                    .map_err(|error| missing(error.into()))?
                    .iter()
                    .filter_map(Frame::recorded)
                    .collect();
                let last = known.last().map_or_else(Place::default, |frame| frame.at.next());
                let events = elsewhere.events(&id).await.map_err(|error| missing(error.into()))?;
                let comes = events.filter_map(async |event| Frame::recorded(&event));
                let comes = comes.filter(move |frame| std::future::ready(frame.at >= last));
                futures::stream::iter(known).chain(comes).boxed()
            }
            Whereabouts::There { record: Some(record), .. } | Whereabouts::Kept(record) => {
                futures::stream::iter(record.events.iter().filter_map(Frame::recorded).collect::<Vec<_>>()).boxed()
            }
        };
        Ok(so_far(Followed { telling, rest }))
    }

    /// Sends a message: starts a task, or answers what one waits for. Unless the client wants to know at once, the task is told when it
    /// is over or waits.
    pub(super) async fn send(&self, request: SendMessageRequest) -> Result<Task, Fault> {
        let (message, configuration) = checked(request)?;
        let run = self.put(message, &configuration).await?;
        let followed = self.follow(&run).await?;
        let telling = match configuration.return_immediately {
            true => followed.telling,
            false => followed.settled().await,
        };
        Ok(telling.task(configuration.history_length, true))
    }

    /// The same, told as it goes on.
    pub(super) async fn stream(
        &self,
        request: SendMessageRequest,
    ) -> Result<impl Stream<Item = StreamResponse> + Send + use<>, Fault> {
        let (message, configuration) = checked(request)?;
        let run = self.put(message, &configuration).await?;
        Ok(self.follow(&run).await?.told(true))
    }

    pub(super) async fn subscribe(
        &self,
        request: SubscribeToTaskRequest,
    ) -> Result<impl Stream<Item = StreamResponse> + Send + use<>, Fault> {
        let followed = self.follow(&request.id).await?;
        if followed.telling.is_over() {
            return Err(over(&request.id, followed.telling.state(), "nothing comes of it any more"));
        }
        Ok(followed.told(false))
    }

    pub(super) async fn get(&self, request: GetTaskRequest) -> Result<Task, Fault> {
        check_history(request.history_length)?;
        Ok(self.follow(&request.id).await?.telling.task(request.history_length, true))
    }

    /// Cancels a task, and tells it when that is done.
    pub(super) async fn cancel(&self, request: CancelTaskRequest) -> Result<Task, Fault> {
        let CancelTaskRequest { id, .. } = request;
        let followed = self.follow(&id).await?;
        let not_cancelable =
            |state: TaskState| over(&id, state, "it cannot be cancelled").but(Wrong::TaskNotCancelable);
        if followed.telling.is_over() {
            return Err(not_cancelable(followed.telling.state()));
        }
        let asked = runs::cancel(State(self.server.clone()), self.caller.clone(), Path(id.clone())).await;
        let ends = async {
            let Followed { mut telling, mut rest } = followed;
            while !telling.is_over()
                && let Some(frame) = rest.next().await
            {
                telling.take(&frame);
            }
            telling
        };
        let told = tokio::time::timeout(CANCELLED, ends).await;
        match asked {
            Ok(_) => {}
            Err(error) if error.fields.status == axum::http::StatusCode::CONFLICT => {
                return Err(not_cancelable(told.map_or(TaskState::Unspecified, |telling| telling.state())));
            }
            Err(error) => return Err(Fault::from(error).of_task(&id)),
        }
        match told {
            Ok(telling) if telling.is_over() => Ok(telling.task(None, true)),
            // It ends elsewhere, or later.
            Ok(_) | Err(_) => Ok(self.follow(&id).await?.telling.task(None, true)),
        }
    }

    /// Starts a task with a message, or answers what one waits for. Returns the task's id.
    async fn put(&self, message: Message, configuration: &SendMessageConfiguration) -> Result<String, Fault> {
        let webhook = configuration.task_push_notification_config.clone();
        let webhook = webhook.map(|webhook| self.checked_webhook(webhook)).transpose()?;
        if !message.task_id.is_empty() {
            return self.answer(&message, webhook).await;
        }
        self.caller.must(Right::Run)?;
        let skill = intake::skill(&message)?;
        let pipelines = self.server.working_pipelines();
        if let Some(other) = skill.as_deref().filter(|name| !pipelines.contains(name)) {
            let shown: String = other.chars().take(100).collect();
            let message = format!("there is no skill `{shown}` that a message can be given to");
            return Err(Fault::field("message.metadata.skillId", message)
                .hint(format!("leave it out, or name one of: {}", pipelines.join(", "))));
        }
        let intake::Said { text, attachments } = intake::said(&self.server, &self.caller, &self.base, &message).await?;
        let mut messages = self.earlier(&message.context_id).await?;
        messages.push(Turn::user(text));
        let ask = Ask { messages, attachments, ..Ask::default() };
        let mut run = RunRequest::of(&self.server, &ask)?;
        let thread = Thread { id: message.context_id.clone(), message: message.message_id.clone() };
        Arc::make_mut(&mut run.request).thread = Some(Box::new(thread));
        // Nobody holds the task by a connection: it goes on when the client is gone.
        let live = run.start(&self.server, &self.caller, skill.as_deref(), true)?.live;
        if !message.context_id.is_empty() {
            let _ = live.thread.set(message.context_id);
        }
        if let Some(webhook) = webhook {
            self.set_webhook(&live.run_id.0, webhook, From::Start).await?;
        }
        Ok(live.run_id.0.clone())
    }

    /// Answers what a task waits for.
    async fn answer(&self, message: &Message, webhook: Option<Webhook>) -> Result<String, Fault> {
        let id = &message.task_id;
        let telling = self.follow(id).await?.telling;
        if !message.context_id.is_empty() && message.context_id != telling.context() {
            return Err(Fault::field("message.contextId", "the task belongs to another context")
                .hint("leave `contextId` out where `taskId` is given"));
        }
        if telling.is_over() {
            return Err(over(id, telling.state(), "it takes no further message")
                .hint("send the message without `taskId`; with the same `contextId` it goes on from there"));
        }
        if telling.asked().is_empty() {
            return Err(Fault::new(Wrong::Unsupported, "the task goes on, and waits for nothing")
                .about("taskId", id)
                .hint("wait until its state is TASK_STATE_INPUT_REQUIRED, or cancel it"));
        }
        let (task, ask) = intake::answer(telling.asked(), message)?;
        if let Some(webhook) = webhook {
            self.set_webhook(id, webhook, From::Now).await?;
        }
        let (state, path) = (State(self.server.clone()), Path((id.clone(), task.to_string())));
        let given = approvals::decide(state, self.caller.clone(), path, crate::extract::ApiJson(ask)).await;
        let Json(given) = given.map_err(|error| Fault::from(error).of_task(id))?;
        Ok(given.run_id)
    }

    /// The earlier tasks of a conversation as turns, oldest first.
    async fn earlier(&self, context: &str) -> Result<Vec<Turn>, Fault> {
        if context.is_empty() || self.server.parts.journal.is_none() {
            return Ok(Vec::new());
        }
        let user = self.server.users.are_several().then(|| self.caller.name().to_owned());
        let which = Changed { user, thread: Some(context.to_owned()), most: REMEMBERED, since_ms: 0 };
        let read = self.server.read_journal(move |journal| {
            let mut found = journal.changed(&which)?;
            found.sort_by_key(|(run, _)| run.started_at_ms);
            found.iter().map(|(run, _)| journal.run(&run.run_id.0)).collect::<Result<Vec<_>, _>>()
        });
        let mut turns = Vec::new();
        for record in read.await? {
            let said = |event: &serde_json::Value| event.pointer("/answer/text")?.as_str().map(str::to_owned);
            let Some(answer) = record.events.iter().rev().find_map(said) else { continue };
            turns.extend([Turn::user(record.summary.request), Turn::assistant(answer)]);
        }
        Ok(turns)
    }
}

/// Why nothing is done with a task that is over.
fn over(id: &str, state: TaskState, so: &str) -> Fault {
    Fault::new(Wrong::Unsupported, format!("the task is over ({}): {so}", state.as_str_name())).about("taskId", id)
}

/// A message that can be looked at, and how its answer is wanted.
fn checked(request: SendMessageRequest) -> Result<(Message, SendMessageConfiguration), Fault> {
    let mut message = request.message.ok_or_else(|| Fault::field("message", "there is no message"))?;
    if message.message_id.is_empty() {
        return Err(Fault::field("message.messageId", "the message has no id"));
    }
    if message.parts.is_empty() {
        return Err(Fault::field("message.parts", "the message has no parts"));
    }
    for (name, id) in [("message.messageId", &message.message_id), ("message.contextId", &message.context_id)] {
        if id.len() > LONGEST_ID {
            return Err(Fault::field(name, format!("an id may have {LONGEST_ID} bytes")));
        }
    }
    // What is said of the request is said of its message.
    if message.metadata.is_none() {
        message.metadata = request.metadata;
    }
    let configuration = request.configuration.unwrap_or_default();
    check_history(configuration.history_length)?;
    Ok((message, configuration))
}

pub(super) fn check_history(length: Option<i32>) -> Result<(), Fault> {
    match length {
        Some(..0) => Err(Fault::field("historyLength", "it is a number from 0")),
        _ => Ok(()),
    }
}
