//! Models on a server that speaks the protocol of the original's model server: `POST /models/{id}`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use jarvis_catalogue::TaskOutput;
use jarvis_catalogue::{Family, TaskType, find};
use jarvis_engine::{Job, Worker};
use jarvis_net::Secret;
use jarvis_net::http::Route;
use jarvis_net::policy::{ServiceUrl, shown};
use jarvis_net::text::shorten;
use jarvis_plan::{ErrorCode, Kind, TaskError};
use jarvis_store::{Media, blocking, sniff};
use jarvis_tools::service::{Reply, Service, join, model_url};
use serde_json::{Map, Value, json};
use url::Url;

use crate::chat::{missing, need};
use crate::inputs::{is_public, media_error};
use crate::{Inputs, results};

/// How the server gets the media that it works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// It has the same public folder: media are named as `public/images/…`, and results appear there.
    #[default]
    Folder,
    /// It runs elsewhere: media are sent as data URLs, and results are fetched from it.
    DataUrls,
}

/// How a model server is called. `Debug` leaves out what may be secret.
#[derive(Debug, Clone)]
pub struct ModelServerConfig {
    pub base: ServiceUrl,
    pub token: Option<Secret>,
    pub sharing: Sharing,
    pub timeout: Duration,
}

impl ModelServerConfig {
    /// The usual settings for an address: the folder is shared, a call may take 90 s, which leaves time for
    /// the next candidate.
    pub fn new(base: Url) -> ModelServerConfig {
        ModelServerConfig { base: base.into(), token: None, sharing: Sharing::Folder, timeout: Duration::from_secs(90) }
    }
}

#[derive(Debug)]
pub struct ModelServer {
    config: ModelServerConfig,
    service: Service,
    inputs: Arc<Inputs>,
}

impl ModelServer {
    pub fn new(config: ModelServerConfig, inputs: Arc<Inputs>) -> ModelServer {
        let service = Service::new("the model server", config.timeout, inputs.limits().max_bytes)
            .token(config.token.clone())
            .route(Route::to(&config.base, None))
            .hints("Check the token of the model server", "Check which models the server has loaded");
        ModelServer { config, service, inputs }
    }

    /// The body for a task, and the picture that its result is drawn on.
    async fn body(&self, job: &Job) -> Result<(Value, Option<Bytes>), TaskError> {
        /// What stands as `text` beside the picture.
        enum Text {
            Absent,
            Null,
            Optional,
            Required,
        }
        let task = job.candidate.effective_task.as_str();
        let text = match (task, find(task).map(|known| known.family)) {
            ("object-detection" | "image-segmentation" | "image-to-image" | "depth-estimation", _)
            | (_, Some(Family::Control)) => Text::Absent,
            ("image-classification", _) => Text::Null,
            ("image-to-text", _) => Text::Optional,
            ("visual-question-answering" | "document-question-answering", _) | (_, Some(Family::ControlGeneration)) => {
                Text::Required
            }
            ("automatic-speech-recognition" | "audio-classification" | "audio-to-audio", _) => {
                let (url, _) = self.hand_over(need(job, "audio")?, Kind::Audio).await?;
                return Ok((json!({ "audio_url": url }), None));
            }
            ("tabular-classification", _) => {
                return Err(TaskError::new(ErrorCode::CannotDo, "a model server takes no tables"));
            }
            _ => return Ok((self.args(job).await?, None)),
        };
        let text = match text {
            Text::Absent => None,
            Text::Null => Some(Value::Null),
            Text::Optional => Some(job.arg("text").into()),
            Text::Required => Some(need(job, "text")?.into()),
        };
        let (url, bytes) = self.hand_over(need(job, "image")?, Kind::Image).await?;
        let mut body = Map::from_iter([("img_url".to_owned(), url.into())]);
        body.extend(text.map(|text| ("text".to_owned(), text)));
        let is_drawn_on = matches!(task, "object-detection" | "image-segmentation");
        Ok((Value::Object(body), is_drawn_on.then_some(bytes)))
    }

    /// The arguments as they are, media handed over. What the task needs at least is not known here, but not nothing.
    async fn args(&self, job: &Job) -> Result<Value, TaskError> {
        let mut body = Map::new();
        for (name, value) in job.texts().iter().filter(|(_, value)| !value.trim().is_empty()) {
            let handed = match name.as_str() {
                "image" => ("img_url", self.hand_over(value, Kind::Image).await?.0),
                "audio" => ("audio_url", self.hand_over(value, Kind::Audio).await?.0),
                other => (other, value.clone()),
            };
            body.insert(handed.0.to_owned(), handed.1.into());
        }
        let task = job.candidate.effective_task.as_str();
        match task {
            "sentence-similarity" if !body.contains_key("text1") && !body.contains_key("text") => {
                Err(missing(task, "text1"))
            }
            "sentence-similarity" => Ok(Value::Object(body)),
            "question-answering" if body.contains_key("question") => Ok(Value::Object(body)),
            _ if body.is_empty() || (needs_text(task) && !body.contains_key("text")) => Err(missing(task, "text")),
            _ => Ok(Value::Object(body)),
        }
    }

    /// What to call a medium towards the server, and its bytes. Whatever is not under the public root is fetched under
    /// the URL policy here, never by the server.
    async fn hand_over(&self, arg: &str, kind: Kind) -> Result<(String, Bytes), TaskError> {
        let bytes = self.inputs.bytes(arg, kind).await?;
        let url = match self.config.sharing {
            Sharing::Folder => {
                let path = if is_public(arg) {
                    Media::display(arg).map_err(|error| media_error(&error))?
                } else {
                    results::store_as(&self.inputs, kind, bytes.to_vec(), "the input").await?
                };
                format!("public{path}")
            }
            Sharing::DataUrls => {
                let mime = sniff::sniff(&bytes).map_or("application/octet-stream", |found| found.mime);
                let bytes = bytes.clone();
                blocking(move || Ok(format!("data:{mime};base64,{}", STANDARD.encode(&bytes)))).await?
            }
        };
        Ok((url, bytes))
    }

