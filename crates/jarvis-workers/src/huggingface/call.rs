//! From a task and its arguments to one call: where it goes, what it sends and what must come back.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use jarvis_engine::Job;
use jarvis_plan::{ErrorCode, Kind, TaskError};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::chat::{missing, need};
use crate::heavy::Cancel;
use crate::{Inputs, picture};
use jarvis_store::{blocking, sniff};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Any list or object, kept as it is.
    Data,
    /// A list, kept as it is; a single object becomes a list of one.
    Rows,
    /// An object with `text`.
    Text,
    /// A list whose first element has `generated_text`.
    Caption,
    /// Detections, to be drawn.
    Boxes,
    /// Segments, to be drawn.
    Masks,
    Media(Kind),
}

#[derive(Debug)]
pub(super) enum Body {
    /// JSON with `inputs`, options and perhaps parameters.
    Inputs {
        inputs: Value,
        parameters: Option<Value>,
    },
    Raw {
        mime: &'static str,
        bytes: Bytes,
    },
}

#[derive(Debug)]
pub(super) struct Call {
    /// The task to name in the path, for models that can do more than one.
    pub(super) pipeline: Option<&'static str>,
    pub(super) body: Body,
    pub(super) wanted: Wanted,
    /// The picture that the result is drawn on.
    pub(super) picture: Option<Bytes>,
}

pub(super) async fn prepare(inputs: &Inputs, job: &Job) -> Result<Call, TaskError> {
    let task = job.candidate.effective_task.as_str();
    let need = |arg: &str| need(job, arg);
    let json = |inputs: Value, wanted: Wanted| {
        Ok(Call { pipeline: None, body: Body::Inputs { inputs, parameters: None }, wanted, picture: None })
    };
    match task {
        "text-classification"
        | "token-classification"
        | "summarization"
        | "translation"
        | "conversational"
        | "text-generation"
        | "text2text-generation" => json(need("text")?.into(), Wanted::Data),
        "question-answering" => {
            let question = job.arg("question").map_or_else(|| need("text"), Ok)?;
            let context = job.arg("context").unwrap_or_default();
            json(json!({ "question": question, "context": context }), Wanted::Data)
        }
        "sentence-similarity" => {
            Ok(Call { pipeline: Some("sentence-similarity"), ..json(sentences(job)?, Wanted::Data)? })
        }
        "feature-extraction" => {
            Ok(Call { pipeline: Some("feature-extraction"), ..json(need("text")?.into(), Wanted::Data)? })
        }
        "tabular-classification" => json(json!({ "data": table(job)? }), Wanted::Data),
        "text-to-image" => json(need("text")?.into(), Wanted::Media(Kind::Image)),
        "text-to-video" => json(need("text")?.into(), Wanted::Media(Kind::Video)),
        "text-to-speech" => json(need("text")?.into(), Wanted::Media(Kind::Audio)),
        "visual-question-answering" | "document-question-answering" => {
            let question = job.arg("text").map_or_else(|| need("question"), Ok).map_err(|_| missing(task, "text"))?;
            let image = png_base64(inputs, need("image")?).await?;
            json(json!({ "question": question, "image": image }), Wanted::Rows)
        }
        "image-to-image" if job.arg("text").is_some() => {
            // A raw body holds the picture alone, so an instruction beside it needs JSON.
            let image = png_base64(inputs, need("image")?).await?;
            let parameters = Some(json!({ "prompt": job.arg("text") }));
            let body = Body::Inputs { inputs: image.into(), parameters };
            Ok(Call { pipeline: None, body, wanted: Wanted::Media(Kind::Image), picture: None })
        }
        "image-classification" => raw_picture(inputs, need("image")?, Wanted::Rows).await,
        "object-detection" => raw_picture(inputs, need("image")?, Wanted::Boxes).await,
        "image-segmentation" => raw_picture(inputs, need("image")?, Wanted::Masks).await,
        "image-to-text" => raw_picture(inputs, need("image")?, Wanted::Caption).await,
        "image-to-image" | "depth-estimation" => raw_picture(inputs, need("image")?, Wanted::Media(Kind::Image)).await,
        "automatic-speech-recognition" => raw_sound(inputs, need("audio")?, Wanted::Text).await,
        "audio-classification" => raw_sound(inputs, need("audio")?, Wanted::Rows).await,
        "audio-to-audio" => raw_sound(inputs, need("audio")?, Wanted::Media(Kind::Audio)).await,
        _ if jarvis_catalogue::find(task).is_some_and(|known| known.control_model().is_some()) => Err(TaskError::new(
            ErrorCode::CannotDo,
            format!("`{task}` runs on a model server only, not at Hugging Face"),
        )
        .hint("Configure a model server with `local_inference_endpoint`")),
        _ => Err(TaskError::new(ErrorCode::CannotDo, format!("it is not known how Hugging Face performs `{task}`"))),
    }
}

