//! The admin API of Restate: registration, services, invocations.

use std::collections::BTreeSet;
use std::time::Duration;

use jarvis_net::causes::in_one;
use jarvis_net::http::{ClientOptions, LazyClient, Route};
use reqwest::{Method, RequestBuilder, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;
use url::Url;

use crate::error::Error;
use crate::names::service_of;

/// How long the admin API may take to answer.
const WITHIN: Duration = Duration::from_secs(30);

/// A Restate API at one address: admin or ingress.
#[derive(Clone)]
pub(crate) struct Api {
    base: Url,
    client: Arc<LazyClient>,
}

impl Api {
    pub(crate) fn new(base: Url) -> Api {
        let route = Route::to(&base, None);
        Api { base, client: Arc::new(LazyClient::new(ClientOptions { route, ..ClientOptions::default() })) }
    }

    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// A path of the API, its segments escaped.
    pub(crate) fn url(&self, segments: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    pub(crate) async fn request(&self, method: Method, url: &Url) -> Result<RequestBuilder, Error> {
        Ok(self.client.get().await?.request(method, url.clone()))
    }

    /// Sends a request and gives back the response, whatever its status.
    pub(crate) async fn send(&self, url: &Url, request: RequestBuilder) -> Result<Response, Error> {
        let unreachable = |error: reqwest::Error| Error::Unreachable { url: url.to_string(), reason: in_one(&error) };
        request.send().await.map_err(unreachable)
    }

    /// The body of a response that says that it went well.
    pub(crate) async fn read<T: DeserializeOwned>(&self, url: &Url, response: Response) -> Result<T, Error> {
        let response = self.checked(url, response).await?;
        let bytes = response.bytes().await;
        let bytes = bytes.map_err(|error| Error::Unreachable { url: url.to_string(), reason: in_one(&error) })?;
        let bytes = if bytes.is_empty() { bytes::Bytes::from_static(b"null") } else { bytes };
        serde_json::from_slice(&bytes)
            .map_err(|error| Error::BadReply { url: url.to_string(), reason: error.to_string() })
    }

    /// The response, if it says that it went well.
    pub(crate) async fn checked(&self, url: &Url, response: Response) -> Result<Response, Error> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let text = response.text().await.unwrap_or_default();
        let said = serde_json::from_str::<Value>(&text).ok();
        let said = said.as_ref().and_then(|said| said.get("message")?.as_str()).unwrap_or(text.trim());
        Err(Error::Refused { url: url.to_string(), status: status.as_u16(), message: said.chars().take(500).collect() })
    }
}

/// The admin API.
#[derive(Clone)]
pub struct Admin {
    api: Api,
}

impl std::fmt::Debug for Admin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Admin").field(&self.api.base().as_str()).finish()
    }
}

/// A service that is registered.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Registered {
    /// Its name.
    pub name: String,
    /// The deployment that gets its new calls.
    #[serde(default)]
    pub deployment_id: String,
}

/// A deployment: an address, and what it served when it was registered.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Deployment {
    /// Its id.
    pub id: String,
    /// Its address.
    #[serde(default)]
    pub uri: Option<String>,
    /// Its services.
    #[serde(default)]
    pub services: Vec<Registered>,
}

impl Admin {
    /// The admin API at an address.
    pub fn new(base: Url) -> Admin {
        Admin { api: Api::new(base) }
    }

    /// Its address.
    pub fn base(&self) -> &Url {
        self.api.base()
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        segments: &[&str],
        body: Option<Value>,
    ) -> Result<T, Error> {
        let url = self.api.url(segments);
        let mut request = self.api.request(method, &url).await?.timeout(WITHIN);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = self.api.send(&url, request).await?;
        self.api.read(&url, response).await
    }

    /// Whether it answers.
    ///
    /// # Errors
    /// When it does not.
    pub async fn health(&self) -> Result<(), Error> {
        self.call::<Value>(Method::GET, &["health"], None).await.map(drop)
    }

    /// The services that are registered.
    ///
    /// # Errors
    /// When the admin API does not answer.
    pub async fn services(&self) -> Result<Vec<Registered>, Error> {
        #[derive(Deserialize)]
        struct Services {
            services: Vec<Registered>,
        }
        Ok(self.call::<Services>(Method::GET, &["services"], None).await?.services)
    }

    /// The deployments that are registered.
    ///
    /// # Errors
    /// When the admin API does not answer.
    pub async fn deployments(&self) -> Result<Vec<Deployment>, Error> {
        #[derive(Deserialize)]
        struct Deployments {
            deployments: Vec<Deployment>,
        }
        Ok(self.call::<Deployments>(Method::GET, &["deployments"], None).await?.deployments)
    }

    /// Registers an endpoint. What was registered at its address before is replaced: without that, Restate would not look again
    /// at what it serves.
    ///
    /// # Errors
    /// When Restate does not answer, does not reach the endpoint, or is refused by it.
    pub async fn register(&self, endpoint: &Url) -> Result<(), Error> {
        let body = json!({"uri": endpoint.as_str(), "force": true});
        self.call::<Value>(Method::POST, &["deployments"], Some(body)).await.map(drop)
    }

    /// The same again and again, until it succeeds.
    pub(crate) async fn register_until_answered(&self, endpoint: &Url) {
        let mut wait = Duration::from_millis(100);
        loop {
            match self.register(endpoint).await {
                Ok(()) => return tracing::info!(%endpoint, admin = %self.base(), "registered at Restate"),
                Err(error) => tracing::warn!(%error, %endpoint, "not registered at Restate yet"),
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(5));
        }
    }

    /// Forgets a deployment. Calls of what only it served then wait for another.
    ///
    /// # Errors
    /// When the admin API does not answer, or knows no such deployment.
    pub async fn forget(&self, deployment: &str) -> Result<(), Error> {
        let mut url = self.api.url(&["deployments", deployment]);
        url.set_query(Some("force=true"));
        let request = self.api.request(Method::DELETE, &url).await?.timeout(WITHIN);
        let response = self.api.send(&url, request).await?;
        self.api.checked(&url, response).await.map(drop)
    }

    /// Those of these capabilities that no worker serves.
    ///
    /// # Errors
    /// When the admin API does not answer.
    pub async fn not_served(&self, capabilities: &BTreeSet<String>) -> Result<BTreeSet<String>, Error> {
        let services: BTreeSet<String> = self.services().await?.into_iter().map(|service| service.name).collect();
        Ok(capabilities.iter().filter(|name| !services.contains(&service_of(name))).cloned().collect())
    }

    /// Asks an invocation to end (`cancel`) or ends it at once (`kill`).
    pub(crate) async fn end(&self, invocation: &str, how: &str) -> Result<(), Error> {
        self.call::<Value>(Method::PATCH, &["invocations", invocation, how], None).await.map(drop)
    }

    /// Rows of an SQL query, one object each.
    ///
    /// # Errors
    /// When the admin API does not answer, or does not take the query.
    pub async fn query(&self, sql: &str) -> Result<Vec<Value>, Error> {
        #[derive(Deserialize)]
        struct Rows {
            rows: Vec<Value>,
        }
        let url = self.api.url(&["query"]);
        let request = self.api.request(Method::POST, &url).await?.timeout(WITHIN);
        let request = request.header("accept", "application/json").json(&json!({"query": sql}));
        let response = self.api.send(&url, request).await?;
        Ok(self.api.read::<Rows>(&url, response).await?.rows)
    }
}
