//! The events of one live run, once, for everyone who follows it. A follower holds a place in the log and nothing else,
//! so one that reads slowly, or not at all, costs no memory of its own.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use futures::Stream;
use jarvis_plan::{Event, EventKind};
use serde_json::Value;
use tokio::sync::watch;

/// Bytes of answer pieces that a log keeps; older pieces go first, since the whole answer follows.
const MOST_PIECES: usize = 256 << 10;

/// One event as it goes over the wire. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) seq: u64,
    pub(crate) name: Cow<'static, str>,
    /// Its JSON, in one line.
    pub(crate) data: Arc<str>,
}

impl Frame {
    pub(crate) fn of(event: &Event) -> Frame {
        let data = serde_json::to_string(event).expect("an event has only string keys");
        Frame { seq: event.seq, name: event.kind.name().into(), data: data.into() }
    }

    /// The frame of an event that the journal kept.
    pub(crate) fn recorded(event: &Value) -> Option<Frame> {
        let name = event.get("event")?.as_str()?.to_owned();
        Some(Frame { seq: event.get("seq")?.as_u64()?, name: name.into(), data: event.to_string().into() })
    }
}

#[derive(Debug)]
pub(crate) struct Log {
    kept: Mutex<Kept>,
    /// Counts changes; followers wait on it.
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Kept {
    frames: Vec<Frame>,
    /// Pieces of the answer, apart, so that they can be let go.
    pieces: VecDeque<Frame>,
    piece_bytes: usize,
    closed: bool,
}

impl Log {
    pub(crate) fn new() -> Log {
        Log::of(Vec::new())
    }

    /// A log that goes on after these.
    pub(crate) fn of(frames: Vec<Frame>) -> Log {
        Log { kept: Mutex::new(Kept { frames, ..Kept::default() }), changes: watch::Sender::new(0) }
    }

    pub(crate) fn push(&self, event: &Event) {
        let frame = Frame::of(event);
        {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if matches!(event.kind, EventKind::Token { .. }) {
                kept.piece_bytes += frame.data.len();
                kept.pieces.push_back(frame);
                while kept.piece_bytes > MOST_PIECES {
                    let Some(oldest) = kept.pieces.pop_front() else { break };
                    kept.piece_bytes = kept.piece_bytes.saturating_sub(oldest.data.len());
                }
            } else {
                kept.frames.push(frame);
            }
        }
        self.changes.send_modify(|count| *count += 1);
    }

    pub(crate) fn close(&self) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.changes.send_modify(|count| *count += 1);
    }

    pub(crate) fn so_far(&self) -> Vec<Frame> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).frames.clone()
    }

    /// The first event at or after a place in the stream; `Err` says whether there will be one.
    fn next(&self, from: u64) -> Result<Frame, bool> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.frames.partition_point(|frame| frame.seq < from);
        let piece = kept.pieces.partition_point(|frame| frame.seq < from);
        let found = match (kept.frames.get(at), kept.pieces.get(piece)) {
            (Some(frame), Some(piece)) => Some(if frame.seq < piece.seq { frame } else { piece }),
            (one, other) => one.or(other),
        };
        found.cloned().ok_or(!kept.closed)
    }

    /// The events from a place in the stream on, to the end of the run.
    pub(crate) fn follow(self: Arc<Log>, from: u64) -> impl Stream<Item = Frame> + Send + use<> {
        let changes = self.changes.subscribe();
        futures::stream::unfold((self, changes, from), |(log, mut changes, from)| async move {
            loop {
                changes.mark_unchanged();
                match log.next(from) {
                    Ok(frame) => {
                        let next = frame.seq + 1;
                        return Some((frame, (log, changes, next)));
                    }
                    Err(false) => return None,
                    // The sender lives in the log, which we hold.
                    Err(true) => changes.changed().await.ok()?,
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::StreamExt;
    use jarvis_plan::{Event, EventKind, Level, RunId};

    use super::{Log, MOST_PIECES};

    fn event(seq: u64, kind: EventKind) -> Event {
        Event { run_id: RunId("r".into()), seq, at_ms: 0, kind }
    }

    fn note(seq: u64) -> Event {
        event(seq, EventKind::Note { level: Level::Info, message: "n".into() })
    }

    fn token(seq: u64, text: &str) -> Event {
        event(seq, EventKind::Token { text: text.into() })
    }

    #[tokio::test]
    async fn every_follower_sees_the_whole_run_in_order_wherever_it_joins() {
        let log = Arc::new(Log::new());
        let early = tokio::spawn(Arc::clone(&log).follow(0).map(|frame| frame.seq).collect::<Vec<_>>());
        for seq in 0..6 {
            log.push(&if seq % 2 == 0 { note(seq) } else { token(seq, "x") });
            tokio::task::yield_now().await;
        }
        let late = tokio::spawn(Arc::clone(&log).follow(0).map(|frame| frame.seq).collect::<Vec<_>>());
        let resumed = tokio::spawn(Arc::clone(&log).follow(4).map(|frame| frame.seq).collect::<Vec<_>>());
        log.close();
        assert_eq!(early.await.unwrap(), vec![0, 1, 2, 3, 4, 5]);
        assert_eq!(late.await.unwrap(), vec![0, 1, 2, 3, 4, 5]);
        assert_eq!(resumed.await.unwrap(), vec![4, 5]);
    }

    #[tokio::test]
    async fn old_pieces_are_let_go_and_everything_else_stays() {
        let log = Arc::new(Log::new());
        let long = "x".repeat(MOST_PIECES / 4);
        log.push(&note(0));
        for seq in 1..=10 {
            log.push(&token(seq, &long));
        }
        log.push(&note(11));
        log.close();
        let seen: Vec<u64> = log.follow(0).map(|frame| frame.seq).collect().await;
        assert_eq!(seen, vec![0, 8, 9, 10, 11]);
    }
}
