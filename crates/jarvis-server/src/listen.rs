//! The sockets: accepts connections within a limit, cuts those that take nothing, and drains before it stops.

mod connections;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tower::Service;

pub(crate) use connections::{Busy, Connections, Held};

use crate::log::SECURITY;
use crate::tls::{HANDSHAKE_TIME, HTTP_2, Tls};

/// How long a client may take to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// Requests at the same time on one connection of HTTP/2.
const STREAMS: u32 = 128;
/// Connections that the system keeps until they are accepted; the usual 128 make a burst of clients wait for seconds.
const BACKLOG: u32 = 4096;
/// How long to wait after the system had no room for another connection.
const PAUSE: Duration = Duration::from_millis(100);
/// How long connections may take to end once every run has.
pub(crate) const CLOSING_TIME: Duration = Duration::from_secs(5);

/// How connections are served.
#[derive(Debug, Clone)]
pub(crate) struct Manner {
    /// After how long one that takes nothing is cut.
    pub(crate) write_timeout: Duration,
    /// HTTPS, where it is.
    pub(crate) tls: Option<Tls>,
}

/// Serves until `stop` is cancelled; then takes no more connections, waits for `drained`, and lets open ones end.
pub(crate) async fn serve(
    listener: TcpListener,
    app: Router,
    connections: Connections,
    manner: Manner,
    stop: CancellationToken,
    drained: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = accept(&listener, &connections) => accepted,
        };
        let Some((stream, peer, held)) = accepted else { continue };
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(manner.write_timeout));
        let (stream, cut) = (Box::pin(stream), held.cut.clone());
        let one = Connection { app: app.clone(), peer: peer.ip(), held: Arc::new(held), watcher: graceful.watcher() };
        // Of each connection anew: the certificate may have been renewed.
        let acceptor = manner.tls.as_ref().map(Tls::acceptor);
        tokio::spawn(async move {
            let served = async {
                match acceptor {
                    None => one.served(stream, false, false).await,
                    Some(acceptor) => match tokio::time::timeout(HANDSHAKE_TIME, acceptor.accept(stream)).await {
                        Ok(Ok(stream)) => {
                            let is_2 = stream.get_ref().1.alpn_protocol() == Some(HTTP_2);
                            one.served(stream, true, is_2).await;
                        }
                        Ok(Err(error)) => tracing::debug!(%error, "a client could not agree on TLS"),
                        Err(_) => tracing::debug!("a client took too long to agree on TLS"),
                    },
                }
            };
            tokio::select! {
                () = cut.cancelled() => tracing::debug!("an idle connection made room for another"),
                () = served => {}
            }
        });
    }
    drop(listener);
    drained.await;
    let _ = tokio::time::timeout(CLOSING_TIME, graceful.shutdown()).await;
}

/// A connection that was accepted.
struct Connection {
    app: Router,
    peer: IpAddr,
    held: Arc<Held>,
    watcher: Watcher,
}

impl Connection {
    /// Serves it to its end. HTTP/2 is spoken only where TLS agreed on it: in the clear a client that sends nothing is cut from the
    /// first byte on, which takes HTTP/1.
    async fn served<S>(self, stream: S, is_over_tls: bool, is_2: bool)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Connection { app, peer, held, watcher } = self;
        let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
            let busy = held.busy();
            request.extensions_mut().insert(Peer(peer));
            let host = request.uri().authority().and_then(|at| HeaderValue::from_str(at.as_str()).ok());
            let headers = request.headers_mut();
            if is_over_tls {
                headers.insert("x-forwarded-proto", HeaderValue::from_static("https"));
            }
            // HTTP/2 says it elsewhere.
            if let Some(host) = host.filter(|_| !headers.contains_key(header::HOST)) {
                headers.insert(header::HOST, host);
            }
            let reply = app.clone().call(request);
            // It carries the reply until the last byte of it.
            async move { reply.await.map(|reply| reply.map(|body| Carried { body, _busy: busy })) }
        });
        let io = TokioIo::new(stream);
        let ended = if is_2 {
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder.timer(TokioTimer::new()).max_concurrent_streams(STREAMS).keep_alive_interval(HEAD_TIME);
            watcher.watch(builder.serve_connection(io, service)).await
        } else {
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
            watcher.watch(builder.serve_connection(io, service)).await
        };
        // A connection that breaks is the client's business.
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}

/// The address that a connection comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The body of a reply, whose connection is not idle until it is sent.
struct Carried {
    body: Body,
    _busy: Busy,
}

impl HttpBody for Carried {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What is told to an address that has too many connections, as far as it takes it at once.
const TOO_MANY: &[u8] = b"HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\nretry-after: 1\r\n\
    content-type: application/json\r\ncontent-length: 106\r\n\r\n\
    {\"error\":{\"code\":\"too_many_connections\",\"message\":\"this address has too many\",\"type\":\"rate_limit_error\"}}\n";

/// The next connection, with its address and its place; `None` when there is none this time.
pub(crate) async fn accept(listener: &TcpListener, connections: &Connections) -> Option<(TcpStream, SocketAddr, Held)> {
    match listener.accept().await {
        Ok((stream, peer)) => {
            let Some(held) = connections.admit(peer.ip()).await else {
                if connections.is_to_be_told(peer.ip()) {
                    tracing::warn!(target: SECURITY, address = %peer.ip(), "the address has too many connections");
                }
                let _ = stream.try_write(TOO_MANY);
                return None;
            };
            // Events are small and must not wait for each other.
            let _ = stream.set_nodelay(true);
            Some((stream, peer, held))
        }
        Err(error) if is_of_one_connection(&error) => None,
        Err(error) => {
            tracing::warn!(%error, "cannot accept a connection");
            tokio::time::sleep(PAUSE).await;
            None
        }
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind;
    matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset)
}

/// Binds an address.
///
/// # Errors
/// When it is taken or not ours; the error names it.
pub async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // As the usual way to listen does, so that a server can be started anew at once.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn the_refusal_is_a_whole_reply() {
        let text = std::str::from_utf8(super::TOO_MANY).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}", body.len())), "{}", body.len());
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["error"]["code"], "too_many_connections");
    }

    use std::time::Duration;

    use tokio::net::TcpStream;

    use super::bind;

    #[tokio::test]
    async fn a_burst_of_connections_waits_to_be_accepted() {
        let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
        if most.trim().parse::<u32>().unwrap() < 1000 {
            println!("the system keeps only {most} connections waiting: nothing to try");
            return;
        }
        let listener = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut waiting = Vec::new();
        for nth in 0..500 {
            let connected = tokio::time::timeout(Duration::from_secs(5), TcpStream::connect(address)).await;
            waiting.push(connected.unwrap_or_else(|_| panic!("connection {nth} waits")).unwrap());
        }
        drop(waiting);
    }
}
