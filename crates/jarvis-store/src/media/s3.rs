//! Where a shared store is, and how it is reached: S3, and what speaks its protocol.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::BodyExt;
use jarvis_net::Secret;
use jarvis_net::http::{self, Route};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use object_store::{BackoffConfig, RetryConfig};
use url::Url;

use super::remote::Remote;
use super::{Media, MediaError, StoreFault};

/// A store of media that several machines may share.
#[derive(Debug, Clone)]
pub struct StoreSettings {
    pub bucket: String,
    /// What all keys begin with; may be empty.
    pub prefix: String,
    /// The server's address; Amazon's for the region when there is none.
    pub endpoint: Option<Url>,
    pub region: String,
    pub keys: StoreKeys,
    /// The bound of the folder that caches it, in bytes.
    pub cache_bytes: u64,
    /// How long one request of at most 8 MiB may take; each is tried three times.
    pub timeout: Duration,
}

/// What requests are signed with.
#[derive(Debug, Clone)]
pub struct StoreKeys {
    pub access: Secret,
    pub secret: Secret,
    pub session: Option<Secret>,
}

impl Media {
    /// Puts a store behind the folder, which is its cache from then on. Files that are there already stay, and stay here alone.
    /// The store is not asked before it is used.
    ///
    /// # Errors
    /// [`MediaError::Store`] when the settings are of no use.
    pub fn with_store(self, settings: &StoreSettings) -> Result<Media, MediaError> {
        let StoreSettings { bucket, prefix, endpoint, .. } = settings;
        let shown = match endpoint {
            Some(endpoint) => format!("s3://{bucket}/{prefix} at {}", jarvis_net::policy::shown(endpoint)),
            None => format!("s3://{bucket}/{prefix}"),
        };
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| MediaError::Store {
            doing: "keep",
            path: "/".to_owned(),
            store: shown.clone(),
            fault: StoreFault::Unreachable,
            source,
        };
        let store = open(settings).map_err(|error| failed(error.into()))?;
        let remote = Remote::new(Arc::new(store), prefix, shown.clone()).map_err(failed)?;
        self.behind(Arc::new(remote), settings.cache_bytes)
    }
}

fn open(settings: &StoreSettings) -> object_store::Result<AmazonS3> {
    let StoreKeys { access, secret, session } = &settings.keys;
    let retry = RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(5),
            base: 2.0,
        },
        max_retries: 2,
        // Three tries that each take their whole time, with the pauses between them.
        retry_timeout: settings.timeout * 3 + Duration::from_secs(10),
    };
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&settings.bucket)
        .with_region(&settings.region)
        .with_access_key_id(access.expose())
        .with_secret_access_key(secret.expose())
        .with_retry(retry)
        .with_http_connector(Connector { endpoint: settings.endpoint.clone(), timeout: settings.timeout });
    if let Some(session) = session {
        builder = builder.with_token(session.expose());
    }
    if let Some(endpoint) = &settings.endpoint {
        builder = builder.with_endpoint(endpoint.as_str().trim_end_matches('/')).with_allow_http(true);
    }
    builder.build()
}

/// The one HTTP client of jarvis, for a store.
#[derive(Debug)]
struct Connector {
    endpoint: Option<Url>,
    timeout: Duration,
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let route = self.endpoint.as_ref().map_or(Route::Environment, |endpoint| Route::to(endpoint, None));
        let client = http::client(http::ClientOptions { route, ..http::ClientOptions::default() })
            .map_err(|error| object_store::Error::Generic { store: "S3", source: error.into() })?;
        Ok(HttpClient::new(Service { client, timeout: self.timeout }))
    }
}

#[derive(Debug)]
struct Service {
    client: reqwest::Client,
    timeout: Duration,
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let request = request.map(reqwest::Body::wrap);
        let mut request = reqwest::Request::try_from(request).map_err(error)?;
        *request.timeout_mut() = Some(self.timeout);
        let response: ::http::Response<reqwest::Body> = self.client.execute(request).await.map_err(error)?.into();
        Ok(response.map(|body| HttpResponseBody::new(body.map_err(error))))
    }
}

/// Sorts a failure by what the store's client makes of it: whether the request is sent again.
fn error(error: reqwest::Error) -> HttpError {
    let kind = if error.is_timeout() {
        HttpErrorKind::Timeout
    } else if error.is_connect() {
        HttpErrorKind::Connect
    } else if error.is_builder() {
        HttpErrorKind::Unknown
    } else {
        // The connection broke, before the response or in it.
        HttpErrorKind::Interrupted
    };
    HttpError::new(kind, error.without_url())
}
