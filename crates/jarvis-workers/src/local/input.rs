//! From the arguments of a task to what a model takes.

use image::RgbImage;
use jarvis_engine::Job;
use jarvis_experts::{Input, Picture, Sound};
use jarvis_plan::{ErrorCode, Kind, TaskError};
use serde_json::Value;

use super::translation;
use crate::chat::{missing, need};
use crate::native::{Programs, language_of_recording, sound, speed_of};
use crate::{Inputs, picture};

/// The picture or sound that a task is about, decoded.
pub(super) enum Medium {
    None,
    Picture(RgbImage),
    Sound(Sound),
}

impl Medium {
    pub(super) async fn read(job: &Job, inputs: &Inputs, programs: &Programs) -> Result<Medium, TaskError> {
        if let Some(image) = job.arg("image") {
            let bytes = inputs.bytes(image, Kind::Image).await?;
            let max_pixels = inputs.limits().max_pixels;
            let decode = move |_: &crate::heavy::Cancel| Ok(picture::flatten(picture::decode(&bytes, max_pixels)?));
            return inputs.heavy().run(&job.cancel, decode).await.map(Medium::Picture);
        }
        if let Some(audio) = job.arg("audio") {
            let (rate, samples) = sound::mono(inputs, programs, audio, &job.cancel).await?;
            return Ok(Medium::Sound(Sound { rate, samples }));
        }
        Ok(Medium::None)
    }
}

/// What the model is given.
///
/// # Errors
/// When an argument that the task needs is missing.
pub(super) fn of(job: &Job, medium: &Medium) -> Result<Input, TaskError> {
    let task = job.candidate.effective_task.as_str();
    let text = || need(job, "text").map(str::to_owned);
    Ok(match medium {
        Medium::Picture(image) => {
            let picture = Picture { width: image.width(), height: image.height(), pixels: image.as_raw().clone() };
            match task {
                "visual-question-answering" | "document-question-answering" => {
                    let question = job.arg("text").or_else(|| job.arg("question")).ok_or_else(|| missing(task, "text"));
                    Input::PictureQuestion { picture, question: question?.to_owned() }
                }
                "zero-shot-image-classification" | "zero-shot-object-detection" => {
                    Input::PictureChoices { picture, labels: labels(job)? }
                }
                _ => Input::Picture(picture),
            }
        }
        Medium::Sound(sound) if task == "zero-shot-audio-classification" => {
            Input::SoundChoices { sound: sound.clone(), labels: labels(job)? }
        }
        Medium::Sound(sound) => {
            let translate = job.args.get("translate") == Some(&Value::Bool(true));
            let told = || language_of_recording(&job.request.text);
            let language = job.arg("language").map(str::to_owned).or_else(told);
            Input::Sound { sound: sound.clone(), language, translate }
        }
        Medium::None => match task {
            "question-answering" => {
                let question = job.arg("question").or_else(|| job.arg("text")).ok_or_else(|| missing(task, "text"))?;
                Input::Question { question: question.to_owned(), context: need(job, "context")?.to_owned() }
            }
            "translation" => {
                let wanted = translation::read(&text()?, &job.request.text);
                Input::Translate { text: wanted.text, from: wanted.from, to: wanted.to }
            }
            "sentence-similarity" => Input::Texts(compared(job)?),
            "feature-extraction" => match list(job, "texts") {
                Some(texts) => Input::Texts(texts),
                None => Input::Texts(vec![text()?]),
            },
            "zero-shot-classification" => Input::Choices { text: text()?, labels: labels(job)?, several: false },
            "text-to-speech" => Input::Speak {
                text: text()?,
                voice: job.arg("voice").map(str::to_owned),
                language: job.arg("language").map(str::to_owned),
                speed: speed_of(job)?.unwrap_or(1.0),
            },
            _ if job.args.keys().any(|name| matches!(name.as_str(), "image" | "audio")) => {
                let medium = if job.args.contains_key("image") { "image" } else { "audio" };
                return Err(missing(task, medium));
            }
            _ => Input::Text(text()?),
        },
    })
}

/// A text and those that it is compared with, as `text1` and `text2` or as `text` and the list `sentences`.
fn compared(job: &Job) -> Result<Vec<String>, TaskError> {
    let first = job.arg("text1").or_else(|| job.arg("text")).ok_or_else(|| missing("sentence-similarity", "text1"))?;
    let others = match job.arg("text2") {
        Some(second) => vec![second.to_owned()],
        None => list(job, "sentences").ok_or_else(|| missing("sentence-similarity", "text2"))?,
    };
    Ok(std::iter::once(first.to_owned()).chain(others).collect())
}

fn labels(job: &Job) -> Result<Vec<String>, TaskError> {
    let names = ["labels", "candidate_labels"];
    let labels = names.iter().find_map(|name| list(job, name)).unwrap_or_default();
    if labels.is_empty() {
        return Err(TaskError::new(ErrorCode::MissingArgument, "no labels were given to choose from")
            .hint("give `labels`, a list of words"));
    }
    Ok(labels)
}

/// An argument that is a list of texts, as JSON or with commas between.
fn list(job: &Job, name: &str) -> Option<Vec<String>> {
    let texts = |rows: &[Value]| rows.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>();
    let list = match job.args.get(name)? {
        Value::Array(rows) => texts(rows),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(Value::Array(rows)) => texts(&rows),
            Ok(_) | Err(_) => text.split(',').map(|word| word.trim().to_owned()).collect(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    let list: Vec<String> = list.into_iter().filter(|text| !text.trim().is_empty()).collect();
    (!list.is_empty()).then_some(list)
}
