//! A run as a task of the protocol: its events, one after the other, as the task that they make and as the changes of it that streams
//! and webhooks tell. Every binding, and every form in which a task is asked for, reads a run by this.

use jarvis_pipeline::approval::question;
use jarvis_plan::{Answer, Approval, EventKind, Outcome, Request, Source};
use jarvis_proto::a2a::part::Content;
use jarvis_proto::a2a::stream_response::Payload;
use jarvis_proto::a2a::{
    Artifact, Message, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};
use jarvis_proto::any;
use jarvis_proto::time::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::routes::openai::progress;
use crate::runs::Frame;

/// The id of the artifact that holds the answer.
const ANSWER: &str = "answer";

/// A task, as far as it is told.
#[derive(Debug, Clone)]
pub(super) struct Telling {
    task: Task,
    /// What it waits for.
    asked: Vec<Approval>,
    /// The answer as far as it was written.
    written: String,
    /// Where the files that it names are reached.
    base: String,
}

impl Telling {
    /// A run of which nothing has been told yet.
    pub(super) fn new(run: &str, context: Option<&str>, base: &str) -> Telling {
        let state = TaskState::Submitted as i32;
        let task = Task {
            id: run.to_owned(),
            context_id: context.filter(|id| !id.is_empty()).unwrap_or(run).to_owned(),
            status: Some(TaskStatus { state, message: None, timestamp: None }),
            ..Task::default()
        };
        Telling { task, asked: Vec::new(), written: String::new(), base: base.to_owned() }
    }

    pub(super) fn state(&self) -> TaskState {
        self.task.status.as_ref().map(|status| status.state()).unwrap_or_default()
    }

    pub(super) fn is_over(&self) -> bool {
        is_over(self.state())
    }

    /// What it waits for, where somebody else has to go on.
    pub(super) fn asked(&self) -> &[Approval] {
        &self.asked
    }

    pub(super) fn context(&self) -> &str {
        &self.task.context_id
    }

    /// The task with at most so many of its last messages.
    pub(super) fn task(&self, history: Option<i32>, artifacts: bool) -> Task {
        let mut task = self.task.clone();
        if let Some(most) = history {
            let most = usize::try_from(most).unwrap_or(0);
            task.history.drain(..task.history.len().saturating_sub(most));
        }
        if !artifacts {
            task.artifacts.clear();
        }
        task
    }

    /// Takes the next event, and says what changed.
    pub(super) fn take(&mut self, frame: &Frame) -> Option<Payload> {
        let event: Value = serde_json::from_str(&frame.data).ok()?;
        let at = event.get("at_ms").and_then(Value::as_u64).map(Timestamp::of_ms);
        if let Some(status) = &mut self.task.status {
            status.timestamp = at.or(status.timestamp);
        }
        if matches!(&*frame.name, "plan" | "plan_grew") {
            return self.progress(frame, &event);
        }
        let id = format!("{}.{}", self.task.id, frame.at);
        match EventKind::deserialize(&event).ok()? {
            EventKind::RunStarted { request, .. } => {
                self.began(&request, id);
                Some(self.enters(TaskState::Working, None))
            }
            EventKind::Resumed { .. } => Some(self.goes_on(id)),
            EventKind::Token { text } => Some(self.writes(text)),
            EventKind::Answer { answer } => Some(self.answers(&answer)),
            EventKind::TaskFinished { outcome } => self.made(&outcome),
            EventKind::ApprovalNeeded { approval } => {
                self.asked.retain(|asked| asked.task != approval.task);
                let message = self.question(&approval, id);
                self.asked.push(approval);
                self.task.history.push(message.clone());
                Some(self.enters(TaskState::InputRequired, Some(message)))
            }
            EventKind::ApprovalGiven { id: task, approved, answer, .. } => {
                self.asked.retain(|asked| asked.task != task);
                let said = answer.unwrap_or_else(|| if approved { "approve" } else { "refuse" }.to_owned());
                let said = self.message(Role::User, id.clone(), vec![text(said)]);
                self.task.history.push(said);
                Some(self.goes_on(id))
            }
            EventKind::Done { cancelled: true, .. } => Some(self.enters(TaskState::Canceled, None)),
            EventKind::Done { ok: true, .. } => Some(self.enters(TaskState::Completed, None)),
            EventKind::Done { .. } => {
                let message = self.message(Role::Agent, id, vec![text("no task succeeded; the answer says why")]);
                Some(self.enters(TaskState::Failed, Some(message)))
            }
            EventKind::Error { code, message, hint, .. } => {
                let words = hint.map_or_else(|| message.clone(), |hint| format!("{message}; {hint}"));
                let message = self.message(Role::Agent, id, vec![text(words)]);
                let state = if code == "cancelled" { TaskState::Canceled } else { TaskState::Failed };
                Some(self.enters(state, Some(message)))
            }
            EventKind::TaskStarted { .. } | EventKind::Note { .. } | EventKind::Budget { .. } => {
                self.progress(frame, &event)
            }
            EventKind::Queued { .. }
            | EventKind::ModelCall { .. }
            | EventKind::Plan { .. }
            | EventKind::PlanGrew { .. }
            | EventKind::Mapped { .. }
            | EventKind::ModelChosen { .. }
            | EventKind::ExecutionConfig { .. }
            | EventKind::TaskAttempt { .. }
            | EventKind::Thought { .. }
            | EventKind::Action { .. }
            | EventKind::Observation { .. } => None,
        }
    }

