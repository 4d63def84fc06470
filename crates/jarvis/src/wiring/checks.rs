//! Health of what a server depends on, checked on request and cached for a few seconds.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use jarvis_chat::OpenAi;
use jarvis_hugginggpt::ModelSource;
use jarvis_server::Check;
use jarvis_store::{Journal, Media};
use tokio::sync::Mutex;

use super::App;

/// How long a look holds.
const KEPT: Duration = Duration::from_secs(5);
/// How long one look may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The checks of a server, as a function that can be asked at any time.
pub(crate) fn checks(
    app: &App,
    catalogue: Option<Arc<dyn ModelSource>>,
) -> Arc<dyn Fn() -> BoxFuture<'static, Vec<Check>> + Send + Sync> {
    let look = Arc::new(Look {
        media: Arc::clone(&app.media),
        journal: app.journal.clone(),
        endpoint: app.endpoint.clone(),
        catalogue,
        last: Mutex::new(None),
    });
    Arc::new(move || {
        let look = Arc::clone(&look);
        async move { look.checks().await }.boxed()
    })
}

struct Look {
    media: Arc<Media>,
    journal: Option<Arc<Journal>>,
    endpoint: Option<Arc<OpenAi>>,
    /// The model catalogue service, when one is configured.
    catalogue: Option<Arc<dyn ModelSource>>,
    /// The last result. The lock is held during a check, so that concurrent callers share one.
    last: Mutex<Option<(Instant, Vec<Check>)>>,
}

impl Look {
    async fn checks(&self) -> Vec<Check> {
        let mut last = self.last.lock().await;
        if let Some((at, checks)) = &*last
            && at.elapsed() < KEPT
        {
            return checks.clone();
        }
        let checks = self.look().await;
        *last = Some((Instant::now(), checks.clone()));
        checks
    }

    async fn look(&self) -> Vec<Check> {
        let media = Arc::clone(&self.media);
        let written = tokio::task::spawn_blocking(move || media.check_writable().map_err(|error| error.to_string()));
        let written = match tokio::time::timeout(PATIENCE, written).await {
            Ok(written) => written.unwrap_or_else(|error| Err(error.to_string())),
            Err(_) => Err(late()),
        };
        let mut checks = vec![check("media folder", written)];
        checks.push(match &self.journal {
            Some(journal) if journal.is_failing() => {
                // Also tries again to write what could not be written.
                let flushed = tokio::time::timeout(PATIENCE, journal.flush()).await;
                check(
                    "run journal",
                    match flushed {
                        Ok(flushed) => flushed.map_err(|error| error.to_string()),
                        Err(_) => Err(late()),
                    },
                )
            }
            Some(_) => check("run journal", Ok(())),
            None => check("run journal", Err("it could not be opened when the server started".into())),
        });
        if let Some(catalogue) = &self.catalogue {
            let listed = tokio::time::timeout(PATIENCE, catalogue.tasks()).await;
            checks.push(check(
                "catalogue service",
                match listed {
                    Ok(Ok(_)) => Ok(()),
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(_) => Err(late()),
                },
            ));
        }
        if let Some(endpoint) = &self.endpoint {
            let listed = tokio::time::timeout(PATIENCE, endpoint.models()).await;
            checks.push(check(
                "chat model",
                match listed {
                    Ok(Ok(_)) => Ok(()),
                    // An endpoint need not list its models; what counts is that it answers.
                    Ok(Err(error)) if answers(&error) => Ok(()),
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(_) => Err(late()),
                },
            ));
        }
        checks
    }
}

/// True for the errors of an endpoint that is there and takes the key.
fn answers(error: &jarvis_chat::ChatError) -> bool {
    use jarvis_chat::ChatError;
    match error {
        ChatError::Api { status, .. } => *status < 500,
        ChatError::BadReply { .. }
        | ChatError::RateLimited { .. }
        | ChatError::Unreachable { .. }
        | ChatError::Timeout { .. }
        | ChatError::Unauthorized { .. }
        | ChatError::ReplayMiss { .. }
        | ChatError::Recording { .. }
        | ChatError::Config(_) => false,
    }
}

fn late() -> String {
    format!("it did not answer within {} s", PATIENCE.as_secs())
}

fn check(name: &str, found: Result<(), String>) -> Check {
    Check { name: name.to_owned(), ok: found.is_ok(), detail: found.err() }
}
