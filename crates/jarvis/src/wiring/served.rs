//! The models of this machine as the server lends them to callers.

use std::sync::Arc;

use jarvis_catalogue::{Catalogue, Host, Wanted};
use jarvis_hugginggpt::Sources;
use jarvis_models::{Engine, Local};
use jarvis_server::{LoadedModel, ServedModel, ServedModels};

use super::{App, LocalRuntime, local};

/// Local models first, then native ones. What is pulled while the server runs is there at once.
pub(crate) struct Served {
    local: Option<Arc<LocalRuntime>>,
    sources: Arc<Sources>,
}

impl App {
    pub(crate) fn served_models(&self) -> Served {
        Served { local: self.local().cloned(), sources: Arc::clone(&self.pipeline.sources) }
    }
}

impl Served {
    fn of_local(&self, runtime: &LocalRuntime, model: &Local) -> ServedModel {
        let chat = (model.engine == Engine::Gguf).then(|| runtime.chat(model));
        ServedModel {
            id: local::id_of(model),
            host: Host::Local,
            tasks: runtime.tasks_of(model),
            bytes: model.bytes,
            chat,
        }
    }

    fn native(&self) -> Vec<ServedModel> {
        let catalogue: &Catalogue = &self.sources.catalogue;
        let mut models: Vec<ServedModel> = Vec::new();
        for task in catalogue.tasks() {
            for model in catalogue.candidates(task, &Wanted::native_only()) {
                if (self.sources.native)(&model.id).is_err() {
                    continue;
                }
                match models.iter_mut().find(|known| known.id == model.id) {
                    Some(known) => known.tasks.push(task.to_owned()),
                    None => models.push(ServedModel {
                        id: model.id.clone(),
                        host: Host::Native,
                        tasks: vec![task.to_owned()],
                        bytes: 0,
                        chat: None,
                    }),
                }
            }
        }
        models
    }
}

impl ServedModels for Served {
    fn all(&self) -> Vec<ServedModel> {
        let local = self.local.iter().flat_map(|runtime| {
            let kept = runtime.kept();
            kept.iter().map(|model| self.of_local(runtime, model)).collect::<Vec<_>>()
        });
        local.chain(self.native()).collect()
    }

    fn find(&self, name: &str) -> Option<ServedModel> {
        let resolved = self.local.as_ref().and_then(|runtime| {
            let model = runtime.resolve(name)?;
            runtime.candidates();
            Some(self.of_local(runtime, &model))
        });
        // The original's server calls its own detectors by their task types: `canny-control`.
        let is_it = |model: &ServedModel| model.id == name || model.tasks.first().is_some_and(|task| task == name);
        resolved.or_else(|| self.native().into_iter().find(is_it))
    }

    fn loaded(&self) -> Vec<LoadedModel> {
        let loaded = self.local.iter().flat_map(|runtime| runtime.models.loaded());
        let shown = |model: jarvis_experts::Loaded| LoadedModel {
            id: model.id,
            task: model.task,
            memory: model.memory,
            idle_s: model.idle.as_secs(),
            users: model.users,
        };
        loaded.map(shown).collect()
    }
}
