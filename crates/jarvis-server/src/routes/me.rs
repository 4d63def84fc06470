//! What is kept of whoever calls: counted, handed out whole, and removed.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use jarvis_hugginggpt::decisions::PlanStore;
use jarvis_store::{Journal, Prune, RunFilter};
use serde_json::json;
use tokio_util::io::ReaderStream;

use crate::error::{ApiError, Failures};
use crate::runs::now_ms;
use crate::state::Server;
use crate::users::Caller;
use crate::wire::kept::{MeReply, RemovedDataReply, StoredReply};
use crate::wire::reply::Today;
use crate::wire::schema::FileBytes;

mod export;

/// The most runs that are looked at together.
const AT_ONCE: u32 = 1000;

/// Who calls, and what is kept of them
#[utoipa::path(get, path = "/me", operation_id = "get_me", tag = "me",
    responses((status = 200, description = "The caller", body = MeReply), Failures))]
pub(crate) async fn show(State(server): State<Server>, caller: Caller) -> Result<Json<MeReply>, ApiError> {
    let mine = Mine::of(&server, &caller);
    let (kept, plans) = (mine.clone(), mine.plans.clone());
    let counted = blocking(move || {
        let stored = kept.journal.as_ref().map(|journal| journal.stored(kept.user.as_deref())).transpose()?;
        let stored = stored.unwrap_or_default();
        let files = kept.files(&stored.files)?;
        let plans = plans.iter().map(|plans| plans.files().len() as u64).sum();
        Ok::<_, ApiError>((stored, files, plans))
    });
    let (stored, files, plans) = counted.await??;
    Ok(Json(MeReply {
        user: Some(caller.name().to_owned()).filter(|name| !name.is_empty()),
        may: caller.rights(),
        today: Today::of(caller.account(), now_ms()),
        stored: StoredReply {
            runs: stored.runs,
            run_bytes: stored.run_bytes,
            files: files.len() as u64,
            file_bytes: files.iter().map(|(_, bytes)| bytes).sum(),
            plans,
            chats: stored.chats,
            experience: stored.experience,
        },
        oldest_ms: stored.oldest_ms,
    }))
}

/// All that is kept of the caller, as one file
///
/// A ZIP archive: `runs.jsonl` with a run and its events in each line, `chats.jsonl`, `experience.jsonl` with the plans that requests are planned by, `files.jsonl` with what is known of the files that
/// have ids, `plans/ID.json`, and the files under `files/`.
#[utoipa::path(get, path = "/me/data", operation_id = "export_my_data", tag = "me",
    responses((status = 200, description = "The archive", content_type = "application/zip", body = inline(FileBytes)), Failures))]
pub(crate) async fn export(State(server): State<Server>, caller: Caller) -> Result<Response, ApiError> {
    let mine = Mine::of(&server, &caller);
    let (file, bytes) = blocking(move || export::archive(&mine)).await??;
    let body = Body::from_stream(ReaderStream::new(tokio::fs::File::from_std(file)));
    let headers = [
        (header::CONTENT_TYPE, "application/zip".to_owned()),
        (header::CONTENT_LENGTH, bytes.to_string()),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"jarvis-data.zip\"".to_owned()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((headers, body).into_response())
}

/// Remove all that is kept of the caller
///
/// But for runs that go on or wait, which are counted (`going_on`), with their files. What somebody else has too stays theirs, and the
/// audit stays.
#[utoipa::path(delete, path = "/me/data", operation_id = "remove_my_data", tag = "me",
    responses((status = 200, description = "It is gone", body = RemovedDataReply), Failures))]
