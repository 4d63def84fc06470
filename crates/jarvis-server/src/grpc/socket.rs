//! Connections to the gRPC service, within a limit.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::stream::{self, Stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Sleep;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::transport::server::{Connected, TcpConnectInfo};

use crate::listen::{Busy, Connections, Held, accept};

/// How long a client may take to begin: until the preface of HTTP/2 is there.
const BEGIN_TIME: Duration = Duration::from_secs(15);

const PREFACE: usize = 24;

/// A connection that holds one of the places.
pub(super) struct SlotStream {
    stream: TcpStream,
    /// Runs until enough was read; a client that says nothing is cut.
    begin: Option<Pin<Box<Sleep>>>,
    read: usize,
    /// Ends when it must make room before it began.
    cut: Pin<Box<WaitForCancellationFutureOwned>>,
    held: Held,
    /// Once it began it is never idle: what goes on in it is not seen here.
    busy: Option<Busy>,
}

/// Connections as they come; what has no slot waits in the system's queue. After `stop` none comes any more, and yet the
/// stream does not end: its end would stop the server before those in flight are done.
pub(super) fn incoming(
    listener: TcpListener,
    connections: Connections,
    stop: CancellationToken,
) -> impl Stream<Item = io::Result<SlotStream>> {
    stream::unfold((listener, connections, stop), |(listener, connections, stop)| async move {
        loop {
            let accepted = tokio::select! {
                biased;
                () = stop.cancelled() => std::future::pending().await,
                accepted = accept(&listener, &connections) => accepted,
            };
            if let Some((stream, _, held)) = accepted {
                let begin = Some(Box::pin(tokio::time::sleep(BEGIN_TIME)));
                let cut = Box::pin(held.cut.clone().cancelled_owned());
                let stream = SlotStream { stream, begin, read: 0, cut, held, busy: None };
                return Some((Ok(stream), (listener, connections, stop)));
            }
        }
    })
}

impl Connected for SlotStream {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
    }
}

impl AsyncRead for SlotStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        let polled = Pin::new(&mut this.stream).poll_read(cx, buffer);
        if let Some(begin) = &mut this.begin {
            this.read += buffer.filled().len() - before;
            if this.read >= PREFACE {
                this.begin = None;
                this.busy = Some(this.held.busy());
            } else if polled.is_pending()
                && (begin.as_mut().poll(cx).is_ready() || this.cut.as_mut().poll(cx).is_ready())
            {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        polled
    }
}

impl AsyncWrite for SlotStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_does_not_begin_is_cut() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let mut incoming = std::pin::pin!(incoming(listener, Connections::new(2, None), CancellationToken::new()));
        let mut buffer = [0; 64];
        for (sent, begun) in [("PRI * HTTP/2.0\r\n", false), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", true)] {
            let mut client = TcpStream::connect(addr).await.unwrap();
            let mut placed = incoming.next().await.unwrap().unwrap();
            client.write_all(sent.as_bytes()).await.unwrap();
            assert_eq!(placed.read(&mut buffer).await.unwrap(), sent.len());
            assert_eq!(placed.begin.is_none(), begun);
            if !begun {
                assert_eq!(placed.read(&mut buffer).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
            }
        }
    }
}
