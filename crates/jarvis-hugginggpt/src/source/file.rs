//! The source of this machine: the catalogue, native and local models, tools, and what the model server and Hugging Face have ready.

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_catalogue::{Available, Family, Host, InferenceMode, TaskType, Wanted};
use jarvis_plan::{Candidate, ErrorCode, Task, TaskError};

use super::{CHAT_MODEL_ID, Candidates, Found, ModelSource, Sources, Tasks, chat_model};
use crate::decisions::examples::Examples;

pub struct FileSource {
    sources: Arc<Sources>,
    /// The id of the chat model.
    chat: Option<String>,
    shown: usize,
    unprobed: bool,
    /// The tasks that the chat model serves; those of the registry unless set.
    pub served: Option<Vec<String>>,
    pub examples: Arc<Examples>,
}

impl FileSource {
    /// For running: only models that answer now. `chat` is the name of the chat model, `shown` how many models are shown to
    /// it.
    pub fn for_running(sources: Arc<Sources>, chat: Option<String>, shown: usize) -> FileSource {
        FileSource { sources, chat, shown, unprobed: false, served: None, examples: Arc::default() }
    }

    /// For planning: where no model is available now, the first models of the catalogue, as the original does.
    pub fn for_planning(sources: Arc<Sources>, chat: bool, shown: usize) -> FileSource {
        let chat = chat.then(|| CHAT_MODEL_ID.to_owned());
        FileSource { unprobed: true, ..FileSource::for_running(sources, chat, shown) }
    }

    fn is_served(&self, kind: &TaskType) -> bool {
        self.chat.is_some()
            && match &self.served {
                Some(served) => served.iter().any(|task| task == kind.name),
                None => kind.is_chat_served(),
            }
    }

    /// A tool of the configuration that serves a task which otherwise has one performer: whoever configured it wants it used.
    fn tool_for(&self, kind: &TaskType) -> Option<Found> {
        let controlled = matches!(kind.family, Family::Control | Family::ControlGeneration);
        if !controlled && !self.is_served(kind) {
            return None;
        }
        let serves = |one: &&Available| one.host == Host::Tool && one.model.task == kind.name;
        let chosen = self.sources.endpoints.iter().find(serves)?.candidate(kind.name);
        let chat = self.chat.as_deref().map(|id| chat_model(id, Host::Llm, kind.name));
        let native = self.sources.native(kind.name);
        let fallbacks = chat.filter(|_| !controlled).into_iter();
        let fallbacks = fallbacks.chain(native.iter().map(|model| model.candidate(kind.name))).collect();
        Some(Found::Fixed { chosen, fallbacks, reason: "the configuration says that this tool serves it".into() })
    }

    /// Control tasks run on the model server, or natively; there is nothing to probe and nothing to ask.
    fn control(&self, kind: &TaskType) -> Result<Found, TaskError> {
        let mut candidates = Vec::new();
        if self.sources.model_server
            && jarvis_catalogue::where_probed(self.sources.wanted.mode, self.sources.wanted.deployment).control
            && let Some(id) = kind.control_model()
        {
            candidates.push(Candidate { id, host: Host::Local.into(), effective_task: kind.name.into() });
        }
        candidates.extend(self.sources.native(kind.name).iter().map(|model| model.candidate(kind.name)));
        let mut candidates = candidates.into_iter();
        match candidates.next() {
            Some(chosen) => Ok(Found::Fixed {
                reason: match chosen.host == Host::Local {
                    true => "control models run on the model server".into(),
                    false => "it runs inside jarvis".into(),
                },
                chosen,
                fallbacks: candidates.collect(),
            }),
            None => Err(TaskError::new(
                ErrorCode::NoModel,
                format!("`{}` runs on a model server only, and none is configured", kind.name),
            )
            .hint("set `local_inference_endpoint` to a server that speaks the HuggingGPT model-server protocol")),
        }
    }

    /// The models elsewhere that can be used now, in catalogue order, at most as many as are shown, and how many there
    /// are.
    async fn elsewhere(&self, task: &str) -> (Vec<Available>, usize) {
        let mut available = self.sources.ready();
        available.retain(|one| one.model.task == task);
        if let Some(prober) = &self.sources.prober {
            let candidates = self.sources.catalogue.candidates(task, &self.sources.wanted);
            available.extend(prober.available(&candidates).await.available);
        }
        let count = available.len();
        available.truncate(self.shown);
        (available, count)
    }

