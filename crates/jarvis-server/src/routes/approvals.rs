//! Answers to runs that wait for leave.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use futures::StreamExt;
use jarvis_pipeline::approval::{ASK_PERSON, Decision};
use jarvis_plan::{EACH, RunId, TaskId};
use jarvis_store::{RunRecord, RunStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::desk::{NotOpen, address};
use crate::elsewhere::{Waiting, waiting};
use crate::error::{ApiError, ErrorBody, Failures};
use crate::extract::ApiJson;
use crate::routes::runs::{Whereabouts, left_to, whereabouts, whole};
use crate::runs::Frame;
use crate::state::Server;
use crate::users::{Caller, Right};
use crate::wire::reply::ApprovalReply;
use crate::wire::schema::AnyObject;

/// An answer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApprovalAsk {
    pub(crate) decision: Said,
    /// The arguments to call with, all of them, in the place of the planned ones. Only with `approve`.
    #[serde(default)]
    #[schema(value_type = Option<AnyObject>)]
    pub(crate) arguments: Option<Map<String, Value>>,
    /// Why not, for the answer of the run. Only with `refuse`.
    #[serde(default)]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Said {
    /// Make this call.
    Approve,
    /// Make it, and every further call of the tool in this run.
    ApproveAlways,
    /// Do not make it.
    Refuse,
    /// Of a call that may have arrived (`unknown`): make it again.
    Retry,
    /// Of such a call: it was done; do not make it again.
    Done,
    /// Of such a call: leave it, whatever came of it.
    Skip,
}

impl Said {
    /// Whether it is an answer about a call that may have arrived.
    fn is_of_unknown(self) -> bool {
        match self {
            Said::Retry | Said::Done | Said::Skip => true,
            Said::Approve | Said::ApproveAlways | Said::Refuse => false,
        }
    }
}

/// How long a run may take to take an answer.
const TAKEN: Duration = Duration::from_secs(15);

/// The most characters of a reason.
const LONGEST_REASON: usize = 300;

/// Allow or refuse a call that a run waits to make
///
/// The event `approval_needed` tells the call, and `GET /runs/{id}` what waits. A call is asked about once; with other
/// `arguments` it is made with those.
#[utoipa::path(post, path = "/runs/{id}/approvals/{task}", operation_id = "answer_approval", tag = "runs", request_body = ApprovalAsk,
    params(("id" = String, Path, description = "The run's id"), ("task" = u32, Path, description = "The task's id")),
    responses((status = 200, description = "The decision was taken", body = ApprovalReply),
        (status = 404, description = "There is no such run, or it does not wait for this task", body = ErrorBody),
        (status = 409, description = "The run waits for nothing: it was answered, or has ended", body = ErrorBody),
        Failures))]
