//! The protocol of the original's model server: whether a model is there, and one call of one model.
//!
//! Source: microsoft/JARVIS `hugginggpt/server/models_server.py`.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::error::{ApiError, Failures};
use crate::extract::ApiJson;
use crate::served::{self, LoadedModel};
use crate::state::Server;
use crate::users::Caller;
use crate::wire::schema::{AnyJson, AnyObject};

/// Whether the server runs.
#[derive(Serialize, ToSchema)]
pub(crate) struct Running {
    running: bool,
}

/// Whether a model can be called.
#[derive(Serialize, ToSchema)]
pub(crate) struct Status {
    loaded: bool,
}

/// The models in memory.
#[derive(Serialize, ToSchema)]
pub(crate) struct LoadedModels {
    /// The last used first.
    models: Vec<LoadedModel>,
}

/// Whether the model server runs
#[utoipa::path(get, path = "/running", operation_id = "is_running", tag = "models", responses((status = 200, description = "It does", body = Running), Failures))]
pub(crate) async fn running() -> Json<Running> {
    Json(Running { running: true })
}

/// Whether a model can be called
#[utoipa::path(get, path = "/status/{id}", operation_id = "get_model_status", tag = "models",
    params(("id" = String, Path, description = "The model, such as `facebook/detr-resnet-101`")),
    responses((status = 200, description = "Whether it is on this machine", body = Status), Failures))]
pub(crate) async fn status(State(server): State<Server>, Path(id): Path<String>) -> Json<Status> {
    Json(Status { loaded: server.setup().models.find(&id).is_some() })
}

/// The same for an id written without escape.
pub(crate) async fn status_of_owner(
    server: State<Server>,
    Path((owner, name)): Path<(String, String)>,
) -> Json<Status> {
    status(server, Path(format!("{owner}/{name}"))).await
}

/// The same for an id written without escape.
pub(crate) async fn call_of_owner(
    server: State<Server>,
    caller: Caller,
    Path((owner, name)): Path<(String, String)>,
    body: ApiJson<Map<String, Value>>,
) -> Result<Json<Value>, ApiError> {
    call(server, caller, Path(format!("{owner}/{name}")), body).await
}

/// The models in memory
#[utoipa::path(get, path = "/loaded", operation_id = "list_loaded_models", tag = "models",
    responses((status = 200, description = "Those that are loaded now", body = LoadedModels), Failures))]
pub(crate) async fn loaded(State(server): State<Server>) -> Json<LoadedModels> {
    Json(LoadedModels { models: server.setup().models.loaded() })
}

/// Call a model
///
/// Pictures and sounds are named by `img_url` and `audio_url`: a path under the public folder (`public/images/…`), a data URL,
/// or a web address. Files that are made are named by `path`.
#[utoipa::path(post, path = "/models/{id}", operation_id = "call_model", tag = "models",
    params(("id" = String, Path, description = "The model, such as `facebook/detr-resnet-101`")),
    request_body = AnyObject,
    responses((status = 200, description = "What the model gave", body = AnyJson), Failures))]
pub(crate) async fn call(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
    ApiJson(body): ApiJson<Map<String, Value>>,
) -> Result<Json<Value>, ApiError> {
    caller.must_run()?;
    let Some(model) = server.setup().models.find(&id) else {
        let shown: String = id.chars().take(200).collect();
        let message = format!("there is no model `{shown}` here");
        let error = ApiError::new(StatusCode::NOT_FOUND, "model_not_found", message);
        return Err(error.hint("`GET /v1/models` lists those that are"));
    };
    // One that serves several task types is told which.
    let asked = body.get("task").and_then(Value::as_str);
    let task = match asked {
        Some(asked) => model.tasks.iter().find(|task| *task == asked),
        None => model.tasks.first(),
    };
    let Some(task) = task.cloned() else {
        let message = format!("the model `{}` does not do {}", model.id, asked.unwrap_or("anything"));
        return Err(ApiError::invalid(message).param("task"));
    };
    let output = served::perform(&server, &caller, &model, &task, arguments(body)).await;
    let output = output.map_err(served::failed)?;
    server.own_made(&caller, &output).await?;
    Ok(Json(result(&task, output)))
}

/// The arguments of a task out of a body: `public/images/…` is a display path.
fn arguments(body: Map<String, Value>) -> IndexMap<String, Value> {
    let renamed = |(name, value): (String, Value)| {
        let name = match name.as_str() {
            "img_url" => "image".to_owned(),
            "audio_url" => "audio".to_owned(),
            _ => name,
        };
        let value = match value {
            Value::String(text) if matches!(name.as_str(), "image" | "audio") => match text.strip_prefix("public/") {
                Some(path) => Value::String(format!("/{path}")),
                None => Value::String(text),
            },
            other => other,
        };
        (!value.is_null() && name != "task").then_some((name, value))
    };
    body.into_iter().filter_map(renamed).collect()
}

/// What a task gave in the form of the original: boxes as a list, files by `path`, what was said as `text`.
fn result(task: &str, output: Value) -> Value {
    let Value::Object(fields) = &output else { return output };
    if task == "object-detection"
        && let Some(found) = fields.get("predicted")
    {
        return found.clone();
    }
    let file = ["generated image", "generated audio", "generated video"].iter().find_map(|key| fields.get(*key));
    match (file, fields.get("generated text")) {
        (Some(path), _) => json!({ "path": path }),
        (None, Some(text)) if task == "automatic-speech-recognition" => json!({ "text": text }),
        (None, Some(_) | None) => output,
    }
}
