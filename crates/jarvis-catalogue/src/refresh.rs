//! Refreshes a catalogue file from the Hub: the most liked models of each task that a provider serves.
//!
//! The file is replaced in one step, and only when the Hub answered for at least one task. Tasks for which it did not
//! answer keep what the file had.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::stream::{self, StreamExt};
use reqwest::Client;
use reqwest::header::LINK;
use serde::{Deserialize, Serialize};
use url::Url;

use jarvis_net::Secret;
use jarvis_net::http::{ClientError, join};

use crate::http::{CallError, client, get, read, shown};
use crate::{Catalogue, Model, TaskType, read_models, task_types};

/// The most bytes of one page of a listing.
const MAX_PAGE: u64 = 16 << 20;
/// The most pages that are followed for one task.
const MAX_PAGES: usize = 20;
const AT_ONCE: usize = 4;

#[derive(Clone)]
pub struct RefreshConfig {
    /// The Hub's base, such as `https://huggingface.co`.
    pub hub: Url,
    /// The Hub's token; not needed for public models.
    pub token: Option<Secret>,
    /// The provider whose models are wanted; `all` for any, or several with commas between.
    pub provider: String,
    pub per_task: usize,
    /// The longest one page may take.
    pub timeout: Duration,
    pub proxy: Option<Url>,
}

impl RefreshConfig {
    /// Thirty models of each task from `hf-inference`, 30 s a page.
    pub fn new(hub: Url) -> RefreshConfig {
        RefreshConfig {
            hub,
            token: None,
            provider: "hf-inference".to_owned(),
            per_task: 30,
            timeout: Duration::from_secs(30),
            proxy: None,
        }
    }
}

impl fmt::Debug for RefreshConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefreshConfig")
            .field("hub", &shown(Some(&self.hub)))
            .field("token", &self.token)
            .field("provider", &self.provider)
            .field("per_task", &self.per_task)
            .field("proxy", &shown(self.proxy.as_ref()))
            .finish_non_exhaustive()
    }
}

/// How far a refresh has come: reported once per task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefreshProgress {
    pub done: usize,
    pub of: usize,
    pub task: &'static str,
    pub models: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refreshed {
    pub models: usize,
    pub tasks: usize,
    /// Tasks for which the Hub did not answer, and why.
    pub notes: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("the Hub at {hub} answered for no task: {reason}")]
    NoAnswer {
        hub: String,
        /// What went wrong with the first task.
        reason: String,
    },
    #[error("the Hub at {hub} lists no model of provider `{provider}`")]
    NoModels { hub: String, provider: String },
    #[error("cannot write the model catalogue {}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl RefreshError {
    pub fn hint(&self) -> &'static str {
        match self {
            RefreshError::Client(error) => error.hint(),
            RefreshError::NoAnswer { .. } => "check the network, the proxy and the Hub's address",
            RefreshError::NoModels { .. } => "try another provider, or `all`",
            RefreshError::Io { .. } => "check that the folder exists and may be written to",
        }
    }
}

#[derive(Debug, Deserialize)]
struct Listing {
    id: String,
    #[serde(default)]
    likes: Option<i64>,
    #[serde(default)]
    downloads: Option<i64>,
    #[serde(default)]
    pipeline_tag: Option<String>,
    #[serde(default)]
    tags: Option<Vec<String>>,
}

/// A line of the file, in the format of the original.
#[derive(Serialize)]
struct Line<'a> {
    downloads: u64,
    id: &'a str,
    likes: u64,
    pipeline_tag: &'a str,
    task: &'a str,
    meta: Meta<'a>,
    description: &'a str,
}

#[derive(Serialize)]
struct Meta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<&'a [String]>,
}

