//! Speech in the OpenAI protocol: sounds to text, and text to sound, by models of this machine.

use axum::Json;
use axum::extract::State;
use axum::extract::multipart::{Multipart, MultipartRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use indexmap::IndexMap;
use jarvis_plan::ErrorCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::error::{ApiError, ErrorBody, Failures};
use crate::extract::ApiJson;
use crate::routes::upload;
use crate::served;
use crate::state::Server;
use crate::users::Caller;
use crate::wire::schema::FileBytes;

const HEAR: &str = "automatic-speech-recognition";
const SPEAK: &str = "text-to-speech";

/// The voices of OpenAI's `speech` route.
const OPENAI_VOICES: [&str; 13] =
    ["alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage", "shimmer", "verse"];

/// A recording to write down.
#[derive(ToSchema)]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) struct TranscriptionForm {
    /// The recording.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// A local model; the first for this where none is named.
    model: Option<String>,
    /// The language as a code of ISO 639-1; told from the sound where none is given.
    language: Option<String>,
    /// `json`, `verbose_json` (with times), `text`, `srt` or `vtt`.
    response_format: Option<String>,
}

/// What was said. What stands beside `text` comes with `verbose_json` alone.
#[derive(Serialize, ToSchema)]
pub(crate) struct Transcription {
    text: String,
    /// `transcribe` or `translate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'static str>,
    /// The language, where the model told it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    language: Option<Value>,
    /// Its length in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    segments: Option<Vec<Segment>>,
}

/// A stretch of speech, in seconds.
#[derive(Serialize, ToSchema)]
pub(crate) struct Segment {
    /// From 0.
    id: usize,
    start: f64,
    end: f64,
    text: String,
}

/// Write down what is said
///
/// Fields that only tune a model (`prompt`, `temperature`, `timestamp_granularities[]`) are ignored.
#[utoipa::path(post, path = "/v1/audio/transcriptions", operation_id = "create_transcription", tag = "openai",
    request_body(content = TranscriptionForm, content_type = "multipart/form-data"),
    responses((status = 200, description = "The text", content((Transcription = "application/json"),
            (String = "text/plain"), (String = "application/x-subrip"), (String = "text/vtt"))),
        (status = 413, description = "The recording is too large", body = ErrorBody),
        Failures))]
pub(crate) async fn transcribe(
    State(server): State<Server>,
    caller: Caller,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Response, ApiError> {
    written_down(server, caller, form, false).await
}

/// Write down in English what is said
#[utoipa::path(post, path = "/v1/audio/translations", operation_id = "create_translation", tag = "openai",
    request_body(content = TranscriptionForm, content_type = "multipart/form-data"),
    responses((status = 200, description = "The text, in English", content((Transcription = "application/json"),
            (String = "text/plain"), (String = "application/x-subrip"), (String = "text/vtt"))),
        (status = 413, description = "The recording is too large", body = ErrorBody),
        Failures))]
pub(crate) async fn translate(
    State(server): State<Server>,
    caller: Caller,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Response, ApiError> {
    written_down(server, caller, form, true).await
}

async fn written_down(
    server: Server,
    caller: Caller,
    form: Result<Multipart, MultipartRejection>,
    translate: bool,
) -> Result<Response, ApiError> {
    caller.must_run()?;
    let mut form = form.map_err(|_| ApiError::invalid("the body must be a multipart form with the field `file`"))?;
    let (mut sound, mut fields) = (None, IndexMap::new());
    while let Some(field) = form.next_field().await.map_err(|error| upload::broken(&error))? {
        match field.name().unwrap_or_default().to_owned() {
            name if name == "file" => {
                let bytes = field.bytes().await.map_err(|error| upload::broken(&error))?;
                if bytes.len() > server.options.max_upload {
                    return Err(upload::too_large());
                }
                sound = Some(bytes);
            }
            name => {
                let text = field.text().await.map_err(|error| upload::broken(&error))?;
                fields.insert(name, text);
            }
        }
    }
    let field = |name: &str| fields.get(name).map(|text| text.trim()).filter(|text| !text.is_empty());
    let sound = sound.ok_or_else(|| ApiError::invalid("the form has no field `file`").param("file"))?;
    let format = field("response_format").unwrap_or("json");
    if !["json", "verbose_json", "text", "srt", "vtt"].contains(&format) {
        return Err(ApiError::invalid(format!(
            "`response_format` is `{format}`; known are json, verbose_json, text, srt, vtt"
        ))
        .param("response_format"));
    }
    let model = served::model_for(&server, field("model"), HEAR).await?;
    let url = format!("data:application/octet-stream;base64,{}", STANDARD.encode(&sound));
    let mut args = IndexMap::from([("audio".to_owned(), Value::String(url))]);
    if let Some(language) = field("language") {
        args.insert("language".to_owned(), language.into());
    }
    if translate {
        args.insert("translate".to_owned(), true.into());
    }
    let output = match served::perform(&server, &caller, &model, HEAR, args).await {
        // Silence is a recording like any other to this protocol.
        Err(error) if error.code == ErrorCode::NoOutput => json!({"generated text": "", "chunks": []}),
        output => output.map_err(served::failed)?,
    };
    let text = output.get("generated text").and_then(Value::as_str).unwrap_or_default().to_owned();
    let parts = parts(&output, &text);
    let plain = |text: String, mime: &'static str| {
        ([(header::CONTENT_TYPE, HeaderValue::from_static(mime))], text).into_response()
    };
    Ok(match format {
        "text" => plain(text, "text/plain; charset=utf-8"),
        "srt" => plain(subtitles(&parts, ","), "application/x-subrip; charset=utf-8"),
        "vtt" => plain(format!("WEBVTT\n\n{}", subtitles(&parts, ".")), "text/vtt; charset=utf-8"),
        "verbose_json" => {
            let task = if translate { "translate" } else { "transcribe" };
            let last = parts.last().map_or(0.0, |part| part.end);
            let duration = output.get("duration").and_then(Value::as_f64).unwrap_or(last);
            let language = output.get("language").cloned().unwrap_or_default();
            let segment = |(id, Part { start, end, text })| Segment { id, start, end, text };
            let segments = parts.into_iter().enumerate().map(segment).collect();
            Json(Transcription {
                text,
                task: Some(task),
                language: Some(language),
                duration: Some(duration),
                segments: Some(segments),
            })
            .into_response()
        }
        _ => Json(Transcription { text, task: None, language: None, duration: None, segments: None }).into_response(),
    })
}

