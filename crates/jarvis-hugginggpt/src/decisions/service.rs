//! Client of a model catalogue service: which tasks there are, which models serve a task, which plans are examples.
//!
//! Replies are kept for a while and served stale when the service fails; identical calls at the same time are made once.
//! What the service writes is untrusted: it is cut and cleaned before anything else sees it. No address is built in.
//! Source of the protocol: PantheraXpoint/JARVIS `hugginggpt/server/decision_api.py` and `server/sensys/decision_api.py`.

mod kept;
mod read;
mod source;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jarvis_catalogue::{CallError, JsonClient};
use jarvis_net::Secret;
use jarvis_net::http::ClientError;
use jarvis_net::retry::Retries;
use serde_json::json;
use url::Url;

use self::kept::Kept;
use super::examples::Example;

pub use self::source::ServiceSource;
pub use crate::source::{ServiceModel, ServiceTask};

/// The most tasks of a service that are used.
pub const MAX_TASKS: usize = 500;
/// The most models of one task that are used.
pub const MAX_MODELS: usize = 50;
/// The most examples that are asked for and used.
pub const MAX_EXAMPLES: usize = 100;

const FALLBACK_TASKS: &str = "source object-detection-general face-detection vehicle-plate-detection \
    vehicle-damage-detection protective-gear-detection equipment-detection fire-detection cloth-color-classification \
    vehicle-color-classification gender-classification age-classification emotion-classification face-recognition \
    vehicle-make-classification human-pose-detection pipeline-end";

#[derive(Clone)]
pub struct ServiceConfig {
    /// Its base, such as `http://models.example:8081`; paths are added to it.
    pub base: Url,
    /// Its key, sent as a bearer token.
    pub token: Option<Secret>,
    /// A proxy; this machine is always called directly.
    pub proxy: Option<Url>,
    /// The time for one try of the list of tasks or of models; 5 s.
    pub timeout: Duration,
    /// The time for one try of the examples; 20 s.
    pub examples_timeout: Duration,
    /// 2 by default, the first after 200 ms.
    pub retries: Retries,
    /// How long a reply holds; 300 s.
    pub ttl: Duration,
    /// How long a failure holds: long enough that the tasks of one request do not each repeat it; 2 s. Fifteen times as
    /// long where there is an earlier reply to serve.
    pub failure_ttl: Duration,
    /// How long a failure to give examples holds: plans are made without them, and many services have none; 60 s.
    pub no_examples_ttl: Duration,
    /// The most bytes of one reply; 4 MiB.
    pub max_body: u64,
}

impl ServiceConfig {
    pub fn new(base: Url) -> ServiceConfig {
        ServiceConfig {
            base,
            token: None,
            proxy: None,
            timeout: Duration::from_secs(5),
            examples_timeout: Duration::from_secs(20),
            retries: Retries { first_pause: Duration::from_millis(200), ..Retries::default() },
            ttl: Duration::from_secs(300),
            failure_ttl: Duration::from_secs(2),
            no_examples_ttl: Duration::from_secs(60),
            max_body: 4 << 20,
        }
    }
}

impl fmt::Debug for ServiceConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceConfig")
            .field("base", &self.base.origin().ascii_serialization())
            .field("timeout", &self.timeout)
            .field("retries", &self.retries)
            .field("ttl", &self.ttl)
            .finish_non_exhaustive()
    }
}

/// A reply of the service, perhaps an old one.
#[derive(Debug, Clone)]
pub struct Fetched<T> {
    pub value: Arc<T>,
    /// Why this is an earlier reply, when it is one.
    pub stale: Option<ServiceError>,
}

/// Why the service gave nothing usable. No text of the service stands in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    #[error("the model catalogue service at {origin} cannot say {what}: {source}")]
    Call { origin: String, what: &'static str, source: CallError },
    #[error("the model catalogue service at {origin} answered with something that is not {what}")]
    Shape { origin: String, what: &'static str },
    #[error("the model catalogue service at {origin} lists no tasks")]
    NoTasks { origin: String },
}

impl ServiceError {
    pub fn hint(&self) -> &'static str {
        match self {
            ServiceError::Call { source: CallError::TooLarge(_), .. } => "the service sends more than is accepted",
            ServiceError::Call { .. } | ServiceError::Shape { .. } => {
                "check `decisions.model_api_base_url` and that the service runs, or leave it out to use the local catalogue"
            }
            ServiceError::NoTasks { .. } => {
                "add tasks to the service, or leave `decisions.model_api_base_url` out to use the local catalogue"
            }
        }
    }

    pub fn is_timeout(&self) -> bool {
        matches!(self, ServiceError::Call { source: CallError::Timeout(_), .. })
    }
}

const TASKS: &str = "which tasks there are";
const MODELS: &str = "which models serve a task";
const EXAMPLES: &str = "which plans are examples";

