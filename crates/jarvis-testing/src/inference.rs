//! Fakes of inference services: Hugging Face's router for models, and OpenAI's media endpoints. They check what they
//! are sent as the true ones do, and answer with what a test says.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::stub::{Canned, Captured, Stub};

#[derive(Debug, Clone)]
pub enum Served {
    Now(Canned),
    Loading {
        times: u32,
        /// The seconds it says that it needs.
        estimated_time: f64,
        then: Canned,
    },
}

/// The inference API of the Hugging Face router: `POST /hf-inference/models/{id}[/pipeline/{task}]`.
#[derive(Debug)]
pub struct FakeInference {
    stub: Stub,
}

impl FakeInference {
    /// Starts a router that takes one token and has these models.
    pub async fn start(token: &str, models: Vec<(&str, Served)>) -> io::Result<FakeInference> {
        let token = format!("Bearer {token}");
        let models: HashMap<String, Served> = models.into_iter().map(|(id, served)| (id.to_owned(), served)).collect();
        let calls: Mutex<HashMap<String, u32>> = Mutex::default();
        let stub = Stub::start(move |request| {
            if request.header("authorization") != Some(&token) {
                return fault(401, "Invalid credentials in Authorization header");
            }
            if request.method != "POST" {
                return fault(405, "Method not allowed");
            }
            let Some(path) = request.path.strip_prefix("/hf-inference/models/") else {
                return Canned::bytes("text/html", "<!doctype html><title>404</title>").status(404);
            };
            let (id, pipeline) = match path.split_once("/pipeline/") {
                Some((id, task)) => (id, Some(task)),
                None => (path, None),
            };
            if pipeline.is_some_and(|task| !matches!(task, "sentence-similarity" | "feature-extraction")) {
                return fault(400, "this model does not serve that pipeline");
            }
            let Some(served) = models.get(id) else { return fault(404, &format!("Model {id} does not exist")) };
            if let Some(problem) = payload_problem(request) {
                return fault(400, problem);
            }
            match served {
                Served::Now(canned) => canned.clone(),
                Served::Loading { times, estimated_time, then } => {
                    let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
                    let made = calls.entry(id.to_owned()).or_default();
                    *made += 1;
                    if *made <= *times {
                        let told = json!({"error": format!("Model {id} is currently loading"), "estimated_time": estimated_time});
                        return Canned::json(&told).status(503);
                    }
                    then.clone()
                }
            }
        })
        .await?;
        Ok(FakeInference { stub })
    }

    pub fn base(&self) -> String {
        self.stub.url("/hf-inference/models")
    }

    pub fn requests(&self) -> Vec<Captured> {
        self.stub.requests()
    }
}

fn fault(status: u16, message: &str) -> Canned {
    Canned::json(&json!({ "error": message })).status(status)
}

/// What the router would refuse: an empty body, broken JSON, JSON without `inputs`, bytes without a type.
fn payload_problem(request: &Captured) -> Option<&'static str> {
    let content_type = request.header("content-type").unwrap_or_default();
    if request.body.is_empty() {
        return Some("the body is empty");
    }
    if content_type.starts_with("application/json") {
        let body = request.json();
        return if body.get("inputs").is_none() { Some("`inputs` is required") } else { None };
    }
    (!content_type.starts_with("image/") && !content_type.starts_with("audio/")).then_some("Content type not supported")
}

#[derive(Debug, Clone)]
pub struct MediaReplies {
    /// To `POST /v1/images/generations`.
    pub images: Canned,
    /// To `POST /v1/audio/speech`.
    pub speech: Canned,
    /// To `POST /v1/audio/transcriptions`.
    pub transcriptions: Canned,
    /// To `GET /files/picture.png`, which a picture's `url` may name.
    pub file: Canned,
}

/// OpenAI's endpoints for pictures and sound, under `/v1`.
#[derive(Debug)]
pub struct FakeMedia {
    stub: Stub,
}

impl FakeMedia {
    /// Starts the endpoints. With a key, calls without it are refused.
    pub async fn start(key: Option<&str>, replies: MediaReplies) -> io::Result<FakeMedia> {
        let key = key.map(|key| format!("Bearer {key}"));
        let stub = Stub::start(move |request| {
            if request.path == "/files/picture.png" {
                return replies.file.clone();
            }
            if key.is_some() && request.header("authorization") != key.as_deref() {
                return openai_error(401, "Incorrect API key provided");
            }
            let body = request.json();
            let has = |name: &str| body.get(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
            match (request.method.as_str(), request.path.as_str()) {
                ("POST", "/v1/images/generations") if has("prompt") => replies.images.clone(),
                ("POST", "/v1/audio/speech") if has("model") && has("input") && has("voice") => replies.speech.clone(),
                ("POST", "/v1/audio/transcriptions") if is_upload(request) => replies.transcriptions.clone(),
                ("POST", "/v1/images/generations" | "/v1/audio/speech" | "/v1/audio/transcriptions") => {
                    openai_error(400, "a required parameter is missing")
                }
                _ => openai_error(404, "Unknown request URL"),
            }
        })
        .await?;
        Ok(FakeMedia { stub })
    }

    pub fn base(&self) -> String {
        self.stub.url("/v1")
    }

    /// The address of the file that a picture's `url` may name.
    pub fn file_url(&self) -> String {
        self.stub.url("/files/picture.png")
    }

    pub fn requests(&self) -> Vec<Captured> {
        self.stub.requests()
    }
}

fn openai_error(status: u16, message: &str) -> Canned {
    Canned::json(&json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}}))
        .status(status)
}

fn is_upload(request: &Captured) -> bool {
    let form = request.header("content-type").is_some_and(|kind| kind.starts_with("multipart/form-data; boundary="));
    let body = String::from_utf8_lossy(&request.body);
    form && body.contains("name=\"file\"; filename=\"") && body.contains("name=\"model\"")
}
