//! Native models: work done in this process, or by a program installed beside it.

/// Patterns by the names of their rows; `named` compiles one. A test compiles all.
macro_rules! patterns {
    ($($name:ident)+) => {
        $(static $name: LazyLock<Regex> = LazyLock::new(|| named(stringify!($name)));)+
        #[cfg(test)]
        pub(super) fn compile_all() { $(LazyLock::force(&$name);)+ }
    };
}

mod audio;
mod compare;
pub(crate) mod image;
mod programs;
pub mod text;
mod unread;
mod words;

use std::sync::{Arc, LazyLock};

use ::image::RgbImage;
use async_trait::async_trait;
use jarvis_catalogue::TaskOutput;
use jarvis_engine::{Job, Worker};
use jarvis_plan::{ErrorCode, Kind, TaskError};

pub(crate) use audio::{language_after, language_of_recording, sound, speed_of};
pub use programs::{Program, Programs};
pub(crate) use text::language as language_of;

use crate::Inputs;
use regex::Regex;
use serde_json::Value;

use crate::heavy::{Cancel, cancelled};

/// Whether the times of what is said are wanted too.
pub(crate) fn wants_times(request: &str) -> bool {
    static TIMES: LazyLock<Regex> = LazyLock::new(|| unread::words_of("TIMES"));
    TIMES.is_match(&request.to_lowercase())
}

/// What of a request an expert model of `task` cannot mind: it does one thing, and takes no instructions. Native models read them, and take
/// the task over.
pub(crate) fn beyond_experts(job: &Job, task: &str) -> Option<String> {
    match task {
        // Whoever asks for it by its own name means it.
        "background-removal" if job.candidate.effective_task == task => None,
        "background-removal" => image::beyond_cutting_out(job),
        "voice-activity-detection" if job.candidate.effective_task == task => None,
        "voice-activity-detection" => audio::beyond_times_of_speech(job),
        "image-to-text" => image::is_to_be_read(job).then(|| "what is written in the picture".to_owned()),
        "image-to-image" => image::beyond_enlarging(job),
        "text-to-speech" => audio::beyond_plain_speech(job),
        _ => text::beyond(job),
    }
}

/// The native models, by the ids `native/…` that the catalogue lists.
#[derive(Debug)]
pub struct Native {
    inputs: Arc<Inputs>,
    programs: Programs,
    reader: Option<Arc<dyn PictureReader>>,
}

/// A model that reads the writing in pictures better than tesseract does.
#[async_trait]
pub trait PictureReader: std::fmt::Debug + Send + Sync {
    /// Whether there is such a model now: one can be pulled meanwhile.
    fn is_ready(&self) -> bool;

    /// The lines of a picture, from the top.
    ///
    /// # Errors
    /// When the model cannot be loaded, or fails.
    async fn read(&self, picture: RgbImage, job: &Job) -> Result<Vec<WrittenLine>, TaskError>;
}

/// A line of writing in a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenLine {
    pub text: String,
    /// How sure the model is, 0 to 1.
    pub sure: f32,
    /// Where it begins, in pixels from the left.
    pub left: f32,
    /// Where it begins and ends, in pixels from the top.
    pub top: f32,
    pub bottom: f32,
}

impl Native {
    /// Native models over these inputs, with these installed programs.
    pub fn new(inputs: Arc<Inputs>, programs: Programs) -> Native {
        Native { inputs, programs, reader: None }
    }

    /// The same with a model that reads pictures, which is asked before tesseract.
    pub fn with_reader(self, reader: Arc<dyn PictureReader>) -> Native {
        Native { reader: Some(reader), ..self }
    }

    /// The model that reads pictures, where it is there.
    fn reader(&self) -> Option<&dyn PictureReader> {
        self.reader.as_deref().filter(|reader| reader.is_ready())
    }

