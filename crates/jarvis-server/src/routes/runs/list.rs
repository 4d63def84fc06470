//! The list of runs, in pages: those that go on here, and those that the journal has.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use jarvis_plan::RunId;
use jarvis_store::{Journal, RunFilter, RunStatus};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::{ApiError, Failures};
use crate::extract::ApiQuery;
use crate::routes::paging::{MOST, checked_limit, checked_time, cursor, fifty, read_cursor};
use crate::runs::Live;
use crate::state::Server;
use crate::users::{Caller, Right};
use crate::wire::reply::{RunLine, RunsReply};

/// Which runs are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunsAsk {
    /// The most runs to list.
    #[serde(default = "fifty")]
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: u32,
    /// The `next` of the page before.
    before: Option<String>,
    /// Those in one of these states, with commas between: `queued`, `running`, `waiting`, `done`, `failed`, `cancelled`, `interrupted`.
    #[param(example = "running,waiting")]
    status: Option<String>,
    /// Those that began at or after this time, in milliseconds since the Unix epoch.
    since_ms: Option<u64>,
    /// Those that began at or before this time, in milliseconds since the Unix epoch.
    until_ms: Option<u64>,
    /// Those whose request has this text in it, whatever the case of its letters.
    text: Option<String>,
    /// Those of this user, for administrators.
    user: Option<String>,
}

/// The states that are asked for: whether runs that are queued are, and the others; all where nothing is asked for.
fn states(text: Option<&str>) -> Result<(bool, Vec<RunStatus>), ApiError> {
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return Ok((true, Vec::new())) };
    let (mut queued, mut states) = (false, Vec::new());
    for name in text.split(',').map(str::trim) {
        match RunStatus::ALL.into_iter().find(|status| status.as_str() == name) {
            Some(status) => states.push(status),
            None if name == "queued" => queued = true,
            None => return Err(ApiError::invalid(format!("`{name}` is not a state of a run")).param("status")),
        }
    }
    Ok((queued, states))
}

/// The runs, in pages
///
/// Newest first. `next` of a page is `before` of the one that follows it.
#[utoipa::path(get, path = "/runs", operation_id = "list_runs", tag = "runs", params(RunsAsk),
    responses((status = 200, description = "A page of runs", body = RunsReply),
        Failures))]
pub(crate) async fn list(
    State(server): State<Server>,
    caller: Caller,
    ApiQuery(ask): ApiQuery<RunsAsk>,
) -> Result<Json<RunsReply>, ApiError> {
    let RunsAsk { limit, before, status, since_ms, until_ms, text, user } = ask;
    let since_ms = since_ms.map(|ms| checked_time("since_ms", ms)).transpose()?;
    let until_ms = until_ms.map(|ms| checked_time("until_ms", ms)).transpose()?;
    let limit = checked_limit(limit, MOST)?;
    let user = match (caller.lists(), user) {
        (Some(own), Some(other)) if own != other => {
            caller.must(Right::Admin)?;
            Some(other)
        }
        (Some(own), _) => Some(own.to_owned()),
        (None, user) => user,
    };
    let (with_queued, statuses) = states(status.as_deref())?;
    let only_queued = with_queued && status.is_some() && statuses.is_empty();
    let after = before.as_deref().map(read_cursor).transpose()?.map(|(at, id)| (at, RunId(id)));
    let text = text.filter(|text| !text.is_empty());
    let filter = RunFilter { user, statuses, since_ms, until_ms, text, after };
    // In whatever state it is.
    let of_any_state = RunFilter { statuses: Vec::new(), ..filter.clone() };
    let queued = server.runs.queued().into_iter().filter(|_| with_queued).map(|live| live.summary());
    let mut runs: Vec<RunLine> =
        queued.filter(|run| of_any_state.fits(run)).map(|run| RunLine::of(run, true)).collect();
    if !only_queued {
        // Taken before the journal is asked, so that a run that ends meanwhile is in one of the two.
        let mut running: Vec<Arc<Live>> = server.runs.running();
        if server.parts.journal.is_some() {
            let kept = filter.clone();
            // One more shows whether there is another page.
            let ids: Vec<RunId> = running.iter().map(|live| live.run_id.clone()).collect();
            let read = move |journal: &Journal| Ok((journal.known(&ids)?, journal.select(&kept, limit + 1)?));
            let (known, kept) = server.read_journal(read).await?;
            // One on record is listed by the record's time alone: with a beginning of its own beside it, it would be on two pages.
            running.retain(|live| !known.contains(&live.run_id) && kept.iter().all(|run| run.run_id != live.run_id));
            let is_queued = |id: &str| server.runs.get(id).is_some_and(|live| live.is_queued());
            runs.extend(kept.into_iter().filter(|run| !is_queued(&run.run_id.0)).map(|run| RunLine::of(run, false)));
        }
        let running = running.iter().map(|live| live.summary()).filter(|run| filter.fits(run));
        runs.extend(running.map(|run| RunLine::of(run, false)));
    }
    runs.sort_by(|one, other| other.place().cmp(&one.place()));
    let is_more = runs.len() > limit as usize;
    runs.truncate(limit as usize);
    let next = runs.last().filter(|_| is_more).map(|run| cursor(run.place().0, run.place().1));
    Ok(Json(RunsReply { runs, next }))
}
