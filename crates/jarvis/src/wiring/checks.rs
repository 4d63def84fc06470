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
        let written = async { written.await.unwrap_or_else(|error| Err(error.to_string())) };
        let mut checks = vec![check("media folder", in_time(written).await)];
        checks.push(match &self.journal {
            // Also tries again to write what could not be written.
            Some(journal) if journal.is_failing() => check("run journal", in_time(journal.flush()).await),
            Some(_) => check("run journal", Ok(())),
            // A server starts without one only when it is told to.
            None => {
                let detail = "there is none (--no-journal): runs are forgotten when they end";
                Check { detail: Some(detail.to_owned()), ..check("run journal", Ok(())) }
            }
        });
        if let Some(catalogue) = &self.catalogue {
            checks.push(check("catalogue service", in_time(catalogue.tasks()).await));
        }
        if let Some(endpoint) = &self.endpoint {
            // An endpoint need not list its models; what counts is that it answers.
            let listed =
                async { endpoint.models().await.map(drop).or_else(|error| answers(&error).then_some(()).ok_or(error)) };
            checks.push(check("chat model", in_time(listed).await));
        }
        checks
    }
}

/// True for the errors of an endpoint that is there and takes the key.
fn answers(error: &jarvis_chat::ChatError) -> bool {
    matches!(error, jarvis_chat::ChatError::Api { status, .. } if *status < 500)
}

/// What came of a look, in words, or that nothing came within [`PATIENCE`].
pub(super) async fn in_time<T, E: ToString>(look: impl Future<Output = Result<T, E>>) -> Result<(), String> {
    let late = |_| format!("it did not answer within {} s", PATIENCE.as_secs());
    tokio::time::timeout(PATIENCE, look).await.map_err(late)?.map(drop).map_err(|error| error.to_string())
}

pub(super) fn check(name: &str, found: Result<(), String>) -> Check {
    Check { name: name.to_owned(), ok: found.is_ok(), detail: found.err() }
}
