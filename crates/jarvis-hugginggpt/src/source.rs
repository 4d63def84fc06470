//! Where the tasks of a plan and the models that could perform them come from.
//!
//! A [`ModelSource`] says which task types a plan may use and who could perform a task; it asks no chat model and makes
//! no choice. [`FileSource`] is the one of this machine: the catalogue, native models, what the model server and Hugging
//! Face have ready.

mod file;

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_catalogue::{Available, Catalogue, Family, Host, Prober, TaskType, Wanted};
use jarvis_plan::{Candidate, ErrorCode, Task, TaskError, Tool, Vocabulary};
use jarvis_tools::local::ATTACHED_FILES;
use serde::{Deserialize, Serialize};

use crate::decisions::examples::Examples;

pub use file::FileSource;

/// The id by which decisions choose the chat model, whichever it is, as in the original. Runs name the model itself.
pub const CHAT_MODEL_ID: &str = "ChatGPT";

/// The chat model as the one that serves a task.
pub(crate) fn chat_model(id: &str, host: Host, task: &str) -> Candidate {
    Candidate { id: id.into(), host: host.into(), effective_task: task.to_owned() }
}

/// A task type that the service knows. Texts are cleaned and cut.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ServiceTask {
    pub id: String,
    /// A name for people; empty when none is given.
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// What it takes, in words.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// What it gives, in words.
    #[serde(default)]
    pub outputs: Vec<String>,
}

impl ServiceTask {
    pub fn named(id: &str) -> ServiceTask {
        ServiceTask { id: id.to_owned(), ..ServiceTask::default() }
    }
}

/// A model that the service offers for a task. Texts are cleaned and cut.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ServiceModel {
    pub id: String,
    /// A name for people; empty when none is given.
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub likes: u64,
    #[serde(default)]
    pub tags: Option<Vec<String>>,
    /// Where it runs, when that is known to be elsewhere than at the service.
    #[serde(skip)]
    pub host: Option<Host>,
}

#[derive(Debug, Clone)]
pub struct Tasks {
    /// Every name that a plan may hold, with what it takes and gives. It holds the tasks that the chat model serves and
    /// the control tasks too, so that they are not taken for unknown ones.
    pub vocabulary: Arc<Vocabulary>,
    /// The tools that the planning model may use.
    pub offered: Vec<Tool>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// There is nothing to choose.
    Fixed { chosen: Candidate, fallbacks: Vec<Candidate>, reason: String },
    /// These; a choice is needed where there is more than one.
    Among(Candidates),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Candidates {
    /// Those to choose from, in the order in which they are shown; at least one.
    pub models: Vec<Available>,
    pub fallbacks: Vec<Available>,
    /// How many there are in all, those that are not shown included.
    pub count: usize,
    /// Whether native models come first where no model chooses.
    pub native_first: bool,
    /// What is odd about them, for the notes of the selection.
    pub note: Option<String>,
}

#[async_trait]
pub trait ModelSource: Send + Sync {
    async fn tasks(&self) -> Result<Tasks, TaskError>;

    /// Who could perform a task. `effective` is the type really run: the planned one, or what stands in for it
    /// (`canny-control` for a `canny-text-to-image` without text).
    async fn find(&self, task: &Task, effective: &str) -> Result<Found, TaskError>;

    /// Whether pictures made by earlier tasks are replaced by the original picture unless configured otherwise.
    fn replaces_images(&self) -> bool {
        false
    }

    /// The task types in words, as the pipeline form plans with them. They are those that are offered unless the source
    /// knows more.
    async fn records(&self) -> Result<Records, TaskError> {
        let words = |kinds: &mut dyn Iterator<Item = jarvis_plan::Kind>| {
            let mut words: Vec<String> = Vec::new();
            for kind in kinds {
                if !words.iter().any(|word| word == kind.as_str()) {
                    words.push(kind.as_str().to_owned());
                }
            }
            words
        };
        let record = |tool: &Tool| ServiceTask {
            id: tool.name.clone(),
            description: tool.description.clone(),
            inputs: words(&mut tool.params.iter().map(|param| param.kind)),
            outputs: words(&mut tool.outputs.iter().copied()),
            ..ServiceTask::default()
        };
        let tasks = self.tasks().await?.offered.iter().map(record).collect();
        Ok(Records { tasks, notes: Vec::new() })
    }

