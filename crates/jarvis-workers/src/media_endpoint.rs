//! Pictures and sound from an OpenAI-compatible endpoint: image generation, speech, transcription.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jarvis_catalogue::TaskOutput;
use jarvis_engine::{Job, Worker};
use jarvis_plan::{ErrorCode, Kind, TaskError};
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use url::Url;

use crate::chat::need;
use crate::{Inputs, results};
use jarvis_net::Secret;
use jarvis_net::http::Route;
use jarvis_net::policy::ServiceUrl;
use jarvis_store::sniff;
use jarvis_tools::service::{Service, join};

/// How a media endpoint is called. A task without a model is not served. `Debug` leaves out what may be secret.
#[derive(Debug, Clone)]
pub struct MediaEndpointConfig {
    /// The base URL, usually ending in `/v1`.
    pub base: ServiceUrl,
    pub key: Option<Secret>,
    /// The proxy to call through; without it the one that the environment names, if any. An address on this machine is
    /// called directly.
    pub proxy: Option<Secret>,
    /// The model for `text-to-image`.
    pub image_model: Option<String>,
    /// The model for `text-to-speech`.
    pub speech_model: Option<String>,
    /// The model for `automatic-speech-recognition`.
    pub transcription_model: Option<String>,
    /// The size of pictures, such as `1024x1024`; left to the endpoint when `None`.
    pub image_size: Option<String>,
    pub voice: String,
    pub speech_format: String,
    /// The longest one call may take: 90 s by default, which leaves time for the next candidate.
    pub timeout: Duration,
}

impl MediaEndpointConfig {
    /// The usual settings for an address and a key; no task is served until its model is named.
    pub fn new(base: Url, key: Option<Secret>) -> MediaEndpointConfig {
        MediaEndpointConfig {
            base: base.into(),
            key,
            proxy: None,
            image_model: None,
            speech_model: None,
            transcription_model: None,
            image_size: None,
            voice: "alloy".to_owned(),
            speech_format: "wav".to_owned(),
            timeout: Duration::from_secs(90),
        }
    }
}

#[derive(Debug)]
pub struct MediaEndpoint {
    config: MediaEndpointConfig,
    service: Service,
    inputs: Arc<Inputs>,
}

impl MediaEndpoint {
    /// A worker for one endpoint. Nothing is sent until a task is performed.
    pub fn new(config: MediaEndpointConfig, inputs: Arc<Inputs>) -> MediaEndpoint {
        let service = Service::new("the media endpoint", config.timeout, inputs.limits().max_bytes)
            .token(config.key.clone())
            .route(Route::to(&config.base, config.proxy.as_ref()))
            .hints("Check the key of the media endpoint", "Check the name of the model and the base URL");
        MediaEndpoint { config, service, inputs }
    }

    /// The model that serves a task type, when one is named for it.
    pub fn model(&self, task: &str) -> Option<&str> {
        match task {
            "text-to-image" => self.config.image_model.as_deref(),
            "text-to-speech" => self.config.speech_model.as_deref(),
            "automatic-speech-recognition" => self.config.transcription_model.as_deref(),
            _ => None,
        }
    }

    async fn draw(&self, job: &Job, model: &str) -> Result<TaskOutput, TaskError> {
        let prompt = need(job, "text")?;
        let mut body = json!({ "model": model, "prompt": prompt, "n": 1 });
        if let (Some(size), Value::Object(fields)) = (&self.config.image_size, &mut body) {
            fields.insert("size".to_owned(), size.as_str().into());
        }
        let url = join(&self.config.base, ["images", "generations"])?;
        let reply = self.service.accept(self.service.send(self.service.post(url).await?.json(&body)).await?)?;
        let address = reply.json.as_ref().and_then(|value| value.pointer("/data/0/url")?.as_str());
        if let Some(address) = address.and_then(|address| Url::parse(address).ok()) {
            let base = &self.config.base;
            if let Some(path) = results::own_file(&self.service, &self.inputs, base, &address, Kind::Image).await? {
                return Ok(TaskOutput::image(path));
            }
        }
        results::media_result(&self.service, &self.inputs, reply, Kind::Image).await
    }

    async fn speak(&self, job: &Job, model: &str) -> Result<TaskOutput, TaskError> {
        let text = need(job, "text")?;
        let body = json!({
            "model": model,
            "input": text,
            "voice": self.config.voice,
            "response_format": self.config.speech_format,
        });
        let url = join(&self.config.base, ["audio", "speech"])?;
        let reply = self.service.accept(self.service.send(self.service.post(url).await?.json(&body)).await?)?;
        results::media_result(&self.service, &self.inputs, reply, Kind::Audio).await
    }

    async fn transcribe(&self, job: &Job, model: &str) -> Result<TaskOutput, TaskError> {
        let audio = need(job, "audio")?;
        let bytes = self.inputs.bytes(audio, Kind::Audio).await?;
        let found = sniff::require("the sound", &bytes, Kind::Audio)?;
        // Endpoints tell the format by the file's name.
        let file = Part::stream_with_length(bytes.clone(), bytes.len() as u64)
            .file_name(format!("audio.{}", found.extension))
            .mime_str(found.mime)
            .map_err(|error| TaskError::new(ErrorCode::Internal, format!("the form cannot be made: {error}")))?;
        let form = Form::new().text("model", model.to_owned()).text("response_format", "json").part("file", file);
        let url = join(&self.config.base, ["audio", "transcriptions"])?;
        let reply = self.service.accept(self.service.send(self.service.post(url).await?.multipart(form)).await?)?;
        match reply.field("text").and_then(Value::as_str) {
            Some(text) => Ok(TaskOutput(json!({ "text": text.trim() }))),
            None => Err(self.service.bad_reply(&reply, "a text")),
        }
    }

    async fn output(&self, job: &Job) -> Result<TaskOutput, TaskError> {
        let task = job.candidate.effective_task.as_str();
        let Some(model) = self.model(task) else {
            return Err(TaskError::new(
                ErrorCode::NotConfigured,
                format!("the media endpoint has no model for `{task}`"),
            )
            .hint("Name a model for the task in the configuration of the media endpoint"));
        };
        match task {
            "text-to-image" => self.draw(job, model).await,
            "text-to-speech" => self.speak(job, model).await,
            _ => self.transcribe(job, model).await,
        }
    }
}

#[async_trait]
impl Worker for MediaEndpoint {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        self.output(job).await.map(Value::from)
    }
}

#[cfg(test)]
mod tests;
