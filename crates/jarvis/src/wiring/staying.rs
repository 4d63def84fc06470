//! What a process opens once, whatever its configuration says later.

use std::path::PathBuf;
use std::sync::Arc;

use jarvis_hugginggpt::RequestLogs;
use jarvis_store::{Journal, Media};

use super::{Flags, Folders, LocalRuntime, Reader, media};
use crate::config::Loaded;
#[cfg(feature = "serve")]
use crate::config::held::Tree;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::results::Results;

/// What is opened once in a process: folders, the journal, and the models in its memory.
#[derive(Clone)]
pub(crate) struct Staying {
    pub(super) media: Arc<Media>,
    pub(super) results: Option<Arc<Results>>,
    pub(super) journal: Option<Arc<Journal>>,
    pub(super) logs: Option<Arc<RequestLogs>>,
    /// The models of this machine, unless the configuration leaves them out.
    pub(super) local: Option<Arc<LocalRuntime>>,
    /// What the configuration file said.
    #[cfg(feature = "serve")]
    pub(crate) started: Tree,
}

impl Staying {
    pub(super) fn open(
        loaded: &Loaded,
        reader: Reader,
        flags: &Flags<'_>,
        printer: Printer,
    ) -> Result<Staying, Failure> {
        let config = &loaded.config;
        let folders = Folders::of(config)?;
        let local = match config.local.enabled {
            true => Some(Arc::new(LocalRuntime::open(config, &folders)?)),
            false => None,
        };
        let media = Arc::new(media(config, &folders)?);
        let journal = flags.journal.open(config, &folders, printer)?;
        let logs = match RequestLogs::open(&folders.logs) {
            Ok(logs) => Some(Arc::new(logs)),
            Err(error) => {
                printer.warning(&format!("the request logs cannot be kept in {}: {error}", folders.logs.display()));
                None
            }
        };
        let results = match reader {
            Reader::Here { out } => {
                let whole = |folder: PathBuf| std::path::absolute(&folder).unwrap_or(folder);
                let usual = whole(config.output.dir.clone().unwrap_or(folders.results));
                let folder = out.map_or_else(|| usual.clone(), whole);
                Some(Arc::new(Results::new(Arc::clone(&media), folder, usual)))
            }
            Reader::Wire => None,
        };
        Ok(Staying {
            media,
            results,
            journal,
            logs,
            local,
            #[cfg(feature = "serve")]
            started: loaded.tree.clone(),
        })
    }
}
