//! The state of a Restate installation, as data.

use std::collections::BTreeSet;
use std::time::Duration;

use reqwest::Method;
use serde::Serialize;
use serde_json::Value;
use url::Url;

use crate::admin::{Admin, Api, Deployment};
use crate::error::Error;
use crate::names::capability_of;

/// How long a health check may take.
const WITHIN: Duration = Duration::from_secs(5);

/// The most invocations that are listed.
const LISTED: usize = 100;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checkup {
    /// Why the admin API does not answer, if it does not. Nothing else is known then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin: Option<String>,
    /// Why the ingress does not answer, if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress: Option<String>,
    /// What workers serve.
    pub capabilities: BTreeSet<String>,
    /// The workflows of runs that are hosted: `Run.v1`.
    pub workflows: BTreeSet<String>,
    /// Deployments that get no new calls, because all that they serve is served by newer ones: `id address`. They can be forgotten when
    /// their calls have ended.
    pub stale: Vec<String>,
    /// Invocations that do not go on by themselves, or not now.
    pub stuck: Vec<Stuck>,
}

/// An invocation that does not go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stuck {
    /// Its id.
    pub id: String,
    /// What was called.
    pub target: String,
    /// `paused` when all attempts are used up, `backing-off` between attempts.
    pub status: String,
    /// The attempts so far.
    pub attempts: u64,
    /// Why the last one failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Checkup {
    /// Whether nothing needs a person.
    pub fn is_well(&self) -> bool {
        self.admin.is_none() && self.ingress.is_none() && self.stuck.iter().all(|stuck| stuck.status != "paused")
    }
}

/// Looks at an installation.
///
/// # Errors
/// When the admin API answers and cannot be understood.
pub async fn checkup(admin: &Admin, ingress: Url) -> Result<Checkup, Error> {
    let mut found = Checkup {
        admin: admin.health().await.err().map(|error| error.to_string()),
        ingress: health(ingress).await.err().map(|error| error.to_string()),
        capabilities: BTreeSet::new(),
        workflows: BTreeSet::new(),
        stale: Vec::new(),
        stuck: Vec::new(),
    };
    if found.admin.is_some() {
        return Ok(found);
    }
    let services = admin.services().await?;
    for service in &services {
        match capability_of(&service.name) {
            Some(capability) => drop(found.capabilities.insert(capability)),
            None if service.name.starts_with("Run.") => drop(found.workflows.insert(service.name.clone())),
            None => {}
        }
    }
    let used: BTreeSet<&str> = services.iter().map(|service| service.deployment_id.as_str()).collect();
    let is_stale = |deployment: &Deployment| !used.contains(deployment.id.as_str());
    let deployments = admin.deployments().await?;
    let stale = deployments.into_iter().filter(is_stale);
    found.stale = stale.map(|stale| format!("{} {}", stale.id, stale.uri.unwrap_or_default())).collect();
    let sql = format!(
        "select id, target, status, retry_count, last_failure from sys_invocation where status = 'paused' or \
         status = 'backing-off' order by id limit {LISTED}"
    );
    found.stuck = admin.query(&sql).await?.iter().map(stuck).collect();
    Ok(found)
}

fn stuck(row: &Value) -> Stuck {
    let text = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
    Stuck {
        id: text("id").unwrap_or_default(),
        target: text("target").unwrap_or_default(),
        status: text("status").unwrap_or_default(),
        attempts: row.get("retry_count").and_then(Value::as_u64).unwrap_or_default(),
        failure: text("last_failure"),
    }
}

async fn health(ingress: Url) -> Result<(), Error> {
    let api = Api::new(ingress);
    let url = api.url(&["restate", "health"]);
    let request = api.request(Method::GET, &url).await?.timeout(WITHIN);
    let response = api.send(&url, request).await?;
    api.checked(&url, response).await.map(drop)
}
