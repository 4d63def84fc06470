//! The sockets: accepts connections within a limit, cuts those that take nothing, and drains before it stops.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tower::Service;

/// How long a client may take to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// Connections that the system keeps until they are accepted; the usual 128 make a burst of clients wait for seconds.
const BACKLOG: u32 = 4096;
/// How long to wait after the system had no room for another connection.
const PAUSE: Duration = Duration::from_millis(100);
/// How long connections may take to end once every run has.
pub(crate) const CLOSING_TIME: Duration = Duration::from_secs(5);

/// Serves until `stop` is cancelled; then takes no more connections, waits for `drained`, and lets open ones end.
pub(crate) async fn serve(
    listener: TcpListener,
    app: Router,
    max_connections: usize,
    write_timeout: Duration,
    stop: CancellationToken,
    drained: impl Future<Output = ()>,
) {
    // HTTP/1 alone: a client that sends nothing is cut from the first byte on.
    let mut builder = Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    let graceful = GracefulShutdown::new();
    let slots = Arc::new(Semaphore::new(max_connections));
    loop {
        // A slot first, so that what cannot be served waits in the system's queue.
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = accept(&listener, &slots) => accepted,
        };
        let Some((stream, peer, slot)) = accepted else { continue };
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(write_timeout));
        let app = app.clone();
        let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(Peer(peer.ip()));
            app.clone().call(request)
        });
        let connection = graceful.watch(builder.serve_connection(TokioIo::new(Box::pin(stream)), service));
        tokio::spawn(async move {
            // A connection that breaks is the client's business.
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(slot);
        });
    }
    drop(listener);
    drained.await;
    let _ = tokio::time::timeout(CLOSING_TIME, graceful.shutdown()).await;
}

/// The address that a connection comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

pub(crate) type Slot = tokio::sync::OwnedSemaphorePermit;

/// Takes a slot, and the next connection for it; `None` when there is none this time.
pub(crate) async fn accept(listener: &TcpListener, slots: &Arc<Semaphore>) -> Option<(TcpStream, SocketAddr, Slot)> {
    let slot = Arc::clone(slots).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            // Events are small and must not wait for each other.
            let _ = stream.set_nodelay(true);
            Some((stream, peer, slot))
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
