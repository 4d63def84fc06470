//! The journal, and what becomes of one that cannot be opened.

use std::sync::Arc;

use jarvis_store::Journal;

use super::Folders;
use crate::config::Config;
use crate::failure::Failure;
use crate::printer::Printer;

/// What becomes of a journal that cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum JournalUse {
    /// It is a warning, and the run is not kept.
    #[default]
    Wanted,
    /// Nothing is done without it.
    Needed,
    /// It is not opened.
    Unused,
}

impl JournalUse {
    /// The journal; `None` where there is none.
    pub(super) fn open(
        self,
        config: &Config,
        folders: &Folders,
        printer: Printer,
    ) -> Result<Option<Arc<Journal>>, Failure> {
        if self == JournalUse::Unused {
            return Ok(None);
        }
        match Journal::open_with(&folders.journal, config.runs.synchronous.into()) {
            Ok(journal) => Ok(Some(Arc::new(journal))),
            Err(error) if self == JournalUse::Needed => {
                let hint = error.hint().map(|hint| format!("{hint}; ")).unwrap_or_default();
                let hint = format!("{hint}--no-journal starts a server that forgets runs when they end");
                Err(Failure::work(error).hint(hint))
            }
            Err(error) => {
                printer.warning(&format!("this run will not be in the journal: {error}"));
                Ok(None)
            }
        }
    }
}
