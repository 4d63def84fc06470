//! Which models can be reached now: asks the Hub, the model server and a check for native models, all at once.
//!
//! Answers are kept for a while; calls for the same model share one request. A call that fails counts as
//! "not available", with the reason kept for people.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::Host;
use futures::FutureExt;
use futures::future::{BoxFuture, Either, select};
use futures::stream::{self, StreamExt};
use moka::Expiry;
use moka::future::Cache;
use reqwest::Client;
use serde::Deserialize;
use tokio::time::timeout_at;
use url::Url;

use jarvis_net::Secret;
use jarvis_net::http::{ClientError, join};

use crate::http::{CallError, client, get, id_segments, read, shown};
use crate::{Available, Model, Probed};

/// The most bytes of an availability answer.
const MAX_REPLY: u64 = 256 << 10;
/// How many models are asked about at once; more than a task has candidates.
const AT_ONCE: usize = 32;

/// How Hugging Face is asked.
#[derive(Clone, PartialEq, Eq)]
pub enum HubCheck {
    /// The Hub's model API at this base, such as `https://huggingface.co`: `/api/models/{id}` and its provider mapping.
    ModelApi(Url),
    /// A server that answers the old `/status/{id}` at this base.
    Status(Url),
}

impl HubCheck {
    fn base(&self) -> &Url {
        match self {
            HubCheck::ModelApi(base) | HubCheck::Status(base) => base,
        }
    }
}

impl fmt::Debug for HubCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            HubCheck::ModelApi(_) => "ModelApi",
            HubCheck::Status(_) => "Status",
        };
        f.debug_tuple(name).field(&shown(Some(self.base()))).finish()
    }
}

/// What is asked, where, and for how long answers hold. Its `Debug` form leaves out whatever may be secret.
#[derive(Clone)]
pub struct ProbeConfig {
    pub probed: Probed,
    pub hub: Option<HubCheck>,
    /// The model server's base; `None` when it is not configured.
    pub local: Option<Url>,
    /// The Hub's token. Public models need none.
    pub token: Option<Secret>,
    /// The providers that may serve a model.
    pub providers: Vec<String>,
    /// Whether a provider in state `staging` counts too.
    pub staging: bool,
    /// The longest a single answer may take.
    pub each: Duration,
    /// The longest all answers together may take.
    pub overall: Duration,
    pub keep_positive: Duration,
    pub keep_negative: Duration,
    /// Stop at this many available candidates.
    pub num_candidates: usize,
    pub proxy: Option<Url>,
}

impl ProbeConfig {
    /// The shipped limits: 5 s each, 8 s overall, 60 s and 15 s kept, five candidates, provider `hf-inference`.
    pub fn new(probed: Probed) -> ProbeConfig {
        ProbeConfig {
            probed,
            hub: None,
            local: None,
            token: None,
            providers: vec!["hf-inference".to_owned()],
            staging: false,
            each: Duration::from_secs(5),
            overall: Duration::from_secs(8),
            keep_positive: Duration::from_secs(60),
            keep_negative: Duration::from_secs(15),
            num_candidates: 5,
            proxy: None,
        }
    }
}

impl fmt::Debug for ProbeConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hub = self.hub.as_ref().map(HubCheck::base);
        f.debug_struct("ProbeConfig")
            .field("probed", &self.probed)
            .field("hub", &shown(hub))
            .field("local", &shown(self.local.as_ref()))
            .field("token", &self.token)
            .field("providers", &self.providers)
            .field("proxy", &shown(self.proxy.as_ref()))
            .finish_non_exhaustive()
    }
}

/// Says whether a native model can work here, or why not. Must not block.
pub type NativeCheck = Arc<dyn Fn(&Model) -> Result<(), String> + Send + Sync>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    pub id: String,
    /// Where it was asked for; `None` when nowhere could be asked.
    pub host: Option<Host>,
    /// Why, without a full stop.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Probing {
    /// The models that can be reached, in the order given, each id once.
    pub available: Vec<Available>,
    /// Why the others cannot be; models behind the last one needed are not among them.
    pub unavailable: Vec<Unavailable>,
}

type Answers = Cache<(Host, String), Result<(), String>>;

/// Asks which models can be reached. Cheap to clone; clones share what they know.
#[derive(Clone)]
pub struct Prober {
    config: Arc<ProbeConfig>,
    /// For the Hub and for the model server; made only for what is configured.
    hub: Option<Client>,
    local: Option<Client>,
    native: NativeCheck,
    answers: Answers,
}

