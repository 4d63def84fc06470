//! Native models: work done in this process, or by a program installed beside it.

mod audio;
pub(crate) mod image;
mod programs;
pub mod text;
mod words;

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_engine::{Job, Worker};
use jarvis_plan::{ErrorCode, Inference, TaskError};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

pub use programs::{Program, Programs};

use crate::Inputs;

/// The native models, by the ids `native/…` that the catalogue lists.
#[derive(Debug)]
pub struct Native {
    inputs: Arc<Inputs>,
    programs: Programs,
    /// Pixel and sample work at one time: more of it at once would be slower and take more memory.
    heavy: Arc<Semaphore>,
}

impl Native {
    /// Native models over these inputs, with these installed programs.
    pub fn new(inputs: Arc<Inputs>, programs: Programs) -> Native {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Native { inputs, programs, heavy: Arc::new(Semaphore::new(cores.clamp(1, 4))) }
    }

    /// Whether the model can run here: an error of [`ErrorCode::NotConfigured`] names the missing program and how to
    /// install it. Models that need no program are always available; ids are not checked beyond that.
    pub fn available(&self, id: &str) -> Result<(), TaskError> {
        match id {
            "native/espeak-ng" => self.programs.path(Program::EspeakNg).map(drop),
            "native/ocr" | "native/ocr-qa" => self.programs.path(Program::Tesseract).map(drop),
            _ => Ok(()),
        }
    }

    /// The installed programs, as found.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// Runs work of more than a millisecond on a thread of its own, a few at a time. The work is given the token to
    /// look at between its steps; it fires as well when this future is dropped.
    async fn heavy<T, F>(&self, cancel: &CancellationToken, work: F) -> Result<T, TaskError>
    where
        T: Send + 'static,
        F: FnOnce(&Cancel) -> Result<T, TaskError> + Send + 'static,
    {
        let permit = Arc::clone(&self.heavy).acquire_owned().await;
        let token = cancel.child_token();
        let _stop_when_dropped = token.clone().drop_guard();
        let joined = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let cancel = Cancel(token);
            cancel.check()?;
            work(&cancel)
        });
        match joined.await {
            Ok(result) => result,
            Err(failure) if failure.is_panic() => {
                Err(TaskError::new(ErrorCode::Panic, "the native model broke down on this input"))
            }
            Err(_) => Err(cancelled()),
        }
    }
}

#[async_trait]
impl Worker for Native {
    async fn perform(&self, job: &Job) -> Result<Inference, TaskError> {
        if let Some(done) = text::perform(job).await {
            return done;
        }
        match job.candidate.id.as_str() {
            "native/canny" => image::canny(self, job).await,
            "native/line-segments" => image::line_segments(self, job).await,
            "native/image-edit" => image::edit(self, job).await,
            "native/graph-segmenter" => image::segment(self, job).await,
            "native/ocr" => image::read_text(self, job).await,
            "native/ocr-qa" => image::answer_from_text(self, job).await,
            "native/image-measure" => image::describe(self, job).await,
            "native/image-measure-qa" => image::answer_from_measures(self, job).await,
            "native/title-card" => image::title_card(self, job).await,
            "native/espeak-ng" => audio::speak(self, job).await,
            "native/denoise" => audio::denoise(self, job).await,
            "native/audio-measure" => audio::classify(self, job).await,
            other => Err(TaskError::new(ErrorCode::UnsupportedTask, format!("there is no native model `{other}`"))),
        }
    }
}

/// Tells work on another thread that nobody waits for it any more.
#[derive(Debug)]
struct Cancel(CancellationToken);

impl Cancel {
    /// An error once the try should end.
    fn check(&self) -> Result<(), TaskError> {
        if self.0.is_cancelled() { Err(cancelled()) } else { Ok(()) }
    }
}

fn cancelled() -> TaskError {
    TaskError::new(ErrorCode::Cancelled, "the task was cancelled")
}

/// A required argument.
fn required<'a>(job: &'a Job, name: &str) -> Result<&'a str, TaskError> {
    job.arg(name).ok_or_else(|| {
        let task = &job.candidate.effective_task;
        TaskError::new(ErrorCode::MissingArgument, format!("`{task}` needs the argument `{name}`"))
    })
}

#[cfg(test)]
mod tests;
