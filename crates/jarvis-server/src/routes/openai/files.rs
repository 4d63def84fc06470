//! Files that are sent once and named in later requests by their ids, in the OpenAI protocol.

use std::sync::Arc;

use axum::Json;
use axum::extract::multipart::{Multipart, MultipartRejection};
use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use jarvis_plan::{Kind, Resource, Source};
use jarvis_store::sniff::sniff;
use serde::de::IntoDeserializer as _;
use serde::de::value::Error as ValueError;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::said::shown;
use crate::error::{ApiError, ErrorBody, Failures};
use crate::extract::ApiQuery;
use crate::files::bytes_of;
use crate::routes::paging::checked_limit;
use crate::routes::upload;
use crate::runs::now_ms;
use crate::state::Server;
use crate::users::{Caller, Right};
use crate::wire::schema::FileBytes;

/// A file to keep.
#[derive(ToSchema)]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) struct FileForm {
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// What it is for; it is given back.
    #[schema(required = false)]
    purpose: Purpose,
}

/// What a file is for, in OpenAI's words. It changes nothing here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Purpose {
    Assistants,
    Batch,
    Evals,
    #[serde(rename = "fine-tune")]
    FineTune,
    #[default]
    UserData,
    Vision,
}

/// A file that is kept.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct FileObject {
    /// `file-` and 32 digits.
    id: String,
    /// `file`.
    object: String,
    bytes: u64,
    /// When it was sent, in seconds since the Unix epoch.
    created_at: u64,
    filename: String,
    purpose: Purpose,
    /// `processed`.
    status: String,
}

/// What is kept of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept {
    shown: FileObject,
    path: String,
}

/// The files of a caller.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FileList {
    /// `list`.
    object: &'static str,
    data: Vec<FileObject>,
    has_more: bool,
}

/// That a file is gone.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FileDeleted {
    id: String,
    /// `file`.
    object: &'static str,
    deleted: bool,
}

/// Keep a file
#[utoipa::path(post, path = "/v1/files", operation_id = "create_file", tag = "openai",
    request_body(content = FileForm, content_type = "multipart/form-data"),
    responses((status = 200, description = "It is kept", body = FileObject),
        (status = 413, description = "It is too large", body = ErrorBody), Failures))]
pub(crate) async fn create(
    State(server): State<Server>,
    caller: Caller,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Json<FileObject>, ApiError> {
    caller.must(Right::Run)?;
    let journal = server.parts.journal.clone().ok_or_else(no_journal)?;
    let mut form = form.map_err(|_| ApiError::invalid("the body must be a multipart form with the field `file`"))?;
    let (mut file, mut purpose) = (None, Purpose::default());
    while let Some(field) = form.next_field().await.map_err(|error| upload::broken(&error))? {
        match field.name() {
            Some("file") => {
                let name = field.file_name().unwrap_or("file").rsplit(['/', '\\']).next().unwrap_or("file");
                let name: String = name.chars().filter(|c| !c.is_control()).take(200).collect();
                let bytes = field.bytes().await.map_err(|error| upload::broken(&error))?;
                file = Some((name, bytes));
            }
            Some("purpose") => {
                let said = field.text().await.map_err(|error| upload::broken(&error))?;
                let known = Purpose::deserialize(said.trim().into_deserializer());
                purpose = known.map_err(|error: ValueError| ApiError::invalid(error.to_string()).param("purpose"))?;
            }
            _ => {}
        }
    }
    let (filename, bytes) = file.ok_or_else(|| ApiError::invalid("the form has no field `file`").param("file"))?;
    if bytes.is_empty() {
        return Err(ApiError::invalid(format!("`{filename}` is empty")).param("file"));
    }
    if bytes.len() > server.options.max_upload {
        return Err(upload::too_large());
    }
    let size = bytes.len() as u64;
    let path = store(&server, &filename, bytes).await?;
    let source = Source::Public(path.clone());
    server.own_resource(&caller, &Resource { kind: Kind::Text, source, name: None }).await?;
    server.metrics.uploaded(size);
    let at = now_ms();
    let shown = FileObject {
        id: format!("file-{}", Uuid::now_v7().simple()),
        object: "file".to_owned(),
        bytes: size,
        created_at: at / 1000,
        filename,
        purpose,
        status: "processed".to_owned(),
    };
    let kept = Kept { shown, path };
    let body = serde_json::to_string(&kept).expect("it has only string keys");
    journal.put_file(caller.name(), &kept.shown.id, at, body).await?;
    Ok(Json(kept.shown))
}

/// Puts a file under the public root: a medium with its kind, anything else as it is.
async fn store(server: &Server, name: &str, bytes: Bytes) -> Result<String, ApiError> {
    let (media, name) = (Arc::clone(&server.parts.media), name.to_owned());
    let stored = tokio::task::spawn_blocking(move || {
        let found = sniff(&bytes);
        match found.and_then(|found| Some((found.kind.filter(|kind| kind.is_media())?, found.extension))) {
            Some((kind, extension)) => media.create(kind, extension, &bytes),
            None => media.create_file(name.rsplit_once('.').map_or("", |(_, extension)| extension), &bytes),
        }
    });
    Ok(stored.await.map_err(|error| ApiError::internal("the file cannot be stored", &error))??)
}

fn no_journal() -> ApiError {
    ApiError::new(StatusCode::NOT_IMPLEMENTED, "no_journal", "this server keeps no journal, and so no files by id")
        .hint("send the file inside the request (`file_data`)")
}

async fn find(server: &Server, caller: &Caller, id: &str) -> Result<Kept, ApiError> {
    let unknown = || ApiError::not_found(format!("there is no file `{}`", shown(id))).param("file_id");
    if server.parts.journal.is_none() {
        return Err(unknown());
    }
    let of = id.to_owned();
    let found = server.read_journal(move |journal| journal.file(&of)).await?;
    let (_, body) = found.filter(|(user, _)| caller.reaches(user)).ok_or_else(unknown)?;
    serde_json::from_str(&body).map_err(|error| ApiError::internal("the file cannot be read", &error))
}

/// A file by its id, as one of a request.
pub(super) async fn resource(server: &Server, caller: &Caller, id: &str) -> Result<Resource, ApiError> {
    let Kept { shown, path } = find(server, caller, id).await?;
    if let Some(kind) = Kind::of_name(&path).filter(|kind| kind.is_media()) {
        return Ok(Resource { kind, source: Source::Public(path), name: None });
    }
    let bytes = bytes_of(server, path).await?;
    let (media, agent) = (&server.parts.media, &server.setup().agent);
    let taken = jarvis_workers::attach(&shown.filename, bytes, media, agent.reader.as_ref()).await?;
    server.own_resource(caller, &taken.resource).await?;
    Ok(taken.resource)
}

/// How many files are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FilePage {
    /// The most files.
    #[serde(default = "most")]
    #[param(minimum = 1, maximum = 10000, default = 10000)]
    limit: u32,
    /// Those sent for this alone.
    purpose: Option<Purpose>,
}

