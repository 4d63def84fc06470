//! Files in: multipart uploads, stored under the public root as they come, or taken in as text.

use axum::Json;
use axum::extract::State;
use axum::extract::multipart::{Multipart, MultipartError, MultipartRejection};
use axum::http::StatusCode;
use jarvis_workers::Arriving;
use utoipa::ToSchema;

use crate::error::{ApiError, ErrorBody, Failures};
use crate::pace;
use crate::state::Server;
use crate::users::{Caller, Right};
use crate::wire::ask::{Attachment, MOST_ATTACHMENTS};
use crate::wire::reply::{UploadReply, Uploaded};

/// An upload.
#[derive(ToSchema)]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) struct UploadForm {
    /// The file; the field may be repeated.
    #[schema(value_type = Vec<String>, format = Binary)]
    file: Vec<u8>,
}

/// Take files in
///
/// Pictures, sounds and videos get a path that requests can name; texts come back as text, for the `attachments` of a
/// request.
#[utoipa::path(post, path = "/upload", operation_id = "upload_files", tag = "media",
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses((status = 200, description = "How requests name the files", body = UploadReply),
        (status = 413, description = "A file is too large", body = ErrorBody),
        (status = 415, description = "The kind of a file is not supported", body = ErrorBody),
        (status = 507, description = "The disk is full", body = ErrorBody),
        Failures))]
pub(crate) async fn upload(
    State(server): State<Server>,
    caller: Caller,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Json<UploadReply>, ApiError> {
    caller.must(Right::Run)?;
    let mut form = form.map_err(|_| {
        ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media", "the body must be a multipart form")
            .hint("send the file as the form field `file`: curl -F file=@photo.jpg …/upload")
    })?;
    let mut files = Vec::new();
    while let Some(mut field) = form.next_field().await.map_err(|error| broken(&error))? {
        if field.name() != Some("file") {
            continue;
        }
        if files.len() == MOST_ATTACHMENTS {
            return Err(ApiError::invalid(format!("an upload may have {MOST_ATTACHMENTS} files")).param("file"));
        }
        // Only the name counts; some browsers send it with a path.
        let name = field.file_name().unwrap_or("file").rsplit(['/', '\\']).next().unwrap_or("file");
        let name: String = name.chars().filter(|c| !c.is_control()).take(200).collect();
        let (media, agent) = (&server.parts.media, &server.setup().agent);
        let mut file = Arriving::new(&name, media);
        while let Some(piece) = field.chunk().await.map_err(|error| broken(&error))? {
            if file.size() + piece.len() as u64 > server.options.max_upload as u64 {
                return Err(too_large());
            }
            file = file.add(&piece).await?;
        }
        let size = file.size();
        if size == 0 {
            return Err(ApiError::invalid(format!("`{name}` is empty")).param("file"));
        }
        let resource = file.finish(agent.reader.as_ref()).await?.resource;
        server.own_resource(&caller, &resource).await?;
        server.metrics.uploaded(size);
        files.push(Uploaded { attachment: Attachment::of(&resource), bytes: size });
    }
    let Some(first) = files.first().cloned() else {
        return Err(ApiError::invalid("the form has no field `file`").param("file"));
    };
    Ok(Json(UploadReply { files, first }))
}

pub(crate) fn too_large() -> ApiError {
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "the file is larger than this server takes")
        .hint("the limit is `limits.max_input_bytes` in its configuration")
}

pub(crate) fn broken(error: &MultipartError) -> ApiError {
    if pace::is_too_slow(error) {
        return ApiError::too_slow();
    }
    match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(),
        _ => ApiError::invalid("the multipart form is broken"),
    }
}
