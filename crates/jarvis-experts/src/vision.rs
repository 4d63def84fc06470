//! Models of vision.

use crate::{ExpertError, LocalModel, ModelFiles, Resources};

/// The model for this task type, where it is one of these.
pub(crate) fn open(
    _files: &ModelFiles,
    _task: &str,
    _resources: &Resources,
) -> Result<Option<Box<dyn LocalModel>>, ExpertError> {
    Ok(None)
}
