//! Results as resources: the runs of the caller with all that is known of them, and the files that stand in them.

use axum::Json;
use axum::extract::{Path, State};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jarvis_store::{Media, RunFilter, RunSummary};
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};

use super::args::wrong;
use super::calls::{Context, refused};
use super::{Client, Jarvis};
use crate::files::bytes_of;
use crate::routes::paging::{cursor, read_cursor};
use crate::routes::runs::show;

/// What the addresses of runs begin with.
const RUNS: &str = "jarvis://runs/";

/// What the addresses of files begin with; their display path follows.
const FILES: &str = "jarvis://files";

/// Runs of one page.
const PAGE: u32 = 50;

impl Jarvis {
    /// The runs of the caller, the latest first.
    pub(super) async fn runs(
        &self,
        request: Option<PaginatedRequestParams>,
        context: &Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = self.caller(context);
        if self.server.parts.journal.is_none() {
            return Ok(ListResourcesResult::with_all_items(Vec::new()));
        }
        let after = request.and_then(|request| request.cursor).map(|text| read_cursor(&text)).transpose();
        let after = after.map_err(|error| wrong(error.fields.message.clone()))?;
        let after = after.map(|(at, id)| (at, jarvis_plan::RunId(id)));
        let filter = RunFilter { user: caller.lists().map(str::to_owned), after, ..RunFilter::default() };
        // One more shows whether there is another page.
        let read = self.server.read_journal(move |journal| journal.select(&filter, PAGE + 1)).await;
        let mut runs = read.map_err(refused)?;
        let is_more = runs.len() > PAGE as usize;
        runs.truncate(PAGE as usize);
        let next = runs.last().filter(|_| is_more).map(|last| cursor(last.started_at_ms, &last.run_id.0));
        let mut result = ListResourcesResult::with_all_items(runs.iter().map(resource).collect());
        result.next_cursor = next;
        Ok(result)
    }

    /// What a resource holds.
    pub(super) async fn read(&self, uri: &str, context: &Context) -> Result<ReadResourceResult, ErrorData> {
        let caller = self.caller(context);
        if let Some(id) = uri.strip_prefix(RUNS) {
            let shown = show(State(self.server.clone()), caller, Path(id.to_owned())).await;
            let Json(run) = shown.map_err(|_| unknown(uri))?;
            let text =
                serde_json::to_string(&run).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            let contents = ResourceContents::text(text, uri).with_mime_type("application/json");
            return Ok(ReadResourceResult::new(vec![contents]));
        }
        let path = uri.strip_prefix(FILES).and_then(|path| Media::display(path).ok()).ok_or_else(|| unknown(uri))?;
        // Files that are still being written begin with a dot.
        if path.rsplit('/').next().is_some_and(|name| name.starts_with('.')) {
            return Err(unknown(uri));
        }
        if self.client == Client::There {
            self.server.check_file(&caller, &path).await.map_err(|_| unknown(uri))?;
        }
        let kind = mime_guess::from_path(&path).first_or_octet_stream();
        let bytes = bytes_of(&self.server, path).await.map_err(|_| unknown(uri))?;
        let contents = ResourceContents::blob(STANDARD.encode(bytes), uri).with_mime_type(kind.essence_str());
        Ok(ReadResourceResult::new(vec![contents]))
    }
}

/// How the addresses of resources are made.
pub(super) fn templates() -> ListResourceTemplatesResult {
    ListResourceTemplatesResult::with_all_items(vec![
        ResourceTemplate::new(format!("{RUNS}{{run_id}}"), "run")
            .with_description("A run with its events, by the `run_id` of a result")
            .with_mime_type("application/json"),
        ResourceTemplate::new(format!("{FILES}{{+path}}"), "file")
            .with_description("A file that a run was given or made, by its path in a result: `/images/….png`"),
    ])
}

fn resource(run: &RunSummary) -> Resource {
    let name = jarvis_net::text::cut(&run.request, 80, "…");
    Resource::new(format!("{RUNS}{}", run.run_id.0), name)
        .with_description(format!("a run that is {}", run.status.as_str()))
        .with_mime_type("application/json")
}

fn unknown(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(format!("there is no resource `{uri}`"), None)
}
