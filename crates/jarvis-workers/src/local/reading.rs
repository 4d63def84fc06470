//! The writing in pictures, read by a model of this machine for the native models that need it.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use image::RgbImage;
use jarvis_engine::Job;
use jarvis_experts::{Call, Input, LocalModels, Output, Picture};
use jarvis_plan::{ErrorCode, TaskError};

use super::{LocalFiles, task_error};
use crate::native::{PictureReader, WrittenLine};

/// The task type of models that read writing.
pub const OCR: &str = "image-ocr";

/// Reads pictures with whichever model of this machine does that.
pub struct LocalReader {
    models: LocalModels,
    files: LocalFiles,
    timeout: Duration,
}

impl std::fmt::Debug for LocalReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalReader").field("models", &self.models).finish_non_exhaustive()
    }
}

impl LocalReader {
    /// Reads with the first of these files that were made for [`OCR`]; one use may take `timeout`.
    pub fn new(models: LocalModels, files: LocalFiles, timeout: Duration) -> LocalReader {
        LocalReader { models, files, timeout }
    }
}

#[async_trait]
impl PictureReader for LocalReader {
    fn is_ready(&self) -> bool {
        self.files.for_task(OCR).is_some()
    }

    async fn read(&self, picture: RgbImage, job: &Job) -> Result<Vec<WrittenLine>, TaskError> {
        let Some(files) = self.files.for_task(OCR) else {
            return Err(TaskError::new(
                ErrorCode::NotConfigured,
                "the model that reads pictures was removed meanwhile",
            ));
        };
        let picture = Picture { width: picture.width(), height: picture.height(), pixels: picture.into_raw() };
        let deadline = Some(Instant::now() + self.timeout);
        let call = Call { cancel: job.cancel.clone(), deadline, ..Call::default() };
        match self.models.run(&files, OCR, Input::Picture(picture), call).await.map_err(task_error)? {
            Output::Lines(lines) => Ok(lines
                .into_iter()
                .map(|line| WrittenLine {
                    text: line.label,
                    sure: line.score,
                    left: line.xmin,
                    top: line.ymin,
                    bottom: line.ymax,
                })
                .collect()),
            _ => Err(TaskError::new(ErrorCode::Internal, format!("`{}` read no lines", files.id))),
        }
    }
}