    /// Whether the model can run here: an error of [`ErrorCode::NotConfigured`] names the missing program or
    /// cargo feature and how to get it. Other models are always available; ids are not checked beyond that.
    pub fn available(&self, id: &str) -> Result<(), TaskError> {
        match id {
            "native/espeak-ng" => self.programs.path(Program::EspeakNg).map(drop),
            "native/ocr" | "native/ocr-qa" if self.reader().is_some() => Ok(()),
            "native/ocr" | "native/ocr-qa" => self.programs.path(Program::Tesseract).map(drop),
            "native/video-sound" => self.programs.path(Program::Ffmpeg).map(drop),
            #[cfg(not(feature = "denoise"))]
            "native/denoise" => Err(TaskError::new(ErrorCode::NotConfigured, "this build has no noise suppression")
                .hint("build jarvis with its default features, or with `--features denoise`")),
            _ => Ok(()),
        }
    }

    /// Fetches the medium of a job, decodes it within the limit of pixels and does the work, off the async threads.
    async fn on_medium<M, T: Send + 'static>(
        &self,
        job: &Job,
        (arg, kind): (&str, Kind),
        decode: fn(&[u8], u64) -> Result<M, TaskError>,
        work: impl FnOnce(M, &Cancel) -> Result<T, TaskError> + Send + 'static,
    ) -> Result<T, TaskError>
    where
        M: 'static,
    {
        let bytes = self.inputs.bytes(required(job, arg)?, kind).await?;
        let max_pixels = self.inputs.limits().max_pixels;
        let all = move |cancel: &Cancel| {
            let medium = decode(&bytes, max_pixels)?;
            drop(bytes);
            cancel.check()?;
            work(medium, cancel)
        };
        self.inputs.heavy().run(&job.cancel, all).await
    }

    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    async fn output(&self, job: &Job) -> Result<TaskOutput, TaskError> {
        // What a picture measures is no description of it, and is not read out, translated or told again as one.
        if job.args.values().filter_map(Value::as_str).any(image::is_unseen) {
            return Err(TaskError::new(
                ErrorCode::CannotDo,
                "what the picture shows was not recognised before this task",
            )
            .hint("a vision model describes it: configure one (`llm.model`), or Hugging Face"));
        }
        if let Some(done) = text::perform(job).await {
            return done;
        }
        match job.candidate.id.as_str() {
            "native/canny" => image::canny(self, job).await,
            "native/line-segments" => image::line_segments(self, job).await,
            "native/image-edit" => image::edit(self, job).await,
            "native/collage" => image::collage(self, job).await,
            "native/graph-segmenter" => image::segment(self, job).await,
            "native/ocr" => image::read_text(self, job).await,
            "native/ocr-qa" => image::answer_from_text(self, job).await,
            "native/image-measure" => image::describe(self, job).await,
            "native/image-measure-qa" => image::answer_from_measures(self, job).await,
            "native/title-card" => image::title_card(self, job).await,
            "native/espeak-ng" => audio::speak(self, job).await,
            #[cfg(feature = "denoise")]
            "native/denoise" => audio::denoise(self, job).await,
            "native/audio-edit" => audio::edit(self, job).await,
            "native/audio-level" => audio::level(self, job).await,
            "native/audio-join" => audio::join(self, job).await,
            "native/audio-facts" => audio::tell(self, job).await,
            "native/video-sound" => audio::of_video(self, job).await,
            "native/audio-measure" => audio::classify(self, job).await,
            other => {
                self.available(other)?;
                Err(TaskError::new(ErrorCode::UnsupportedTask, format!("there is no native model `{other}`")))
            }
        }
    }
}

#[async_trait]
impl Worker for Native {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        self.output(job).await.map(Value::from)
    }
}

fn required<'a>(job: &'a Job, name: &str) -> Result<&'a str, TaskError> {
    job.arg(name).ok_or_else(|| {
        let (kind, hint) = match name {
            "image" => ("picture", "name a file in the request, or attach one"),
            "audio" => ("sound", "name a file in the request, or attach one"),
            _ => ("text", "put the text into the request, or name or attach a file"),
        };
        TaskError::new(ErrorCode::MissingArgument, format!("no {kind} was given to work on")).hint(hint)
    })
}

#[cfg(test)]
mod tests;
