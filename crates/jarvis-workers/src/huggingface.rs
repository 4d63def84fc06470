//! Models at Hugging Face, or at any host that speaks its inference protocol.

mod call;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jarvis_catalogue::TaskOutput;
use jarvis_engine::{Job, Worker};
use jarvis_plan::{ErrorCode, Kind, TaskError};
use reqwest::StatusCode;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde_json::{Value, json};
use url::Url;

use crate::{Inputs, results};
use call::{Body, Call, Wanted};
use jarvis_net::Secret;
use jarvis_net::http::Route;
use jarvis_net::policy::ServiceUrl;
use jarvis_net::retry::Retries;
use jarvis_tools::service::{Reply, Service, model_url};

/// Where Hugging Face serves models itself.
pub const HF_INFERENCE: &str = "https://router.huggingface.co/hf-inference/models";

/// The shortest pause before a loading model is asked again.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);

/// How Hugging Face is called. `Debug` leaves out what may be secret.
#[derive(Debug, Clone)]
pub struct HuggingFaceConfig {
    /// The address before the model's id; [`HF_INFERENCE`] unless the models are elsewhere.
    pub base: ServiceUrl,
    pub token: Option<Secret>,
    /// The organisation to bill, sent as `X-HF-Bill-To`.
    pub bill_to: Option<String>,
    /// The proxy to call through; without it the one that the environment names, if any. An address on this machine is
    /// called directly.
    pub proxy: Option<Secret>,
    /// Asks the host to hold the call while the model loads.
    pub wait_for_model: bool,
    /// The longest one call may take: 60 s by default, so that a host that hangs leaves time for the next candidate.
    pub timeout: Duration,
    /// The longest to wait in all for a model that says it is loading; the calls themselves are not counted. 45 s
    /// by default.
    pub max_wait: Duration,
}

impl HuggingFaceConfig {
    pub fn new(base: Url, token: Option<Secret>) -> HuggingFaceConfig {
        HuggingFaceConfig {
            base: base.into(),
            token,
            bill_to: None,
            proxy: None,
            wait_for_model: true,
            timeout: Duration::from_secs(60),
            max_wait: Duration::from_secs(45),
        }
    }
}

enum Unfinished {
    /// The model will be loaded in about this time.
    Loading(Duration),
    Failed(TaskError),
}

impl From<TaskError> for Unfinished {
    fn from(error: TaskError) -> Unfinished {
        Unfinished::Failed(error)
    }
}

#[derive(Debug)]
pub struct HuggingFace {
    config: HuggingFaceConfig,
    service: Service,
    inputs: Arc<Inputs>,
}

impl HuggingFace {
    /// A worker for one host. Nothing is sent until a task is performed.
    pub fn new(config: HuggingFaceConfig, inputs: Arc<Inputs>) -> HuggingFace {
        let service = Service::new("Hugging Face", config.timeout, inputs.limits().max_bytes)
            .token(config.token.clone())
            .route(Route::to(&config.base, config.proxy.as_ref()))
            .hints(
                "Set HUGGINGFACE_ACCESS_TOKEN to a token that may call inference providers",
                "Run `jarvis models probe` to see which models are served now",
            );
        HuggingFace { config, service, inputs }
    }

    /// Sends a call, and sends it again while the model is loading.
    async fn call(&self, job: &Job, call: &Call) -> Result<Reply, TaskError> {
        let tail: Vec<&str> = call.pipeline.iter().flat_map(|task| ["pipeline", task]).collect();
        let url = model_url(&self.config.base, &job.candidate.id, &tail)?;
        let attempt = || async {
            let reply = self.service.send(self.request(url.clone(), call).await?).await?;
            match loading(&reply) {
                Some(estimate) => Err(Unfinished::Loading(estimate)),
                None => Ok(self.service.accept(reply)?),
            }
        };
        let mut left = self.config.max_wait;
        let pause = |unfinished: &Unfinished, _| {
            let Unfinished::Loading(estimate) = unfinished else { return None };
            let pause = (*estimate).max(SHORTEST_PAUSE).min(left);
            left -= pause;
            tracing::debug!(model = %job.candidate.id, ?pause, "the model is loading");
            (!pause.is_zero()).then_some(pause)
        };
        // `max_wait` bounds the retries.
        let retries = Retries { max: usize::MAX, ..Retries::default() };
        let reply = tokio::select! {
            reply = retries.run(attempt, pause) => reply,
            () = job.cancel.cancelled() => {
                return Err(TaskError::new(ErrorCode::Cancelled, "cancelled while the model was loading"));
            }
        };
        reply.map_err(|unfinished| match unfinished {
            Unfinished::Failed(error) => error,
            Unfinished::Loading(_) => self
                .service
                .error(ErrorCode::Unavailable, &format!("is still loading the model {}", job.candidate.id))
                .hint("Try again in a few minutes, or use another model"),
        })
    }

