//! The questions, each bounded in time and size.

use std::time::Duration;

use futures::stream::{self, StreamExt};
use jarvis_net::http::{cause, join, read_capped};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use url::Url;

use super::read::{self, Listed};
use super::{ModelServer, NoServer, ServerKind, choose};

/// The longest answer that is read, in bytes. `/api/show` holds licences and lists of tensors.
const MAX_ANSWER: u64 = 1 << 20;

/// How many models are asked about at once.
const AT_ONCE: usize = 8;

/// Asks one server. The client decides what goes along, such as a key.
pub(crate) struct Asker<'a> {
    pub(crate) client: &'a Client,
    /// The address without `/v1`.
    pub(crate) root: Url,
    /// The list of models that every OpenAI-compatible server has.
    pub(crate) models: Url,
    pub(crate) timeout: Duration,
}

impl Asker<'_> {
    /// What server this is, and its models as its list has them.
    pub(crate) async fn server(&self) -> Result<ModelServer, NoServer> {
        let Listed { kind, models } = self.list().await?;
        Ok(ModelServer { kind, address: self.root.clone(), models })
    }

    async fn list(&self) -> Result<Listed, NoServer> {
        // At once: a server answers its own question, and refuses the others as fast.
        let models = self.answer(self.client.get(self.models.clone()));
        let (version, studio, props, models) =
            tokio::join!(self.get("api/version"), self.get("api/v0/models"), self.get("props"), models);
        if version.is_ok_and(|version| version.get("version").is_some_and(Value::is_string)) {
            let (tags, running) = tokio::join!(self.get("api/tags"), self.get("api/ps"));
            if let Some(mut list) = tags.ok().as_ref().and_then(read::ollama) {
                running.iter().for_each(|running| read::ollama_running(&mut list, running));
                return Ok(list);
            }
        }
        if let Some(list) = studio.ok().as_ref().and_then(read::lm_studio) {
            return Ok(list);
        }
        let mut list = match (&props, models) {
            (Err(NoServer::Loading), _) => return Err(NoServer::Loading),
            (_, models) => read::openai(&models?).ok_or(NoServer::Unknown)?,
        };
        // Its list of models is public even where everything else requires a key.
        if list.kind == ServerKind::LlamaServer && matches!(props, Err(NoServer::Locked)) {
            return Err(NoServer::Locked);
        }
        props.iter().for_each(|props| read::llama_server(&mut list, props));
        Ok(list)
    }

    /// Adds what a server tells of each model by itself: of `most` models, those first that would be chosen.
    pub(crate) async fn describe(&self, server: &mut ModelServer, most: usize) {
        let order = choose::order(&server.models);
        self.describe_these(server, order.into_iter().take(most).collect()).await;
    }

    /// Adds what a server tells of the models of these names.
    pub(crate) async fn describe_named(&self, server: &mut ModelServer, names: &[&str]) {
        let named = names.iter().filter_map(|name| server.model(name).map(|model| model.name.clone()));
        let named: Vec<String> = named.collect();
        let places = server.models.iter().enumerate().filter(|(_, model)| named.contains(&model.name));
        let places = places.map(|(at, _)| at).collect();
        self.describe_these(server, places).await;
    }

    async fn describe_these(&self, server: &mut ModelServer, places: Vec<usize>) {
        // The others tell all of it in their lists.
        if server.kind != ServerKind::Ollama {
            return;
        }
        let names = places.into_iter().filter_map(|at| Some((at, server.models.get(at)?.name.clone())));
        let names: Vec<(usize, String)> = names.collect();
        let shows = names.into_iter().map(|(at, name)| async move { (at, self.show(&name).await) });
        let shows: Vec<_> = stream::iter(shows).buffer_unordered(AT_ONCE).collect().await;
        for (at, show) in shows {
            if let (Some(model), Ok(show)) = (server.models.get_mut(at), show) {
                read::ollama_show(model, &show);
            }
        }
    }

    async fn show(&self, name: &str) -> Result<Value, NoServer> {
        let url = self.url("api/show").ok_or(NoServer::Unknown)?;
        self.answer(self.client.post(url).json(&json!({ "model": name }))).await
    }

    async fn get(&self, path: &str) -> Result<Value, NoServer> {
        let url = self.url(path).ok_or(NoServer::Unknown)?;
        self.answer(self.client.get(url)).await
    }

    fn url(&self, path: &str) -> Option<Url> {
        join(&self.root, path.split('/'))
    }

    async fn answer(&self, question: RequestBuilder) -> Result<Value, NoServer> {
        let answer = async {
            let response = question.send().await.map_err(|error| NoServer::Unreachable(cause(&error)))?;
            let status = response.status();
            let body = read_capped(response, MAX_ANSWER).await.map_err(|_| NoServer::Unknown)?;
            let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
            match (status.as_u16(), read::is_loading(&body)) {
                (503, true) => Err(NoServer::Loading),
                (401 | 403, _) => Err(NoServer::Locked),
                (200, _) if !body.is_null() => Ok(body),
                _ => Err(NoServer::Unknown),
            }
        };
        tokio::time::timeout(self.timeout, answer).await.unwrap_or(Err(NoServer::Timeout(self.timeout)))
    }
}
