//! Models that this server runs for callers, each on its own: no planning, no choice.

use std::sync::Arc;

use indexmap::IndexMap;
use jarvis_catalogue::Host;
use jarvis_chat::ChatModel;
use jarvis_engine::{Events, Job, Meter};
use jarvis_hugginggpt::{FileSource, Found, ModelSource as _};
use jarvis_plan::{Candidate, ErrorCode, Request, Task, TaskError, TaskId};
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::state::Server;
use crate::users::Caller;

/// A model that callers may use by name.
#[derive(Clone)]
pub struct ServedModel {
    pub id: String,
    pub host: Host,
    /// The task types that it serves, the usual one first.
    pub tasks: Vec<String>,
    /// Bytes of its files; 0 where it has none.
    pub bytes: u64,
    /// A language model, which can be talked to.
    pub chat: Option<Arc<dyn ChatModel>>,
}

/// A model that is in memory now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LoadedModel {
    /// Its id.
    #[schema(example = "Xenova/detr-resnet-50")]
    pub id: String,
    /// The task type that it is loaded for.
    #[schema(example = "object-detection")]
    pub task: String,
    /// Bytes of memory.
    pub memory: u64,
    /// Seconds since its last use.
    pub idle_s: u64,
    /// Uses that go on now.
    pub users: usize,
}

/// The models that this server runs for callers.
pub trait ServedModels: Send + Sync {
    /// Every model that can be used now.
    fn all(&self) -> Vec<ServedModel>;

    /// The model of this id or other name.
    fn find(&self, name: &str) -> Option<ServedModel> {
        self.all().into_iter().find(|model| model.id == name)
    }

    /// Those that are in memory now.
    fn loaded(&self) -> Vec<LoadedModel> {
        Vec::new()
    }
}

/// No models.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoModels;

impl ServedModels for NoModels {
    fn all(&self) -> Vec<ServedModel> {
        Vec::new()
    }
}

/// The beginnings of the names that OpenAI's models have, which clients of its protocol send wherever they are: they stand for whatever
/// serves the task type here.
const OPENAI_NAMES: [&str; 7] = ["whisper-", "tts-", "gpt-", "dall-e", "text-embedding-", "chatgpt-", "omni-"];

/// Whether a name is of one of OpenAI's models.
pub(crate) fn is_openais(name: &str) -> bool {
    OPENAI_NAMES.iter().any(|begin| name.starts_with(begin))
}

/// The model of a request that must serve this task type. Where none is named, or one of OpenAI's, it is the first of the models that
/// are lent that does, else whatever a run would perform such a task with.
pub(crate) async fn model_for(server: &Server, name: Option<&str>, task: &str) -> Result<ServedModel, ApiError> {
    let models = &server.setup().models;
    let serves = |model: &ServedModel| model.tasks.iter().any(|served| served == task);
    let named = name.map(str::trim).filter(|name| !name.is_empty());
    if let Some(name) = named
        && let Some(model) = models.find(name)
    {
        let error = || ApiError::invalid(format!("the model `{name}` does not do {task}")).param("model");
        return Some(model).filter(serves).ok_or_else(error);
    }
    match named.filter(|name| !is_openais(name)) {
        Some(name) => {
            let shown: String = name.chars().take(100).collect();
            let message = format!("there is no model `{shown}` here");
            let error = ApiError::new(axum::http::StatusCode::NOT_FOUND, "model_not_found", message);
            let able: Vec<String> = models.all().into_iter().filter(serves).map(|model| model.id).collect();
            let hint = match able.is_empty() {
                true => format!("`jarvis models pull {task}` on the server brings one"),
                false => format!("the models for {task} are: {}", able.join(", ")),
            };
            Err(error.hint(hint).param("model"))
        }
        None => match models.all().into_iter().find(serves) {
            Some(model) => Ok(model),
            None => whatever_serves(server, task).await,
        },
    }
}

