//! A plain HTTP/1.1 client: one connection that is kept, as light as can be, since it shares the machine with the server.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpSocket;

/// No request of these measurements may take longer.
const DEADLINE: Duration = Duration::from_secs(60);

/// One connection.
pub(crate) struct Client {
    address: SocketAddr,
    sender: SendRequest<Full<Bytes>>,
}

/// What a request came to.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) retry_after: bool,
    pub(crate) body: Bytes,
}

impl Client {
    /// Connects; `buffer` sets how much the system takes in before the program reads, in bytes.
    pub(crate) async fn connect(address: SocketAddr, buffer: Option<u32>) -> Result<Client> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        if let Some(buffer) = buffer {
            socket.set_recv_buffer_size(buffer)?;
        }
        let stream = socket.connect(address).await.context("the server takes no connection")?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        // An error of the connection shows in the request that meets it.
        tokio::spawn(connection);
        Ok(Client { address, sender })
    }

    /// Sends a request and reads the reply to its end.
    pub(crate) async fn ask(&mut self, method: &str, path: &str, body: Bytes) -> Result<Reply> {
        let whole = async {
            let response = self.open(method, path, body).await?;
            let status = response.status().as_u16();
            let retry_after = response.headers().contains_key("retry-after");
            let body = response.into_body().collect().await?.to_bytes();
            Ok(Reply { status, retry_after, body })
        };
        tokio::time::timeout(DEADLINE, whole).await.with_context(|| format!("{path}: no reply in {DEADLINE:?}"))?
    }

    /// Sends a request and leaves the reply's body to be read, or not.
    pub(crate) async fn open(&mut self, method: &str, path: &str, body: Bytes) -> Result<Response<Incoming>> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", self.address.to_string())
            .header("content-type", "application/json")
            .body(Full::new(body))?;
        self.sender.ready().await?;
        Ok(self.sender.send_request(request).await?)
    }
}

/// The kinds of events of an event stream, as they come in.
pub(crate) struct Events {
    body: Incoming,
    pending: Vec<u8>,
}

impl Events {
    pub(crate) fn new(response: Response<Incoming>) -> Events {
        Events { body: response.into_body(), pending: Vec::new() }
    }

    /// The next event: its kind and its data; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<(String, String)>> {
        loop {
            if let Some(end) = self.pending.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.pending.drain(..end + 2).collect();
                let block = String::from_utf8_lossy(&block);
                let field = |name: &str| {
                    let mut lines = block.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
                    lines.next().map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned())
                };
                if let Some(kind) = field("event") {
                    return Ok(Some((kind, field("data").unwrap_or_default())));
                }
                continue;
            }
            match tokio::time::timeout(DEADLINE, self.body.frame()).await.context("the stream stands still")? {
                Some(frame) => {
                    if let Ok(data) = frame?.into_data() {
                        self.pending.extend_from_slice(&data);
                    }
                }
                None => return Ok(None),
            }
        }
    }

    /// Reads to the end; the kind of the last event.
    pub(crate) async fn last(&mut self) -> Result<String> {
        let mut last = String::new();
        while let Some((kind, _)) = self.next().await? {
            last = kind;
        }
        Ok(last)
    }
}