/// A stretch of speech, in seconds.
struct Part {
    start: f64,
    end: f64,
    text: String,
}

/// The parts that the model timed; the whole as one part where it timed none.
fn parts(output: &Value, text: &str) -> Vec<Part> {
    let read = |row: &Value| {
        let time = |at: usize| row.get("timestamp")?.get(at)?.as_f64();
        Some(Part { start: time(0)?, end: time(1)?, text: row.get("text")?.as_str()?.trim().to_owned() })
    };
    let timed = output.get("chunks").and_then(Value::as_array);
    match timed {
        Some(rows) => rows.iter().filter_map(read).collect(),
        None => vec![Part { start: 0.0, end: 0.0, text: text.to_owned() }],
    }
}

/// Numbered subtitles with `mark` before the milliseconds.
fn subtitles(parts: &[Part], mark: &str) -> String {
    let clock = |seconds: f64| {
        let ms = (seconds.max(0.0) * 1000.0).round() as u64;
        format!("{:02}:{:02}:{:02}{mark}{:03}", ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000)
    };
    let block = |(at, part): (usize, &Part)| {
        format!("{}\n{} --> {}\n{}\n\n", at + 1, clock(part.start), clock(part.end), part.text)
    };
    parts.iter().enumerate().map(block).collect()
}

/// A text to say.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct SpeechRequest {
    /// A local model; the first for this where none is named.
    model: Option<String>,
    /// The text.
    input: String,
    /// The voice, where the model has several; OpenAI's own names stand for the usual one.
    voice: Option<String>,
    /// `wav`.
    response_format: Option<String>,
    /// 0.25 to 4; 1 is the usual one. Some models speak at that alone.
    speed: Option<f32>,
}

/// Say a text
#[utoipa::path(post, path = "/v1/audio/speech", operation_id = "create_speech", tag = "openai", request_body = SpeechRequest,
    responses((status = 200, description = "The sound", content_type = "audio/wav", body = inline(FileBytes)), Failures))]
pub(crate) async fn speak(
    State(server): State<Server>,
    caller: Caller,
    ApiJson(body): ApiJson<SpeechRequest>,
) -> Result<Response, ApiError> {
    caller.must_run()?;
    if let Some(format) = body.response_format.as_deref().filter(|format| *format != "wav") {
        return Err(ApiError::invalid(format!("`response_format` is `{format}`; only `wav` can be given"))
            .param("response_format"));
    }
    let model = served::model_for(&server, body.model.as_deref(), SPEAK).await?;
    let mut args = IndexMap::from([("text".to_owned(), Value::String(body.input))]);
    if let Some(speed) = body.speed {
        args.insert("speed".to_owned(), speed.into());
    }
    // OpenAI's clients must name one of its voices, which no model here has: the model's own speaks.
    if let Some(voice) = body.voice.filter(|voice| !OPENAI_VOICES.contains(&voice.as_str())) {
        args.insert("voice".to_owned(), voice.into());
    }
    let output = served::perform(&server, &caller, &model, SPEAK, args).await.map_err(served::failed)?;
    let path = output.get("generated audio").and_then(Value::as_str).map(str::to_owned);
    let path = path.ok_or_else(|| ApiError::internal("the model gave no sound", &output))?;
    server.own_made(&caller, &output).await?;
    let (media, most) = (std::sync::Arc::clone(&server.parts.media), server.options.max_upload as u64);
    let read = tokio::task::spawn_blocking(move || media.read(&path, most)).await;
    let bytes = read.map_err(|error| ApiError::internal("the sound cannot be read", &error))??;
    Ok((StatusCode::OK, [(header::CONTENT_TYPE, HeaderValue::from_static("audio/wav"))], bytes).into_response())
}
