//! The tasks of a caller, the one that changed last first, a page at a time.

use std::collections::HashMap;
use std::sync::Arc;

use jarvis_proto::a2a::{ListTasksRequest, ListTasksResponse, TaskState};
use jarvis_store::{Changed, RunStatus, RunSummary};

use super::fault::Fault;
use super::tasks::{Client, check_history};
use crate::runs::Live;

/// How many tasks are looked through, the latest.
const MOST: u32 = 10_000;

/// A task in the list, before it is read.
struct Line {
    id: String,
    state: TaskState,
    /// When something last happened in it.
    at_ms: u64,
}

impl Line {
    /// Where it stands, in words that the next page is asked for by.
    fn token(&self) -> String {
        format!("{}-{}", self.at_ms, self.id)
    }
}

impl Client {
    pub(super) async fn list(&self, request: ListTasksRequest) -> Result<ListTasksResponse, Fault> {
        check_history(request.history_length)?;
        let page_size = match request.page_size {
            None => 50,
            Some(size @ 1..=100) => size,
            Some(_) => return Err(Fault::field("pageSize", "it is a number from 1 to 100")),
        };
        let behind = match request.page_token.as_str() {
            "" => None,
            token => Some(place(token).ok_or_else(|| {
                Fault::field("pageToken", "it is no `nextPageToken` of this server")
                    .hint("leave it out for the first page")
            })?),
        };
        let wanted = TaskState::try_from(request.status)
            .map_err(|_| Fault::field("status", "it is no state of a task"))
            .map(|state| Some(state).filter(|state| *state != TaskState::Unspecified))?;
        let thread = (!request.context_id.is_empty()).then(|| request.context_id.clone());
        let since_ms = request.status_timestamp_after.map_or(0, |time| time.as_ms());
        let mut lines = self.lines(thread, since_ms).await?;
        lines.retain(|line| wanted.is_none_or(|state| line.state == state));
        lines.sort_by(|one, other| (other.at_ms, &other.id).cmp(&(one.at_ms, &one.id)));
        let total_size = i32::try_from(lines.len()).unwrap_or(i32::MAX);
        let is_behind = |line: &&Line| behind.as_ref().is_none_or(|(at, id)| (line.at_ms, &line.id) < (*at, id));
        let mut rest = lines.iter().filter(is_behind);
        let page: Vec<&Line> = rest.by_ref().take(usize::try_from(page_size).unwrap_or(0)).collect();
        let next_page_token = page.last().filter(|_| rest.next().is_some()).map(|line| line.token());
        let mut tasks = Vec::with_capacity(page.len());
        for line in page {
            // One that was removed this moment is left out.
            let Ok(followed) = self.follow(&line.id).await else { continue };
            tasks.push(followed.telling.task(request.history_length, request.include_artifacts == Some(true)));
        }
        Ok(ListTasksResponse { tasks, next_page_token: next_page_token.unwrap_or_default(), page_size, total_size })
    }

    async fn lines(&self, thread: Option<String>, since_ms: u64) -> Result<Vec<Line>, Fault> {
        let runs = &self.server.runs;
        let is_seen = |live: &Arc<Live>| self.caller.reaches(live.user());
        // Taken before the journal is asked, so that a run that ends meanwhile is in one of the two.
        let going = runs.queued().into_iter().chain(runs.running()).filter(is_seen);
        let mut going: HashMap<String, Arc<Live>> = going.map(|live| (live.run_id.0.clone(), live)).collect();
        let mut lines = Vec::new();
        if self.server.parts.journal.is_some() {
            let user = self.caller.lists().map(str::to_owned);
            let which = Changed { user, thread: thread.clone(), since_ms, most: MOST };
            for (run, at_ms) in self.server.read_journal(move |journal| journal.changed(&which)).await? {
                let live = going.remove(&run.run_id.0);
                let state = live.map_or_else(|| state_of(&run), |live| state_of_live(&live));
                lines.push(Line { id: run.run_id.0, state, at_ms });
            }
        }
        for (id, live) in going {
            let at_ms = live.summary().started_at_ms;
            let is_of =
                |thread: &String| live.thread.get() == Some(thread) || (live.thread.get().is_none() && *thread == id);
            if at_ms >= since_ms && thread.as_ref().is_none_or(is_of) {
                lines.push(Line { state: state_of_live(&live), at_ms, id });
            }
        }
        Ok(lines)
    }
}

/// The place that a token names.
fn place(token: &str) -> Option<(u64, String)> {
    let (at, id) = token.split_once('-')?;
    Some((at.parse().ok()?, id.to_owned()))
}

fn state_of_live(live: &Live) -> TaskState {
    if live.is_queued() { TaskState::Submitted } else { state_of(&live.summary()) }
}

fn state_of(run: &RunSummary) -> TaskState {
    match run.status {
        RunStatus::Running => TaskState::Working,
        RunStatus::Waiting => TaskState::InputRequired,
        RunStatus::Done => TaskState::Completed,
        RunStatus::Failed => TaskState::Failed,
        RunStatus::Cancelled => TaskState::Canceled,
        // It has not ended, and goes on with whoever takes it up.
        RunStatus::Interrupted if run.resumable => TaskState::Working,
        RunStatus::Interrupted => TaskState::Failed,
    }
}