    /// The first models of the catalogue, whether or not they answer; none in a mode that keeps to this machine.
    fn listed(&self, task: &str) -> (Vec<Available>, usize) {
        if self.sources.wanted.mode == InferenceMode::Local {
            return (Vec::new(), 0);
        }
        let wanted = Wanted { native: false, remote: true, ..self.sources.wanted };
        let models = self.sources.catalogue.candidates(task, &wanted);
        let count = models.len();
        let listed = models.into_iter().take(self.shown).map(|model| Available { host: Host::Huggingface, model });
        (listed.collect(), count)
    }

    async fn among(&self, kind: &TaskType) -> Result<Found, TaskError> {
        let native = self.sources.native(kind.name);
        let (models, count) = self.elsewhere(kind.name).await;
        // Native models are simple tools: where a real model answers they are the way out, not a choice. But a specialty (reading
        // writing rather than describing) is no worse way to do the same.
        if !models.is_empty() {
            let (special, fallbacks): (Vec<Available>, Vec<Available>) =
                native.into_iter().partition(|native| native.model.specialty && self.is_on_this_machine(&models));
            let count = count + special.len();
            let models = models.into_iter().chain(special).collect();
            return Ok(Found::Among(Candidates { models, count, fallbacks, native_first: false, note: None }));
        }
        if !native.is_empty() {
            let count = native.len();
            return Ok(Found::Among(Candidates { models: native, count, native_first: true, ..Candidates::default() }));
        }
        if self.unprobed {
            let (models, count) = self.listed(kind.name);
            if !models.is_empty() {
                let note = Some("none of its models is known to be available now".to_owned());
                return Ok(Found::Among(Candidates { models, count, note, ..Candidates::default() }));
            }
        }
        Err(self.unavailable(kind))
    }

    /// Whether all of these are local models in this process.
    fn is_on_this_machine(&self, models: &[Available]) -> bool {
        let local = (self.sources.local)();
        models.iter().all(|one| local.contains(one))
    }

    /// Why a task has no performer, and what to configure.
    fn unavailable(&self, kind: &TaskType) -> TaskError {
        let missing = self
            .sources
            .catalogue
            .candidates(kind.name, &Wanted::native_only())
            .into_iter()
            .find_map(|model| (self.sources.native)(&model.id).err());
        if self.sources.prober.is_some() {
            let hint = missing.and_then(|error| error.hint).unwrap_or_else(|| {
                format!("`jarvis models probe --task {}` says why each model is unavailable", kind.name)
            });
            return TaskError::new(ErrorCode::NoModel, format!("no available models: {}", kind.name)).hint(hint);
        }
        if let Some(error) = missing {
            return error;
        }
        let error = TaskError::new(ErrorCode::NoModel, format!("nothing is configured that can do `{}`", kind.name));
        if let Some(hint) = (self.sources.local_hint)(kind.name) {
            return error.hint(hint);
        }
        error.hint(
            if kind.is_chat_served() {
                "configure a chat model (`llm.model`), for example `gpt-4o-mini`, or `auto` for one that runs on this machine"
            } else {
                "set HF_TOKEN to use Hugging Face, or `local_inference_endpoint` to use a model server; `jarvis doctor` \
                 says what works"
            },
        )
    }
}

#[async_trait]
impl ModelSource for FileSource {
    async fn tasks(&self) -> Result<Tasks, TaskError> {
        let vocabulary = Arc::new(self.sources.vocabulary());
        Ok(Tasks { vocabulary, offered: self.sources.offered(self.chat.is_some()) })
    }

    async fn examples(&self) -> Arc<Examples> {
        Arc::clone(&self.examples)
    }

    async fn find(&self, task: &Task, effective: &str) -> Result<Found, TaskError> {
        let Some(kind) = jarvis_catalogue::find(effective) else {
            if let Some(chosen) = self.sources.tool(effective) {
                let reason = "it is a tool of the configuration".to_owned();
                return Ok(Found::Fixed { chosen, fallbacks: Vec::new(), reason });
            }
            return Err(TaskError::new(ErrorCode::UnsupportedTask, format!("no task type `{}` is known", task.task)));
        };
        if let Some(found) = self.tool_for(kind) {
            return Ok(found);
        }
        match kind.family {
            Family::Control | Family::ControlGeneration => self.control(kind),
            Family::ChatServed | Family::Ordinary => match self.chat.as_deref().filter(|_| self.is_served(kind)) {
                Some(id) => Ok(Found::Fixed {
                    chosen: chat_model(id, Host::Llm, kind.name),
                    fallbacks: self.sources.native(kind.name).iter().map(|model| model.candidate(kind.name)).collect(),
                    reason: "the chat model serves this task itself".into(),
                }),
                None => self.among(kind).await,
            },
        }
    }
}