impl fmt::Debug for Prober {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prober").field("config", &self.config).finish_non_exhaustive()
    }
}

struct Keep {
    positive: Duration,
    negative: Duration,
}

impl Expiry<(Host, String), Result<(), String>> for Keep {
    fn expire_after_create(
        &self,
        _key: &(Host, String),
        answer: &Result<(), String>,
        _at: Instant,
    ) -> Option<Duration> {
        Some(if answer.is_ok() { self.positive } else { self.negative })
    }
}

/// What asking about one model gave: where it is, or why it is nowhere.
type Found = Result<Host, Vec<(Option<Host>, String)>>;

impl Prober {
    /// A prober.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn new(config: ProbeConfig, native: NativeCheck) -> Result<Prober, ClientError> {
        let keep = Keep { positive: config.keep_positive, negative: config.keep_negative };
        let proxy = config.proxy.as_ref();
        Ok(Prober {
            hub: config.hub.as_ref().map(|hub| client(hub.base(), proxy)).transpose()?,
            local: config.local.as_ref().map(|base| client(base, proxy)).transpose()?,
            answers: Cache::builder().max_capacity(10_000).expire_after(keep).build(),
            config: Arc::new(config),
            native,
        })
    }

    /// The first `num_candidates` of these models that can be reached, in the order given, and why others cannot.
    /// All are asked at once. An id that comes twice counts once, on its best host: native, then the model server.
    pub async fn available(&self, models: &[Arc<Model>]) -> Probing {
        let deadline = tokio::time::Instant::now() + self.config.overall;
        self.probe(models, self.config.num_candidates, Some(deadline)).await
    }

    /// Like [`Prober::available`], with every model asked and reported, however long all together take.
    pub async fn all(&self, models: &[Arc<Model>]) -> Probing {
        self.probe(models, usize::MAX, None).await
    }

    async fn probe(&self, models: &[Arc<Model>], enough: usize, deadline: Option<tokio::time::Instant>) -> Probing {
        let mut best: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, model) in models.iter().enumerate() {
            let first = best.entry(&model.id).or_insert(at);
            let before = models.get(*first).map_or(u8::MAX, |model| preference(model.host));
            if preference(model.host) < before {
                *first = at;
            }
        }
        let chosen: HashSet<usize> = best.into_values().collect();
        // Owned models and a boxed future: a closure over borrowed ones makes this future unusable where it must be `Send`.
        let asked: Vec<BoxFuture<'_, (Arc<Model>, Option<Found>)>> = models
            .iter()
            .enumerate()
            .filter(|(at, _)| chosen.contains(at))
            .map(|(_, model)| self.look(Arc::clone(model), deadline).boxed())
            .collect();
        let mut answers = std::pin::pin!(stream::iter(asked).buffered(AT_ONCE));
        let mut probing = Probing::default();
        while probing.available.len() < enough {
            let Some((model, answer)) = answers.next().await else { break };
            match answer {
                Some(Ok(host)) => probing.available.push(Available { model, host }),
                Some(Err(reasons)) => {
                    probing.unavailable.extend(reasons.into_iter().map(|(host, reason)| Unavailable {
                        id: model.id.clone(),
                        host,
                        reason,
                    }));
                }
                None => probing.unavailable.push(Unavailable {
                    id: model.id.clone(),
                    host: None,
                    reason: format!("not all was answered in {:?}", self.config.overall),
                }),
            }
        }
        probing
    }

    /// A model and where it is; `None` when the deadline came first.
    async fn look(&self, model: Arc<Model>, deadline: Option<tokio::time::Instant>) -> (Arc<Model>, Option<Found>) {
        let answer = match deadline {
            Some(deadline) => timeout_at(deadline, self.find(&model)).await.ok(),
            None => Some(self.find(&model).await),
        };
        (model, answer)
    }

    async fn find(&self, model: &Model) -> Found {
        match model.host {
            Host::Native => match (self.native)(model) {
                Ok(()) => Ok(Host::Native),
                Err(reason) => Err(vec![(Some(Host::Native), reason)]),
            },
            Host::Llm | Host::Tool | Host::Api => Ok(model.host),
            Host::Local => self.find_local(model).await,
            Host::Huggingface => match (self.config.probed.local, self.config.probed.huggingface) {
                (false, false) => Err(vec![(None, "the inference mode asks nobody".to_owned())]),
                (true, false) => self.ask(Host::Local, &model.id).await,
                (false, true) => self.ask(Host::Huggingface, &model.id).await,
                (true, true) => {
                    let local = std::pin::pin!(self.ask(Host::Local, &model.id));
                    let hub = std::pin::pin!(self.ask(Host::Huggingface, &model.id));
                    // The model server wins whenever it has the model, whoever answers first.
                    let (local, hub) = match select(local, hub).await {
                        Either::Left((Ok(host), _)) => return Ok(host),
                        Either::Left((local, hub)) => (local, hub.await),
                        Either::Right((hub, local)) => (local.await, hub),
                    };
                    match (local, hub) {
                        (Ok(host), _) | (Err(_), Ok(host)) => Ok(host),
                        (Err(mut reasons), Err(more)) => {
                            reasons.extend(more);
                            Err(reasons)
                        }
                    }
                }
            },
        }
    }

    /// Control tasks are not probed; other models of the model server are.
    async fn find_local(&self, model: &Model) -> Found {
        let control = crate::find(&model.task).is_some_and(|task| task.control_model().is_some());
        let refuse = |reason: &str| Err(vec![(Some(Host::Local), reason.to_owned())]);
        if !if control { self.config.probed.control } else { self.config.probed.local } {
            refuse("the inference mode does not use the model server for it")
        } else if !control {
            self.ask(Host::Local, &model.id).await
        } else if self.config.local.is_some() {
            Ok(Host::Local)
        } else {
            refuse("no model server is configured")
        }
    }

    async fn ask(&self, host: Host, id: &str) -> Found {
        let key = (host, id.to_owned());
        let answer = self.answers.get_with(key, self.call(host, id)).await;
        match answer {
            Ok(()) => Ok(host),
            Err(reason) => Err(vec![(Some(host), reason)]),
        }
    }

    async fn call(&self, host: Host, id: &str) -> Result<(), String> {
        let segments = id_segments(id).ok_or("this is not a model id")?;
        let answer = match host {
            Host::Local => match (&self.local, &self.config.local) {
                (Some(client), Some(base)) => self.status(client, base, segments, None).await,
                _ => return Err("no model server is configured".to_owned()),
            },
            Host::Huggingface => match (&self.hub, &self.config.hub) {
                (Some(client), Some(HubCheck::Status(base))) => {
                    self.status(client, base, segments, self.config.token.as_ref()).await
                }
                (Some(client), Some(HubCheck::ModelApi(base))) => self.mapping(client, base, segments).await,
                _ => return Err("Hugging Face is not configured".to_owned()),
            },
            Host::Native | Host::Llm | Host::Tool | Host::Api => return Err("nobody can be asked".to_owned()),
        };
        let answer = answer.map_err(|error| error.to_string()).and_then(std::convert::identity);
        tracing::debug!(%host, id, answer = answer.as_ref().err().map_or("available", String::as_str), "probed");
        answer
    }

    /// The old question: is it loaded?
    async fn status(
        &self,
        client: &Client,
        base: &Url,
        id: Vec<&str>,
        token: Option<&Secret>,
    ) -> Result<Result<(), String>, CallError> {
        #[derive(Deserialize)]
        struct Status {
            #[serde(default)]
            loaded: bool,
        }
        let url = join(base, ["status"].into_iter().chain(id)).ok_or(CallError::Connect)?;
        let reply = get(client, url, token, self.config.each).await?;
        let status: Status = read(reply, MAX_REPLY, self.config.each).await?;
        Ok(if status.loaded { Ok(()) } else { Err("not loaded".to_owned()) })
    }

    /// The Hub's question: who serves it?
    async fn mapping(&self, client: &Client, base: &Url, id: Vec<&str>) -> Result<Result<(), String>, CallError> {
        let mut url = join(base, ["api", "models"].into_iter().chain(id)).ok_or(CallError::Connect)?;
        url.set_query(Some("expand[]=inferenceProviderMapping"));
        let reply = get(client, url, self.config.token.as_ref(), self.config.each).await?;
        let record: Record = read(reply, MAX_REPLY, self.config.each).await?;
        let states = record.states();
        let allowed = |name: &str| self.config.providers.iter().any(|provider| provider == name || provider == "all");
        let fine = |state: &str| state == "live" || (self.config.staging && state == "staging");
        if states.iter().any(|(name, state)| allowed(name) && fine(state)) {
            return Ok(Ok(()));
        }
        Ok(Err(if states.is_empty() {
            "no provider serves it".to_owned()
        } else {
            let shown: Vec<String> = states.iter().take(5).map(|(name, state)| format!("{name} {state}")).collect();
            format!("no allowed provider serves it now ({})", shown.join(", "))
        }))
    }

    /// Asks the model server whether it runs.
    ///
    /// # Errors
    /// A sentence that says why it does not.
    pub async fn model_server_runs(&self) -> Result<(), String> {
        let (Some(client), Some(base)) = (&self.local, &self.config.local) else {
            return Err("no model server is configured".to_owned());
        };
        let url = join(base, ["running"]).ok_or("the model server's address is not an HTTP address")?;
        get(client, url, None, self.config.each).await.map(drop).map_err(|error| error.to_string())
    }
}