    /// The run began: its request is the first message.
    fn began(&mut self, request: &Request, id: String) {
        let thread = request.thread.clone().unwrap_or_default();
        if !thread.id.is_empty() {
            self.task.context_id = thread.id;
        }
        let mut parts = vec![text(request.typed())];
        parts.extend(request.attachments.iter().map(|attached| {
            let filename = attached.name.clone().unwrap_or_default();
            let content = match &attached.source {
                Source::Inline(text) => Content::Text(text.clone()),
                Source::Public(path) => Content::Url(format!("{}{path}", self.base)),
                Source::Url(url) => Content::Url(url.clone()),
            };
            Part { content: Some(content), media_type: media_type(&filename), filename, metadata: None }
        }));
        let id = if thread.message.is_empty() { id } else { thread.message };
        let message = self.message(Role::User, id, parts);
        self.task.history = vec![message];
    }

    fn message(&self, role: Role, message_id: String, parts: Vec<Part>) -> Message {
        let (context_id, task_id) = (self.task.context_id.clone(), self.task.id.clone());
        Message { message_id, context_id, task_id, role: role as i32, parts, ..Message::default() }
    }

    /// What somebody is asked, in words and for programs.
    fn question(&self, asked: &Approval, id: String) -> Message {
        let mut parts = vec![text(question(asked).trim_end())];
        parts.extend(serde_json::to_value(asked).ok().map(data));
        self.message(Role::Agent, id, parts)
    }

    /// It goes on, or waits for what else is asked.
    fn goes_on(&mut self, id: String) -> Payload {
        match self.asked.first().cloned() {
            Some(next) => {
                let message = self.question(&next, id);
                self.enters(TaskState::InputRequired, Some(message))
            }
            None => self.enters(TaskState::Working, None),
        }
    }

    fn enters(&mut self, state: TaskState, message: Option<Message>) -> Payload {
        let timestamp = self.task.status.as_ref().and_then(|status| status.timestamp);
        let status = TaskStatus { state: state as i32, message, timestamp };
        self.task.status = Some(status.clone());
        self.told(status)
    }

    fn told(&self, status: TaskStatus) -> Payload {
        let (task_id, context_id) = (self.task.id.clone(), self.task.context_id.clone());
        Payload::StatusUpdate(TaskStatusUpdateEvent { task_id, context_id, status: Some(status), metadata: None })
    }

    /// What somebody who waits may want to know. It changes nothing, and is told to nobody who is asked something.
    fn progress(&self, frame: &Frame, event: &Value) -> Option<Payload> {
        if self.state() != TaskState::Working {
            return None;
        }
        let words = progress(&frame.name, event)?;
        let id = format!("{}.{}", self.task.id, frame.at);
        let message = self.message(Role::Agent, id, vec![text(words.trim())]);
        Some(self.told(TaskStatus { message: Some(message), ..self.task.status.clone()? }))
    }

