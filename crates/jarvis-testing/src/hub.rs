//! A fake Hugging Face Hub and a fake status server of models on loopback sockets: listings and availability, no inference.
//!
//! Both take more routes, so that a test can add the calls it needs. Every request is kept for inspection. A server
//! stops when its handle is dropped.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub method: String,
    pub target: String,
    pub authorization: Option<String>,
}

/// What a fake server answers when asked about a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Answer {
    /// Its record, with the providers it has.
    #[default]
    Record,
    Status(u16),
    Body(String),
    Redirect(String),
    /// Nothing, ever.
    Hang,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct HubModel {
    pub id: String,
    pub pipeline_tag: String,
    pub likes: u64,
    pub downloads: u64,
    pub tags: Vec<String>,
    /// Provider name to `live`, `staging` or `error`.
    pub providers: BTreeMap<String, String>,
    /// Whether the old `/status/{id}` says it is loaded.
    pub loaded: bool,
    pub answer: Answer,
}

impl HubModel {
    /// A model that the provider `hf-inference` serves, and that the old status call calls loaded.
    pub fn live(id: &str, pipeline_tag: &str, likes: u64) -> HubModel {
        HubModel::with_provider(id, pipeline_tag, likes, "hf-inference", "live")
    }

    /// A model with one provider in the state given; loaded when that state is `live`.
    pub fn with_provider(id: &str, pipeline_tag: &str, likes: u64, provider: &str, state: &str) -> HubModel {
        HubModel {
            id: id.to_owned(),
            pipeline_tag: pipeline_tag.to_owned(),
            likes,
            providers: BTreeMap::from([(provider.to_owned(), state.to_owned())]),
            loaded: state == "live",
            ..HubModel::default()
        }
    }

    pub fn answering(id: &str, answer: Answer) -> HubModel {
        HubModel { answer, ..HubModel::live(id, "image-to-text", 0) }
    }
}