pub(crate) async fn remove(State(server): State<Server>, caller: Caller) -> Result<Json<RemovedDataReply>, ApiError> {
    server.audit(&caller, "delete_my_data", json!({})).await?;
    let mine = Mine::of(&server, &caller);
    let stores = mine.plans.clone();
    let plans = blocking(move || stores.iter().map(|plans| plans.clear()).sum::<Result<usize, _>>()).await??;
    let Some(journal) = mine.journal.clone() else {
        return Ok(Json(RemovedDataReply { plans, ..RemovedDataReply::default() }));
    };
    let chats = journal.clear_chats(mine.user.as_deref()).await?;
    journal.clear_files(mine.user.as_deref()).await?;
    let experience = journal.forget_experience(mine.user.as_deref(), None).await?;
    let known = mine.clone();
    let before = blocking(move || known.run_ids()).await??;
    let prune = Prune { before_ms: Some(u64::MAX), user: mine.user.clone(), cut_off: true, ..Prune::default() };
    let pruned = server.remove_runs(prune).await?;
    // Files that no run spoke of.
    let known = mine.clone();
    let files = blocking(move || {
        let named = known.journal.as_ref().map(|journal| journal.stored(known.user.as_deref())).transpose()?;
        let files = known.files(&named.unwrap_or_default().files)?;
        Ok::<_, ApiError>(files.into_iter().map(|(path, _)| path).collect())
    });
    let free = journal.release(caller.name(), files.await??, server.spoken_of().await?).await?;
    let known = mine.clone();
    let (media, left) = blocking(move || {
        let gone = free.iter().filter(|path| known.remove_file(path)).count();
        Ok::<_, ApiError>((gone, known.run_ids()?))
    })
    .await??;
    let gone: HashSet<String> = before.difference(&left).cloned().collect();
    server.forget_logs(gone).await?;
    journal.scrub().await?;
    let going_on = left.len().max(mine.live(&server));
    Ok(Json(RemovedDataReply {
        runs: pruned.runs,
        media: pruned.media.len() + media,
        plans,
        chats,
        experience,
        going_on,
    }))
}

/// What belongs to a caller.
#[derive(Clone)]
struct Mine {
    /// `None` where all belongs to the caller.
    user: Option<String>,
    journal: Option<Arc<Journal>>,
    media: Arc<jarvis_store::Media>,
    plans: Vec<Arc<PlanStore>>,
}

impl Mine {
    fn of(server: &Server, caller: &Caller) -> Mine {
        let user = (!caller.is_only()).then(|| caller.name().to_owned());
        // Both decide into the same folder.
        let plans = server.decisions_for(caller, &server.setup().decisions).plans;
        let plans = plans.into_iter().flat_map(|plans| match user {
            Some(_) => vec![plans],
            None => plans.with_users().into_iter().map(Arc::new).collect(),
        });
        Mine {
            plans: plans.collect(),
            user,
            journal: server.parts.journal.clone(),
            media: Arc::clone(&server.parts.media),
        }
    }

    /// The files in the folder, with their bytes: of these, or all where all are the caller's. Blocks.
    fn files(&self, named: &[String]) -> Result<Vec<(String, u64)>, ApiError> {
        let named: HashSet<&str> = named.iter().map(String::as_str).collect();
        let all = self.media.list()?.into_iter();
        let mine = all.filter(|file| self.user.is_none() || named.contains(file.path.as_str()));
        Ok(mine.map(|file| (file.path, file.bytes)).collect())
    }

    /// Removes a file; false where it was not there. Blocks.
    fn remove_file(&self, path: &str) -> bool {
        self.media.remove(path).unwrap_or_else(|error| {
            tracing::error!(%error, path, "a file that nobody has any more is still there");
            false
        })
    }

    /// The ids of the caller's runs. Blocks.
    fn run_ids(&self) -> Result<HashSet<String>, ApiError> {
        let mut ids = HashSet::new();
        let Some(journal) = &self.journal else { return Ok(ids) };
        let mut filter = RunFilter { user: self.user.clone(), ..RunFilter::default() };
        loop {
            let page = journal.select(&filter, AT_ONCE)?;
            let Some(last) = page.last() else { return Ok(ids) };
            filter.after = Some((last.started_at_ms, last.run_id.clone()));
            ids.extend(page.into_iter().map(|run| run.run_id.0));
        }
    }

    /// How many of the caller's runs go on or wait here.
    fn live(&self, server: &Server) -> usize {
        let is_mine = |user: &str| self.user.as_deref().is_none_or(|mine| mine == user);
        let all = server.runs.queued().into_iter().chain(server.runs.running());
        all.filter(|live| is_mine(live.user())).count()
    }
}

impl Server {
    /// Removes the lines of runs from the request logs.
    async fn forget_logs(&self, runs: HashSet<String>) -> Result<(), ApiError> {
        let Some(logs) = self.setup().pipeline.logs.clone().filter(|_| !runs.is_empty()) else { return Ok(()) };
        let removed = blocking(move || logs.remove(|line| runs.contains(&*line.request_id))).await?;
        removed.map_err(|error| ApiError::internal("the request logs cannot be written", &error))
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ApiError::internal("what is kept cannot be looked at", &error))
}