    /// The result of a task of the plan.
    fn made(&mut self, outcome: &Outcome) -> Option<Payload> {
        let output = outcome.output.as_ref().filter(|_| outcome.succeeded())?;
        let mut parts = vec![data(output.clone())];
        let written = output.to_string();
        let mut files: Vec<&str> = jarvis_store::named(&written).collect();
        files.dedup();
        parts.extend(files.into_iter().map(|path| self.file(path, path.rsplit('/').next().unwrap_or(path))));
        let artifact = Artifact {
            artifact_id: format!("task-{}", outcome.id.number()),
            name: outcome.task.clone(),
            description: match outcome.performer() {
                Some(by) => format!("The result of task {}, by {}", outcome.id.number(), by.id),
                None => format!("The result of task {}", outcome.id.number()),
            },
            parts,
            ..Artifact::default()
        };
        Some(self.puts(artifact, false, true))
    }

    /// A piece of the answer.
    fn writes(&mut self, piece: String) -> Payload {
        let append = !self.written.is_empty();
        self.written.push_str(&piece);
        let whole = answer(vec![text(&self.written)]);
        let told = self.puts(whole, append, false);
        match told {
            Payload::ArtifactUpdate(update) => {
                Payload::ArtifactUpdate(TaskArtifactUpdateEvent { artifact: Some(answer(vec![text(piece)])), ..update })
            }
            told => told,
        }
    }

    /// The whole answer: whoever read the pieces gets what they lack.
    fn answers(&mut self, said: &Answer) -> Payload {
        let files: Vec<Part> = said.resources.iter().map(|made| self.file(&made.url, &made.name)).collect();
        let rest = said.text.strip_prefix(self.written.as_str()).filter(|_| !self.written.is_empty());
        let rest = rest.map(str::to_owned);
        let with = |words: &str| answer(std::iter::once(text(words)).chain(files.iter().cloned()).collect());
        let append = rest.is_some();
        let told = self.puts(with(&said.text), append, true);
        match (told, rest) {
            (Payload::ArtifactUpdate(update), Some(rest)) => {
                Payload::ArtifactUpdate(TaskArtifactUpdateEvent { artifact: Some(with(&rest)), ..update })
            }
            (told, _) => told,
        }
    }

    fn file(&self, path: &str, name: &str) -> Part {
        let (content, filename) = (Some(Content::Url(format!("{}{path}", self.base))), name.to_owned());
        Part { content, media_type: media_type(path), filename, metadata: None }
    }

    /// Puts an artifact into its place in the task.
    fn puts(&mut self, artifact: Artifact, append: bool, last_chunk: bool) -> Payload {
        match self.task.artifacts.iter_mut().find(|known| known.artifact_id == artifact.artifact_id) {
            Some(known) => known.clone_from(&artifact),
            None => self.task.artifacts.push(artifact.clone()),
        }
        let (task_id, context_id) = (self.task.id.clone(), self.task.context_id.clone());
        let artifact = Some(artifact);
        Payload::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id,
            context_id,
            artifact,
            append,
            last_chunk,
            metadata: None,
        })
    }
}

/// Whether a task in this state is over.
pub(super) fn is_over(state: TaskState) -> bool {
    match state {
        TaskState::Completed | TaskState::Failed | TaskState::Canceled | TaskState::Rejected => true,
        TaskState::Unspecified
        | TaskState::Submitted
        | TaskState::Working
        | TaskState::InputRequired
        | TaskState::AuthRequired => false,
    }
}

/// What a stream tells.
pub(super) fn response(payload: Payload) -> StreamResponse {
    StreamResponse { payload: Some(payload) }
}

fn answer(parts: Vec<Part>) -> Artifact {
    Artifact { artifact_id: ANSWER.to_owned(), name: ANSWER.to_owned(), parts, ..Artifact::default() }
}

pub(super) fn text(words: impl Into<String>) -> Part {
    let media_type = "text/plain".to_owned();
    Part { content: Some(Content::Text(words.into())), media_type, ..Part::default() }
}

/// A JSON value as a part.
fn data(value: Value) -> Part {
    let media_type = "application/json".to_owned();
    Part { content: Some(Content::Data(any::Value::from(value))), media_type, ..Part::default() }
}

/// The media type of a file of this name; empty where it is not known.
fn media_type(name: &str) -> String {
    mime_guess::from_path(name).first().map(|kind| kind.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
