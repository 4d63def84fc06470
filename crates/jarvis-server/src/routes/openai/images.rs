//! Pictures in the OpenAI protocol: drawn from a text by whatever serves that here.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use indexmap::IndexMap;
use jarvis_catalogue::TaskOutput;
use jarvis_plan::Kind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Links;
use crate::error::{ApiError, Failures};
use crate::extract::ApiJson;
use crate::files::bytes_of;
use crate::runs::now_ms;
use crate::served;
use crate::state::Server;
use crate::users::Caller;

const TASK: &str = "text-to-image";

/// The most pictures of one request.
const MOST: u32 = 4;

/// A request for pictures. Fields that are not listed, such as `size` and `quality`, are left to what draws.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ImageRequest {
    /// What is to be seen.
    prompt: String,
    /// A model of this machine; whatever serves this here where none is named, or one of OpenAI's.
    model: Option<String>,
    /// 1 to 4.
    n: Option<u32>,
    /// `url` or `b64_json`; the latter for `gpt-image` models, which know nothing else.
    response_format: Option<String>,
}

/// The pictures.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImageReply {
    /// When, in seconds since the Unix epoch.
    created: u64,
    data: Vec<Picture>,
}

/// A picture: where it is, or its bytes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Picture {
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Its bytes in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    b64_json: Option<String>,
}

/// Draw pictures
#[utoipa::path(post, path = "/v1/images/generations", operation_id = "create_images", tag = "openai", request_body = ImageRequest,
    responses((status = 200, description = "The pictures", body = ImageReply), Failures))]
pub(crate) async fn generate(
    State(server): State<Server>,
    caller: Caller,
    headers: HeaderMap,
    ApiJson(body): ApiJson<ImageRequest>,
) -> Result<Json<ImageReply>, ApiError> {
    caller.must_run()?;
    if body.prompt.trim().is_empty() {
        return Err(ApiError::invalid("`prompt` is empty").param("prompt"));
    }
    let n = body.n.unwrap_or(1);
    if !(1..=MOST).contains(&n) {
        return Err(ApiError::invalid(format!("`n` is a number from 1 to {MOST}")).param("n"));
    }
    let inside = match body.response_format.as_deref() {
        Some("b64_json") => true,
        Some("url") => false,
        None => body.model.as_deref().is_some_and(|model| model.starts_with("gpt-image")),
        Some(_) => return Err(ApiError::invalid("`response_format` is `url` or `b64_json`").param("response_format")),
    };
    let model = served::model_for(&server, body.model.as_deref(), TASK).await?;
    let links = Links::of(&server, &headers);
    let mut data = Vec::new();
    for _ in 0..n {
        let args = IndexMap::from([("text".to_owned(), body.prompt.trim().into())]);
        let output = served::perform(&server, &caller, &model, TASK, args).await.map_err(served::failed)?;
        server.own_made(&caller, &output).await?;
        let path = TaskOutput(output).media(Kind::Image).map(str::to_owned);
        let path = path.ok_or_else(|| ApiError::internal("the model gave no picture", &model.id))?;
        data.push(match inside {
            false => Picture { url: Some(links.to(&path)), b64_json: None },
            true => Picture { url: None, b64_json: Some(STANDARD.encode(bytes_of(&server, path).await?)) },
        });
    }
    Ok(Json(ImageReply { created: now_ms() / 1000, data }))
}
