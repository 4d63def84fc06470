//! The Hub's interface: what a revision is, which files it has, and their content.
//!
//! Redirects are followed here and not by the client: the token stays with the Hub when a file lies at another host, and what a
//! redirect announces is compared with what is expected before a byte is downloaded.

mod reply;

use std::time::{Duration, SystemTime};

use futures::future::BoxFuture;
use jarvis_net::http::{ClientOptions, LazyClient, Redirects, Route, cause, is_loopback, join, read_capped};
use jarvis_net::policy::shown;
use jarvis_net::retry::{Retries, retry_after};
use jarvis_net::text::shorten;
use jarvis_net::{Secret, UrlPolicy};
use reqwest::header::{self, HeaderMap};
use reqwest::{Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use crate::ModelError;
use crate::ids::{BlobId, Commit, FilePath, RepoId, Revision};
use reply::{RevisionReply, TreeEntry, error_text, license, next_page, text};

/// Largest reply of the interface, in bytes: a page of a listing has some hundred kilobytes.
const MAX_REPLY: u64 = 32 << 20;
/// Largest text of an error that is read, in bytes.
const MAX_ERROR: u64 = 64 << 10;
/// Files of a repository that are looked at. A runnable model has some dozens.
pub(crate) const MAX_FILES: usize = 50_000;
/// Pages of a listing, so that empty ones cannot go on for ever.
const MAX_PAGES: usize = 200;
const MAX_REDIRECTS: usize = 5;
/// Retries of a question when the Hub is unreachable. Downloads have all of theirs.
const MAX_UNREACHABLE: usize = 2;
/// The longest pause that a server may ask for; beyond it the pull ends, and can be repeated later.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

#[derive(Debug, Clone)]
pub struct HubOptions {
    pub endpoint: Url,
    pub token: Option<Secret>,
    /// A proxy in place of the environment's.
    pub proxy: Option<Secret>,
    /// How long nothing may come.
    pub timeout: Duration,
    /// Retries of a request, and of a download that makes no progress.
    pub retries: Retries,
    /// Whether no connection may be made: every request fails.
    pub is_offline: bool,
}

impl HubOptions {
    /// Six attempts with pauses from one second on.
    pub fn new(environment: &crate::Environment) -> HubOptions {
        HubOptions {
            endpoint: environment.endpoint.clone(),
            token: environment.token.clone(),
            proxy: None,
            timeout: environment.timeout,
            retries: Retries { max: 5, first_pause: Duration::from_secs(1), longest_pause: Duration::from_secs(30) },
            is_offline: environment.is_offline,
        }
    }
}

/// A client of one Hub. Builds nothing and connects to nothing before it is first asked.
#[derive(Debug)]
pub struct Hub {
    options: HubOptions,
    client: LazyClient,
    policy: UrlPolicy,
}

/// What the Hub says of a revision.
#[derive(Debug, Clone, PartialEq)]
pub struct RevisionInfo {
    /// The repository's present name: renamed ones answer under both.
    pub repo: RepoId,
    pub commit: Commit,
    /// The licence's name, with its link where it is not a well-known one.
    pub license: Option<String>,
    pub is_gated: bool,
    /// The task type that the repository names.
    pub pipeline_tag: Option<String>,
    pub tags: Vec<String>,
}

/// A file as the Hub lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteFile {
    pub path: FilePath,
    /// Bytes of the content, not of the pointer that stands for a large file in git.
    pub size: u64,
    pub blob: BlobId,
}

/// A failed request: whether another attempt may help, and after which pause at the earliest.
#[derive(Debug)]
pub(crate) enum Failure {
    Final(ModelError),
    Transient { error: ModelError, pause: Option<Duration> },
}

impl Failure {
    pub(crate) fn transient(error: ModelError) -> Failure {
        Failure::Transient { error, pause: None }
    }

    pub(crate) fn into_error(self) -> ModelError {
        match self {
            Failure::Final(error) | Failure::Transient { error, .. } => error,
        }
    }

    pub(crate) fn error(&self) -> &ModelError {
        match self {
            Failure::Final(error) | Failure::Transient { error, .. } => error,
        }
    }

    /// The pause before the next attempt; `None` when there should be none.
    pub(crate) fn pause(&self, scheduled: Duration) -> Option<Duration> {
        match self {
            Failure::Final(_) => None,
            Failure::Transient { pause, .. } => Some(pause.unwrap_or(scheduled)),
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Failure {
        Failure::Final(error)
    }
}

/// What is asked for, for messages.
#[derive(Clone, Copy)]
struct Subject<'a> {
    repo: &'a RepoId,
    revision: &'a str,
    /// The file, where it is one.
    file: Option<&'a RemoteFile>,
}

impl Subject<'_> {
    fn what(&self) -> String {
        match self.file {
            Some(file) => format!("downloading {} of `{}`", file.path, self.repo),
            None => format!("asking about `{}`", self.repo),
        }
    }
}

