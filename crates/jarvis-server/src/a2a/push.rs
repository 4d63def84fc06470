//! Webhooks: addresses that are told of a task as it changes, in the words that a stream tells. They are kept with the run in the
//! journal and go on with it; where they may lead, the address policy says.

use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};
use futures::StreamExt;
use jarvis_net::UrlPolicy;
use jarvis_net::http::{ClientOptions, LazyClient, Route, cause};
use jarvis_net::policy::{PolicyResolver, system_lookup};
use jarvis_net::retry::Retries;
use jarvis_plan::RunId;
use jarvis_proto::a2a::stream_response::Payload;
use jarvis_proto::a2a::{
    DeleteTaskPushNotificationConfigRequest, GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse, TaskPushNotificationConfig,
};
use jarvis_proto::any::Empty;
use serde::{Deserialize, Serialize};
use url::Url;

use super::fault::{Fault, Wrong};
use super::tasks::{Client, Followed, followed_live};
use super::telling::{Telling, response};
use crate::guard::is_this_machine;
use crate::runs::{Live, Place};
use crate::state::Server;

/// How long a webhook may take to answer.
const PATIENCE: Duration = Duration::from_secs(15);

/// After how many messages in a row that were not taken a webhook is told nothing more.
const GIVES_UP: u32 = 5;

/// The most webhooks of a task.
const MOST: usize = 16;

/// The header that carries the `token` of a webhook.
const TOKEN: &str = "x-a2a-notification-token";

/// The client of webhooks. It follows no redirects, and connects only where the policy lets it.
pub(crate) fn client(policy: &UrlPolicy) -> LazyClient {
    LazyClient::new(ClientOptions {
        route: if policy.use_proxy { Route::Environment } else { Route::Direct },
        keep_alive: false,
        resolver: Some(PolicyResolver { policy: policy.clone(), lookup: system_lookup() }),
        ..ClientOptions::default()
    })
}

/// A webhook as it is kept: what the client set, and where files are reached that it is told of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Webhook {
    config: TaskPushNotificationConfig,
    base: String,
}

/// From where on a webhook is told of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    Start,
    Now,
    /// Where it was left is not known: it is told the task as it is, and then what comes.
    Again,
}

impl Client {
    /// A webhook that may be kept.
    pub(super) fn checked_webhook(&self, config: TaskPushNotificationConfig) -> Result<Webhook, Fault> {
        self.must_keep()?;
        let refused = |message: String| Fault::field("url", message);
        let url =
            Url::parse(&config.url).map_err(|error| refused(format!("the webhook's address is none: {error}")))?;
        let policy = &self.server.options.urls;
        policy.check(&url).map_err(|error| refused(error.to_string()))?;
        let host = url.host_str().unwrap_or_default();
        if is_this_machine(host) && !policy.allow_private && !policy.lists(host) {
            return Err(refused(format!("`{host}` is this machine; such hosts are told nothing"))
                .hint("whoever runs the server can allow it with `urls.allow_hosts` in its configuration"));
        }
        if authorization(&config).is_none() {
            return Err(Fault::field("authentication", "the scheme or the credentials cannot stand in a header"));
        }
        let id = if config.id.is_empty() { uuid::Uuid::now_v7().to_string() } else { config.id.clone() };
        Ok(Webhook { config: TaskPushNotificationConfig { id, ..config }, base: self.base.clone() })
    }

    fn must_keep(&self) -> Result<(), Fault> {
        match self.server.parts.journal {
            Some(_) => Ok(()),
            None => Err(Fault::new(Wrong::NoWebhooks, "this server keeps no journal, and so no webhooks")),
        }
    }

    /// Keeps a webhook of a task that is the caller's, and tells it from then on.
    pub(super) async fn set_webhook(&self, run: &str, mut webhook: Webhook, from: From) -> Result<(), Fault> {
        self.must_keep()?;
        run.clone_into(&mut webhook.config.task_id);
        let (id, run) = (webhook.config.id.clone(), RunId(run.to_owned()));
        let others = self.webhooks(&run.0).await?;
        if others.iter().filter(|other| other.config.id != id).count() >= MOST {
            return Err(Fault::field("id", format!("a task may have {MOST} webhooks")));
        }
        let is_known = others.contains(&webhook);
        let body = serde_json::to_string(&webhook).unwrap_or_default();
        let Some(journal) = &self.server.parts.journal else { return Ok(()) };
        journal.set_webhook(&run, &id, body).await.map_err(crate::error::ApiError::from)?;
        if let Some(live) = self.server.runs.get(&run.0).filter(|_| !is_known) {
            tell(&self.server, &live, webhook, from);
        }
        Ok(())
    }

    async fn webhooks(&self, run: &str) -> Result<Vec<Webhook>, Fault> {
        let run = run.to_owned();
        let kept = self.server.read_journal(move |journal| journal.webhooks(&run)).await?;
        Ok(kept.iter().filter_map(|body| serde_json::from_str(body).ok()).collect())
    }

