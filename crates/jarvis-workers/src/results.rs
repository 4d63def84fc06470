//! From replies to results, for the services alike: media found and stored, boxes and masks drawn.

use bytes::Bytes;
use jarvis_catalogue::TaskOutput;
use jarvis_plan::{ErrorCode, Kind, TaskError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::draw::{self, Detection};
use crate::heavy::Cancel;
use crate::inputs::base64;
use crate::{Inputs, picture};
use jarvis_store::{blocking, sniff};
use jarvis_tools::service::{Reply, Service};

/// The most segments of one picture that are drawn.
const MAX_MASKS: usize = 256;

/// The field of a result that holds a medium of this kind.
pub(crate) fn media_key(kind: Kind) -> &'static str {
    match kind {
        Kind::Image => "generated image",
        Kind::Audio => "generated audio",
        Kind::Video => "generated video",
        Kind::Text | Kind::Json => "generated text",
    }
}

/// Stores bytes that must be of a kind; the extension follows from what they are.
pub(crate) async fn store_as(inputs: &Inputs, kind: Kind, bytes: Vec<u8>, what: &str) -> Result<String, TaskError> {
    let found = sniff::require(what, &bytes, kind).map_err(bad_reply)?;
    inputs.store(kind, found.extension, bytes).await
}

/// An input's error as that of a reply: what came is not what was asked for.
pub(crate) fn bad_reply(error: TaskError) -> TaskError {
    match error.code {
        ErrorCode::InvalidInput | ErrorCode::Forbidden | ErrorCode::NotFound | ErrorCode::MissingArgument => {
            TaskError { code: ErrorCode::BadReply, ..error }
        }
        _ => error,
    }
}

/// The medium in a reply, stored: the body itself, or what its JSON holds as base64, data URL, address or public path.
pub(crate) async fn media_result(
    service: &Service,
    inputs: &Inputs,
    reply: Reply,
    kind: Kind,
) -> Result<TaskOutput, TaskError> {
    let wanted = match kind {
        Kind::Image => "a picture",
        Kind::Audio => "a sound",
        Kind::Video => "a video",
        Kind::Text | Kind::Json => "data",
    };
    let path = if sniff::sniff(&reply.body).is_some_and(|found| found.fits(kind)) {
        store_as(inputs, kind, reply.body.to_vec(), "the answer").await?
    } else {
        let Some((key, text)) = reply.json.as_ref().and_then(|value| find_media(value, kind, 4)) else {
            return Err(service.bad_reply(&reply, wanted));
        };
        let bytes = if key == "path" || key == "url" || is_address(text) {
            inputs.bytes(text, kind).await.map_err(bad_reply)?.to_vec()
        } else {
            let (text, limit) = (text.to_owned(), inputs.limits().max_bytes);
            blocking(move || base64(text.as_bytes(), limit).map_err(bad_reply)).await?
        };
        store_as(inputs, kind, bytes, "the medium in the answer").await?
    };
    Ok(TaskOutput(json!({ media_key(kind): path })))
}

/// A file that a reply names by an address of the service itself, fetched from there and stored. `None` when the address
/// is not the service's own.
pub(crate) async fn own_file(
    service: &Service,
    inputs: &Inputs,
    base: &Url,
    address: &Url,
    kind: Kind,
) -> Result<Option<String>, TaskError> {
    if address.origin() != base.origin() {
        return Ok(None);
    }
    let reply = service.accept(service.send(service.get(address.clone()).await?).await?)?;
    store_as(inputs, kind, reply.body.to_vec(), "the file that the answer names").await.map(Some)
}

fn is_address(text: &str) -> bool {
    let head: String = text.chars().take(8).collect::<String>().to_ascii_lowercase();
    ["data:", "http://", "https://"].iter().any(|scheme| head.starts_with(scheme))
}

