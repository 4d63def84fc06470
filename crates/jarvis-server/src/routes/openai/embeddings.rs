//! Vectors of texts in the OpenAI protocol, made by a local model.

use axum::Json;
use axum::extract::State;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::error::{ApiError, Failures};
use crate::extract::ApiJson;
use crate::served;
use crate::state::Server;
use crate::users::Caller;

/// The most texts of one request.
const MOST_TEXTS: usize = 2048;
const TASK: &str = "feature-extraction";

/// A request for vectors.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct EmbeddingRequest {
    /// A local model; the first for this where none is named.
    #[schema(example = "Xenova/all-MiniLM-L6-v2")]
    model: Option<String>,
    /// A text, or a list of texts.
    input: Texts,
    /// `float`, or `base64` for little-endian 32-bit numbers.
    encoding_format: Option<String>,
    /// The length of the vectors; only that of the model can be given.
    dimensions: Option<usize>,
}

/// One text or several.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Texts {
    /// A text.
    One(String),
    /// Several.
    Many(Vec<String>),
}

/// The vectors.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EmbeddingReply {
    /// `list`.
    object: &'static str,
    data: Vec<Embedding>,
    model: String,
    usage: EmbeddingTokens,
}

/// The vector of one text.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Embedding {
    /// `embedding`.
    object: &'static str,
    /// Which of the texts, from 0.
    index: usize,
    #[schema(value_type = Vector)]
    embedding: Value,
}

/// A vector, in the encoding that was asked for.
#[derive(ToSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) enum Vector {
    Numbers(Vec<f32>),
    /// 32-bit floats, little-endian, in base64.
    Base64(String),
}

/// Tokens are not counted: both are 0.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EmbeddingTokens {
    prompt_tokens: u64,
    total_tokens: u64,
}

/// Vectors of texts
#[utoipa::path(post, path = "/v1/embeddings", operation_id = "create_embeddings", tag = "openai", request_body = EmbeddingRequest,
    responses((status = 200, description = "One vector for each text", body = EmbeddingReply), Failures))]
pub(crate) async fn embed(
    State(server): State<Server>,
    caller: Caller,
    ApiJson(body): ApiJson<EmbeddingRequest>,
) -> Result<Json<EmbeddingReply>, ApiError> {
    caller.must_run()?;
    let model = served::model_for(&server, body.model.as_deref(), TASK).await?;
    let texts = match body.input {
        Texts::One(text) => vec![text],
        Texts::Many(texts) => texts,
    };
    if texts.is_empty() || texts.len() > MOST_TEXTS {
        return Err(ApiError::invalid(format!("`input` has {} texts; 1 to {MOST_TEXTS} can be given", texts.len()))
            .param("input"));
    }
    let as_base64 = match body.encoding_format.as_deref() {
        None | Some("float") => false,
        Some("base64") => true,
        Some(_) => {
            return Err(ApiError::invalid("`encoding_format` is `float` or `base64`").param("encoding_format"));
        }
    };
    let args = IndexMap::from([("texts".to_owned(), json!(texts))]);
    let output = served::perform(&server, &caller, &model, TASK, args).await.map_err(served::failed)?;
    let vectors: Vec<Vec<f32>> =
        serde_json::from_value(output).map_err(|error| ApiError::internal("the model gave no vectors", &error))?;
    let length = vectors.first().map_or(0, Vec::len);
    if body.dimensions.is_some_and(|wanted| wanted != length) {
        return Err(
            ApiError::invalid(format!("the vectors of this model have {length} dimensions")).param("dimensions")
        );
    }
    let written = |vector: &Vec<f32>| match as_base64 {
        true => STANDARD.encode(vector.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>()).into(),
        false => json!(vector),
    };
    let data = vectors.iter().enumerate();
    let data = data.map(|(index, vector)| Embedding { object: "embedding", index, embedding: written(vector) });
    let usage = EmbeddingTokens { prompt_tokens: 0, total_tokens: 0 };
    Ok(Json(EmbeddingReply { object: "list", data: data.collect(), model: model.id, usage }))
}