/// The client. Clones share what they know.
#[derive(Debug, Clone)]
pub struct Service {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    client: JsonClient,
    config: ServiceConfig,
    tasks: Kept<(), Vec<ServiceTask>>,
    models: Kept<String, Vec<ServiceModel>>,
    examples: Kept<(String, String, usize), Vec<Example>>,
}

impl Service {
    /// A client. Nothing is called yet: a service that is down now may be up when it is needed.
    pub fn new(config: ServiceConfig) -> Result<Service, ClientError> {
        let client = JsonClient::new(config.base.clone(), config.token.clone(), config.proxy.as_ref())?;
        Ok(Service {
            inner: Arc::new(Inner {
                client,
                tasks: Kept::new(config.ttl, config.failure_ttl),
                models: Kept::new(config.ttl, config.failure_ttl),
                examples: Kept::new(config.ttl, config.no_examples_ttl),
                config,
            }),
        })
    }

    /// Where the service is, without credentials and path.
    pub fn origin(&self) -> String {
        self.inner.client.origin()
    }

    /// The task types, in the service's order, each once; never empty.
    ///
    /// # Errors
    /// When the service fails and no earlier reply is known.
    pub async fn tasks(&self) -> Result<Fetched<Vec<ServiceTask>>, ServiceError> {
        let fetch = async {
            let max = self.inner.config.max_body;
            let timeout = self.inner.config.timeout;
            let call = || self.inner.client.get(&["query", "context", "tasks"], max, timeout);
            let value = self.retried(call).await.map_err(|source| self.failed(TASKS, source))?;
            let tasks = read::tasks(&value).ok_or_else(|| self.odd("a list of tasks"))?;
            if tasks.is_empty() { Err(ServiceError::NoTasks { origin: self.origin() }) } else { Ok(tasks) }
        };
        self.inner.tasks.get((), fetch).await
    }

    /// The models of a task, in the service's order, each once, at most [`MAX_MODELS`]; all count as available. May be
    /// empty.
    ///
    /// # Errors
    /// When the service fails and no earlier reply is known.
    pub async fn models(&self, task: &str) -> Result<Fetched<Vec<ServiceModel>>, ServiceError> {
        let fetch = async {
            let max = self.inner.config.max_body;
            let timeout = self.inner.config.timeout;
            let body = json!({ "task_id": task });
            let call = || self.inner.client.post(&["query", "get_models_for_task"], &body, max, timeout);
            let value = self.retried(call).await.map_err(|source| self.failed(MODELS, source))?;
            read::models(&value).ok_or_else(|| self.odd("a list of models"))
        };
        self.inner.models.get(task.to_owned(), fetch).await
    }

    /// Example plans; an empty `task` or `scenario` means any.
    ///
    /// # Errors
    /// When the service fails and no earlier reply is known.
    pub async fn examples(
        &self,
        task: &str,
        scenario: &str,
        count: usize,
    ) -> Result<Fetched<Vec<Example>>, ServiceError> {
        let count = count.min(MAX_EXAMPLES);
        let fetch = async {
            let max = self.inner.config.max_body;
            let timeout = self.inner.config.examples_timeout;
            let body = json!({"task_id": task, "scenario_id": scenario, "num_examples": count});
            let call = || self.inner.client.post(&["query", "get_examples_for_task_pipelines"], &body, max, timeout);
            // One try: planning waits for it, and goes on without.
            let value = call().await.map_err(|source| self.failed(EXAMPLES, source))?;
            read::examples(&value, count).ok_or_else(|| self.odd("a list of examples"))
        };
        self.inner.examples.get((task.to_owned(), scenario.to_owned(), count), fetch).await
    }

    pub fn refresh(&self) {
        self.inner.tasks.clear();
        self.inner.models.clear();
        self.inner.examples.clear();
    }

    /// Makes a call, retried while its failures are transient.
    async fn retried<T, F>(&self, call: impl Fn() -> F) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let pause = |error: &CallError, pause| {
            let pause = error.is_transient().then_some(pause)?;
            tracing::debug!(origin = self.origin(), %error, ?pause, "retrying a call of the model catalogue service");
            Some(pause)
        };
        self.inner.config.retries.run(call, pause).await
    }

    fn failed(&self, what: &'static str, source: CallError) -> ServiceError {
        match source {
            CallError::BadReply => self.odd("JSON"),
            source => ServiceError::Call { origin: self.origin(), what, source },
        }
    }

    fn odd(&self, what: &'static str) -> ServiceError {
        ServiceError::Shape { origin: self.origin(), what }
    }
}

/// Task types that stand in for the list of a service that cannot be asked, with nothing known but their ids.
pub fn fallback_tasks() -> Vec<ServiceTask> {
    FALLBACK_TASKS.split_whitespace().map(ServiceTask::named).collect()
}

#[cfg(test)]
mod tests;