    /// Every model of a task that the pipeline form may choose from. May be empty.
    async fn models_of(&self, task: &str) -> Result<Vec<ServiceModel>, TaskError> {
        let planned = Task {
            task: task.to_owned(),
            id: jarvis_plan::TaskId(0),
            dep: Vec::new(),
            args: [("text".to_owned(), jarvis_plan::Arg::literal("x"))].into_iter().collect(),
            unfolded_from: None,
            faults: Vec::new(),
        };
        let named = |id: &str, host: Option<Host>| ServiceModel { id: id.to_owned(), host, ..ServiceModel::default() };
        match self.find(&planned, task).await {
            Ok(Found::Fixed { chosen, .. }) => Ok(vec![named(&chosen.id, chosen.host.parse().ok())]),
            Ok(Found::Among(candidates)) => {
                let model = |available: &Available| ServiceModel {
                    description: available.model.description.clone(),
                    likes: available.model.likes,
                    tags: available.model.tags.clone(),
                    ..named(&available.model.id, Some(available.host))
                };
                Ok(candidates.models.iter().map(model).collect())
            }
            Err(error) => match error.code {
                ErrorCode::NoModel | ErrorCode::UnsupportedTask => Ok(Vec::new()),
                _ => Err(error),
            },
        }
    }

    /// Examples of pipelines, to show a planner and to try prompts with; none unless the source has some.
    async fn examples(&self) -> Arc<Examples> {
        Arc::default()
    }

    fn refresh(&self) {}
}

/// Task types in words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Records {
    pub tasks: Vec<ServiceTask>,
    /// What is odd about them, such as that they are an earlier reply.
    pub notes: Vec<String>,
}

/// Tells whether a native model can work here; the error says what is missing.
pub type NativeCheck = Arc<dyn Fn(&str) -> Result<(), TaskError> + Send + Sync>;

/// The models of this machine as candidates.
pub type LocalCandidates = Arc<dyn Fn() -> Arc<[Available]> + Send + Sync>;

/// A hint for a task type.
pub type LocalHint = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

#[derive(Clone)]
pub struct Sources {
    pub catalogue: Catalogue,
    /// Asks which of them can be used now; `None` when nothing beyond this process is configured.
    pub prober: Option<Prober>,
    pub wanted: Wanted,
    pub model_server: bool,
    pub huggingface: bool,
    pub native: NativeCheck,
    /// Models at configured OpenAI-compatible endpoints, and tools that serve a task type.
    pub endpoints: Vec<Available>,
    /// Models that jarvis runs itself. Asked again for each plan, since models are pulled and removed meanwhile.
    pub local: LocalCandidates,
    /// What to do so that a local model serves a task type, as a hint; nothing where jarvis knows no such model.
    pub local_hint: LocalHint,
    /// Tools of the configuration, each a task of its own name.
    pub tools: Vec<Tool>,
    /// Tools that need no configuration: a chat model is offered them, and the offline planner asks attached tables and lists
    /// attached files with them.
    pub native_tools: Vec<Tool>,
    /// The name of the chat model that performs tasks itself, where there is one.
    pub chat: Option<String>,
}

impl Sources {
    /// The models of a catalogue, with every native one working and nothing else configured.
    pub fn new(catalogue: Catalogue, wanted: Wanted) -> Sources {
        Sources {
            catalogue,
            prober: None,
            wanted,
            model_server: false,
            huggingface: false,
            native: Arc::new(|_| Ok(())),
            endpoints: Vec::new(),
            local: Arc::new(Arc::default),
            local_hint: Arc::new(|_| None),
            tools: Vec::new(),
            native_tools: Vec::new(),
            chat: None,
        }
    }

    /// Whether something is configured that can call a model of this host: of Hugging Face's, also a model server that may have
    /// it loaded.
    pub fn is_configured(&self, id: &str, host: Host) -> bool {
        match host {
            Host::Native => (self.native)(id).is_ok(),
            Host::Huggingface => self.huggingface || self.model_server,
            Host::Local => self.model_server || (self.local)().iter().any(|one| one.model.id == id),
            Host::Llm => self.chat.is_some(),
            Host::Tool => true,
            Host::Api => false,
        }
    }