pub(crate) async fn decide(
    State(server): State<Server>,
    caller: Caller,
    Path((id, task)): Path<(String, String)>,
    ApiJson(ask): ApiJson<ApprovalAsk>,
) -> Result<Json<ApprovalReply>, ApiError> {
    caller.must(Right::Approve)?;
    let run = RunId(whole(id)?);
    let id: u32 = task.parse().map_err(|_| ApiError::not_found("a task is named by its number"))?;
    let (task, desk) = (TaskId(id), server.runs.desk());
    let live = server.runs.of(&caller, &run.0)?;
    let pending: Vec<Waiting> = match &live {
        Some(live) => live.pending_about(task).await.into_iter().map(|asked| Waiting { seq: 0, asked }).collect(),
        None => match whereabouts(&server, &caller, &run.0).await? {
            Whereabouts::There { elsewhere, .. } => waiting(&elsewhere.so_far(&run).await?),
            Whereabouts::Kept(record) => return Err(not_here(&record)),
        },
    };
    let Some(open) = pending.iter().find(|open| open.asked.task == task) else {
        return Err(match &live {
            Some(live) if live.is_suspended() => ApiError::stopping(),
            _ if pending.is_empty() => not_open(NotOpen::Run),
            // In words tasks are counted from 1.
            _ => {
                let open: Vec<String> = pending.iter().map(|open| address(&run, open.asked.task)).collect();
                not_open(NotOpen::Task).hint(format!("it waits for an answer at {}", open.join(", ")))
            }
        });
    };
    let asked = &open.asked;
    if ask.arguments.is_some() && ask.decision != Said::Approve {
        return Err(ApiError::invalid("`arguments` go with the decision `approve` alone").param("arguments"));
    }
    if asked.unknown != ask.decision.is_of_unknown() {
        let words = if asked.unknown { "`retry`, `done` or `skip`" } else { "`approve`, `approve_always` or `refuse`" };
        return Err(ApiError::invalid(format!("the answer to this is {words}")).param("decision"));
    }
    let is_question = asked.tool == ASK_PERSON;
    let answer = ask.arguments.as_ref().and_then(|arguments| arguments.get("answer")).and_then(Value::as_str);
    if is_question && ask.decision != Said::Refuse && answer.is_none_or(|answer| answer.trim().is_empty()) {
        return Err(ApiError::invalid("a question is answered with `arguments: {\"answer\": …}`").param("arguments"));
    }
    let decision = match ask.decision {
        Said::Approve => {
            if let Some(arguments) = &ask.arguments {
                let invalid = |reason: String| ApiError::invalid(reason).param("arguments");
                let calls = match (asked.each, arguments.get(EACH)) {
                    (false, _) => vec![Value::from(arguments.clone())],
                    (true, Some(Value::Array(calls))) if arguments.len() == 1 => calls.clone(),
                    (true, _) => {
                        return Err(invalid(format!("`{EACH}` must be the list of the arguments of all calls")));
                    }
                };
                let mut checked = calls.iter().filter(|_| !is_question);
                checked.try_for_each(|call| (server.setup().check)(&asked.tool, call)).map_err(invalid)?;
            }
            Decision::Approve { arguments: ask.arguments.map(|arguments| arguments.into_iter().collect()) }
        }
        Said::Retry => Decision::Approve { arguments: None },
        Said::ApproveAlways => Decision::ApproveAlways,
        Said::Done => Decision::Done,
        Said::Refuse | Said::Skip => {
            let reason = ask.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
            let reason = reason.map_or_else(
                || "it was refused".to_owned(),
                |reason| format!("it was refused: {}", jarvis_net::text::cut(reason, LONGEST_REASON, "…")),
            );
            Decision::Refuse { reason, hint: None }
        }
    };
    let approved = !matches!(ask.decision, Said::Refuse | Said::Skip);
    let about = json!({
        "run_id": run.0, "of": live.as_ref().map(|live| live.user()).filter(|user| !user.is_empty()), "task": id, "tool": asked.tool,
        "decision": ask.decision, "changed": matches!(decision, Decision::Approve { arguments: Some(_) }).then_some(true),
    });
    server.audit(&caller, "approval", about).await?;
    let reply = |approved: bool| Json(ApprovalReply { run_id: run.0.clone(), task: id, approved });
    let Some(live) = live else {
        let elsewhere = server.parts.elsewhere.as_ref().expect("what waits there was read there");
        elsewhere.decide(&run, open, decision).await?;
        return Ok(reply(approved));
    };
    let heard = Arc::clone(&live.log).follow(live.log.end());
    desk.answer(&run, asked, decision).map_err(not_open)?;
    // What is told here is on the disk: the run has taken the answer, or that of somebody who was quicker elsewhere.
    let taken = |frame: &Frame| {
        let given = serde_json::from_str::<Value>(&frame.data).ok().filter(|_| frame.name == "approval_given")?;
        let is_of_it = given.get("id").and_then(Value::as_u64) == Some(u64::from(id));
        given.get("approved").and_then(Value::as_bool).filter(|_| is_of_it)
    };
    let given = heard.filter_map(|frame| std::future::ready(taken(&frame)));
    let mut given = std::pin::pin!(given);
    match tokio::time::timeout(TAKEN, given.next()).await {
        Ok(Some(approved)) => Ok(reply(approved)),
        Ok(None) => Err(ApiError::stopping()),
        Err(_) => {
            let message = "the answer was given, and the run has not taken it yet";
            Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message).hint(
                "it counts once the event `approval_given` is told; what carries the run out may be away: see /ready",
            ))
        }
    }
}

/// Why a run of which nothing goes on here takes no answer.
fn not_here(record: &RunRecord) -> ApiError {
    let summary = &record.summary;
    if let Some(engine) = record.engine().filter(|_| summary.resumable) {
        return left_to(engine);
    }
    match summary.status {
        RunStatus::Running | RunStatus::Waiting if !summary.resumable => {
            let message = "the run goes on in another process that shares the data folder";
            ApiError::new(StatusCode::CONFLICT, "elsewhere", message)
                .hint("answer at the server that has it; when that one ends, another takes the run up")
        }
        _ => ApiError::new(StatusCode::CONFLICT, "not_waiting", "the run waits for nothing"),
    }
}

fn not_open(not: NotOpen) -> ApiError {
    match not {
        NotOpen::Run => ApiError::new(StatusCode::CONFLICT, "not_waiting", "the run waits for nothing"),
        NotOpen::Task => ApiError::not_found("the run does not wait for this task"),
    }
}
