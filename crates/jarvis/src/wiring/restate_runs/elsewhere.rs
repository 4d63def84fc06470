//! Runs of Restate that this server has nothing on record of, or does not follow: another server started them, or a client of its own.

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use jarvis_pipeline::approval::Decision as Said;
use jarvis_plan::{Approval, RunId};
use jarvis_restate::{Cancelled, Client, Decision, Error, take_plan};
use jarvis_server::{Elsewhere, NotSaid, Waiting};
use serde_json::{Value, json};

use super::GRACE;

/// Runs of Restate that another server started, or a client of its own.
pub(super) struct AtRestate(pub(super) Client);

fn not_said(error: &Error) -> NotSaid {
    match error {
        Error::NoRun { .. } => NotSaid::Unknown,
        Error::Refused { status: 409 | 422, .. } => NotSaid::NotOpen,
        error => NotSaid::Away(error.to_string()),
    }
}

/// How a run ended that was killed, and tells nothing more.
fn killed() -> Value {
    json!({"event": "error", "code": "cancelled", "message": "the run was killed at Restate"})
}

/// An event without what only those need who go on with its run.
fn for_readers(mut event: Value) -> Value {
    // Whether it can be read is for those to say.
    drop(take_plan(&mut event));
    event
}

/// What was said, in the words of Restate's runs.
pub(super) fn as_decision(asked: &Approval, said: Said) -> Decision {
    match said {
        Said::Approve { .. } | Said::ApproveAlways if asked.unknown => Decision::Retry,
        Said::Refuse { .. } if asked.unknown => Decision::Skip,
        Said::Approve { arguments } => Decision::Approve { args: arguments, always: false },
        Said::ApproveAlways => Decision::Approve { args: None, always: true },
        Said::Done => Decision::Done { output: Value::Null },
        Said::Refuse { reason, .. } => Decision::Refuse { reason: Some(reason) },
    }
}

#[async_trait]
impl Elsewhere for AtRestate {
    async fn events(&self, run: &RunId) -> Result<BoxStream<'static, Value>, NotSaid> {
        let mut events = Box::pin(self.0.follow(run.clone(), 0));
        // Whether there is such a run shows with its first event.
        let first = match events.next().await {
            Some(Ok(event)) => event,
            Some(Err(error)) => return Err(not_said(&error)),
            None => return Err(NotSaid::Unknown),
        };
        // Where Restate goes away the stream ends without an end, as with a server that does.
        let told = |event| match event {
            Ok(event) => Some(event),
            Err(Error::Ended { .. }) => Some(killed()),
            Err(_) => None,
        };
        let rest =
            events.map(told).take_while(|event| std::future::ready(event.is_some())).filter_map(std::future::ready);
        Ok(futures::stream::iter([first]).chain(rest).map(for_readers).boxed())
    }

    async fn so_far(&self, run: &RunId) -> Result<Vec<Value>, NotSaid> {
        let mut events = self.0.so_far(run).await.map_err(|error| not_said(&error))?;
        let has_ended = |event: &Value| matches!(event.get("event").and_then(Value::as_str), Some("done" | "error"));
        if !events.last().is_some_and(has_ended) && matches!(self.0.end(run).await, Err(Error::Ended { .. })) {
            events.push(killed());
        }
        Ok(events.into_iter().map(for_readers).collect())
    }

    async fn decide(&self, run: &RunId, waiting: &Waiting, said: Said) -> Result<(), NotSaid> {
        let Waiting { seq, asked } = waiting;
        let decided = self.0.answer(run, asked.task, *seq, as_decision(asked, said)).await;
        decided.map_err(|error| not_said(&error))
    }

    async fn cancel(&self, run: &RunId) -> Result<(), NotSaid> {
        match self.0.cancel(run, GRACE).await {
            Ok(Cancelled::Ended | Cancelled::Killed) => Ok(()),
            Ok(Cancelled::Before) => Err(NotSaid::Ended),
            Err(error) => Err(not_said(&error)),
        }
    }
}
