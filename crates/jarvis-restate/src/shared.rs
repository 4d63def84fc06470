//! The handlers that others call while a run goes on: reading events, deciding.

use std::time::Duration;

use jarvis_plan::TaskId;
use restate_sdk::context::{DurableFuture, DurableFuturesUnordered};
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::{HandlerResult, TerminalError};
use restate_sdk::serde::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::contract::{Decided, Decision, Page, Question};
use crate::endpoint::Reply;
use crate::log::promise_of;
use crate::step::{CANCELLED, LARGEST};

/// Reads events.
pub(crate) const NEXT: &str = "next";
/// Decides about a task that waits for a person.
pub(crate) const APPROVE: &str = "approve";

/// The most events of a page, asked for in one round trip.
const PAGE: u64 = 32;

/// How long a reader waits for the next event before it is sent away to ask again, so that none waits for ever for a run that was
/// killed.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// What `next` takes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct From {
    pub(crate) from: u64,
}

/// A question that a run has asked, in its state.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    /// What tells it from other questions about the same task.
    pub(crate) at: usize,
    /// Who asks.
    pub(crate) invocation: String,
}

pub(crate) fn question_of(id: TaskId) -> String {
    format!("question-{id}")
}

pub(crate) fn decision_of(id: TaskId, at: usize) -> String {
    format!("decision-{id}-{at}")
}

/// A page of events from a number on; waits for the first of them.
pub(crate) async fn next(ctx: &ContextInternal) -> HandlerResult<Reply> {
    let (Json(From { from }), _) = ctx.input::<Json<From>>().await;
    let mut events = there(ctx, from).await?;
    if events.is_empty() {
        let name = promise_of(from);
        let mut either = DurableFuturesUnordered::new();
        let event = ctx.promise::<Json<Value>>(&name).map_ok(|Json(event)| Some(event));
        let waited = ctx.sleep(LONGEST_WAIT).map_ok(|()| None);
        let event: std::pin::Pin<Box<dyn DurableFuture<Output = Result<Option<Value>, TerminalError>> + Send>> =
            Box::pin(event);
        either.push(event);
        either.push(Box::pin(waited));
        if let Some((_, first)) = either.next().await?
            && let Some(first) = first?
        {
            events.push(first);
            events.append(&mut there(ctx, from + 1).await?);
        }
    }
    Reply::of(&Page { events })
}

/// The events that are there from a number on, as many as fit a page.
async fn there(ctx: &ContextInternal, from: u64) -> Result<Vec<Value>, TerminalError> {
    // All are asked for before the first is awaited: one round trip.
    let names: Vec<String> = (from..from.saturating_add(PAGE)).map(promise_of).collect();
    let peeked: Vec<_> = names.iter().map(|name| ctx.peek_promise::<Json<Value>>(name)).collect();
    let (mut events, mut bytes) = (Vec::new(), 0);
    for event in peeked {
        match event.await? {
            Some(Json(event)) => {
                bytes += serde_json::to_vec(&event).map_or(0, |text| text.len());
                if bytes > LARGEST && !events.is_empty() {
                    break;
                }
                events.push(event);
            }
            None => break,
        }
    }
    Ok(events)
}

/// Answers a question that the run has asked. The first answer counts.
pub(crate) async fn approve(ctx: &ContextInternal) -> HandlerResult<Reply> {
    let (Json(Decided { task, decision }), _) = ctx.input::<Json<Decided>>().await;
    let conflict = |message: String| TerminalError::new_with_code(CANCELLED, message);
    let number = task.number();
    let Some(Json(Asked { question, at, invocation })) = ctx.get::<Json<Asked>>(&question_of(task)).await? else {
        return Err(conflict(format!("task {number} waits for no decision")).into());
    };
    if !question.is_answered_by(&decision) {
        let takes = match question {
            Question::Approval => "`approve` or `refuse`",
            Question::Arrived => "`retry`, `done` or `skip`",
        };
        return Err(TerminalError::new_with_code(422, format!("task {number} waits for {takes}")).into());
    }
    // The run awaits the signal; the promise tells those who come later that there is a decision.
    let name = decision_of(task, at);
    if ctx.peek_promise::<Json<Decision>>(&name).await?.is_some() {
        return Err(conflict(format!("task {number} is decided already")).into());
    }
    ctx.resolve_promise(&name, Json(&decision));
    ctx.resolve_signal(&invocation, &name, Json(decision));
    Reply::of(&())
}
