//! A web server on a free loopback port that answers with what a test says and keeps what it was asked.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The largest request that is kept, in bytes.
const MAX_REQUEST: usize = 256 << 20;

#[derive(Debug, Clone)]
pub struct Captured {
    pub method: String,
    pub path: String,
    pub query: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Captured {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null when it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Whole,
    Cut,
    Never,
}

#[derive(Debug, Clone)]
pub struct Canned {
    status: u16,
    headers: Vec<(String, String)>,
    body: Bytes,
    ending: Ending,
}

impl Canned {
    /// A body of any type with status 200.
    pub fn bytes(content_type: &str, body: impl Into<Bytes>) -> Canned {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Canned { status: 200, headers, body: body.into(), ending: Ending::Whole }
    }

    pub fn json(value: &Value) -> Canned {
        Canned::bytes("application/json", value.to_string())
    }

    pub fn redirect(to: &str) -> Canned {
        Canned::bytes("text/plain", "").status(302).header("location", to)
    }

    pub fn status(mut self, status: u16) -> Canned {
        self.status = status;
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Canned {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same, but the connection breaks after the body.
    pub fn cut(mut self) -> Canned {
        self.ending = Ending::Cut;
        self
    }

    /// The same, but the body never ends.
    pub fn endless(mut self) -> Canned {
        self.ending = Ending::Never;
        self
    }

    fn into_response(self) -> Response {
        let body = match self.ending {
            Ending::Whole => Body::from(self.body),
            Ending::Cut => {
                // The pause lets what was written so far leave before the connection breaks.
                let broken = stream::once(async {
                    tokio::task::yield_now().await;
                    Err(io::Error::other("cut on purpose"))
                });
                Body::from_stream(stream::iter([Ok(self.body)]).chain(broken))
            }
            Ending::Never => Body::from_stream(stream::iter([Ok::<_, io::Error>(self.body)]).chain(stream::pending())),
        };
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        for (name, value) in self.headers {
            let name = header::HeaderName::from_bytes(name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&value)) {
                response.headers_mut().append(name, value);
            }
        }
        response
    }
}

/// A running server. It stops when dropped.
#[derive(Debug)]
pub struct Stub {
    address: SocketAddr,
    captured: Arc<Mutex<Vec<Captured>>>,
    running: JoinHandle<()>,
}

impl Stub {
    /// Starts a server on a free loopback port. `answer` is called once a request.
    pub async fn start(answer: impl Fn(&Captured) -> Canned + Send + Sync + 'static) -> io::Result<Stub> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let captured = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&captured);
        let answer = Arc::new(answer);
        let app = Router::new().fallback(move |request: Request| {
            let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
            async move {
                let request = capture(request).await;
                let canned = answer(&request);
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(request);
                canned.into_response()
            }
        });
        let running = tokio::spawn(async move {
            let _ = axum::serve(listener, app).await;
        });
        Ok(Stub { address, captured, running })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of a path, which starts with `/`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn requests(&self) -> Vec<Captured> {
        self.captured.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.running.abort();
    }
}

async fn capture(request: Request) -> Captured {
    let (parts, body) = request.into_parts();
    let headers = parts
        .headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect();
    Captured {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers,
        body: to_bytes(body, MAX_REQUEST).await.unwrap_or_default(),
    }
}
