//! A streamed reply: server-sent events in, pieces of text out. A stream that stops too early is an error.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use eventsource_stream::{Event, EventStreamError, Eventsource};
use futures::stream::{self, Stream, StreamExt};
use jarvis_net::http::CappedBody;
use reqwest::Response;

use crate::model::{ChatChunk, ChatError, TokenUsage};
use crate::wire::{CallPieces, MAX_REPLY, Reply, start};

type Events = Pin<Box<dyn Stream<Item = Result<Event, EventStreamError<Broken>>> + Send>>;

#[derive(Debug)]
enum Broken {
    /// Nothing came in time, not even a comment that keeps the connection.
    Silent,
    Cut(String),
}

struct Reading {
    events: Events,
    pause: Duration,
    status: u16,
    finish_reason: Option<String>,
    usage: Option<TokenUsage>,
    /// The calls of tools, as far as they came.
    calls: CallPieces,
    /// Whether any choice came, if only an empty one.
    chosen: bool,
    ended: bool,
}

/// The pieces of a streamed reply. The last one has no text and carries the finish reason and the usage.
pub(crate) fn pieces(
    response: Response,
    pause: Duration,
) -> impl Stream<Item = Result<ChatChunk, ChatError>> + Send + 'static {
    let status = response.status().as_u16();
    let events: Events = Box::pin(bytes(response, pause).eventsource());
    let reading = Reading {
        events,
        pause,
        status,
        finish_reason: None,
        usage: None,
        calls: CallPieces::default(),
        chosen: false,
        ended: false,
    };
    stream::unfold(reading, |mut reading| async move {
        if reading.ended {
            return None;
        }
        let piece = reading.next().await;
        Some((piece, reading))
    })
}

/// The bytes of a reply, each read within `pause`, all of them within a limit.
fn bytes(response: Response, pause: Duration) -> impl Stream<Item = Result<Bytes, Broken>> + Send + 'static {
    stream::unfold(Some(CappedBody::new(response, MAX_REPLY)), move |body| async move {
        let mut body = body?;
        let broken = match tokio::time::timeout(pause, body.next()).await {
            Ok(Ok(Some(bytes))) => return Some((Ok(bytes), Some(body))),
            Ok(Ok(None)) => return None,
            Ok(Err(error)) => Broken::Cut(error.to_string()),
            Err(_) => Broken::Silent,
        };
        Some((Err(broken), None))
    })
}

impl Reading {
    async fn next(&mut self) -> Result<ChatChunk, ChatError> {
        loop {
            let event = match self.events.next().await {
                Some(Ok(event)) => event,
                Some(Err(EventStreamError::Transport(Broken::Cut(reason)))) => return self.cut(&reason),
                Some(Err(EventStreamError::Transport(Broken::Silent))) if self.finish_reason.is_none() => {
                    self.ended = true;
                    return Err(ChatError::Timeout { after: self.pause });
                }
                Some(Err(EventStreamError::Transport(Broken::Silent))) => return self.end(),
                Some(Err(EventStreamError::Utf8(_))) => return self.cut("it is not UTF-8"),
                Some(Err(EventStreamError::Parser(_))) => return self.cut("it is not an event stream"),
                None => return self.cut("the stream stopped before the model did"),
            };
            let data = event.data.trim();
            if data.is_empty() {
                continue;
            }
            if data == "[DONE]" {
                return if self.chosen { self.end() } else { self.cut("it holds no choices") };
            }
            let reply = match Reply::read(data, self.status) {
                Ok(reply) => reply,
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            };
            self.chosen |= reply.has_choices();
            self.finish_reason = reply.finish_reason().or(self.finish_reason.take());
            self.usage = reply.usage().or(self.usage);
            self.calls.take(&reply);
            if let Some(text) = reply.text().filter(|text| !text.is_empty()) {
                return Ok(ChatChunk { text, ..ChatChunk::default() });
            }
        }
    }

    /// The bytes have ended: fine after a finish reason, since not all servers send `[DONE]`.
    fn cut(&mut self, reason: &str) -> Result<ChatChunk, ChatError> {
        if self.finish_reason.is_some() {
            return self.end();
        }
        self.ended = true;
        Err(ChatError::BadReply { reason: start(reason, 300), body: String::new() })
    }

    fn end(&mut self) -> Result<ChatChunk, ChatError> {
        self.ended = true;
        Ok(ChatChunk {
            finish_reason: self.finish_reason.take(),
            usage: self.usage,
            tool_uses: std::mem::take(&mut self.calls).whole(),
            ..ChatChunk::default()
        })
    }
}
