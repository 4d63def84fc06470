//! Detects what jarvis can use on this machine.

use std::path::Path;

use jarvis_chat::ModelServer;
use jarvis_models::Engine;
use serde::{Serialize, Serializer};

use super::helpers::{self, Helper};
use super::providers::{PROVIDERS, Provider};
use crate::config::Config;
use crate::failure::Failure;
use crate::hint::answers;
use crate::printer::Printer;
use crate::wiring::{self, Folders, LocalRuntime};

#[derive(Debug, Serialize)]
pub(super) struct Found {
    /// Model servers that answer and have a chat model.
    #[serde(serialize_with = "servers")]
    pub(super) servers: Vec<ModelServer>,
    pub(super) local_models: Vec<LocalModel>,
    /// Services whose key is in the environment.
    pub(super) keys: Vec<Provider>,
    pub(super) helpers: Vec<Helper>,
    /// Command that installs the missing helpers.
    pub(super) install: Option<String>,
}

/// A model that jarvis runs itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct LocalModel {
    pub(super) name: String,
    pub(super) tasks: Vec<String>,
    /// Whether it is a language model.
    pub(super) talks: bool,
    /// Whether it is large enough to plan.
    pub(super) plans: bool,
}

impl Found {
    /// Contacts only the addresses in `llm.local_servers`.
    pub(super) async fn look(config: &Config) -> Result<Found, Failure> {
        let mut servers = wiring::discovery(config)?.all().await;
        servers.retain(|server| server.best().is_some());
        let (helpers, install) = helpers::look(std::env::var_os("PATH").as_deref().unwrap_or_default());
        let is_set = |provider: &Provider| wiring::secret(&[provider.variable]).is_some();
        Ok(Found {
            servers,
            local_models: local_models(config)?,
            keys: PROVIDERS.into_iter().filter(is_set).collect(),
            helpers,
            install,
        })
    }

    /// Prints the findings to stderr.
    pub(super) fn tell(&self, file: &Path, data_dir: &Path, printer: Printer) {
        let line = |what: &str, found: &str| printer.progress(&format!("{what:<15}{found}"));
        let list = |what: &str, found: Vec<String>, none: &str| match found.is_empty() {
            true => line(what, none),
            false => found.iter().for_each(|found| line(what, found)),
        };
        list("model servers", self.servers.iter().filter_map(answers).collect(), "none answers");
        let local = self.local_models.iter().map(|model| format!("{}: {}", model.name, model.tasks.join(", ")));
        list("local models", local.collect(), "none on this machine");
        let keys = self.keys.iter().map(|key| format!("{} is set ({})", key.variable, key.name));
        list("keys", keys.collect(), "none in the environment");
        for helper in &self.helpers {
            let at = helper.path.as_ref().map_or("not installed".to_owned(), |path| path.display().to_string());
            line("helpers", &format!("{}, for {}: {at}", helper.name, helper.gives));
        }
        line("configuration", &file.display().to_string());
        line("data folder", &data_dir.display().to_string());
    }

    /// What the missing helpers are for.
    pub(super) fn missing_uses(&self) -> String {
        let missing = self.helpers.iter().filter(|helper| helper.path.is_none());
        missing.map(|helper| helper.gives).collect::<Vec<_>>().join("; ")
    }
}

fn local_models(config: &Config) -> Result<Vec<LocalModel>, Failure> {
    if !(config.local.enabled && wiring::RUNS_LOCAL_MODELS) {
        return Ok(Vec::new());
    }
    let runtime = LocalRuntime::open(config, &Folders::of(config)?)?;
    let model = |local: &jarvis_models::Local| LocalModel {
        name: local.name.clone(),
        tasks: runtime.tasks_of(local),
        talks: local.engine == Engine::Gguf,
        plans: local.engine == Engine::Gguf && LocalRuntime::can_plan(local),
    };
    Ok(runtime.kept().iter().map(model).collect())
}

fn servers<S: Serializer>(servers: &[ModelServer], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Server<'a> {
        kind: String,
        address: String,
        models: Vec<&'a str>,
    }
    let server = |server: &'_ ModelServer| -> serde_json::Value {
        let models = server.models.iter().filter(|model| model.chats).map(|model| model.name.as_str()).collect();
        let server = Server { kind: server.kind.to_string(), address: server.shown_address(), models };
        serde_json::to_value(server).unwrap_or_default()
    };
    serializer.collect_seq(servers.iter().map(server))
}
