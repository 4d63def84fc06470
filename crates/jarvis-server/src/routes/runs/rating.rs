//! What a person says of the plan of a run.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{on_record, tell, whole};
use crate::error::{ApiError, ErrorBody, Failures};
use crate::extract::ApiJson;
use crate::state::Server;
use crate::users::{Caller, Right};
use crate::wire::reply::{Rating, RatingReply};

/// What is said of a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RatingAsk {
    rating: Rating,
}

/// Say whether the plan of a run is one to plan by
///
/// A run that succeeded counts as good unless it is rated; a bad one is never planned by.
#[utoipa::path(post, path = "/runs/{id}/rating", operation_id = "rate_run", tag = "runs", request_body = RatingAsk,
    params(("id" = String, Path, description = "The run's id")),
    responses((status = 200, description = "It is rated", body = RatingReply),
        (status = 404, description = "There is no such run", body = ErrorBody),
        (status = 409, description = "Its plan is not kept as experience", body = ErrorBody),
        Failures))]
pub(crate) async fn rate(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
    ApiJson(RatingAsk { rating }): ApiJson<RatingAsk>,
) -> Result<Json<RatingReply>, ApiError> {
    caller.must(Right::Run)?;
    let id = whole(id)?;
    let whose = on_record(&server, &caller, &id).await?.summary.user;
    tell(&server, &caller, "rate", &id, &whose).await?;
    let rated = match &server.parts.journal {
        Some(journal) => journal.rate(Some(&whose), &id, rating == Rating::Good).await?,
        None => None,
    };
    match rated {
        Some(run_id) => Ok(Json(RatingReply { run_id, rating })),
        None => Err(ApiError::new(StatusCode::CONFLICT, "no_experience", "the plan of the run is not kept as experience")
            .hint("a run is rated that has ended, whose tasks were carried out, and that was not told to leave experience out")),
    }
}
