//! An HTTP/1.1 client on one kept connection: light, since it shares the machine with the server.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpSocket;

use crate::load::Outcome;

/// No request and no wait for an event takes longer.
const DEADLINE: Duration = Duration::from_secs(60);

pub(crate) struct Client {
    address: SocketAddr,
    sender: SendRequest<Full<Bytes>>,
}

impl Client {
    /// Connects; `buffer` is the size of the socket's receive buffer in bytes.
    pub(crate) async fn connect(address: SocketAddr, buffer: Option<u32>) -> Result<Client> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        if let Some(buffer) = buffer {
            socket.set_recv_buffer_size(buffer)?;
        }
        let stream = socket.connect(address).await.context("the server accepts no connection")?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        // An error of the connection surfaces in the request.
        tokio::spawn(connection);
        Ok(Client { address, sender })
    }

    pub(crate) async fn run(&mut self, body: Bytes) -> Outcome {
        let start = Instant::now();
        let reply = async {
            let response = self.open("POST", "/hugginggpt", body).await?;
            let (status, retry) = (response.status().as_u16(), response.headers().contains_key("retry-after"));
            Ok::<_, anyhow::Error>((status, retry, response.into_body().collect().await?.to_bytes()))
        };
        match tokio::time::timeout(DEADLINE, reply).await {
            Ok(Ok((200, ..))) => Outcome::Answered(start.elapsed()),
            Ok(Ok((429 | 503, true, _))) => Outcome::Refused,
            Ok(Ok((status, _, body))) => Outcome::Failed(format!("{status}: {}", String::from_utf8_lossy(&body))),
            Ok(Err(error)) => Outcome::Failed(format!("{error:#}")),
            Err(_) => Outcome::Failed(format!("no reply in {DEADLINE:?}")),
        }
    }

    pub(crate) async fn health(&mut self) -> Result<()> {
        let response = tokio::time::timeout(DEADLINE, self.open("GET", "/health", Bytes::new())).await??;
        ensure!(response.status() == 200, "/health answered {}", response.status());
        Ok(())
    }

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

pub(crate) struct Events {
    body: Incoming,
    pending: Vec<u8>,
}

impl Events {
    pub(crate) fn new(response: Response<Incoming>) -> Events {
        Events { body: response.into_body(), pending: Vec::new() }
    }

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
                    return Ok(Some((kind, field("data").context("an event without data")?)));
                }
                continue;
            }
            match tokio::time::timeout(DEADLINE, self.body.frame()).await.context("no event in time")? {
                Some(frame) => {
                    if let Ok(data) = frame?.into_data() {
                        self.pending.extend_from_slice(&data);
                    }
                }
                None => return Ok(None),
            }
        }
    }

    pub(crate) async fn last(&mut self) -> Result<String> {
        let mut last = String::new();
        while let Some((kind, _)) = self.next().await? {
            last = kind;
        }
        Ok(last)
    }
}
