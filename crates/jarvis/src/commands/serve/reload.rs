//! The configuration of a running server read anew: what it says of models and tools is made around what stays. Keys that are decided at the
//! start keep their values, and the reply names those that differ.

use std::sync::Arc;

use futures::FutureExt as _;
use jarvis_pipeline::approval::Approver;
use jarvis_server::{Configured, Reload};
use tokio::sync::Notify;

use super::{checked_options, setup};
use crate::cli::Global;
use crate::config::held::Held;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::wiring::{App, Flags, Staying, load_holding};

/// Reads the configuration as it is now, and makes what it says of models and tools.
pub(super) struct Reloader {
    pub(super) staying: Staying,
    pub(super) approver: Arc<dyn Approver>,
    /// Whether models and tools can be others than at the start.
    pub(super) takes_setup: bool,
    pub(super) global: Global,
    pub(super) printer: Printer,
}

impl Reloader {
    /// Reads it whenever it is asked for.
    pub(super) fn reload(self, asked: Arc<Notify>) -> Reload {
        let reloader = Arc::new(self);
        let read = move || {
            let reloader = Arc::clone(&reloader);
            async move { reloader.read().await.map_err(|failure| failure.error().to_string()) }.boxed()
        };
        Reload { read: Arc::new(read), asked }
    }

    async fn read(&self) -> Result<Configured, Failure> {
        let Reloader { staying, approver, takes_setup, global, printer } = self;
        let held = Held { started: staying.started.clone(), takes_setup: *takes_setup };
        let mut loaded = load_holding(global, |tree| held.apply(tree))?;
        let warnings = std::mem::take(&mut loaded.warnings);
        let options = checked_options(&loaded.config)?;
        let flags = Flags::default();
        let assembled = App::assemble(loaded, staying.clone(), flags, Arc::clone(approver), global, *printer);
        let app = Box::pin(assembled).await?;
        if let Some(endpoint) = app.endpoint.clone() {
            tokio::spawn(async move { endpoint.preload().await });
        }
        let setup = Some(setup(app, global)?).filter(|_| *takes_setup);
        Ok(Configured { options, setup, warnings })
    }
}

/// Told when SIGHUP comes.
pub(super) fn reload_signal() -> Arc<Notify> {
    let asked = Arc::new(Notify::new());
    #[cfg(unix)]
    if let Ok(mut hangup) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()) {
        let told = Arc::clone(&asked);
        tokio::spawn(async move {
            while hangup.recv().await.is_some() {
                told.notify_one();
            }
        });
    }
    asked
}