/// What a run would perform a task of this type with.
async fn whatever_serves(server: &Server, task: &str) -> Result<ServedModel, ApiError> {
    let pipeline = &server.setup().pipeline;
    let source = FileSource::for_running(Arc::clone(&pipeline.sources), None, 1);
    let nothing = |error: TaskError| {
        let hint = (pipeline.sources.local_hint)(task).or(error.hint);
        let hint = hint.unwrap_or_else(|| format!("`jarvis models pull {task}` on the server brings a model for it"));
        let message = format!("nothing is configured here that can do `{task}`");
        // Not a 5xx, after which the clients of this protocol ask again.
        ApiError::new(axum::http::StatusCode::NOT_FOUND, "not_configured", message).hint(hint)
    };
    let (host, id) = match source.find(&planned(task), task).await.map_err(nothing)? {
        Found::Fixed { chosen, .. } => (chosen.host.parse::<Host>().ok(), chosen.id),
        Found::Among(candidates) => {
            let first = candidates.models.into_iter().next();
            first.map_or((None, String::new()), |first| (Some(first.host), first.model.id.clone()))
        }
    };
    let host = host.ok_or_else(|| ApiError::internal("nothing serves the task", &task))?;
    Ok(ServedModel { id, host, tasks: vec![task.to_owned()], bytes: 0, chat: None })
}

/// A task of this type, for whoever performs it outside of a plan.
fn planned(task: &str) -> Task {
    Task {
        task: task.to_owned(),
        id: TaskId(0),
        dep: Vec::new(),
        args: IndexMap::new(),
        unfolded_from: None,
        faults: Vec::new(),
    }
}

/// Performs one task with one model for a caller. Dropping the future ends the work.
pub(crate) async fn perform(
    server: &Server,
    caller: &Caller,
    model: &ServedModel,
    task: &str,
    args: IndexMap<String, Value>,
) -> Result<Value, TaskError> {
    let events = Events::unread();
    events.metered(&Meter { account: Arc::clone(caller.account()), ..server.setup().meter.clone() });
    let cancel = CancellationToken::new();
    let _stops_when_dropped = cancel.clone().drop_guard();
    let text = args.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    let job = Job {
        request: Arc::new(Request::new(text)),
        task: Arc::new(planned(task)),
        args,
        candidate: Candidate { id: model.id.clone(), host: model.host.into(), effective_task: task.to_owned() },
        events,
        cancel,
        part: 0,
    };
    server.setup().pipeline.worker.perform(&job).await
}

/// A task's failure as that of the request it was made for.
pub(crate) fn failed(error: TaskError) -> ApiError {
    use axum::http::StatusCode;
    let (status, code) = match error.code {
        ErrorCode::MissingArgument | ErrorCode::InvalidInput => (StatusCode::BAD_REQUEST, "invalid_request"),
        ErrorCode::Forbidden => (StatusCode::FORBIDDEN, "forbidden"),
        ErrorCode::NotFound => (StatusCode::NOT_FOUND, "not_found"),
        ErrorCode::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
        ErrorCode::CannotDo | ErrorCode::UnsupportedTask => (StatusCode::UNPROCESSABLE_ENTITY, "cannot_do"),
        ErrorCode::NotConfigured | ErrorCode::NoModel => (StatusCode::NOT_IMPLEMENTED, "not_configured"),
        ErrorCode::Timeout => (StatusCode::GATEWAY_TIMEOUT, "timeout"),
        ErrorCode::RateLimited | ErrorCode::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        ErrorCode::NoOutput
        | ErrorCode::BadPlan
        | ErrorCode::Unauthorized
        | ErrorCode::Upstream
        | ErrorCode::BadReply
        | ErrorCode::NotApproved
        | ErrorCode::HandedBack
        | ErrorCode::Budget
        | ErrorCode::Cancelled
        | ErrorCode::Panic
        | ErrorCode::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "model_failed"),
    };
    let hint = error.hint;
    let api_error = ApiError::new(status, code, error.message);
    match hint {
        Some(hint) => api_error.hint(hint),
        None => api_error,
    }
}
