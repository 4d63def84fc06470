//! Fetching web addresses: every hop is checked, pinned, counted, timed and measured.

use std::error::Error;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use jarvis_plan::{ErrorCode, TaskError};
use reqwest::header::{ACCEPT, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use url::Url;

use super::{Inputs, too_large};
use jarvis_net::http::blocking;
use jarvis_net::policy::{PolicyResolver, shown};

/// The most redirects that are followed.
const MAX_REDIRECTS: usize = 5;
/// The longest that connecting to one host may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

impl Inputs {
    /// Fetches a web address under the policy.
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
            self.policy.check(&url)?;
            let request = self.client().await?.get(url.clone()).header(ACCEPT, "*/*");
            let response = request.send().await.map_err(|error| fetch_error(&url, &error))?;
            if !response.status().is_redirection() {
                return read_capped(response, &url, self.limits.max_bytes).await;
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

    async fn client(&self) -> Result<&Client, TaskError> {
        let resolver = PolicyResolver { policy: self.policy.clone(), lookup: self.lookup.clone() };
        let use_proxy = self.policy.use_proxy;
        let timeout = self.limits.fetch_timeout;
        let make = move || {
            // Redirects are followed here, one checked hop at a time. Connections are not kept: a kept one would skip
            // the check of the next fetch's name.
            let builder = Client::builder()
                .user_agent(concat!("jarvis/", env!("CARGO_PKG_VERSION")))
                .redirect(Policy::none())
                .referer(false)
                .pool_max_idle_per_host(0)
                .connect_timeout(CONNECT_TIMEOUT.min(timeout))
                .dns_resolver(resolver);
            let builder = if use_proxy { builder } else { builder.no_proxy() };
            builder.build().map_err(|error| jarvis_net::http::client_error(&error))
        };
        self.client.get_or_try_init(|| blocking(make)).await
    }
}

async fn read_capped(mut response: Response, url: &Url, limit: u64) -> Result<Bytes, TaskError> {
    let what = shown(url);
    let status = response.status();
    if status == StatusCode::NOT_FOUND || status == StatusCode::GONE {
        return Err(TaskError::new(ErrorCode::NotFound, format!("{what} does not exist (status {})", status.as_u16())));
    }
    if !status.is_success() {
        let message = format!("{what} cannot be fetched: its host answered with status {}", status.as_u16());
        return Err(TaskError::new(ErrorCode::Unavailable, message));
    }
    if response.content_length().is_some_and(|length| length > limit) {
        return Err(too_large(&what, limit));
    }
    let mut body = BytesMut::new();
    while let Some(piece) = response.chunk().await.map_err(|error| fetch_error(url, &error))? {
        if (body.len() + piece.len()) as u64 > limit {
            return Err(too_large(&what, limit));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body.freeze())
}

fn timed_out(what: &str, after: Duration) -> TaskError {
    TaskError::new(ErrorCode::Timeout, format!("{what} was not fetched within {:.1} s", after.as_secs_f64()))
}

fn fetch_error(url: &Url, error: &reqwest::Error) -> TaskError {
    // A refusal by the resolver comes wrapped in the client's own errors.
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(inner) = cause {
        if let Some(refusal) = inner.downcast_ref::<TaskError>() {
            return refusal.clone();
        }
        cause = inner.source();
    }
    let what = shown(url);
    if error.is_timeout() {
        return TaskError::new(ErrorCode::Timeout, format!("{what} did not answer in time"));
    }
    TaskError::new(ErrorCode::Unavailable, format!("{what} cannot be fetched: {}", jarvis_net::http::root_cause(error)))
}
