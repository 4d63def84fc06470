//! A fake of the original's model server: `GET /running`, `GET /status/{id}`, `POST /models/{id}`, and result files.

use std::collections::HashMap;
use std::io;

use serde_json::{Value, json};

use crate::stub::{Canned, Captured, Stub};

/// A model server. Media must come as paths under `public/` or as data URLs, as a server that reads files demands.
#[derive(Debug)]
pub struct FakeModelServer {
    stub: Stub,
}

impl FakeModelServer {
    /// Starts a server with these models and their answers, and files by path, such as `/images/ab.png`.
    pub async fn start(models: Vec<(&str, Canned)>, files: Vec<(&str, Canned)>) -> io::Result<FakeModelServer> {
        let own = |table: Vec<(&str, Canned)>| -> HashMap<String, Canned> {
            table.into_iter().map(|(name, canned)| (name.to_owned(), canned)).collect()
        };
        let (models, files) = (own(models), own(files));
        let stub = Stub::start(move |request| {
            if let Some(file) = files.get(&request.path).filter(|_| request.method == "GET") {
                return file.clone();
            }
            let route = request.path.trim_start_matches('/').split_once('/');
            match (request.method.as_str(), route) {
                ("GET", None) if request.path == "/running" => Canned::json(&json!({ "running": true })),
                ("GET", Some(("status", id))) => Canned::json(&json!({ "loaded": models.contains_key(id) })),
                ("POST", Some(("models", id))) => match (models.get(id), body_problem(request)) {
                    (None, _) => fault(404, &format!("model {id} is not loaded")),
                    (Some(_), Some(problem)) => fault(400, problem),
                    (Some(canned), None) => canned.clone(),
                },
                _ => Canned::bytes("text/html", "<!doctype html><title>404</title>").status(404),
            }
        })
        .await?;
        Ok(FakeModelServer { stub })
    }

    pub fn base(&self) -> String {
        self.stub.url("")
    }

    pub fn requests(&self) -> Vec<Captured> {
        self.stub.requests()
    }
}

fn fault(status: u16, message: &str) -> Canned {
    Canned::json(&json!({ "error": { "message": message } })).status(status)
}

fn body_problem(request: &Captured) -> Option<&'static str> {
    let Value::Object(fields) = request.json() else { return Some("the body is not a JSON object") };
    let readable = |name: &str| match fields.get(name) {
        None => true,
        Some(value) => value.as_str().is_some_and(|url| url.starts_with("public/") || url.starts_with("data:")),
    };
    (!readable("img_url") || !readable("audio_url")).then_some("no such file")
}