/// The picture as PNG, upright: what a phone stores sideways would be taken as lying.
async fn png(inputs: &Inputs, image: &str) -> Result<Bytes, TaskError> {
    let bytes = inputs.bytes(image, Kind::Image).await?;
    let max_pixels = inputs.limits().max_pixels;
    let work = move |_: &Cancel| picture::png(&picture::decode(&bytes, max_pixels)?).map(Bytes::from);
    inputs.heavy().run(&CancellationToken::new(), work).await
}

async fn png_base64(inputs: &Inputs, image: &str) -> Result<String, TaskError> {
    let bytes = png(inputs, image).await?;
    blocking(move || Ok(STANDARD.encode(&bytes))).await
}

async fn raw_picture(inputs: &Inputs, image: &str, wanted: Wanted) -> Result<Call, TaskError> {
    let bytes = png(inputs, image).await?;
    let picture = matches!(wanted, Wanted::Boxes | Wanted::Masks).then(|| bytes.clone());
    Ok(Call { pipeline: None, body: Body::Raw { mime: "image/png", bytes }, wanted, picture })
}

async fn raw_sound(inputs: &Inputs, audio: &str, wanted: Wanted) -> Result<Call, TaskError> {
    let bytes = inputs.bytes(audio, Kind::Audio).await?;
    let mime = sniff::sniff(&bytes).map_or("application/octet-stream", |found| found.mime);
    Ok(Call { pipeline: None, body: Body::Raw { mime, bytes }, wanted, picture: None })
}

/// A sentence and those it is compared with: `text1` with `text2`, `text3`, …, or `text` with `sentences`, each of
/// which may be a JSON list.
fn sentences(job: &Job) -> Result<Value, TaskError> {
    let task = job.candidate.effective_task.as_str();
    let source = job.arg("text1").or_else(|| job.arg("text")).ok_or_else(|| missing(task, "text1"))?;
    let mut others: Vec<String> = Vec::new();
    for (name, value) in &job.texts() {
        let other =
            name == "sentences" || name.strip_prefix("text").is_some_and(|n| n.parse::<u32>().is_ok_and(|n| n > 1));
        if !other || value.trim().is_empty() {
            continue;
        }
        match serde_json::from_str::<Vec<String>>(value) {
            Ok(list) => others.extend(list),
            Err(_) => others.push(value.clone()),
        }
    }
    if others.is_empty() {
        return Err(missing(task, "text2"));
    }
    Ok(json!({ "source_sentence": source, "sentences": others }))
}

/// A table as columns. It may be given as columns, as a list of rows, or as one row.
fn table(job: &Job) -> Result<Value, TaskError> {
    let task = job.candidate.effective_task.as_str();
    let text = ["data", "table", "row"].iter().find_map(|name| job.arg(name)).ok_or_else(|| missing(task, "data"))?;
    let wrong = || {
        TaskError::new(ErrorCode::InvalidInput, format!("the argument `data` of `{task}` is not a table"))
            .hint("Give it as JSON, a list of values for each column: {\"age\": [31, 42]}")
    };
    let value: Value = serde_json::from_str(text).map_err(|_| wrong())?;
    let value = match value {
        Value::Object(mut fields) if fields.len() == 1 => match fields.remove("data") {
            Some(inner) => inner,
            None => Value::Object(fields),
        },
        other => other,
    };
    let rows = match value {
        Value::Object(columns) if columns.values().all(Value::is_array) && !columns.is_empty() => {
            return Ok(Value::Object(columns));
        }
        Value::Object(row) if !row.is_empty() => vec![Value::Object(row)],
        Value::Array(rows) if !rows.is_empty() => rows,
        Value::Object(_) | Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(wrong());
        }
    };
    let mut columns: Map<String, Value> = Map::new();
    for (at, row) in rows.iter().enumerate() {
        let row = row.as_object().ok_or_else(wrong)?;
        for (name, cell) in row {
            let column = columns.entry(name.clone()).or_insert_with(|| Value::Array(vec![Value::Null; at]));
            if let Value::Array(cells) = column {
                cells.push(cell.clone());
            }
        }
        for cells in columns.values_mut().filter_map(Value::as_array_mut) {
            cells.resize(at + 1, Value::Null);
        }
    }
    Ok(Value::Object(columns))
}