impl Hub {
    pub fn new(options: HubOptions) -> Hub {
        let route = Route::to(&options.endpoint, options.proxy.as_ref());
        let client = LazyClient::new(ClientOptions { route, redirects: Redirects::Never, ..ClientOptions::default() });
        // A mirror in this network may redirect within it; the Hub of the internet may not redirect into it.
        let policy = UrlPolicy { allow_private: options.endpoint.scheme() == "http", ..UrlPolicy::default() };
        Hub { options, client, policy }
    }

    pub fn is_offline(&self) -> bool {
        self.options.is_offline
    }

    pub(crate) fn retries(&self) -> Retries {
        self.options.retries
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.options.timeout
    }

    /// Its address as messages show it, without a slash at the end.
    pub fn address(&self) -> String {
        shown(&self.options.endpoint).trim_end_matches('/').to_owned()
    }

    /// Resolves a branch, tag or commit.
    ///
    /// # Errors
    /// When there is no such repository or revision, it may not be read, or the Hub cannot be asked.
    pub async fn revision(&self, repo: &RepoId, revision: &Revision) -> Result<RevisionInfo, ModelError> {
        let subject = Subject { repo, revision: revision.as_str(), file: None };
        let url = self.url(&["api", "models"], repo, &["revision", revision.as_str()])?;
        let (reply, _) = self.json::<RevisionReply>(url, subject).await?;
        let bad = |reason: String| self.bad_reply(subject, reason);
        let commit = Commit::new(&reply.sha).map_err(|error| bad(error.to_string()))?;
        if let Some(asked) = revision.commit().filter(|asked| *asked != commit) {
            return Err(bad(format!("it answered with commit {commit} when asked for {asked}")));
        }
        let id = reply.id.unwrap_or_else(|| repo.to_string());
        Ok(RevisionInfo {
            repo: RepoId::new(&id).map_err(|error| bad(error.to_string()))?,
            commit,
            license: license(&reply.card, &reply.tags),
            is_gated: !matches!(reply.gated, Value::Null | Value::Bool(false)),
            pipeline_tag: reply.pipeline_tag.map(|tag| shorten(&tag, 60)),
            tags: reply.tags,
        })
    }

    /// The files of a commit.
    ///
    /// # Errors
    /// As [`Hub::revision`], and when a name is not safe or the list does not end.
    pub async fn files(&self, repo: &RepoId, commit: &Commit) -> Result<Vec<RemoteFile>, ModelError> {
        let subject = Subject { repo, revision: commit.as_str(), file: None };
        let mut url = self.url(&["api", "models"], repo, &["tree", commit.as_str()])?;
        url.query_pairs_mut().append_pair("recursive", "true").append_pair("expand", "false");
        let mut files = Vec::new();
        let mut seen = 0;
        for _ in 0..MAX_PAGES {
            let (entries, headers) = self.json::<Vec<TreeEntry>>(url.clone(), subject).await?;
            seen += entries.len();
            if seen > MAX_FILES {
                break;
            }
            for entry in entries.into_iter().filter(|entry| entry.kind == "file") {
                files.push(self.remote_file(entry, subject)?);
            }
            let Some(next) = next_page(&headers, &url) else { return Ok(files) };
            if next.origin() != url.origin() {
                return Err(self.bad_reply(subject, format!("its next page is at {}", shown(&next))));
            }
            url = next;
        }
        Err(ModelError::TooManyFiles { repo: repo.to_string(), max: MAX_FILES })
    }

    fn remote_file(&self, entry: TreeEntry, subject: Subject<'_>) -> Result<RemoteFile, ModelError> {
        let bad = |error: crate::ids::InvalidName| self.bad_reply(subject, error.to_string());
        let path = FilePath::new(&entry.path).map_err(bad)?;
        let (id, size) = match entry.lfs {
            Some(lfs) => (lfs.oid, lfs.size),
            None => (entry.oid, entry.size),
        };
        let blob = BlobId::new(id.trim_start_matches("sha256:")).map_err(bad)?;
        Ok(RemoteFile { path, size, blob })
    }