/// The first text in a reply that stands for a medium, by the names that services give such fields.
fn find_media(value: &Value, kind: Kind, depth: u8) -> Option<(&'static str, &str)> {
    let own: &[&'static str] = match kind {
        Kind::Image => &["generated image", "image", "images", "depth", "b64_json"],
        Kind::Audio => &["generated audio", "audio", "blob"],
        Kind::Video => &["generated video", "video", "videos", "blob"],
        Kind::Text | Kind::Json => &[],
    };
    if depth == 0 {
        return None;
    }
    match value {
        Value::Array(rows) => find_media(rows.first()?, kind, depth - 1),
        Value::Object(fields) => {
            own.iter().chain(&["path", "url", "output", "data"]).find_map(|key| match fields.get(*key)? {
                Value::String(text) if !text.trim().is_empty() => Some((*key, text.as_str())),
                Value::Array(rows) => match rows.first()? {
                    Value::String(text) => Some((*key, text.as_str())),
                    row => find_media(row, kind, depth - 1),
                },
                inner @ Value::Object(_) => find_media(inner, kind, depth - 1),
                Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => None,
            })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Draws what was detected on the picture: `generated image` beside the list as `predicted`.
pub(crate) async fn boxes(inputs: &Inputs, image: Bytes, rows: Vec<Value>) -> Result<TaskOutput, TaskError> {
    let max_pixels = inputs.limits().max_pixels;
    let found: Vec<Detection> = rows.iter().filter_map(detection).collect();
    let work = move |_: &Cancel| {
        let mut canvas = picture::flatten(picture::decode(&image, max_pixels)?);
        draw::boxes(&mut canvas, &found);
        picture::jpeg(&canvas)
    };
    let file = inputs.heavy().run(&CancellationToken::new(), work).await?;
    let path = inputs.store(Kind::Image, "jpg", file).await?;
    Ok(TaskOutput::image(path).with("predicted", Value::Array(rows)))
}

fn detection(row: &Value) -> Option<Detection> {
    let corner = |name: &str| row.get("box")?.get(name)?.as_f64();
    Some(Detection {
        label: label(row),
        score: row.get("score").and_then(Value::as_f64).unwrap_or_default(),
        xmin: corner("xmin")?,
        ymin: corner("ymin")?,
        xmax: corner("xmax")?,
        ymax: corner("ymax")?,
    })
}

fn label(row: &Value) -> String {
    row.get("label").and_then(Value::as_str).unwrap_or("?").to_owned()
}

/// Lays the segments over the picture: `generated image` beside the list, without its masks, as `predicted`.
pub(crate) async fn masks(inputs: &Inputs, image: Bytes, mut rows: Vec<Value>) -> Result<TaskOutput, TaskError> {
    let limits = inputs.limits();
    let mut files = Vec::new();
    for row in rows.iter_mut() {
        let label = label(row);
        let mask = row.as_object_mut().and_then(|fields| fields.remove("mask"));
        if let Some(Value::String(text)) = mask
            && files.len() < MAX_MASKS
        {
            files.push((label, text));
        }
    }
    let work = move |cancel: &Cancel| {
        let mut canvas = picture::flatten(picture::decode(&image, limits.max_pixels)?);
        drop(image);
        let pixels = u64::from(canvas.width()) * u64::from(canvas.height());
        let mut tints = draw::Tints::default();
        // One mask at a time: all of them together could fill the memory.
        for (label, text) in files {
            let text = match text.split_once(',') {
                Some((head, data)) if head.starts_with("data:") => data,
                Some(_) | None => &text,
            };
            let file = base64(text.as_bytes(), limits.max_bytes).map_err(bad_reply)?;
            cancel.check()?;
            let mask = picture::decode(&file, mask_pixels(pixels).min(limits.max_pixels)).map_err(bad_mask)?;
            draw::overlay_mask(&mut canvas, tints.next(&label), &mask.into_luma8());
        }
        picture::jpeg(&canvas)
    };
    let file = inputs.heavy().run(&CancellationToken::new(), work).await?;
    let path = inputs.store(Kind::Image, "jpg", file).await?;
    Ok(TaskOutput::image(path).with("predicted", Value::Array(rows)))
}

/// The most pixels of a mask for a picture of so many. A model may give masks of its own working size, which is larger
/// than a small picture.
fn mask_pixels(picture: u64) -> u64 {
    picture.max(1 << 20)
}

fn bad_mask(error: TaskError) -> TaskError {
    match error.code {
        ErrorCode::TooLarge => TaskError::new(ErrorCode::BadReply, "a mask in the answer is larger than the picture"),
        _ => bad_reply(error),
    }
}

/// The rows of a reply that is a list; the first list inside, when lists are wrapped in a list.
pub(crate) fn rows(reply: &Reply) -> Option<Vec<Value>> {
    match reply.json.as_ref()? {
        Value::Array(rows) => match rows.as_slice() {
            [Value::Array(inner)] => Some(inner.clone()),
            _ => Some(rows.clone()),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;
    use crate::testkit::{inputs, png};

    #[tokio::test]
    async fn masks_are_bounded_by_the_picture() {
        let (_folder, inputs) = inputs();
        let row = |side| json!({"label": "sky", "score": 0.5, "mask": STANDARD.encode(png(side, side))});
        let mut rows = vec![row(4); MAX_MASKS + 9];
        rows.push(row(1024));
        let result = masks(&inputs, png(6, 5).into(), rows).await.unwrap().0;
        let named = result["predicted"].as_array().unwrap();
        assert_eq!((named.len(), &named[300 - 40]), (MAX_MASKS + 10, &json!({"label": "sky", "score": 0.5})));
        let error = masks(&inputs, png(6, 5).into(), vec![row(1025)]).await.unwrap_err();
        assert_eq!(
            (error.code, error.message.as_str()),
            (ErrorCode::BadReply, "a mask in the answer is larger than the picture")
        );
        assert_eq!((mask_pixels(30), mask_pixels(9 << 20)), (1 << 20, 9 << 20));
    }
}
