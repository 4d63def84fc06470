//! From what a model gave to the output of a task, in the shape that results from Hugging Face have.

use image::{DynamicImage, GrayImage, RgbImage, RgbaImage};
use jarvis_catalogue::TaskOutput;
use jarvis_engine::Job;
use jarvis_experts::{Detection, Output, Segment, TranscriptSegment};
use jarvis_plan::{ErrorCode, Kind, Language, TaskError};
use serde_json::{Value, json};

use super::input::Medium;
use crate::draw::{self, Tints};
use crate::heavy::Cancel;
use crate::native::{sound, wants_times};
use crate::{Inputs, picture};

pub(super) async fn of(job: &Job, output: Output, medium: Medium, inputs: &Inputs) -> Result<TaskOutput, TaskError> {
    let (given, seconds) = match medium {
        Medium::Picture(image) => (Some(image), None),
        Medium::Sound(sound) => (None, Some(sound.samples.len() as f64 / f64::from(sound.rate.max(1)))),
        Medium::None => (None, None),
    };
    Ok(match output {
        Output::Text(text) if is_question(&job.candidate.effective_task) => {
            TaskOutput(json!([{"answer": filled(text)?}]))
        }
        Output::Text(text) => TaskOutput::text(filled(text)?),
        Output::Labels(labels) => {
            TaskOutput(labels.iter().map(|one| json!({"label": one.label, "score": one.score})).collect())
        }
        Output::Entities(entities) => {
            let row = |one: &jarvis_experts::Entity| json!({"entity_group": one.label, "word": one.text, "score": one.score, "start": one.start, "end": one.end});
            TaskOutput(entities.iter().map(row).collect())
        }
        Output::Answer { text, score, start, end } => {
            TaskOutput(json!({"answer": filled(text)?, "score": score, "start": start, "end": end}))
        }
        Output::Vectors(vectors) if job.candidate.effective_task == "feature-extraction" => TaskOutput(json!(vectors)),
        Output::Vectors(vectors) => TaskOutput(similarities(&vectors)?),
        // Where somebody speaks, without what is said.
        Output::Transcript(transcript) if transcript.text.trim().is_empty() && !transcript.segments.is_empty() => {
            let rows: Value =
                transcript.segments.iter().map(|part| json!({"timestamp": [part.start, part.end]})).collect();
            match job.candidate.effective_task.as_str() {
                "audio-classification" => TaskOutput::text(with_times(&transcript.segments)).with("chunks", rows),
                _ => TaskOutput(rows),
            }
        }
        Output::Transcript(transcript) => {
            if transcript.text.trim().is_empty() {
                if job.candidate.effective_task == "audio-classification" {
                    let words = Language::of(&job.request.text);
                    return Ok(TaskOutput::text(words.pick("nobody speaks", "никто не говорит", "没有人说话")));
                }
                return Err(TaskError::new(ErrorCode::NoOutput, "no speech was found in the recording"));
            }
            let said = transcript.text;
            let timed = wants_times(&job.request.text) && !transcript.segments.is_empty();
            let mut output = TaskOutput::text(if timed { with_times(&transcript.segments) } else { said });
            if let Some(seconds) = seconds {
                output = output.with("duration", seconds);
            }
            if let Some(language) = transcript.language {
                output = output.with("language", language);
            }
            if !transcript.segments.is_empty() {
                let rows = transcript.segments.iter();
                let rows: Value =
                    rows.map(|part| json!({"timestamp": [part.start, part.end], "text": part.text})).collect();
                output = output.with("chunks", rows);
            }
            output
        }
        Output::Boxes(found) => {
            let rows: Value = found.iter().map(detection).collect();
            let boxes: Vec<draw::Detection> = found.into_iter().map(drawn).collect();
            let path = store(job, inputs, given, move |canvas| draw::boxes(canvas, &boxes)).await?;
            TaskOutput::image(path).with("predicted", rows)
        }
        Output::Segments(segments) => {
            let row = |one: &Segment| json!({"label": one.label, "score": one.score});
            let rows: Value = segments.iter().map(row).collect();
            let paint = move |canvas: &mut RgbImage| {
                let mut tints = Tints::default();
                for Segment { label, mask, .. } in segments {
                    if let Some(mask) = GrayImage::from_raw(canvas.width(), canvas.height(), mask) {
                        draw::overlay_mask(canvas, tints.next(&label), &mask);
                    }
                }
            };
            TaskOutput::image(store(job, inputs, given, paint).await?).with("predicted", rows)
        }
        Output::Depth { width, height, values } => {
            let bytes = inputs.heavy().run(&job.cancel, move |_: &Cancel| grey(width, height, &values)).await?;
            TaskOutput::image(inputs.store(Kind::Image, "png", bytes).await?)
        }
        Output::Picture(made) => {
            let encode = move |_: &Cancel| {
                let image = RgbImage::from_raw(made.width, made.height, made.pixels).ok_or_else(odd)?;
                picture::png(&DynamicImage::ImageRgb8(image))
            };
            let bytes = inputs.heavy().run(&job.cancel, encode).await?;
            TaskOutput::image(inputs.store(Kind::Image, "png", bytes).await?)
        }
        Output::Matte { width, height, alpha } => {
            let original = given.ok_or_else(odd)?;
            let cut = move |_: &Cancel| cut_out(&original, (width, height), &alpha);
            let bytes = inputs.heavy().run(&job.cancel, cut).await?;
            TaskOutput::image(inputs.store(Kind::Image, "png", bytes).await?)
        }
        Output::Sound(made) => {
            let encode = move |_: &Cancel| sound::encode(made.rate, made.samples);
            let bytes = inputs.heavy().run(&job.cancel, encode).await?;
            TaskOutput::audio(inputs.store(Kind::Audio, "wav", bytes).await?)
        }
        Output::Lines(lines) => {
            let text: Vec<&str> = lines.iter().map(|line| line.label.as_str()).collect();
            TaskOutput::text(filled(text.join("\n"))?)
        }
        Output::Chat(reply) => TaskOutput::text(filled(reply.text)?),
    })
}