    async fn result(&self, task: &str, reply: Reply, picture: Option<Bytes>) -> Result<TaskOutput, TaskError> {
        let kind = output_kind(task);
        if let (Some(rows), Some(picture)) = (results::rows(&reply), picture) {
            return match task {
                "image-segmentation" => results::masks(&self.inputs, picture, rows).await,
                _ => results::boxes(&self.inputs, picture, rows).await,
            };
        }
        let Some(value) = &reply.json else {
            return match kind {
                Some(kind) => results::media_result(&self.service, &self.inputs, reply, kind).await,
                None => Err(self.service.bad_reply(&reply, "data")),
            };
        };
        let Value::Object(fields) = value else {
            return match kind {
                Some(_) => Err(self.service.bad_reply(&reply, "a file")),
                None => Ok(TaskOutput(value.clone())),
            };
        };
        let mut result = Map::new();
        let mut named = false;
        for (key, value) in fields {
            let file_kind = match key.as_str() {
                "path" => kind.or_else(|| value.as_str().and_then(Kind::of_name)).filter(|kind| kind.is_media()),
                "generated image" => Some(Kind::Image),
                "generated audio" => Some(Kind::Audio),
                "generated video" => Some(Kind::Video),
                _ => None,
            };
            match (file_kind, value) {
                (Some(file_kind), Value::String(path)) => {
                    named |= kind.is_none_or(|kind| kind == file_kind);
                    let path = self.file(path, file_kind).await?;
                    result.insert(results::media_key(file_kind).to_owned(), path.into());
                }
                (Some(_) | None, value) => {
                    result.insert(key.clone(), value.clone());
                }
            }
        }
        if kind.is_some() && !named {
            return Err(self.service.bad_reply(&reply, "the path of a file"));
        }
        Ok(TaskOutput(Value::Object(result)))
    }

    /// The display path of a file that the server names: one under the shared folder stays where it is, one on the
    /// server is fetched from it and from nowhere else, a data URL is stored.
    async fn file(&self, named: &str, kind: Kind) -> Result<String, TaskError> {
        let named = named.trim();
        if !is_public(named) {
            return match Url::parse(named) {
                Ok(address) if matches!(address.scheme(), "http" | "https") => {
                    let own = &self.config.base;
                    match results::own_file(&self.service, &self.inputs, own, &address, kind).await? {
                        Some(path) => Ok(path),
                        None => {
                            let words = format!("names a file at another host ({})", shown(&address));
                            Err(self.service.error(ErrorCode::BadReply, &words))
                        }
                    }
                }
                Ok(_) | Err(_) => {
                    let bytes = self.inputs.bytes(named, kind).await.map_err(results::bad_reply)?;
                    results::store_as(&self.inputs, kind, bytes.to_vec(), "the file in the answer").await
                }
            };
        }
        let path = Media::display(named).map_err(|error| results::bad_reply(media_error(&error)))?;
        if self.config.sharing == Sharing::Folder {
            match self.inputs.bytes(&path, kind).await {
                Ok(_) => {
                    let media = Arc::clone(self.inputs.media());
                    return blocking(move || media.adopt(&path, kind).map_err(|error| media_error(&error))).await;
                }
                Err(error) if error.code == ErrorCode::NotFound => {}
                Err(error) => return Err(results::bad_reply(error)),
            }
        }
        let address = join(&self.config.base, path.split('/').filter(|part| !part.is_empty()))?;
        match results::own_file(&self.service, &self.inputs, &self.config.base, &address, kind).await {
            Ok(Some(path)) => Ok(path),
            Ok(None) => Err(self.service.error(ErrorCode::BadReply, "names a file that is not its own")),
            Err(error) if error.code == ErrorCode::Unavailable => Err(self
                .service
                .error(ErrorCode::BadReply, &format!("says the result is `{}`, which is nowhere", shorten(&path, 120)))
                .hint("Let the model server share the public folder, or serve its files over HTTP")),
            Err(error) => Err(error),
        }
    }

    async fn output(&self, job: &Job) -> Result<TaskOutput, TaskError> {
        let task = job.candidate.effective_task.as_str();
        let (body, picture) = self.body(job).await?;
        // A control task that was given no model of its own names itself.
        let id = match find(task).and_then(TaskType::control_model) {
            Some(control) if job.candidate.id == task => control,
            Some(_) | None => job.candidate.id.clone(),
        };
        let url = model_url(&join(&self.config.base, ["models"])?, &id, &[])?;
        let request = self.service.post(url).await?.json(&body);
        let reply = self.service.accept(self.service.send(request).await?)?;
        self.result(task, reply, picture).await
    }
}

#[async_trait]
impl Worker for ModelServer {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        self.output(job).await.map(Value::from)
    }
}

/// The medium that a task must give; `None` when it gives data, or may give anything.
fn output_kind(task: &str) -> Option<Kind> {
    match task {
        "text-to-image" | "image-to-image" | "image-segmentation" | "depth-estimation" => Some(Kind::Image),
        "text-to-video" => Some(Kind::Video),
        "text-to-speech" | "audio-to-audio" => Some(Kind::Audio),
        _ => find(task).and_then(TaskType::control_model).map(|_| Kind::Image),
    }
}

/// Whether a task whose arguments are passed on as they are makes no sense without a text.
fn needs_text(task: &str) -> bool {
    find(task).is_some_and(|known| known.args.iter().any(|arg| arg.required && arg.name == "text"))
}

#[cfg(test)]
mod tests;