#[derive(Debug, Default)]
struct Shared {
    seen: Mutex<Vec<Seen>>,
    models: Mutex<Vec<HubModel>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A server on a free loopback port that stops when dropped.
#[derive(Debug)]
struct Server {
    addr: SocketAddr,
    task: JoinHandle<()>,
    shared: Arc<Shared>,
}

impl Server {
    async fn start(routes: Router<Arc<Shared>>, extra: Router, models: Vec<HubModel>) -> io::Result<Server> {
        let shared = Arc::new(Shared { models: Mutex::new(models), ..Shared::default() });
        let app = routes
            .with_state(Arc::clone(&shared))
            .merge(extra)
            .layer(middleware::from_fn_with_state(Arc::clone(&shared), keep));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let addr = listener.local_addr()?;
        let task = tokio::spawn(async move {
            // Ends only when aborted.
            let _ = axum::serve(listener, app).await;
        });
        Ok(Server { addr, task, shared })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn keep(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let authorization = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    lock(&shared.seen).push(Seen {
        method: request.method().to_string(),
        target: request.uri().to_string(),
        authorization: authorization.map(str::to_owned),
    });
    next.run(request).await
}

/// A fake Hugging Face Hub: `GET /api/models` (filters `pipeline_tag`, `inference_provider`, `sort`, `limit`, pages by
/// `Link`), `GET /api/models/{id}` with the provider mapping, and the old `GET /status/{id}`.
#[derive(Debug)]
pub struct FakeHub(Server);

impl FakeHub {
    pub async fn start(models: Vec<HubModel>) -> io::Result<FakeHub> {
        FakeHub::start_with(models, Router::new()).await
    }

    /// Starts a Hub with these models and more routes, such as `POST /hf-inference/models/{*id}`.
    pub async fn start_with(models: Vec<HubModel>, extra: Router) -> io::Result<FakeHub> {
        let routes = Router::new()
            .route("/api/models", get(list))
            .route("/api/models/{*id}", get(record))
            .route("/status/{*id}", get(status));
        Server::start(routes, extra, models).await.map(FakeHub)
    }

    /// Its base URL, without a slash at the end.
    pub fn base(&self) -> String {
        format!("http://{}", self.0.addr)
    }

    pub fn set(&self, models: Vec<HubModel>) {
        *lock(&self.0.shared.models) = models;
    }

    pub fn seen(&self) -> Vec<Seen> {
        lock(&self.0.shared.seen).clone()
    }

    /// How many requests had this text in their target.
    pub fn hits(&self, part: &str) -> usize {
        lock(&self.0.shared.seen).iter().filter(|seen| seen.target.contains(part)).count()
    }
}

/// The part of a model server that tells what is loaded: `GET /running` and `GET /status/{id}`, where any id that is not
/// loaded answers `false`.
#[derive(Debug)]
pub struct FakeStatusServer(Server);

impl FakeStatusServer {
    /// Starts a server that has loaded these ids.
    pub async fn start(loaded: &[&str]) -> io::Result<FakeStatusServer> {
        let models = loaded.iter().map(|id| HubModel::live(id, "", 0)).collect();
        FakeStatusServer::start_with(models, Router::new()).await
    }

    /// Starts a server that answers about these models as they say, with more routes, such as `POST /models/{*id}`.
    pub async fn start_with(models: Vec<HubModel>, extra: Router) -> io::Result<FakeStatusServer> {
        let routes = Router::new()
            .route("/running", get(async || Json(json!({"running": true}))))
            .route("/status/{*id}", get(status));
        Server::start(routes, extra, models).await.map(FakeStatusServer)
    }

    /// Its base URL, without a slash at the end.
    pub fn base(&self) -> String {
        format!("http://{}", self.0.addr)
    }

    pub fn seen(&self) -> Vec<Seen> {
        lock(&self.0.shared.seen).clone()
    }

    /// How many requests had this text in their target.
    pub fn hits(&self, part: &str) -> usize {
        lock(&self.0.shared.seen).iter().filter(|seen| seen.target.contains(part)).count()
    }
}

/// The listing. Pages have at most 50 models, whatever `limit` asks for.
async fn list(
    State(shared): State<Arc<Shared>>,
    Query(query): Query<BTreeMap<String, String>>,
    request: Request,
) -> Response {
    let number = |name: &str| query.get(name).and_then(|text| text.parse::<usize>().ok());
    let mut models: Vec<HubModel> = lock(&shared.models).clone();
    models.retain(|model| {
        query.get("pipeline_tag").is_none_or(|tag| *tag == model.pipeline_tag)
            && query.get("inference_provider").is_none_or(|wanted| {
                model.providers.keys().any(|has| wanted == "all" || wanted.split(',').any(|one| one == has))
            })
    });
    if query.get("sort").is_some_and(|sort| sort == "likes") {
        models.sort_by_key(|model| std::cmp::Reverse(model.likes));
    }
    if let Some(bad) = models.iter().find_map(|model| refusal(&model.answer)) {
        return bad;
    }
    let from = number("cursor").unwrap_or(0);
    let limit = number("limit").unwrap_or(50).min(50);
    let page: Vec<Value> = models
        .iter()
        .skip(from)
        .take(limit)
        .map(|model| {
            json!({"id": model.id, "modelId": model.id, "likes": model.likes, "downloads": model.downloads,
                   "private": false, "tags": model.tags, "pipeline_tag": model.pipeline_tag})
        })
        .collect();
    let end = from + page.len();
    let mut reply = Json(page).into_response();
    if end < models.len() {
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let rest: Vec<String> = query
            .iter()
            .filter(|(name, _)| *name != "cursor")
            .map(|(name, value)| format!("{name}={value}"))
            .chain([format!("cursor={end}")])
            .collect();
        let link = format!("<http://{host}/api/models?{}>; rel=\"next\"", rest.join("&"));
        if let Ok(link) = link.parse() {
            reply.headers_mut().insert(header::LINK, link);
        }
    }
    reply
}

fn refusal(answer: &Answer) -> Option<Response> {
    match answer {
        Answer::Status(code) => {
            let code = StatusCode::from_u16(*code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            Some((code, Json(json!({"error": "as the test asked"}))).into_response())
        }
        Answer::Body(text) => Some(text.clone().into_response()),
        Answer::Redirect(to) => {
            Some((StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, to.clone())]).into_response())
        }
        Answer::Record | Answer::Hang => None,
    }
}

/// The model of that id, once it may be answered: `Err` is what to answer instead.
async fn find(shared: &Shared, id: &str) -> Result<HubModel, Response> {
    let found = lock(&shared.models).iter().find(|model| model.id == id).cloned();
    let Some(model) = found else {
        return Err((StatusCode::NOT_FOUND, Json(json!({"error": "Repository not found"}))).into_response());
    };
    if model.answer == Answer::Hang {
        std::future::pending::<()>().await;
    }
    match refusal(&model.answer) {
        Some(refusal) => Err(refusal),
        None => Ok(model),
    }
}

async fn record(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Response {
    match find(&shared, &id).await {
        Err(refusal) => refusal,
        Ok(model) => {
            let mapping: serde_json::Map<String, Value> = model
                .providers
                .iter()
                .map(|(provider, state)| {
                    let entry = json!({"status": state, "providerId": model.id, "task": model.pipeline_tag});
                    (provider.clone(), entry)
                })
                .collect();
            Json(json!({"_id": "0", "id": model.id, "inferenceProviderMapping": mapping})).into_response()
        }
    }
}

async fn status(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Response {
    match find(&shared, &id).await {
        // A model server knows no 404 here: what it has not loaded, it has not loaded.
        Err(refusal) if refusal.status() == StatusCode::NOT_FOUND => Json(json!({"loaded": false})).into_response(),
        Err(refusal) => refusal,
        Ok(model) => Json(json!({"loaded": model.loaded, "state": "Loaded"})).into_response(),
    }
}
