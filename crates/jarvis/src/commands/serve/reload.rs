//! The configuration of a running server read anew: what it says of models and tools is made around what stays.

use std::sync::Arc;

use futures::FutureExt as _;
use jarvis_pipeline::approval::Approver;
use jarvis_server::{Configured, Options, Reload, Setup};
use tokio::sync::Notify;

use super::{checked_options, setup};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::wiring::{App, Flags, Staying, load_config};

/// Reads the configuration as it is now, and makes what it says of models and tools.
pub(super) struct Reloader {
    pub(super) staying: Staying,
    pub(super) approver: Arc<dyn Approver>,
    pub(super) global: Global,
    pub(super) printer: Printer,
}

impl Reloader {
    /// Reads it whenever it is asked for; without the setup where that cannot be taken.
    pub(super) fn reload(self, asked: Arc<Notify>, takes_setup: bool) -> Reload {
        let reloader = Arc::new(self);
        let read = move || {
            let reloader = Arc::clone(&reloader);
            async move {
                let read = reloader.read().await.map_err(|failure| failure.error().to_string());
                read.map(|(options, setup)| Configured { options, setup: Some(setup).filter(|_| takes_setup) })
            }
            .boxed()
        };
        Reload { read: Arc::new(read), asked }
    }

    async fn read(&self) -> Result<(Options, Setup), Failure> {
        let Reloader { staying, approver, global, printer } = self;
        let loaded = load_config(global, *printer)?;
        let options = checked_options(&loaded.config)?;
        let flags = Flags::default();
        let assembled = App::assemble(loaded, staying.clone(), flags, Arc::clone(approver), global, *printer);
        let app = Box::pin(assembled).await?;
        if let Some(endpoint) = app.endpoint.clone() {
            tokio::spawn(async move { endpoint.preload().await });
        }
        Ok((options, setup(app, global)?))
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
