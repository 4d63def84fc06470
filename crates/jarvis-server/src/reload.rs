//! Tokens read anew while the server runs: by an administrator, or by a signal.

use std::sync::Arc;

use axum::http::StatusCode;
use tokio::sync::Notify;

use crate::error::ApiError;
use crate::options::Options;
use crate::state::Server;
use crate::{ServeError, check};

/// Reads the configuration anew.
#[derive(Clone)]
pub struct Reload {
    /// The options as they are configured now; the error says why they cannot be read.
    pub read: Arc<dyn Fn() -> Result<Options, String> + Send + Sync>,
    /// Told when it is to be read.
    pub asked: Arc<Notify>,
}

impl Server {
    /// Takes the tokens that are configured now. Where something is wrong with them, all stays as it is.
    pub(crate) async fn reload(&self) -> Result<(), ApiError> {
        let refused = |reason: String| {
            ApiError::new(StatusCode::CONFLICT, "cannot_reload", format!("the tokens stay as they are: {reason}"))
        };
        let Some(reload) = self.parts.reload.clone() else {
            return Err(refused("this server was not started from a configuration".to_owned()));
        };
        let read = tokio::task::spawn_blocking(move || (reload.read)()).await;
        let read = read.map_err(|error| ApiError::internal("the configuration cannot be read", &error))?;
        let options = read.map_err(&refused)?;
        for address in self.listens.get().into_iter().flat_map(|listens| listens.all()) {
            let with_hint = |error: ServeError| refused(error.to_string()).hint(error.hint());
            check(address, &options).map_err(with_hint)?;
        }
        if !self.users.reload(&options) {
            let reason = "whether there are several users, and whether a token is needed, is decided at the start";
            return Err(refused(reason.to_owned()).hint("restart the server"));
        }
        self.sessions.reload(&self.users);
        tracing::info!("the tokens were read anew");
        Ok(())
    }

    /// Reads the tokens anew whenever it is asked for.
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