/// Whether a text is the answer to a question about a picture.
fn is_question(task: &str) -> bool {
    matches!(task, "document-question-answering" | "visual-question-answering")
}

/// A text that says something: a model that gave nothing has failed.
fn filled(text: String) -> Result<String, TaskError> {
    if text.trim().is_empty() {
        return Err(TaskError::new(ErrorCode::NoOutput, "the model gave no text"));
    }
    Ok(text)
}

fn odd() -> TaskError {
    TaskError::new(ErrorCode::Internal, "the model gave a picture of another size than it says")
}

fn detection(found: &Detection) -> Value {
    let corners = json!({"xmin": found.xmin, "ymin": found.ymin, "xmax": found.xmax, "ymax": found.ymax});
    json!({"label": found.label, "score": found.score, "box": corners})
}

fn drawn(found: Detection) -> draw::Detection {
    let [xmin, ymin, xmax, ymax] = [found.xmin, found.ymin, found.xmax, found.ymax].map(f64::from);
    draw::Detection { label: found.label, score: f64::from(found.score), xmin, ymin, xmax, ymax }
}

/// Draws on the picture of the task and stores it.
async fn store(
    job: &Job,
    inputs: &Inputs,
    picture: Option<RgbImage>,
    paint: impl FnOnce(&mut RgbImage) + Send + 'static,
) -> Result<String, TaskError> {
    let mut canvas = picture.ok_or_else(odd)?;
    let work = move |_: &Cancel| {
        paint(&mut canvas);
        crate::picture::jpeg(&canvas)
    };
    let bytes = inputs.heavy().run(&job.cancel, work).await?;
    inputs.store(Kind::Image, "jpg", bytes).await
}

/// Depths as grey, the nearest white.
fn grey(width: u32, height: u32, values: &[f32]) -> Result<Vec<u8>, TaskError> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = (finite().fold(f32::INFINITY, f32::min), finite().fold(f32::NEG_INFINITY, f32::max));
    let span = if high > low { high - low } else { 1.0 };
    let level = |value: &f32| if value.is_finite() { ((value - low) / span * 255.0).round() as u8 } else { 0 };
    let image = GrayImage::from_raw(width, height, values.iter().map(level).collect()).ok_or_else(odd)?;
    picture::png(&DynamicImage::ImageLuma8(image))
}

/// The picture, see-through where its background is.
fn cut_out(original: &RgbImage, size: (u32, u32), alpha: &[u8]) -> Result<Vec<u8>, TaskError> {
    if original.dimensions() != size || original.pixels().len() != alpha.len() {
        return Err(odd());
    }
    let pixels = original.pixels().zip(alpha).flat_map(|(pixel, alpha)| {
        let [r, g, b] = pixel.0;
        [r, g, b, *alpha]
    });
    let image = RgbaImage::from_raw(size.0, size.1, pixels.collect()).ok_or_else(odd)?;
    picture::png(&DynamicImage::ImageRgba8(image))
}

/// How alike the first text is to each of the others: the cosine of their vectors.
fn similarities(vectors: &[Vec<f32>]) -> Result<Value, TaskError> {
    let none = || TaskError::new(ErrorCode::NoOutput, "the model gave no vectors to compare");
    let (first, others) = vectors.split_first().ok_or_else(none)?;
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let cosine = |other: &Vec<f32>| {
        let length = (dot(first, first) * dot(other, other)).sqrt();
        if length > 0.0 { dot(first, other) / length } else { 0.0 }
    };
    Ok(others.iter().map(cosine).collect())
}

/// A line for each segment, with its beginning and end in minutes and seconds.
fn with_times(segments: &[TranscriptSegment]) -> String {
    let clock = |seconds: f32| {
        let tenths = (seconds * 10.0).round() as u32;
        format!("{}:{:02}.{}", tenths / 600, tenths / 10 % 60, tenths % 10)
    };
    let line = |part: &TranscriptSegment| format!("{} to {}  {}", clock(part.start), clock(part.end), part.text.trim());
    segments.iter().map(|part| line(part).trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