fn preference(host: Host) -> u8 {
    match host {
        Host::Native => 0,
        Host::Tool | Host::Llm | Host::Api => 1,
        // Both ask the model server first, and Hub records may be elsewhere too.
        Host::Local | Host::Huggingface => 2,
    }
}

/// The part of a model's record that is used.
#[derive(Deserialize)]
struct Record {
    #[serde(default, rename = "inferenceProviderMapping")]
    mapping: Option<Mapping>,
    #[serde(default)]
    inference: Option<serde_json::Value>,
}

/// The Hub gives an object by provider; older and other servers give a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum Mapping {
    ByName(BTreeMap<String, Entry>),
    List(Vec<Entry>),
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    provider: String,
    #[serde(default)]
    status: String,
}

impl Record {
    /// Provider names and their states. `inference: "warm"` means that `hf-inference` has it.
    fn states(self) -> Vec<(String, String)> {
        let mut states: Vec<(String, String)> = match self.mapping {
            Some(Mapping::ByName(entries)) => entries.into_iter().map(|(name, entry)| (name, entry.status)).collect(),
            Some(Mapping::List(entries)) => entries.into_iter().map(|entry| (entry.provider, entry.status)).collect(),
            Some(Mapping::Other(_)) | None => Vec::new(),
        };
        if self.inference.as_ref().and_then(serde_json::Value::as_str) == Some("warm") {
            states.push(("hf-inference".to_owned(), "live".to_owned()));
        }
        states
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_kept_by_their_kind() {
        let keep = Keep { positive: Duration::from_secs(60), negative: Duration::from_secs(15) };
        let key = (Host::Local, "a/b".to_owned());
        let now = Instant::now();
        assert_eq!(keep.expire_after_create(&key, &Ok(()), now), Some(Duration::from_secs(60)));
        assert_eq!(keep.expire_after_create(&key, &Err("no".to_owned()), now), Some(Duration::from_secs(15)));
    }

    #[test]
    fn nothing_secret_is_shown() {
        let url = |text: &str| Url::parse(text).ok();
        let config = ProbeConfig {
            hub: url("https://user:secret@hub.test/?key=secret").map(HubCheck::ModelApi),
            local: url("http://user:secret@127.0.0.1:8005"),
            proxy: url("http://user:secret@proxy.test:3128"),
            token: Secret::new("secret"),
            ..ProbeConfig::new(crate::where_probed(crate::InferenceMode::Hybrid, crate::Deployment::Full))
        };
        let text = format!("{config:?} {:?}", config.hub);
        assert!(!text.contains("secret") && text.contains("https://hub.test"), "{text}");
    }

    #[test]
    fn records_are_read_in_every_form() {
        let check = |json: &str, states: &[(&str, &str)]| {
            let record: Record = serde_json::from_str(json).unwrap();
            let found = record.states();
            let found: Vec<(&str, &str)> = found.iter().map(|(name, state)| (name.as_str(), state.as_str())).collect();
            assert_eq!(found, states, "{json}");
        };
        check(
            r#"{"inferenceProviderMapping":{"fal-ai":{"status":"live","providerId":"x"},"hf-inference":{"status":"staging"}}}"#,
            &[("fal-ai", "live"), ("hf-inference", "staging")],
        );
        check(
            r#"{"inferenceProviderMapping":[{"provider":"hf-inference","status":"live"}]}"#,
            &[("hf-inference", "live")],
        );
        check(r#"{"inferenceProviderMapping":{}}"#, &[]);
        check(r#"{"inferenceProviderMapping":null,"inference":"warm"}"#, &[("hf-inference", "live")]);
        check(r#"{"inferenceProviderMapping":"odd","inference":"cold"}"#, &[]);
        check("{}", &[]);
    }
}
