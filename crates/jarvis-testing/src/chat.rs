//! A chat endpoint that speaks the true OpenAI protocol on a real socket and answers from a script. Texts to embed get
//! vectors without one, see [`fake_vector`].
//!
//! It captures every request, refuses malformed ones as a real server would, and sees clients that go away.

mod host;
mod protocol;
mod script;
mod vectors;

pub use host::{Host, Hosted, Make};
pub use script::{Replies, Reply, Script, Step};
pub use vectors::{DIMENSION, fake_vector};

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::HeaderMap;
use serde_json::Value;
use tokio::sync::{oneshot, watch};

/// How long the `wait_*` functions wait before they give up; only a broken test waits so long.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    /// The request target as it stood on the wire: with query, and with scheme and host where a proxy was asked.
    pub target: String,
    pub headers: HeaderMap,
    /// The body; null when it was not JSON.
    pub body: Value,
}

impl Request {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The stage label, from the header `x-jarvis-stage`.
    pub fn stage(&self) -> &str {
        self.header("x-jarvis-stage")
    }

    /// Path and query, without scheme and host.
    pub fn path(&self) -> &str {
        match self.target.split_once("://") {
            Some((_, rest)) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/"),
            None => &self.target,
        }
    }

    pub fn inputs(&self) -> Vec<&str> {
        let inputs = self.body.get("input").and_then(Value::as_array).into_iter().flatten();
        inputs.filter_map(Value::as_str).collect()
    }

    /// The texts of all messages, or the prompt of a completion, joined by newlines.
    pub fn prompt(&self) -> String {
        let mut texts: Vec<&str> = Vec::new();
        texts.extend(self.body.get("prompt").and_then(Value::as_str));
        for message in self.body.get("messages").and_then(Value::as_array).into_iter().flatten() {
            match message.get("content") {
                Some(Value::String(text)) => texts.push(text),
                Some(Value::Array(parts)) => {
                    texts.extend(parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)));
                }
                Some(_) | None => {}
            }
        }
        texts.join("\n")
    }
}

/// The fake endpoint. Dropping it ends the server and its connections.
#[derive(Debug)]
pub struct FakeChat {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    server: Option<std::thread::JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    rules: Mutex<Vec<Rule>>,
    host: Option<Host>,
    requests: Mutex<Vec<Request>>,
    lookups: Mutex<Vec<Request>>,
    received: watch::Sender<usize>,
    aborted: watch::Sender<usize>,
}

/// A rule of the script: what it fits, and its replies in order, the last of which repeats.
#[derive(Debug)]
struct Rule {
    stage: Option<String>,
    contains: Vec<String>,
    replies: VecDeque<Reply>,
}

impl FakeChat {
    /// Starts the endpoint on a free port of the loopback interface. It runs on a thread of its own, so a test may block,
    /// say while it waits for a child process.
    ///
    /// # Panics
    /// When no port or thread can be had: a test cannot go on then.
    pub async fn start(script: Script) -> FakeChat {
        FakeChat::spawn(script)
    }

    /// As [`FakeChat::start`], for tests that are not async.
    ///
    /// # Panics
    /// When no port or thread can be had: a test cannot go on then.
    pub fn spawn(script: Script) -> FakeChat {
        FakeChat::run(script, None)
    }

    /// As [`FakeChat::spawn`], on a model server that tells what it is and what its models can do.
    ///
    /// # Panics
    /// When no port or thread can be had: a test cannot go on then.
    pub fn hosted(host: Host, script: Script) -> FakeChat {
        FakeChat::run(script, Some(host))
    }

    fn run(script: Script, host: Option<Host>) -> FakeChat {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port on the loopback interface");
        listener.set_nonblocking(true).expect("a socket that does not block");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            rules: Mutex::new(script.rules),
            host,
            requests: Mutex::default(),
            lookups: Mutex::default(),
            received: watch::Sender::new(0),
            aborted: watch::Sender::new(0),
        });
        let app = protocol::app(shared.clone());
        let (stop, stopped) = oneshot::channel::<()>();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let serve = async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a socket of this runtime");
            tokio::select! {
                // An error here shows in the test as a refused connection.
                _ = axum::serve(listener, app) => {}
                _ = stopped => {}
            }
        };
        // Open connections end with the runtime.
        let server = std::thread::spawn(move || runtime.block_on(serve));
        FakeChat { address, shared, stop: Some(stop), server: Some(server) }
    }

    /// The base URL with `/v1`, as users write it.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The address without a path, as Azure and proxies are configured.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All calls so far, in order of arrival. What asks about the server is among [`FakeChat::lookups`].
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// What asked about the server and its models so far, in order of arrival.
    pub fn lookups(&self) -> Vec<Request> {
        lock(&self.shared.lookups).clone()
    }

    pub fn requests_of(&self, stage: &str) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.stage() == stage).collect()
    }

    pub fn stages(&self) -> Vec<String> {
        self.requests().iter().map(|request| request.stage().to_owned()).collect()
    }

    /// How many requests the client gave up before their answer was whole.
    pub fn aborted(&self) -> usize {
        *self.shared.aborted.borrow()
    }

    /// Waits until `count` requests have arrived; false if that takes too long.
    pub async fn wait_requests(&self, count: usize) -> bool {
        wait(self.shared.received.subscribe(), count).await
    }

    /// Waits until the client has given up `count` requests; false if that takes too long.
    pub async fn wait_aborted(&self, count: usize) -> bool {
        wait(self.shared.aborted.subscribe(), count).await
    }
}

impl Drop for FakeChat {
    fn drop(&mut self) {
        // Both have failed already when the server is gone.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.server.take().map(std::thread::JoinHandle::join);
    }
}

impl Shared {
    /// Notes a request and finds its reply: the first rule that fits answers. `named` leaves out rules for every stage.
    fn take(&self, request: Request, named: bool) -> Option<Reply> {
        let prompt = request.prompt();
        let reply = {
            let mut rules = lock(&self.rules);
            let rule = rules.iter_mut().find(|rule| {
                rule.stage.as_deref().map_or(!named, |stage| stage == request.stage())
                    && rule.contains.iter().all(|part| prompt.contains(part))
            });
            rule.and_then(
                |rule| if rule.replies.len() > 1 { rule.replies.pop_front() } else { rule.replies.front().cloned() },
            )
        };
        self.note(request);
        reply
    }

    fn note(&self, request: Request) {
        if request.method == "GET" {
            lock(&self.lookups).push(request);
            return;
        }
        lock(&self.requests).push(request);
        self.received.send_modify(|count| *count += 1);
    }
}

async fn wait(mut counter: watch::Receiver<usize>, count: usize) -> bool {
    let reached = counter.wait_for(|seen| *seen >= count);
    matches!(tokio::time::timeout(PATIENCE, reached).await, Ok(Ok(_)))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
