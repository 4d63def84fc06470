//! A fake Hub that holds files: revisions, trees in pages, content with ranges, large files at another host, gates, and every trouble
//! that a download meets. Two servers on loopback sockets, the Hub and its content network, on a thread of their own.
//!
//! Every request is kept for inspection. The servers stop when the handle is dropped.

mod repo;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream;
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};

/// Pieces in which content is sent.
const PIECE: usize = 4096;

pub use repo::{Access, Trouble, Weights, WeightsRepo, commit, content, git_oid, sha256};

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightsRequest {
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Whether it came to the content network.
    pub at_cdn: bool,
    pub authorization: Option<String>,
    pub range: Option<String>,
    pub if_range: Option<String>,
}

#[derive(Debug, Default)]
struct State {
    repos: Mutex<Vec<Arc<WeightsRepo>>>,
    /// What goes wrong with a file, next first.
    troubles: Mutex<HashMap<String, Vec<Trouble>>>,
    requests: Mutex<Vec<WeightsRequest>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A running Hub.
#[derive(Debug)]
pub struct WeightsHub {
    hub: SocketAddr,
    state: Arc<State>,
    released: watch::Sender<bool>,
    sent: watch::Receiver<usize>,
    _stop: oneshot::Sender<()>,
}

impl WeightsHub {
    /// Starts a Hub with these repositories.
    ///
    /// # Panics
    /// When no socket can be opened.
    pub fn start(repos: Vec<WeightsRepo>) -> WeightsHub {
        let bind = || std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a socket");
        let (hub, cdn) = (bind(), bind());
        let address = |listener: &std::net::TcpListener| listener.local_addr().expect("an address");
        let (hub_address, cdn_address) = (address(&hub), address(&cdn));
        let state = Arc::new(State { repos: Mutex::new(shared(repos)), ..State::default() });
        let (released, wait) = watch::channel(false);
        let (count, sent) = watch::channel(0);
        let (stop, stopped) = oneshot::channel::<()>();
        let service = |at_cdn| Service {
            state: Arc::clone(&state),
            cdn: cdn_address,
            at_cdn,
            wait: wait.clone(),
            count: count.clone(),
        };
        let services = [(hub, service(false)), (cdn, service(true))];
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                for (listener, service) in services {
                    listener.set_nonblocking(true).expect("a socket");
                    let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
                    let app = Router::new().fallback(move |request: Request| {
                        let service = service.clone();
                        async move { service.answer(request) }
                    });
                    tokio::spawn(async move { axum::serve(listener, app).await });
                }
                // Ends when the handle is dropped.
                let _ = stopped.await;
            });
            runtime.shutdown_background();
        });
        WeightsHub { hub: hub_address, state, released, sent, _stop: stop }
    }

    /// Its address, without a slash at the end.
    pub fn base(&self) -> String {
        format!("http://{}", self.hub)
    }

    pub fn set(&self, repos: Vec<WeightsRepo>) {
        *lock(&self.state.repos) = shared(repos);
    }

    /// What goes wrong with the next requests of a file's content, one for each.
    pub fn trouble(&self, path: &str, troubles: impl IntoIterator<Item = Trouble>) {
        lock(&self.state.troubles).entry(path.to_owned()).or_default().extend(troubles);
    }

    /// Lets go on what [`Trouble::Hold`] holds, now and later.
    pub fn release(&self) {
        self.released.send_replace(true);
    }

    /// Waits until so many replies are held or stalled.
    pub async fn held(&self, replies: usize) {
        let _ = self.sent.clone().wait_for(|held| *held >= replies).await;
    }

    pub fn requests(&self) -> Vec<WeightsRequest> {
        lock(&self.state.requests).clone()
    }

    /// The requests that had this text in their target.
    pub fn requests_of(&self, part: &str) -> Vec<WeightsRequest> {
        self.requests().into_iter().filter(|request| request.target.contains(part)).collect()
    }
}

fn shared(repos: Vec<WeightsRepo>) -> Vec<Arc<WeightsRepo>> {
    repos.into_iter().map(Arc::new).collect()
}

#[derive(Clone)]
struct Service {
    state: Arc<State>,
    cdn: SocketAddr,
    at_cdn: bool,
    wait: watch::Receiver<bool>,
    count: watch::Sender<usize>,
}

