//! Runs that are removed because their user wants it.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use jarvis_plan::RunId;
use jarvis_store::{Prune, Pruned};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Whereabouts, tell, whereabouts, whole};
use crate::error::{ApiError, ErrorBody, Failures};
use crate::extract::ApiQuery;
use crate::routes::paging::checked_time;
use crate::state::Server;
use crate::users::{Caller, Right};
use crate::wire::reply::{RemovedReply, RemovedRunsReply};

/// Remove a run
///
/// With its events, and the files that no other run, chat or saved plan speaks of and that belong to nobody else.
#[utoipa::path(delete, path = "/runs/{id}", operation_id = "remove_run", tag = "runs", params(("id" = String, Path, description = "The run's id")),
    responses((status = 200, description = "It is gone", body = RemovedReply),
        (status = 404, description = "There is no such run", body = ErrorBody),
        (status = 409, description = "It goes on, or waits", body = ErrorBody),
        Failures))]
pub(crate) async fn remove(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<RemovedReply>, ApiError> {
    caller.must(Right::Run)?;
    let id = whole(id)?;
    if server.runs.of(&caller, &id)?.is_some() {
        return Err(goes_on());
    }
    let user = match whereabouts(&server, &caller, &id).await? {
        Whereabouts::There { .. } => return Err(goes_on()),
        Whereabouts::Kept(record) => record.summary.user,
    };
    tell(&server, &caller, "delete", &id, &user).await?;
    let run = RunId(id.clone());
    let pruned =
        server.remove_runs(Prune { user: Some(user), only: Some(run), cut_off: true, ..Prune::default() }).await?;
    match pruned.runs {
        0 => Err(goes_on()),
        _ => Ok(Json(RemovedReply { run_id: id, deleted: true, media: pruned.media.len() })),
    }
}

fn goes_on() -> ApiError {
    ApiError::new(StatusCode::CONFLICT, "goes_on", "the run goes on, or waits")
        .hint("cancel it first: POST /runs/{id}/cancel")
}

/// Which runs are removed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RemovalAsk {
    /// Those that ended before this time, in milliseconds since the Unix epoch.
    before_ms: u64,
}

/// Remove what is old of the caller's own runs
#[utoipa::path(delete, path = "/runs", operation_id = "remove_runs", tag = "runs", params(RemovalAsk),
    responses((status = 200, description = "They are gone", body = RemovedRunsReply), Failures))]
pub(crate) async fn remove_old(
    State(server): State<Server>,
    caller: Caller,
    ApiQuery(RemovalAsk { before_ms }): ApiQuery<RemovalAsk>,
) -> Result<Json<RemovedRunsReply>, ApiError> {
    caller.must(Right::Run)?;
    let before_ms = checked_time("before_ms", before_ms)?;
    let user = (!caller.is_only()).then(|| caller.name().to_owned());
    let pruned = server.remove_runs(Prune { before_ms: Some(before_ms), user, ..Prune::default() }).await?;
    Ok(Json(RemovedRunsReply { deleted: pruned.runs, media: pruned.media.len() }))
}

impl Server {
    /// Removes runs, and the files that nothing speaks of any more.
    pub(crate) async fn remove_runs(&self, prune: Prune) -> Result<Pruned, ApiError> {
        let Some(journal) = &self.parts.journal else {
            return Err(ApiError::not_found("this server keeps no journal"));
        };
        let prune = Prune { spoken_of: self.spoken_of().await?, ..prune };
        let pruned = journal.prune(prune, Arc::clone(&self.parts.media)).await?;
        for stuck in &pruned.stuck {
            tracing::error!(stuck, "a file of a run that was removed is still there");
        }
        Ok(pruned)
    }
    /// The files that saved plans speak of, and requests that wait for their slot.
    pub(crate) async fn spoken_of(&self) -> Result<BTreeSet<String>, ApiError> {
        let plans = [&self.setup().decisions.plans, &self.setup().local_decisions.plans].map(Option::clone);
        let read = tokio::task::spawn_blocking(move || {
            plans.into_iter().flatten().flat_map(|plans| plans.spoken_of()).collect::<BTreeSet<String>>()
        });
        let mut all = read.await.map_err(|error| ApiError::internal("the saved plans cannot be read", &error))?;
        all.extend(self.runs.queued().iter().flat_map(|live| live.files().to_vec()));
        Ok(all)
    }
}