    async fn request(&self, url: Url, call: &Call) -> Result<reqwest::RequestBuilder, TaskError> {
        let mut request = self.service.post(url).await?;
        if let Some(payer) = &self.config.bill_to {
            request = request.header("x-hf-bill-to", payer);
        }
        if self.config.wait_for_model {
            request = request.header("x-wait-for-model", "true");
        }
        let accept = match call.wanted {
            Wanted::Media(Kind::Image) => "image/png, image/*;q=0.9, application/json;q=0.5",
            Wanted::Media(Kind::Audio) => "audio/*, application/json;q=0.5",
            Wanted::Media(_) => "*/*",
            Wanted::Data | Wanted::Rows | Wanted::Text | Wanted::Caption | Wanted::Boxes | Wanted::Masks => {
                "application/json"
            }
        };
        let request = request.header(ACCEPT, accept);
        Ok(match &call.body {
            Body::Inputs { inputs, parameters } => {
                let mut body = json!({
                    "inputs": inputs,
                    "options": { "wait_for_model": self.config.wait_for_model, "use_gpu": false },
                });
                if let (Some(parameters), Value::Object(fields)) = (parameters, &mut body) {
                    fields.insert("parameters".to_owned(), parameters.clone());
                }
                request.json(&body)
            }
            Body::Raw { mime, bytes } => request.header(CONTENT_TYPE, *mime).body(bytes.clone()),
        })
    }

    async fn result(&self, call: Call, reply: Reply) -> Result<TaskOutput, TaskError> {
        let rows = results::rows(&reply);
        match (call.wanted, rows, call.picture) {
            (Wanted::Media(kind), _, _) => results::media_result(&self.service, &self.inputs, reply, kind).await,
            (Wanted::Data, _, _) => match &reply.json {
                Some(value @ (Value::Array(_) | Value::Object(_))) => Ok(TaskOutput(value.clone())),
                Some(_) | None => Err(self.service.bad_reply(&reply, "data")),
            },
            (Wanted::Rows, Some(_), _) => Ok(TaskOutput(reply.json.expect("rows come from JSON"))),
            (Wanted::Rows, None, _) => match &reply.json {
                Some(row @ Value::Object(_)) => Ok(TaskOutput(Value::Array(vec![row.clone()]))),
                Some(_) | None => Err(self.service.bad_reply(&reply, "a list")),
            },
            (Wanted::Text, _, _) => match reply.field("text").is_some_and(Value::is_string) {
                true => Ok(TaskOutput(reply.json.expect("fields come from JSON"))),
                false => Err(self.service.bad_reply(&reply, "a text")),
            },
            (Wanted::Caption, rows, _) => {
                let first = rows.and_then(|rows| rows.into_iter().next()).or_else(|| reply.json.clone());
                match first.as_ref().and_then(|row| row.get("generated_text")).and_then(Value::as_str) {
                    Some(text) => Ok(TaskOutput::text(text.trim())),
                    None => Err(self.service.bad_reply(&reply, "a caption")),
                }
            }
            (Wanted::Boxes, Some(rows), Some(picture)) => results::boxes(&self.inputs, picture, rows).await,
            (Wanted::Masks, Some(rows), Some(picture)) => results::masks(&self.inputs, picture, rows).await,
            (Wanted::Boxes | Wanted::Masks, _, _) => Err(self.service.bad_reply(&reply, "a list")),
        }
    }

    async fn output(&self, job: &Job) -> Result<TaskOutput, TaskError> {
        let call = call::prepare(&self.inputs, job).await?;
        let hosted = self.config.base.host_str().is_some_and(|host| host.ends_with("huggingface.co"));
        if self.config.token.is_none() && hosted {
            return Err(TaskError::new(ErrorCode::NotConfigured, "calling Hugging Face needs an access token")
                .hint("Set HUGGINGFACE_ACCESS_TOKEN"));
        }
        let reply = self.call(job, &call).await?;
        self.result(call, reply).await
    }
}

#[async_trait]
impl Worker for HuggingFace {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        self.output(job).await.map(Value::from)
    }
}

/// How long the model still needs to load, when the reply says that it is loading.
fn loading(reply: &Reply) -> Option<Duration> {
    if reply.status != StatusCode::SERVICE_UNAVAILABLE {
        return None;
    }
    let estimate = reply.field("estimated_time").and_then(Value::as_f64);
    let is_loading = reply.error_message().is_some_and(|message| message.to_ascii_lowercase().contains("loading"));
    match estimate {
        Some(seconds) => Duration::try_from_secs_f64(seconds.clamp(0.0, 600.0)).ok(),
        None if is_loading => Some(Duration::from_secs(5)),
        None => None,
    }
}

#[cfg(test)]
mod tests;
