//! The configuration read anew while the server runs: tokens, models, tools and certificates. By an administrator, or by a signal.

use std::sync::Arc;

use axum::http::StatusCode;
use futures::future::BoxFuture;
use tokio::sync::Notify;

use crate::error::ApiError;
use crate::log::SERVER;
use crate::options::Options;
use crate::parts::Setup;
use crate::state::Server;
use crate::{ServeError, check};

/// What a configuration says now.
#[derive(Clone)]
pub struct Configured {
    /// Of these the tokens and the certificates are taken; all else holds from the start.
    pub options: Options,
    /// The models and tools; as they are where there is none.
    pub setup: Option<Setup>,
    /// What of it is not taken: keys that mean nothing, and keys that are decided at the start.
    pub warnings: Vec<String>,
}

/// Reads the configuration anew.
#[derive(Clone)]
pub struct Reload {
    /// What it says now; the error says why it cannot be used.
    pub read: Arc<dyn Fn() -> BoxFuture<'static, Result<Configured, String>> + Send + Sync>,
    /// Told when it is to be read.
    pub asked: Arc<Notify>,
}

impl Server {
    /// Takes what is configured now, and returns what of it is not taken. Where anything is wrong with it, all stays as it is.
    pub(crate) async fn reload(&self) -> Result<Vec<String>, ApiError> {
        let refused = |reason: String| {
            ApiError::new(StatusCode::CONFLICT, "cannot_reload", format!("all stays as it is: {reason}"))
        };
        let Some(reload) = self.parts.reload.clone() else {
            return Err(refused("this server was not started from a configuration".to_owned()));
        };
        // One after the other, so that what was read last is what holds.
        let _one = self.reloading.lock().await;
        let Configured { options, setup, warnings } = (reload.read)().await.map_err(&refused)?;
        for address in self.listens.get().into_iter().flat_map(|listens| listens.all()) {
            let with_hint = |error: ServeError| refused(error.to_string()).hint(error.hint());
            check(address, &options).map_err(with_hint)?;
        }
        if options.tls.is_some() != self.options.tls.is_some() {
            return Err(refused("whether TLS is spoken is decided at the start".to_owned()).hint("restart the server"));
        }
        if !self.users.reload(&options) {
            let reason = "whether there are several users, and whether a token is needed, is decided at the start";
            return Err(refused(reason.to_owned()).hint("restart the server"));
        }
        self.sessions.reload(&self.users);
        if let (Some(own), Some(now)) = (&self.options.tls, &options.tls) {
            own.become_as(now);
        }
        if let Some(setup) = setup {
            self.set_up(setup);
        }
        tracing::info!(target: SERVER, "the configuration was read anew");
        for warning in &warnings {
            tracing::warn!(target: SERVER, "{warning}");
        }
        Ok(warnings)
    }

    /// Reads the configuration anew whenever it is asked for.
    pub(crate) async fn reload_when_asked(&self) {
        let Some(reload) = &self.parts.reload else { return };
        loop {
            reload.asked.notified().await;
            if let Err(error) = self.reload().await {
                tracing::error!(error = error.fields.message, "the configuration was not taken");
            }
        }
    }
}