impl Service {
    fn answer(&self, request: Request) -> Response {
        let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let target = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
        let kept = WeightsRequest {
            method: request.method().to_string(),
            target,
            at_cdn: self.at_cdn,
            authorization: header("authorization"),
            range: header("range"),
            if_range: header("if-range"),
        };
        lock(&self.state.requests).push(kept.clone());
        let path = decoded(request.uri().path());
        let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        if self.at_cdn {
            return self.stored(&segments, &kept);
        }
        match segments.as_slice() {
            ["api", "models", org, name, "revision", revision @ ..] => {
                self.repo(&format!("{org}/{name}"), &kept).map(|repo| info(&repo, &revision.join("/")))
            }
            ["api", "models", org, name, "tree", revision @ ..] => {
                let id = format!("{org}/{name}");
                self.repo(&id, &kept).map(|repo| self.tree(&repo, &revision.join("/"), &request))
            }
            [org, name, "resolve", revision, file @ ..] => {
                let id = format!("{org}/{name}");
                self.repo(&id, &kept).map(|repo| self.resolve(&repo, revision, &file.join("/"), &kept))
            }
            _ => Err(Box::new(error(404, "", "not found"))),
        }
        .unwrap_or_else(|refusal| *refusal)
    }

    fn repo(&self, id: &str, request: &WeightsRequest) -> Result<Arc<WeightsRepo>, Box<Response>> {
        let found = lock(&self.state.repos).iter().find(|repo| repo.id == id).cloned();
        let Some(repo) = found else {
            // As the true Hub: strangers are not told whether a repository is private or not there.
            let status = if request.authorization.is_some() { 404 } else { 401 };
            return Err(Box::new(error(status, "RepoNotFound", "Repository not found")));
        };
        let token = request.authorization.as_deref().and_then(|text| text.strip_prefix("Bearer "));
        match &repo.access {
            Access::Private(needed) if token != Some(needed) => {
                Err(Box::new(error(401, "RepoNotFound", "Repository not found")))
            }
            // The names of gated repositories and of their files are public.
            Access::Gated(needed) if token != Some(needed) && request.target.contains("/resolve/") => {
                let status = if token.is_some() { 403 } else { 401 };
                Err(Box::new(error(status, "GatedRepo", "Access to this repository is restricted")))
            }
            _ => Ok(repo),
        }
    }

    fn tree(&self, repo: &WeightsRepo, revision: &str, request: &Request) -> Response {
        let Some((_, files)) = at(repo, revision) else { return error(404, "RevisionNotFound", "Invalid rev id") };
        let made: Vec<Value>;
        let entries = match &repo.tree {
            Some(entries) => entries,
            None => {
                made = files.iter().flat_map(|(path, file)| listed(path, file)).collect();
                &made
            }
        };
        let query = request.uri().query().unwrap_or_default();
        let cursor = query.split('&').find_map(|pair| pair.strip_prefix("cursor=")?.parse::<usize>().ok()).unwrap_or(0);
        let page = repo.page.max(1);
        let start = if repo.endless { 0 } else { cursor };
        let shown: Vec<Value> = entries.iter().skip(start).take(page).cloned().collect();
        let mut headers = HeaderMap::new();
        if repo.endless || cursor + page < entries.len() {
            let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
            let (path, next) = (request.uri().path(), cursor + page);
            let link = format!("<http://{host}{path}?recursive=true&expand=false&cursor={next}>; rel=\"next\"");
            if let Ok(link) = link.parse() {
                headers.insert(header::LINK, link);
            }
        }
        (headers, axum::Json(shown)).into_response()
    }

    fn next_trouble(&self, path: &str) -> Option<Trouble> {
        let mut troubles = lock(&self.state.troubles);
        let queue = troubles.get_mut(path).filter(|queue| !queue.is_empty())?;
        Some(queue.remove(0))
    }