/// Asks the Hub for the most liked models of every task it has a word for, and writes them to `path`.
///
/// # Errors
/// When the Hub answers for no task, lists nothing, or the file cannot be written.
pub async fn refresh(
    config: &RefreshConfig,
    path: &Path,
    mut progress: impl FnMut(RefreshProgress),
) -> Result<Refreshed, RefreshError> {
    let client = client(&config.hub, config.proxy.as_ref())?;
    let hub = config.hub.host_str().unwrap_or_default().to_owned();
    let wanted: Vec<(&'static TaskType, &'static str)> =
        task_types().iter().filter_map(|task| Some((task, task.hub_pipeline_tag?))).collect();
    let of = wanted.len();
    let mut answers = stream::iter(wanted)
        .map(|(task, tag)| {
            let client = &client;
            async move { (task, list(client, config, tag).await) }
        })
        .buffered(AT_ONCE);
    let mut found: Vec<(&'static TaskType, Result<Vec<Listing>, CallError>)> = Vec::with_capacity(of);
    while let Some((task, answer)) = answers.next().await {
        let models = answer.as_ref().map_or(0, Vec::len);
        progress(RefreshProgress { done: found.len() + 1, of, task: task.name, models });
        found.push((task, answer));
    }
    let failures: Vec<&CallError> = found.iter().filter_map(|(_, answer)| answer.as_ref().err()).collect();
    if let Some(first) = failures.first()
        && failures.len() == of
    {
        return Err(RefreshError::NoAnswer { hub, reason: first.to_string() });
    }
    if found.iter().all(|(_, answer)| answer.as_ref().is_ok_and(Vec::is_empty)) {
        return Err(RefreshError::NoModels { hub, provider: config.provider.clone() });
    }
    let to = path.to_owned();
    let io = |source| RefreshError::Io { path: path.to_owned(), source };
    tokio::task::spawn_blocking(move || write(found, &to))
        .await
        .map_err(|error| io(io::Error::other(error)))?
        .map_err(io)
}

/// The listing of one task, page by page until enough.
async fn list(client: &Client, config: &RefreshConfig, tag: &str) -> Result<Vec<Listing>, CallError> {
    let mut url = join(&config.hub, ["api", "models"]).ok_or(CallError::Connect)?;
    url.query_pairs_mut()
        .append_pair("inference_provider", &config.provider)
        .append_pair("pipeline_tag", tag)
        .append_pair("sort", "likes")
        .append_pair("limit", &config.per_task.to_string());
    let mut models: Vec<Listing> = Vec::new();
    for _ in 0..MAX_PAGES {
        let reply = get(client, url.clone(), config.token.as_ref(), config.timeout).await?;
        let next = reply.headers().get_all(LINK).iter().find_map(|link| next_page(link.to_str().ok()?, &url));
        let page: Vec<Listing> = read(reply, MAX_PAGE, config.timeout).await?;
        models.extend(page);
        match next {
            Some(next) if models.len() < config.per_task => url = next,
            _ => break,
        }
    }
    models.truncate(config.per_task);
    Ok(models)
}

/// The address with `rel="next"` in a `Link` header, when it is on the same server.
fn next_page(link: &str, from: &Url) -> Option<Url> {
    link.split(',').find_map(|part| {
        let (address, rest) = part.trim().strip_prefix('<')?.split_once('>')?;
        let rel = rest.split(';').map(str::trim).any(|word| word == "rel=\"next\"" || word == "rel=next");
        let next = from.join(address).ok()?;
        (rel && next.origin() == from.origin()).then_some(next)
    })
}

/// Writes the file. The Hub's listing has no descriptions: those of the old file and the built-in list are kept.
fn write(found: Vec<(&'static TaskType, Result<Vec<Listing>, CallError>)>, path: &Path) -> io::Result<Refreshed> {
    let mut refreshed = Refreshed::default();
    let old = match read_models(path) {
        Ok(loaded) => loaded.models,
        Err(error) => {
            // The first refresh finds no file, which is nothing to report.
            if path.exists() {
                refreshed.notes.push(format!("nothing of the old file is kept: {error}"));
            }
            Vec::new()
        }
    };
    let builtin = Catalogue::builtin();
    let mut described: HashMap<&str, &str> = HashMap::new();
    for model in old.iter().chain(builtin.all().map(AsRef::as_ref)).filter(|model| !model.description.is_empty()) {
        described.entry(&model.id).or_insert(&model.description);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    {
        let mut out = io::BufWriter::new(file.as_file_mut());
        for (task, answer) in found {
            let models: Vec<Model> = match answer {
                Ok(listings) => listings.into_iter().map(|listing| model(listing, task, &described)).collect(),
                Err(reason) => {
                    refreshed.notes.push(format!("{}: {reason}", task.name));
                    old.iter().filter(|model| model.task == task.name).cloned().collect()
                }
            };
            refreshed.models += models.len();
            refreshed.tasks += usize::from(!models.is_empty());
            for model in &models {
                let line = Line {
                    downloads: model.downloads,
                    id: &model.id,
                    likes: model.likes,
                    pipeline_tag: model.pipeline_tag.as_deref().unwrap_or(task.name),
                    task: task.name,
                    meta: Meta { tags: model.tags.as_deref() },
                    description: &model.description,
                };
                serde_json::to_writer(&mut out, &line)?;
                out.write_all(b"\n")?;
            }
        }
        out.flush()?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(refreshed)
}

fn model(listing: Listing, task: &TaskType, described: &HashMap<&str, &str>) -> Model {
    let count = |number: Option<i64>| number.and_then(|number| u64::try_from(number).ok()).unwrap_or(0);
    let description = described.get(listing.id.as_str()).copied().unwrap_or_default();
    Model {
        likes: count(listing.likes),
        downloads: count(listing.downloads),
        tags: listing.tags,
        pipeline_tag: listing.pipeline_tag,
        ..Model::new(&listing.id, task.name, crate::Host::Huggingface, description)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_pages_are_followed_on_the_same_server_only() {
        let from = Url::parse("https://hub.test/api/models?limit=5").unwrap();
        let check = |link: &str, next: Option<&str>| {
            assert_eq!(next_page(link, &from).as_ref().map(Url::as_str), next, "{link}");
        };
        check("<https://hub.test/api/models?cursor=x>; rel=\"next\"", Some("https://hub.test/api/models?cursor=x"));
        check("</a>; rel=\"prev\", </b>; rel=\"next\"", Some("https://hub.test/b"));
        check("<https://evil.test/api>; rel=\"next\"", None);
        check("<http://hub.test/api>; rel=\"next\"", None);
        check("nonsense", None);
        check("", None);
    }
}
