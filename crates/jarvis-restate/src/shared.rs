//! The handlers that others call while a run goes on: reading events, deciding.

use std::ops::Range;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use jarvis_plan::TaskId;
use restate_sdk::context::{DurableFuture, DurableFuturesUnordered};
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::{HandlerResult, TerminalError};
use restate_sdk::serde::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::contract::{Decided, Decision, Page, Question};
use crate::endpoint::Reply;
use crate::log::{PAGE, promise_of};
use crate::step::{CANCELLED, LARGEST};

/// Reads events.
pub(crate) const NEXT: &str = "next";
/// Decides about a task that waits for a person.
pub(crate) const APPROVE: &str = "approve";

/// How long a reader waits for the next event before it is sent away to ask again, so that none waits for ever for a run that was
/// killed.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// A page that is waited for, or none when that took too long.
type PageOrNone<'c> = Pin<Box<dyn DurableFuture<Output = Result<Option<Vec<Value>>, TerminalError>> + Send + 'c>>;

/// What `next` takes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct From {
    /// The number of the first event that is wanted.
    pub(crate) from: u64,
    /// Whether it is the first of a page, as for one who reads on.
    #[serde(default)]
    pub(crate) reads_on: bool,
    /// Whether only those are wanted that there are.
    #[serde(default)]
    pub(crate) now: bool,
}

/// A question that a run has asked, in its state.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    /// What tells it from other questions about the same task.
    pub(crate) at: usize,
    /// The number of its event.
    #[serde(default)]
    pub(crate) seq: u64,
    /// Who asks.
    pub(crate) invocation: String,
}

pub(crate) fn question_of(id: TaskId) -> String {
    format!("question-{id}")
}

pub(crate) fn decision_of(id: TaskId, at: usize) -> String {
    format!("decision-{id}-{at}")
}

/// The events from a number on, as many as fit; waits for the first of them.
pub(crate) async fn next(ctx: &ContextInternal) -> HandlerResult<Reply> {
    let (Json(From { from, reads_on, now }), _) = ctx.input::<Json<From>>().await;
    let mut events = there(ctx, from).await?;
    if events.is_empty() && !reads_on {
        events = within_page(ctx, from).await?;
    }
    if events.is_empty() && !now {
        let name = promise_of(from);
        let mut either = DurableFuturesUnordered::new();
        let page = ctx.promise::<Json<Vec<Value>>>(&name).map_ok(|Json(page)| Some(page));
        let waited = ctx.sleep(LONGEST_WAIT).map_ok(|()| None);
        let page: PageOrNone<'_> = Box::pin(page);
        either.push(page);
        either.push(Box::pin(waited));
        if let Some((_, page)) = either.next().await?
            && let Some(page) = page?
        {
            events = page;
        }
    }
    Reply::of(&Page { events })
}

/// The events of the pages that are there from the beginning of one on.
async fn there(ctx: &ContextInternal, from: u64) -> Result<Vec<Value>, TerminalError> {
    let (mut events, mut bytes, mut next) = (Vec::new(), 0, from);
    for (first, page) in peek(ctx, from..from.saturating_add(PAGE)).await? {
        bytes += page.len();
        if first != next || (bytes > LARGEST && !events.is_empty()) {
            break;
        }
        let Ok(mut page) = serde_json::from_slice::<Vec<Value>>(&page) else { break };
        next += page.len() as u64;
        events.append(&mut page);
    }
    Ok(events)
}

/// The rest of the page that holds an event other than its first.
async fn within_page(ctx: &ContextInternal, from: u64) -> Result<Vec<Value>, TerminalError> {
    let before = peek(ctx, from.saturating_sub(PAGE - 1)..from).await?;
    let Some((first, page)) = before.into_iter().next_back() else { return Ok(Vec::new()) };
    let page: Vec<Value> = serde_json::from_slice(&page).unwrap_or_default();
    Ok(page.into_iter().skip(usize::try_from(from - first).unwrap_or(usize::MAX)).collect())
}

/// The pages that begin with these events. All are asked for before the first is awaited: one round trip.
async fn peek(ctx: &ContextInternal, firsts: Range<u64>) -> Result<Vec<(u64, Bytes)>, TerminalError> {
    let names: Vec<(u64, String)> = firsts.map(|first| (first, promise_of(first))).collect();
    let peeked: Vec<_> = names.iter().map(|(first, name)| (*first, ctx.peek_promise::<Bytes>(name))).collect();
    let mut pages = Vec::new();
    for (first, page) in peeked {
        pages.extend(page.await?.map(|page| (first, page)));
    }
    Ok(pages)
}

/// Answers a question that the run has asked. The first answer counts.
pub(crate) async fn approve(ctx: &ContextInternal) -> HandlerResult<Reply> {
    let (Json(Decided { task, decision, asked }), _) = ctx.input::<Json<Decided>>().await;
    let conflict = |message: String| TerminalError::new_with_code(CANCELLED, message);
    let number = task.number();
    let Some(Json(Asked { question, at, seq, invocation })) = ctx.get::<Json<Asked>>(&question_of(task)).await? else {
        return Err(conflict(format!("task {number} waits for no decision")).into());
    };
    if asked.is_some_and(|asked| asked != seq) {
        return Err(conflict(format!("task {number} waits for another decision by now")).into());
    }
    if !question.is_answered_by(&decision) {
        let takes = match question {
            Question::Approval => "`approve` or `refuse`",
            Question::Person => "`approve` with the `answer` among its `args`, or `refuse`",
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