fn most() -> u32 {
    10_000
}

/// The files of the caller
#[utoipa::path(get, path = "/v1/files", operation_id = "list_files", tag = "openai", params(FilePage),
    responses((status = 200, description = "The latest first", body = FileList), Failures))]
pub(crate) async fn list(
    State(server): State<Server>,
    caller: Caller,
    ApiQuery(page): ApiQuery<FilePage>,
) -> Result<Json<FileList>, ApiError> {
    let limit = checked_limit(page.limit, most())?;
    if server.parts.journal.is_none() {
        return Ok(Json(FileList { object: "list", data: Vec::new(), has_more: false }));
    }
    let user = caller.name().to_owned();
    // What they were sent for is known when they are read.
    let most = if page.purpose.is_some() { u32::MAX } else { limit + 1 };
    let bodies = server.read_journal(move |journal| journal.files_of(&user, most)).await?;
    let kept = bodies.iter().filter_map(|body| serde_json::from_str::<Kept>(body).ok()).map(|kept| kept.shown);
    let fits = |file: &FileObject| page.purpose.is_none_or(|purpose| purpose == file.purpose);
    let mut data: Vec<FileObject> = kept.filter(fits).take(limit as usize + 1).collect();
    let has_more = data.len() > limit as usize;
    data.truncate(limit as usize);
    Ok(Json(FileList { object: "list", data, has_more }))
}

/// What is known of a file
#[utoipa::path(get, path = "/v1/files/{file_id}", operation_id = "get_file", tag = "openai", params(("file_id" = String, Path, description = "Its id")),
    responses((status = 200, description = "The file", body = FileObject), Failures))]
pub(crate) async fn show(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<FileObject>, ApiError> {
    Ok(Json(find(&server, &caller, &id).await?.shown))
}

/// What a file holds
#[utoipa::path(get, path = "/v1/files/{file_id}/content", operation_id = "get_file_content", tag = "openai",
    params(("file_id" = String, Path, description = "Its id")),
    responses((status = 200, description = "Its bytes", content_type = "application/octet-stream", body = inline(FileBytes)),
        Failures))]
pub(crate) async fn content(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let kept = find(&server, &caller, &id).await?;
    let bytes = bytes_of(&server, kept.path).await?;
    // Whatever it is, a browser saves it and runs nothing of it.
    let headers: [(HeaderName, HeaderValue); 2] = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
    ];
    Ok((headers, bytes).into_response())
}

/// Remove a file
#[utoipa::path(delete, path = "/v1/files/{file_id}", operation_id = "remove_file", tag = "openai",
    params(("file_id" = String, Path, description = "Its id")),
    responses((status = 200, description = "It is gone", body = FileDeleted), Failures))]
pub(crate) async fn delete(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<FileDeleted>, ApiError> {
    caller.must(Right::Run)?;
    let kept = find(&server, &caller, &id).await?;
    if let Some(journal) = &server.parts.journal
        && journal.remove_file(&kept.shown.id, &kept.path).await?
    {
        let media = Arc::clone(&server.parts.media);
        let removed = tokio::task::spawn_blocking(move || media.remove(&kept.path)).await;
        removed.map_err(|error| ApiError::internal("the file cannot be removed", &error))??;
    }
    Ok(Json(FileDeleted { id: kept.shown.id, object: "file", deleted: true }))
}