    fn resolve(&self, repo: &WeightsRepo, revision: &str, path: &str, request: &WeightsRequest) -> Response {
        let Some((commit, files)) = at(repo, revision) else { return error(404, "RevisionNotFound", "Invalid rev id") };
        let commit_header = ("x-repo-commit", commit.clone());
        let Some(file) = files.get(path) else {
            return with(error(404, "EntryNotFound", "Entry not found"), [commit_header]);
        };
        if !file.is_large {
            let trouble = if request.method == "HEAD" { None } else { self.next_trouble(path) };
            let tag = ("etag", format!("\"{}\"", git_oid(&file.content)));
            return with(self.content(&file.content, trouble, request), [commit_header, tag]);
        }
        let mut tag = sha256(&file.content);
        let first = lock(&self.state.troubles).get(path).and_then(|queue| queue.first().cloned());
        match first {
            Some(Trouble::OtherTag) => tag = sha256(b"another"),
            Some(Trouble::Gone) => return with(error(404, "EntryNotFound", "Entry not found"), [commit_header]),
            _ => {}
        }
        let location = format!("http://{}/{}?file={path}", self.cdn, sha256(&file.content));
        let headers = [
            commit_header,
            ("x-linked-etag", format!("\"{tag}\"")),
            ("x-linked-size", file.content.len().to_string()),
            ("etag", format!("\"{}\"", git_oid(location.as_bytes()))),
            ("location", location),
        ];
        with(StatusCode::FOUND.into_response(), headers)
    }

    /// A large file, at the other host.
    fn stored(&self, segments: &[&str], request: &WeightsRequest) -> Response {
        let hash = segments.first().copied().unwrap_or_default();
        let path = request.target.split_once("?file=").map(|(_, path)| decoded(path)).unwrap_or_default();
        let repos = lock(&self.state.repos).clone();
        let files = repos.iter().flat_map(|repo| repo.commits.values()).flat_map(BTreeMap::values);
        let found = files.into_iter().find(|file| file.is_large && sha256(&file.content) == hash);
        let Some(file) = found else { return StatusCode::NOT_FOUND.into_response() };
        let trouble = self.next_trouble(&path);
        // Its entity tag is its own.
        with(self.content(&file.content, trouble, request), [("etag", "\"of-the-store\"".to_owned())])
    }

    fn content(&self, content: &Bytes, trouble: Option<Trouble>, request: &WeightsRequest) -> Response {
        match &trouble {
            Some(Trouble::Status(status, headers)) => {
                let reply = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR).into_response();
                return with(reply, headers.iter().map(|(name, value)| (name.as_str(), value.clone())));
            }
            Some(Trouble::Gone) => return error(404, "EntryNotFound", "Entry not found"),
            _ => {}
        }
        let mut content = content.clone();
        match &trouble {
            Some(Trouble::OtherBytes) => content = content.iter().map(|byte| byte ^ 1).collect(),
            Some(Trouble::Shorter(by)) => content.truncate(content.len().saturating_sub(*by)),
            _ => {}
        }
        let size = content.len();
        let tag = format!("\"{}\"", git_oid(&content));
        let current = self.at_cdn || request.if_range.as_ref().is_none_or(|wanted| *wanted == tag);
        let from =
            request.range.as_deref().and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
        let from = from.filter(|_: &usize| current && trouble != Some(Trouble::NoRange));
        if from.is_some_and(|from| from >= size) {
            let range = format!("bytes */{size}");
            return with(StatusCode::RANGE_NOT_SATISFIABLE.into_response(), [("content-range", range)]);
        }
        let rest = content.slice(from.unwrap_or(0)..);
        let length = rest.len().to_string();
        let body = self.body(rest, trouble);
        let reply = with(body.into_response(), [("content-length", length), ("accept-ranges", "bytes".to_owned())]);
        match from {
            Some(from) => {
                let range = format!("bytes {from}-{}/{size}", size - 1);
                with((StatusCode::PARTIAL_CONTENT, reply).into_response(), [("content-range", range)])
            }
            None => reply,
        }
    }

    fn body(&self, content: Bytes, trouble: Option<Trouble>) -> Body {
        let (first, then) = match trouble {
            Some(Trouble::Cut(after)) => (after, Then::Break),
            Some(Trouble::Stall(after)) => (after, Then::Never),
            Some(Trouble::Hold(after)) => (after, Then::Wait),
            _ => (content.len(), Then::End),
        };
        let first = first.min(content.len());
        let (head, tail) = (content.slice(..first), content.slice(first..));
        let (wait, count) = (self.wait.clone(), self.count.clone());
        let steps = pieces(&head)
            .into_iter()
            .map(Step::Piece)
            .chain([Step::Then(then)])
            .chain(pieces(&tail).into_iter().map(Step::Piece));
        Body::from_stream(stream::unfold((steps, wait, count), |(mut steps, mut wait, count)| async move {
            loop {
                match steps.next()? {
                    Step::Piece(piece) => return Some((Ok::<Bytes, io::Error>(piece), (steps, wait, count))),
                    Step::Then(Then::End) => return None,
                    Step::Then(Then::Break) => {
                        // Lets what was written so far leave before the connection breaks.
                        tokio::task::yield_now().await;
                        return Some((Err(io::Error::other("cut on purpose")), (steps, wait, count)));
                    }
                    Step::Then(Then::Never) => {
                        count.send_modify(|held| *held += 1);
                        std::future::pending::<()>().await;
                    }
                    Step::Then(Then::Wait) => {
                        count.send_modify(|held| *held += 1);
                        let _ = wait.wait_for(|released| *released).await;
                    }
                }
            }
        }))
    }
}

