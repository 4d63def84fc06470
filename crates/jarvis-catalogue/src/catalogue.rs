//! The catalogue: which models serve a task, and which of them are candidates.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use crate::Host;

use crate::builtin::{huggingface, local, native};
use crate::{Deployment, InferenceMode, LoadError, Model, local_models, read_models, where_probed};

/// How many models of a task, most liked first, are candidates.
pub const CANDIDATES_PER_TASK: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    pub mode: InferenceMode,
    /// What the model server has loaded.
    pub deployment: Deployment,
    pub native: bool,
    pub remote: bool,
}

impl Wanted {
    pub fn native_only() -> Wanted {
        Wanted { mode: InferenceMode::Local, deployment: Deployment::Minimal, native: true, remote: false }
    }

    /// Models elsewhere, without native ones: the candidates of the original.
    pub fn remote(mode: InferenceMode, deployment: Deployment) -> Wanted {
        Wanted { mode, deployment, native: false, remote: true }
    }
}

#[derive(Debug, Clone, Default)]
struct Shelf {
    models: Vec<Arc<Model>>,
}

/// Every known model, grouped by task: native ones, those of the Hub (most liked first), those of the model server.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    tasks: Vec<String>,
    shelves: HashMap<String, Shelf>,
    notes: Vec<String>,
}

impl Catalogue {
    /// The built-in list: native models, the model server's, and a few well-known Hub models for each task.
    pub fn builtin() -> Catalogue {
        Catalogue::build(native().chain(huggingface()).chain(local()), Vec::new())
    }

    /// The built-in list with a catalogue file. For the tasks that the file covers, its Hub models replace the built-in
    /// ones. Blocking: reads the file.
    ///
    /// # Errors
    /// When the file cannot be read, or no line of it is a model.
    pub fn with_file(path: &Path) -> Result<Catalogue, LoadError> {
        let loaded = read_models(path)?;
        Ok(Catalogue::with_models(loaded.models, loaded.notes))
    }

    /// The built-in list with Hub models from elsewhere, which replace the built-in ones for the tasks they cover.
    pub fn with_models(models: Vec<Model>, notes: Vec<String>) -> Catalogue {
        let covered: HashSet<String> = models.iter().map(|model| model.task.clone()).collect();
        let rest = huggingface().filter(|model| !covered.contains(&model.task));
        Catalogue::build(native().chain(models).chain(rest).chain(local()), notes)
    }

    fn build(models: impl Iterator<Item = Model>, notes: Vec<String>) -> Catalogue {
        let mut tasks: Vec<String> = crate::task_types().iter().map(|task| task.name.to_owned()).collect();
        let mut shelves: HashMap<String, Shelf> = HashMap::new();
        for model in models {
            if !shelves.contains_key(&model.task) {
                if !tasks.contains(&model.task) {
                    tasks.push(model.task.clone());
                }
                shelves.insert(model.task.clone(), Shelf::default());
            }
            if let Some(shelf) = shelves.get_mut(&model.task) {
                shelf.models.push(Arc::new(model));
            }
        }
        for shelf in shelves.values_mut() {
            shelf.models.sort_by_key(|model| (place(model.host), Reverse(model.likes)));
        }
        tasks.retain(|task| shelves.contains_key(task));
        Catalogue { tasks, shelves, notes }
    }

    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The tasks that have models, in the order of the registry.
    pub fn tasks(&self) -> impl Iterator<Item = &str> {
        self.tasks.iter().map(String::as_str)
    }

    /// The models of a task: native, then of the Hub with the most liked first, then of the model server only.
    pub fn models(&self, task: &str) -> &[Arc<Model>] {
        self.shelves.get(task).map_or(&[], |shelf| &shelf.models)
    }

    pub fn all(&self) -> impl Iterator<Item = &Arc<Model>> {
        self.tasks.iter().flat_map(|task| self.models(task))
    }

    pub fn len(&self) -> usize {
        self.shelves.values().map(|shelf| shelf.models.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.shelves.is_empty()
    }

    /// The first model of that id, for `task` when it is given.
    pub fn get(&self, id: &str, task: Option<&str>) -> Option<&Arc<Model>> {
        self.all().find(|model| model.id == id && task.is_none_or(|task| model.task == task))
    }

    /// The candidates for a task, in the order in which they are probed and shown: native ones when wanted, the first
    /// [`CANDIDATES_PER_TASK`] of the Hub, then what the model server has loaded besides. Each id comes once.
    pub fn candidates(&self, task: &str, wanted: &Wanted) -> Vec<Arc<Model>> {
        let probed = where_probed(wanted.mode, wanted.deployment);
        let control = crate::find(task).is_some_and(|task| task.control_model().is_some());
        let served = if control { probed.control } else { probed.local };
        let loaded: HashSet<&str> =
            local_models(wanted.deployment).filter(|(_, serves)| *serves == task).map(|(id, _)| id).collect();
        let mut hub = 0;
        let mut ids = HashSet::new();
        self.models(task)
            .iter()
            .filter(|model| match model.host {
                Host::Native => wanted.native,
                Host::Huggingface => {
                    hub += 1;
                    wanted.remote && hub <= CANDIDATES_PER_TASK && (probed.huggingface || probed.local)
                }
                Host::Local => wanted.remote && served && loaded.contains(model.id.as_str()),
                Host::Llm | Host::Tool | Host::Api => wanted.remote,
            })
            .filter(|model| ids.insert(model.id.as_str()))
            .cloned()
            .collect()
    }
}

/// The order of hosts on a shelf.
fn place(host: Host) -> u8 {
    match host {
        Host::Native => 0,
        Host::Tool | Host::Llm | Host::Api => 1,
        Host::Huggingface => 2,
        Host::Local => 3,
    }
}

#[cfg(test)]
mod tests;