    pub(super) async fn create_webhook(
        &self,
        config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, Fault> {
        self.must_keep()?;
        let id = config.task_id.clone();
        self.follow(&id).await?;
        let webhook = self.checked_webhook(config)?;
        let set = TaskPushNotificationConfig { task_id: id.clone(), ..webhook.config.clone() };
        self.set_webhook(&id, webhook, From::Now).await?;
        Ok(set)
    }

    pub(super) async fn webhook(
        &self,
        request: GetTaskPushNotificationConfigRequest,
    ) -> Result<TaskPushNotificationConfig, Fault> {
        self.must_keep()?;
        let GetTaskPushNotificationConfigRequest { task_id, id, .. } = request;
        self.follow(&task_id).await?;
        let (run, name) = (task_id.clone(), id.clone());
        let kept = self.server.read_journal(move |journal| journal.webhook(&run, &name)).await?;
        let kept: Option<Webhook> = kept.and_then(|body| serde_json::from_str(&body).ok());
        let missing = || Fault::new(Wrong::TaskNotFound, "the task has no such webhook").about("taskId", task_id);
        kept.map(|webhook| webhook.config).ok_or_else(missing)
    }

    pub(super) async fn list_webhooks(
        &self,
        request: ListTaskPushNotificationConfigsRequest,
    ) -> Result<ListTaskPushNotificationConfigsResponse, Fault> {
        self.must_keep()?;
        self.follow(&request.task_id).await?;
        let configs = self.webhooks(&request.task_id).await?.into_iter().map(|webhook| webhook.config).collect();
        Ok(ListTaskPushNotificationConfigsResponse { configs, next_page_token: String::new() })
    }

    pub(super) async fn delete_webhook(
        &self,
        request: DeleteTaskPushNotificationConfigRequest,
    ) -> Result<Empty, Fault> {
        self.must_keep()?;
        self.follow(&request.task_id).await?;
        let run = RunId(request.task_id);
        if let Some(journal) = &self.server.parts.journal {
            journal.remove_webhook(&run, &request.id).await.map_err(crate::error::ApiError::from)?;
        }
        Ok(Empty {})
    }
}

/// Tells the webhooks of a run that goes on in this process and began in another.
pub(crate) async fn again(server: &Server, live: &Arc<Live>) {
    let run = live.run_id.0.clone();
    let kept = server.read_journal(move |journal| journal.webhooks(&run)).await.unwrap_or_default();
    for webhook in kept.iter().filter_map(|body| serde_json::from_str::<Webhook>(body).ok()) {
        tell(server, live, webhook, From::Again);
    }
}

/// Tells a webhook of a run until it ends, or the webhook is removed or takes nothing.
fn tell(server: &Server, live: &Arc<Live>, webhook: Webhook, from: From) {
    let followed = match from {
        From::Start => Followed {
            telling: Telling::new(&live.run_id.0, live.thread.get().map(String::as_str), &webhook.base),
            rest: Arc::clone(&live.log).follow(Place::default()).boxed(),
        },
        From::Now | From::Again => followed_live(live, &webhook.base),
    };
    let server = server.clone();
    tokio::spawn(async move {
        let Followed { mut telling, mut rest } = followed;
        let mut missed = 0;
        let first = (from == From::Again).then(|| Payload::Task(telling.task(None, true)));
        let mut next = first;
        loop {
            if let Some(payload) = next.take() {
                if !is_kept(&server, &webhook).await {
                    return;
                }
                match post(&server, &webhook, payload).await {
                    Ok(()) => missed = 0,
                    Err(reason) => {
                        missed += 1;
                        tracing::warn!(run = telling.task(Some(0), false).id, reason, "a webhook takes no message");
                        if missed >= GIVES_UP {
                            return;
                        }
                    }
                }
            }
            let Some(frame) = rest.next().await else { return };
            next = telling.take(&frame).filter(is_worth_a_call);
        }
    });
}

/// Pieces of an answer are not worth a call each: the whole follows.
fn is_worth_a_call(payload: &Payload) -> bool {
    !matches!(payload, Payload::ArtifactUpdate(update) if !update.last_chunk)
}

/// Whether a webhook is kept as it was.
async fn is_kept(server: &Server, webhook: &Webhook) -> bool {
    let (run, id) = (webhook.config.task_id.clone(), webhook.config.id.clone());
    let kept = server.read_journal(move |journal| journal.webhook(&run, &id)).await;
    kept.ok().flatten().and_then(|body| serde_json::from_str::<Webhook>(&body).ok()).as_ref() == Some(webhook)
}

async fn post(server: &Server, webhook: &Webhook, payload: Payload) -> Result<(), String> {
    let url = Url::parse(&webhook.config.url).map_err(|error| error.to_string())?;
    server.options.urls.check(&url).map_err(|error| error.to_string())?;
    let body = serde_json::to_string(&response(payload)).map_err(|error| error.to_string())?;
    let headers = authorization(&webhook.config).ok_or("its headers cannot be sent")?;
    let client = server.webhooks.get().await.map_err(|error| error.to_string())?;
    let attempt = || async {
        let call = client.post(url.clone()).headers(headers.clone()).body(body.clone()).timeout(PATIENCE);
        let sent = call.send().await;
        match sent {
            Ok(reply) if reply.status().is_success() => Ok(()),
            Ok(reply) => {
                let is_final = reply.status().is_client_error() || reply.status().is_redirection();
                Err((is_final, format!("it answered {}", reply.status().as_u16())))
            }
            Err(error) => Err((false, cause(&error))),
        }
    };
    let told = Retries::default().run(attempt, |(is_final, _), pause| (!is_final).then_some(pause)).await;
    told.map_err(|(_, reason)| reason)
}

/// The headers of a message to a webhook; `None` where what was set cannot stand in one.
fn authorization(config: &TaskPushNotificationConfig) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/a2a+json"));
    if let Some(given) = config.authentication.as_ref().filter(|given| !given.scheme.is_empty()) {
        let mut value = HeaderValue::from_str(format!("{} {}", given.scheme, given.credentials).trim()).ok()?;
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
    if !config.token.is_empty() {
        let mut value = HeaderValue::from_str(&config.token).ok()?;
        value.set_sensitive(true);
        headers.insert(TOKEN, value);
    }
    Some(headers)
}