enum Then {
    End,
    Break,
    Never,
    Wait,
}

enum Step {
    Piece(Bytes),
    Then(Then),
}

fn pieces(content: &Bytes) -> Vec<Bytes> {
    (0..content.len()).step_by(PIECE).map(|at| content.slice(at..(at + PIECE).min(content.len()))).collect()
}

/// The commit and files that a revision is.
fn at<'a>(repo: &'a WeightsRepo, revision: &str) -> Option<(String, &'a BTreeMap<String, Weights>)> {
    let commit = repo.revisions.get(revision).cloned().unwrap_or_else(|| revision.to_owned());
    repo.commits.get(&commit).map(|files| (commit.clone(), files))
}

fn info(repo: &WeightsRepo, revision: &str) -> Response {
    let Some((commit, files)) = at(repo, revision) else { return error(404, "RevisionNotFound", "Invalid rev id") };
    let gated = if matches!(repo.access, Access::Gated(_)) { json!("auto") } else { json!(false) };
    let siblings: Vec<Value> = files.keys().map(|path| json!({"rfilename": path})).collect();
    let license = repo.card.get("license").and_then(Value::as_str);
    let tags: Vec<String> = license.map(|license| format!("license:{license}")).into_iter().collect();
    axum::Json(json!({
        "_id": "0", "id": repo.id, "modelId": repo.id, "sha": commit, "private": false, "gated": gated, "disabled": false,
        "pipeline_tag": repo.pipeline_tag, "tags": tags, "cardData": repo.card, "siblings": siblings,
    }))
    .into_response()
}

/// A file of a listing, with the folder that it is the first of.
fn listed(path: &str, file: &Weights) -> Vec<Value> {
    let size = file.content.len();
    let oid = git_oid(&file.content);
    let entry = match file.is_large {
        false => json!({"type": "file", "oid": oid, "size": size, "path": path}),
        true => json!({"type": "file", "oid": git_oid(oid.as_bytes()), "size": size, "path": path,
                       "lfs": {"oid": sha256(&file.content), "size": size, "pointerSize": 134}}),
    };
    match path.rsplit_once('/') {
        Some((folder, _)) => vec![json!({"type": "directory", "oid": oid, "size": 0, "path": folder}), entry],
        None => vec![entry],
    }
}

fn error(status: u16, code: &str, message: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let reply = (status, axum::Json(json!({"error": message}))).into_response();
    with(reply, [("x-error-code", code.to_owned()), ("x-error-message", message.to_owned())])
}

fn with<'a>(mut reply: Response, headers: impl IntoIterator<Item = (&'a str, String)>) -> Response {
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (header::HeaderName::from_bytes(name.as_bytes()), value.parse()) {
            reply.headers_mut().insert(name, value);
        }
    }
    reply
}

/// A path without percent encoding.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let digits = (byte == b'%').then(|| (rest.next(), rest.next()));
        let value = digits.and_then(|(a, b)| {
            let text = [a?, b?];
            u8::from_str_radix(std::str::from_utf8(&text).ok()?, 16).ok()
        });
        bytes.push(value.unwrap_or(byte));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
