//! Fetching web addresses: every hop is checked, pinned, counted, timed and measured.

use std::time::Duration;

use bytes::Bytes;
use jarvis_net::UrlPolicy;
use jarvis_net::causes::chain;
use jarvis_net::http::{BodyError, ClientOptions, LazyClient, Route, cause, read_capped};
use jarvis_net::policy::{Lookup, PolicyError, PolicyResolver, shown};
use jarvis_plan::{ErrorCode, TaskError};
use reqwest::header::{ACCEPT, LOCATION};
use reqwest::{Response, StatusCode};
use url::Url;

use super::{Inputs, too_large};

const MAX_REDIRECTS: usize = 5;

/// The client of fetches. Redirects are followed one checked hop at a time, and connections are not kept: a kept one would
/// skip the check of the next fetch's name.
pub(super) fn client(policy: UrlPolicy, lookup: Lookup, timeout: Duration) -> LazyClient {
    let defaults = ClientOptions::default();
    LazyClient::new(ClientOptions {
        route: if policy.use_proxy { Route::Environment } else { Route::Direct },
        connect_timeout: defaults.connect_timeout.min(timeout),
        keep_alive: false,
        resolver: Some(PolicyResolver { policy, lookup }),
        ..defaults
    })
}

impl Inputs {
    pub(super) async fn fetch(&self, url: Url) -> Result<Bytes, TaskError> {
        let what = shown(&url);
        let limit = self.limits.fetch_timeout;
        match tokio::time::timeout(limit, self.follow(url)).await {
            Ok(done) => done,
            Err(_) => Err(timed_out(&what, limit)),
        }
    }

    async fn follow(&self, mut url: Url) -> Result<Bytes, TaskError> {
        for _ in 0..=MAX_REDIRECTS {
            self.policy.check(&url).map_err(|error| refused(&error))?;
            let client = self
                .client
                .get()
                .await
                .map_err(|error| TaskError::new(ErrorCode::NotConfigured, error.to_string()).hint(error.hint()))?;
            let request = client.get(url.clone()).header(ACCEPT, "*/*");
            let response = request.send().await.map_err(|error| fetch_error(&url, &error))?;
            if !response.status().is_redirection() {
                return read(response, &url, self.limits.max_bytes).await;
            }
            let next = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
            let Some(next) = next.and_then(|location| url.join(location).ok()) else {
                return Err(TaskError::new(
                    ErrorCode::Unavailable,
                    format!("{} answered {} without saying where to go", shown(&url), response.status().as_u16()),
                ));
            };
            url = next;
        }
        Err(TaskError::new(
            ErrorCode::Unavailable,
            format!("{} is still redirecting after {MAX_REDIRECTS} redirects", shown(&url)),
        ))
    }
}

async fn read(response: Response, url: &Url, limit: u64) -> Result<Bytes, TaskError> {
    let what = shown(url);
    let status = response.status();
    if status == StatusCode::NOT_FOUND || status == StatusCode::GONE {
        return Err(TaskError::new(ErrorCode::NotFound, format!("{what} does not exist (status {})", status.as_u16())));
    }
    if !status.is_success() {
        let message = format!("{what} cannot be fetched: its host answered with status {}", status.as_u16());
        return Err(TaskError::new(ErrorCode::Unavailable, message));
    }
    read_capped(response, limit).await.map_err(|error| match error {
        BodyError::TooLarge(limit) => too_large(&what, limit),
        BodyError::Broken(error) => fetch_error(url, &error),
    })
}

fn timed_out(what: &str, after: Duration) -> TaskError {
    TaskError::new(ErrorCode::Timeout, format!("{what} was not fetched within {:.1} s", after.as_secs_f64()))
}

/// What the policy refuses, or why a host has no address.
fn refused(error: &PolicyError) -> TaskError {
    let code = if error.is_refusal() { ErrorCode::Forbidden } else { ErrorCode::Unavailable };
    let failed = TaskError::new(code, error.to_string());
    match error.hint() {
        Some(hint) => failed.hint(hint),
        None => failed,
    }
}

fn fetch_error(url: &Url, error: &reqwest::Error) -> TaskError {
    // A refusal by the resolver comes wrapped in the client's own errors.
    if let Some(refusal) = chain(error).find_map(|cause| cause.downcast_ref()) {
        return refused(refusal);
    }
    let what = shown(url);
    if error.is_timeout() {
        return TaskError::new(ErrorCode::Timeout, format!("{what} did not answer in time"));
    }
    TaskError::new(ErrorCode::Unavailable, format!("{what} cannot be fetched: {}", cause(error)))
}
