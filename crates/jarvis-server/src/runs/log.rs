//! The events of one live run, once, for everyone who follows it. A follower holds a place in the log and nothing else,
//! so one that reads slowly, or not at all, costs no memory of its own.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use futures::Stream;
use jarvis_plan::Event;
use serde_json::Value;
use tokio::sync::watch;

/// Bytes of answer pieces that a log keeps; older pieces go first, since the whole answer follows.
const MOST_PIECES: usize = 256 << 10;

/// The place of an event in its run: its number, and of a piece of the answer its place behind the event of that number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Place {
    pub(crate) seq: u64,
    pub(crate) piece: u32,
}

impl Place {
    /// The place right behind it.
    pub(crate) fn next(self) -> Place {
        Place { piece: self.piece.saturating_add(1), ..self }
    }
}

/// As clients are given it, and give it back in `Last-Event-ID`: `12`, or `12.3` for a piece of the answer.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.piece {
            0 => write!(f, "{}", self.seq),
            piece => write!(f, "{}.{piece}", self.seq),
        }
    }
}

impl FromStr for Place {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Place, ParseIntError> {
        let (seq, piece) = text.split_once('.').unwrap_or((text, "0"));
        Ok(Place { seq: seq.parse()?, piece: piece.parse()? })
    }
}

/// One event as it goes over the wire. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) at: Place,
    pub(crate) name: Cow<'static, str>,
    /// Its JSON, in one line.
    pub(crate) data: Arc<str>,
}

impl Frame {
    pub(crate) fn of(event: &Event) -> Frame {
        let data = serde_json::to_string(event).expect("an event has only string keys");
        let at = Place { seq: event.seq, piece: event.piece };
        Frame { at, name: event.kind.name().into(), data: data.into() }
    }

    /// The frame of an event that the journal kept.
    pub(crate) fn recorded(event: &Value) -> Option<Frame> {
        let name = event.get("event")?.as_str()?.to_owned();
        let at = Place { seq: event.get("seq")?.as_u64()?, piece: 0 };
        Some(Frame { at, name: name.into(), data: event.to_string().into() })
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
            if event.kind.is_piece() {
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

    /// The place behind the last event.
    pub(crate) fn end(&self) -> Place {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let last = kept.frames.last().into_iter().chain(kept.pieces.back()).map(|frame| frame.at).max();
        last.map_or_else(Place::default, Place::next)
    }

    /// Whether there was an event of this name.
    pub(crate) fn has_told(&self, name: &str) -> bool {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).frames.iter().any(|frame| frame.name == name)
    }

    /// The events so far, but for pieces of the answer, in the JSON of [`Event`].
    pub(crate) fn told(&self) -> Vec<Value> {
        let frames = self.kept.lock().unwrap_or_else(PoisonError::into_inner).frames.clone();
        frames.iter().filter_map(|frame| serde_json::from_str(&frame.data).ok()).collect()
    }

    /// The first event at or after a place in the stream; `Err` says whether there will be one.
    fn next(&self, from: Place) -> Result<Frame, bool> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.frames.partition_point(|frame| frame.at < from);
        let piece = kept.pieces.partition_point(|frame| frame.at < from);
        let found = match (kept.frames.get(at), kept.pieces.get(piece)) {
            (Some(frame), Some(piece)) => Some(if frame.at < piece.at { frame } else { piece }),
            (one, other) => one.or(other),
        };
        found.cloned().ok_or(!kept.closed)
    }

    /// The events from a place in the stream on, to the end of the run.
    pub(crate) fn follow(self: Arc<Log>, from: Place) -> impl Stream<Item = Frame> + Send + use<> {
        let changes = self.changes.subscribe();
        futures::stream::unfold((self, changes, from), |(log, mut changes, from)| async move {
            loop {
                changes.mark_unchanged();
                match log.next(from) {
                    Ok(frame) => {
                        let next = frame.at.next();
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

    use super::{Frame, Log, MOST_PIECES, Place};

    fn event(seq: u64, piece: u32, kind: EventKind) -> Event {
        Event { run_id: RunId("r".into()), seq, piece, at_ms: 0, kind }
    }

    fn note(seq: u64) -> Event {
        event(seq, 0, EventKind::Note { level: Level::Info, message: "n".into() })
    }

    fn token(seq: u64, piece: u32, text: &str) -> Event {
        event(seq, piece, EventKind::Token { text: text.into() })
    }

    fn places(frames: Vec<Frame>) -> Vec<String> {
        frames.iter().map(|frame| frame.at.to_string()).collect()
    }

    #[tokio::test]
    async fn every_follower_sees_the_whole_run_in_order_wherever_it_joins() {
        let log = Arc::new(Log::new());
        let from = |place: &str| place.parse::<Place>().expect("it is a place");
        let early = tokio::spawn(Arc::clone(&log).follow(from("0")).collect::<Vec<_>>());
        for seq in 0..2 {
            log.push(&note(seq));
            tokio::task::yield_now().await;
            for piece in 1..3 {
                log.push(&token(seq, piece, "x"));
                tokio::task::yield_now().await;
            }
        }
        let late = tokio::spawn(Arc::clone(&log).follow(from("0")).collect::<Vec<_>>());
        let resumed = tokio::spawn(Arc::clone(&log).follow(from("0.1").next()).collect::<Vec<_>>());
        let kept = tokio::spawn(Arc::clone(&log).follow(from("1").next()).collect::<Vec<_>>());
        log.close();
        let all = ["0", "0.1", "0.2", "1", "1.1", "1.2"];
        assert_eq!(places(early.await.unwrap()), all);
        assert_eq!(places(late.await.unwrap()), all);
        assert_eq!(places(resumed.await.unwrap()), all[2..]);
        assert_eq!(places(kept.await.unwrap()), all[4..]);
    }

    #[tokio::test]
    async fn old_pieces_are_let_go_and_everything_else_stays() {
        let log = Arc::new(Log::new());
        let long = "x".repeat(MOST_PIECES / 4);
        log.push(&note(0));
        for piece in 1..=10 {
            log.push(&token(0, piece, &long));
        }
        log.push(&note(1));
        log.close();
        let seen = places(log.follow(Place::default()).collect().await);
        assert_eq!(seen, ["0", "0.8", "0.9", "0.10", "1"]);
    }
}