    /// Asks for the content of a file from a byte on. The reply is a 200, a 206 or a 416.
    pub(crate) async fn content(
        &self,
        repo: &RepoId,
        commit: &Commit,
        file: &RemoteFile,
        from: u64,
    ) -> Result<Response, Failure> {
        let subject = Subject { repo, revision: commit.as_str(), file: Some(file) };
        let mut url = self.url(&[], repo, &["resolve", commit.as_str()])?;
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.extend(file.path.as_str().split('/'));
        }
        self.get(url, subject, from).await
    }

    /// One reply of the interface, asked for as often as makes sense.
    async fn json<T: DeserializeOwned>(&self, url: Url, subject: Subject<'_>) -> Result<(T, HeaderMap), ModelError> {
        let attempt = || {
            let url = url.clone();
            async move {
                let response = self.get(url, subject, 0).await?;
                let headers = response.headers().clone();
                let read = tokio::time::timeout(self.options.timeout, read_capped(response, MAX_REPLY));
                let body = match read.await {
                    Ok(Ok(body)) => body,
                    Ok(Err(error)) => return Err(Failure::transient(self.bad_reply(subject, error.to_string()))),
                    Err(_) => return Err(Failure::transient(self.stalled(subject))),
                };
                let value = serde_json::from_slice(&body)
                    .map_err(|error| Failure::Final(self.bad_reply(subject, shorten(&error.to_string(), 200))))?;
                Ok((value, headers))
            }
        };
        let mut unreachable = 0;
        let pause = |failure: &Failure, scheduled| {
            // Somebody waits for the answer, and an address without a server will hardly get one meanwhile.
            unreachable += usize::from(matches!(failure.error(), ModelError::Unreachable { .. }));
            failure.pause(scheduled).filter(|_| unreachable <= MAX_UNREACHABLE)
        };
        self.options.retries.run(attempt, pause).await.map_err(Failure::into_error)
    }

    /// Sends one request and follows its redirects. What comes back is a success, or a 416 of a file.
    fn get<'a>(&'a self, first: Url, subject: Subject<'a>, from: u64) -> BoxFuture<'a, Result<Response, Failure>> {
        Box::pin(async move {
            if self.options.is_offline {
                return Err(Failure::Final(ModelError::Offline { what: subject.what() }));
            }
            let client = self.client.get().await.map_err(ModelError::from)?;
            let mut url = first;
            for _ in 0..=MAX_REDIRECTS {
                let at_hub = url.origin() == self.options.endpoint.origin();
                let mut request = client.get(url.clone()).header(header::ACCEPT_ENCODING, "identity");
                if let Some(token) = self.token_for(&url) {
                    request = request.bearer_auth(token.expose());
                }
                if from > 0 {
                    request = request.header(header::RANGE, format!("bytes={from}-"));
                    // Entity tags of other hosts are their own; the Hub's are the ids of the blobs.
                    if let (true, Some(file)) = (at_hub, subject.file) {
                        request = request.header(header::IF_RANGE, format!("\"{}\"", file.blob));
                    }
                }
                let response = match tokio::time::timeout(self.options.timeout, request.send()).await {
                    Ok(Ok(response)) => response,
                    Ok(Err(error)) => {
                        let host = url.host_str().unwrap_or_default().to_owned();
                        let reason = cause(&error);
                        let error = ModelError::Unreachable { what: subject.what(), host, reason };
                        return Err(Failure::transient(error));
                    }
                    Err(_) => return Err(Failure::transient(self.stalled(subject))),
                };
                if let Some(file) = subject.file.filter(|_| at_hub) {
                    check_announced(response.headers(), file)?;
                }
                if response.status().is_redirection() {
                    url = self.redirected(&url, response.headers(), subject)?;
                    continue;
                }
                let status = response.status();
                if status.is_success() || (status == StatusCode::RANGE_NOT_SATISFIABLE && subject.file.is_some()) {
                    return Ok(response);
                }
                return Err(self.refused(response, subject, at_hub).await);
            }
            Err(Failure::Final(ModelError::BadRedirect {
                what: subject.what(),
                to: shown(&url),
                reason: "there were too many".to_owned(),
            }))
        })
    }

    /// The token goes to the Hub alone, and over the network only when it is encrypted.
    fn token_for(&self, url: &Url) -> Option<&Secret> {
        let private = url.scheme() == "https" || is_loopback(url);
        self.options.token.as_ref().filter(|_| private && url.origin() == self.options.endpoint.origin())
    }

    fn redirected(&self, from: &Url, headers: &HeaderMap, subject: Subject<'_>) -> Result<Url, Failure> {
        let refused = |to: String, reason: &str| {
            let reason = reason.to_owned();
            Failure::Final(ModelError::BadRedirect { what: subject.what(), to, reason })
        };
        let to = text(headers, "location").unwrap_or_default();
        let url = from.join(to).map_err(|_| refused(shorten(to, 100), "it is not an address"))?;
        if from.scheme() == "https" && url.scheme() != "https" {
            return Err(refused(shown(&url), "it is not encrypted"));
        }
        self.policy.check(&url).map_err(|error| refused(shown(&url), &error.to_string()))?;
        Ok(url)
    }

    /// Why the Hub, or where it redirected to, did not give what it was asked for.
    async fn refused(&self, response: Response, subject: Subject<'_>, at_hub: bool) -> Failure {
        let status = response.status();
        let headers = response.headers().clone();
        let code = text(&headers, "x-error-code").unwrap_or_default().to_owned();
        let (repo, hub, has_token) = (subject.repo.to_string(), self.address(), self.options.token.is_some());
        let gone = |file: &RemoteFile| ModelError::FileGone { repo: repo.clone(), file: file.path.to_string() };
        let what = subject.what();
        let error = match (status.as_u16(), code.as_str()) {
            // A signed address that is no longer valid: the Hub gives a new one.
            (401 | 403, _) if !at_hub => {
                let hub = "the file's host".to_owned();
                return Failure::transient(ModelError::Status { what, hub, status: status.as_u16() });
            }
            (401 | 403, "GatedRepo") => ModelError::Gated { repo, hub, has_token },
            // The Hub does not tell strangers which private repositories there are.
            (401 | 404, "RepoNotFound") | (401, "") if !has_token => ModelError::NoRepository { repo, hub, has_token },
            (404, "RepoNotFound") => ModelError::NoRepository { repo, hub, has_token },
            (404, "RevisionNotFound") => ModelError::NoRevision { repo, revision: subject.revision.to_owned() },
            (404 | 410, _) => match subject.file {
                Some(file) => gone(file),
                None => ModelError::NoRepository { repo, hub, has_token },
            },
            (401, _) => ModelError::Unauthorized { hub, has_token },
            (403, _) => {
                let reason = text(&headers, "x-error-message").unwrap_or_default().to_owned();
                let body = read_capped(response, MAX_ERROR).await.unwrap_or_default();
                let reason = if reason.is_empty() { error_text(&body) } else { reason };
                ModelError::Forbidden { repo, hub, reason: shorten(&reason, 200) }
            }
            (status @ (408 | 429 | 500..=599), _) => {
                let pause = retry_after(&headers, SystemTime::now());
                if let Some(long) = pause.filter(|pause| *pause > LONGEST_WAIT) {
                    return Failure::Final(ModelError::RateLimited { what, hub, seconds: long.as_secs() });
                }
                return Failure::Transient { error: ModelError::Status { what, hub, status }, pause };
            }
            (status, _) => ModelError::Status { what, hub, status },
        };
        Failure::Final(error)
    }

    fn url(&self, before: &[&str], repo: &RepoId, after: &[&str]) -> Result<Url, ModelError> {
        let segments = before.iter().copied().chain(repo.as_str().split('/')).chain(after.iter().copied());
        join(&self.options.endpoint, segments).ok_or_else(|| ModelError::BadReply {
            what: repo.to_string(),
            hub: self.address(),
            reason: "its address cannot have a path".to_owned(),
        })
    }

    fn bad_reply(&self, subject: Subject<'_>, reason: String) -> ModelError {
        ModelError::BadReply { what: format!("`{}`", subject.repo), hub: self.address(), reason }
    }

    fn stalled(&self, subject: Subject<'_>) -> ModelError {
        ModelError::Stalled { what: subject.what(), seconds: self.options.timeout.as_secs() }
    }
}

/// Compares what the Hub announces with what it listed, so that a mix-up is told before the download and not after.
fn check_announced(headers: &HeaderMap, file: &RemoteFile) -> Result<(), Failure> {
    let size = text(headers, "x-linked-size").and_then(|size| size.parse::<u64>().ok());
    if let Some(found) = size.filter(|size| *size != file.size) {
        let error = ModelError::WrongSize { file: file.path.to_string(), found, expected: file.size };
        return Err(Failure::Final(error));
    }
    // Only the linked tag is that of the content: the tag of a redirect itself, or of an error, is not.
    let tag = text(headers, "x-linked-etag").and_then(BlobId::of_etag);
    match tag.filter(|tag| *tag != file.blob) {
        // A pointer has the id of git and the hash of its content; only two of one kind can differ.
        Some(found) if found.as_str().len() == file.blob.as_str().len() => {
            let (found, expected) = (found.to_string(), file.blob.to_string());
            Err(Failure::Final(ModelError::WrongHash { file: file.path.to_string(), found, expected }))
        }
        _ => Ok(()),
    }
}
