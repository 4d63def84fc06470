//! Server-sent events out: the frames of a run as a reply that stays open until the run ends.

use std::convert::Infallible;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt};

use crate::runs::Frame;
use crate::state::Server;

/// A reply that sends frames as they come. `held` lives as long as the reply does.
pub(crate) fn reply<S, H>(frames: S, held: H, server: &Server) -> Response
where
    S: Stream<Item = Frame> + Send + 'static,
    H: Send + 'static,
{
    let events = frames.map(|frame| Event::default().event(&*frame.name).id(frame.at.to_string()).data(&*frame.data));
    open(events, held, server)
}

/// A reply that sends events as they come, whatever they are.
pub(crate) fn open<S, H>(events: S, held: H, server: &Server) -> Response
where
    S: Stream<Item = Event> + Send + 'static,
    H: Send + 'static,
{
    let counted = server.metrics.stream();
    let stream = events.map(move |event| {
        let _ = (&held, &counted);
        Ok::<_, Infallible>(event)
    });
    let mut response = Sse::new(stream).keep_alive(KeepAlive::new().interval(server.options.heartbeat)).into_response();
    // Some proxies buffer whole replies unless a header turns that off.
    response.headers_mut().insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
    response
}
