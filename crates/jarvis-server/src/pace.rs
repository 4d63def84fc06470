//! How long a body may take: a client that sends nothing is cut, and so is one that sends next to nothing for ever.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use crate::state::Server;

/// The time that a body has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Between two pieces, and for the whole beside what its bytes bring.
    pub time: Duration,
    /// Bytes that bring one more second. Whoever sends faster than this on the whole is not cut.
    pub bytes_per_second: u32,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { time: Duration::from_secs(30), bytes_per_second: 1_000 }
    }
}

/// The body did not come in time.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the body came too slowly")]
pub(crate) struct TooSlow;

/// Bounds the time of every body.
pub(crate) async fn paced(State(server): State<Server>, request: Request, next: Next) -> Response {
    let pace = server.options.pace;
    let request = match HttpBody::is_end_stream(request.body()) {
        true => request,
        false => request.map(|body| Body::new(Paced::new(body, pace))),
    };
    next.run(request).await
}

/// A body that ends with [`TooSlow`] when its time is over.
struct Paced {
    body: Body,
    pace: Pace,
    began: Instant,
    /// When the last piece came.
    last: Instant,
    bytes: u64,
    /// Made when it is first waited for.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Paced {
    fn new(body: Body, pace: Pace) -> Paced {
        let now = Instant::now();
        Paced { body, pace, began: now, last: now, bytes: 0, sleep: None }
    }

    fn deadline(&self) -> Instant {
        let Pace { time, bytes_per_second } = self.pace;
        let bought = Duration::from_secs(self.bytes / u64::from(bytes_per_second.max(1)));
        (self.last + time).min(self.began + time + bought)
    }
}

impl HttpBody for Paced {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            if let Some(Ok(frame)) = &frame {
                this.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                this.last = Instant::now();
            }
            return Poll::Ready(frame);
        }
        let deadline = this.deadline();
        let sleep = this.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if sleep.deadline() != deadline {
            sleep.as_mut().reset(deadline);
        }
        ready!(sleep.as_mut().poll(cx));
        Poll::Ready(Some(Err(axum::Error::new(TooSlow))))
    }

    fn is_end_stream(&self) -> bool {
        HttpBody::is_end_stream(&self.body)
    }

    fn size_hint(&self) -> SizeHint {
        HttpBody::size_hint(&self.body)
    }
}

/// Whether an error says, in itself or in what it comes from, that a body was too slow.
pub(crate) fn is_too_slow(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(|error| error.is::<TooSlow>())
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;

    use super::*;

    /// How long it took until the body ended, in seconds, and whether it came whole.
    async fn taken(pieces: usize, bytes: usize, every: Duration) -> (u64, bool) {
        let began = Instant::now();
        let sent = futures::stream::iter(0..pieces).then(move |_| async move {
            tokio::time::sleep(every).await;
            Ok::<_, std::io::Error>(vec![0; bytes])
        });
        let body = Body::new(Paced::new(Body::from_stream(sent), Pace::default()));
        let read = axum::body::to_bytes(body, usize::MAX).await;
        if let Err(error) = &read {
            assert!(is_too_slow(error), "{error}");
        }
        (began.elapsed().as_secs(), read.is_ok_and(|read| read.len() == pieces * bytes))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_has_the_time_that_its_bytes_bring() {
        let seconds = Duration::from_secs;
        for (pieces, bytes, every, want) in [
            // Nothing comes.
            (1, 1, seconds(100), (30, false)),
            // Next to nothing comes, for ever.
            (1_000, 1, seconds(10), (30, false)),
            (1_000, 1_000, seconds(10), (33, false)),
            // A large file on a slow line: 2 kB a second for more than an hour.
            (4_000, 2_000, seconds(1), (4_000, true)),
            // Much at once brings time, and yet nothing for long is too long.
            (2, 10_000_000, seconds(31), (30, false)),
            (3, 10_000_000, seconds(29), (87, true)),
        ] {
            assert_eq!(taken(pieces, bytes, every).await, want, "{pieces} of {bytes}");
        }
    }
}