    /// Models and tools that are taken to be available without being asked: at endpoints, and on this machine.
    pub fn ready(&self) -> Vec<Available> {
        self.endpoints.iter().chain((self.local)().iter()).cloned().collect()
    }

    /// Every name that a plan may hold: the task types, and the tools of the configuration.
    pub fn vocabulary(&self) -> Vocabulary {
        let builtin = jarvis_catalogue::vocabulary();
        let own: Vec<&Tool> = self.own_tools(true).collect();
        if own.is_empty() {
            return builtin;
        }
        Vocabulary::new(builtin.tools().iter().chain(own).cloned().collect())
    }

    /// The same with these tools, each in the place of one of its name.
    pub(crate) fn with_tools(&self, tools: &[Tool]) -> Sources {
        let mut sources = self.clone();
        let stays = |tool: &Tool| tools.iter().all(|new| new.name != tool.name);
        sources.tools.retain(stays);
        sources.native_tools.retain(stays);
        sources.tools.extend_from_slice(tools);
        sources
    }

    /// The tools that are tasks of their own names.
    fn own_tools(&self, chat_model: bool) -> impl Iterator<Item = &Tool> {
        self.tools.iter().chain(self.native_tools.iter().filter(move |_| chat_model))
    }

    pub(crate) fn tool(&self, name: &str) -> Option<Candidate> {
        let tool = self.own_tools(true).find(|tool| tool.name == name)?;
        Some(Candidate { id: tool.name.clone(), host: Host::Tool.into(), effective_task: tool.name.clone() })
    }

    /// Whether the configuration names a tool that serves the task: whoever did wants it called.
    pub(crate) fn is_served_by_tool(&self, task: &str) -> bool {
        self.endpoints.iter().any(|one| one.host == Host::Tool && one.model.task == task)
    }

    pub fn offered(&self, chat_model: bool) -> Vec<Tool> {
        let ready = self.ready();
        let served = |task: &TaskType| !self.performers_among(&ready, task, chat_model).is_empty();
        // Whoever writes `each` needs no task for the copies of one.
        let own = self.own_tools(chat_model).filter(|tool| tool.name != ATTACHED_FILES);
        let mut offered = jarvis_catalogue::tools(served).tools().to_vec();
        offered.extend(own.cloned());
        offered
    }

    /// Where a task may be performed as configured, with the name of the tool or of the model at an endpoint.
    pub fn performers(&self, task: &TaskType, chat_model: bool) -> Vec<(Host, Option<String>)> {
        self.performers_among(&self.ready(), task, chat_model)
    }

    fn performers_among(&self, ready: &[Available], task: &TaskType, chat_model: bool) -> Vec<(Host, Option<String>)> {
        let mut hosts = Vec::new();
        if chat_model && task.is_chat_served() {
            hosts.push((Host::Llm, None));
        }
        let named = ready.iter().filter(|one| one.model.task == task.name);
        hosts.extend(named.map(|one| (one.host, Some(one.model.id.clone()))));
        if !self.native(task.name).is_empty() {
            hosts.push((Host::Native, None));
        }
        let candidates = self.catalogue.candidates(task.name, &self.wanted);
        let at_hub = candidates.iter().any(|model| model.host == Host::Huggingface);
        let at_server = matches!(task.family, Family::Control | Family::ControlGeneration)
            || candidates.iter().any(|model| model.host == Host::Local);
        if self.huggingface && at_hub {
            hosts.push((Host::Huggingface, None));
        }
        // A Hub model may be loaded on the model server too.
        if self.model_server && (at_server || self.huggingface && at_hub) {
            hosts.push((Host::Local, None));
        }
        hosts
    }

    /// Native models of a task that can work here, in catalogue order.
    pub(crate) fn native(&self, task: &str) -> Vec<Available> {
        self.catalogue
            .candidates(task, &Wanted::native_only())
            .into_iter()
            .filter(|model| (self.native)(&model.id).is_ok())
            .map(|model| Available { host: model.host, model })
            .collect()
    }
}
