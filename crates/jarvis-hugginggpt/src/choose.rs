//! Stage 2: who performs a task. At most one model call, and none where there is nothing to choose.

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_catalogue::{Available, Catalogue, Family, Model, Prober, TaskType, Wanted, metas, rank};
use jarvis_chat::{ChatError, ChatModel, ChatRequest, Message, ReplySchema, budget};
use jarvis_engine::{Events, Selector};
use jarvis_plan::{Candidate, ErrorCode, Host, Level, Request, Selection, Task, TaskError, Tool};
use jarvis_prompt::reader::{Want, read_json};
use jarvis_workers::call_model;
use serde_json::{Value, json};

use crate::answer::{INPUT_SHOWN, cut};
use crate::prompts::{ChooseModel, Prompts};
use crate::results::shorten;
use crate::settings::Settings;

const STAGE: &str = "choose_model";

/// The id by which a task served by the chat model itself is chosen, as in the original.
pub const CHAT_MODEL_ID: &str = "ChatGPT";

/// Tells whether a native model can work here; the error says what is missing.
pub type NativeCheck = Arc<dyn Fn(&str) -> Result<(), TaskError> + Send + Sync>;

/// Where performers of tasks come from.
pub struct Sources {
    /// Every known model.
    pub catalogue: Catalogue,
    /// Asks which of them can be used now; `None` when nothing beyond this process is configured.
    pub prober: Option<Prober>,
    /// Which candidates the mode and deployment allow.
    pub wanted: Wanted,
    /// Whether a model server is configured.
    pub model_server: bool,
    /// Whether Hugging Face is configured.
    pub huggingface: bool,
    /// Which native models can work here.
    pub native: NativeCheck,
    /// Models at configured OpenAI-compatible endpoints: always taken to be available.
    pub endpoints: Vec<Available>,
}

impl Sources {
    /// The task types that something can serve as configured.
    pub fn offered(&self, chat_model: bool) -> Vec<Tool> {
        let served = |task: &TaskType| {
            let remote = |model: &Arc<Model>| match model.host {
                Host::Huggingface => self.huggingface,
                Host::Local => self.model_server,
                Host::Native | Host::Llm | Host::Tool => false,
            };
            let controlled = matches!(task.family, Family::Control | Family::ControlGeneration);
            (chat_model && task.is_chat_served())
                || (controlled && self.model_server)
                || self.endpoints.iter().any(|endpoint| endpoint.model.task == task.name)
                || !self.native(task.name).is_empty()
                || self.catalogue.candidates(task.name, &self.wanted).iter().any(remote)
        };
        jarvis_catalogue::tools(served).tools().to_vec()
    }

    /// Native models of a task that can work here, in catalogue order.
    fn native(&self, task: &str) -> Vec<Available> {
        self.catalogue
            .candidates(task, &Wanted::native_only())
            .into_iter()
            .filter(|model| (self.native)(&model.id).is_ok())
            .map(|model| Available { host: model.host, model })
            .collect()
    }
}

/// Chooses for the tasks of one request.
pub(crate) struct Chooser {
    pub(crate) chat: Option<Arc<dyn ChatModel>>,
    pub(crate) sources: Arc<Sources>,
    pub(crate) prompts: Arc<Prompts>,
    pub(crate) settings: Settings,
    pub(crate) request: Arc<Request>,
}

#[async_trait]
impl Selector for Chooser {
    async fn select(&self, task: &Task, events: &Events) -> Result<Selection, TaskError> {
        let Some(kind) = jarvis_catalogue::find(&task.task) else {
            return Err(TaskError::new(ErrorCode::UnsupportedTask, format!("no task type `{}` is known", task.task)));
        };
        let has_text = task.args.get("text").is_some_and(|text| {
            text.references().next().is_some() || text.as_literal().is_some_and(|text| !text.trim().is_empty())
        });
        let effective = kind.effective(has_text);
        let kind = jarvis_catalogue::find(effective).unwrap_or(kind);
        match kind.family {
            Family::Control | Family::ControlGeneration => self.control(task, kind),
            Family::ChatServed if self.chat.is_some() => Ok(Selection {
                task: task.id,
                chosen: Candidate { id: CHAT_MODEL_ID.into(), host: Host::Llm, effective_task: effective.into() },
                fallbacks: self.sources.native(effective).iter().map(|model| model.candidate(effective)).collect(),
                reason: "the chat model serves this task itself".into(),
                notes: Vec::new(),
            }),
            Family::ChatServed | Family::Ordinary => self.among(task, kind, events).await,
        }
    }
}

impl Chooser {
    /// Control tasks run on the model server, or natively; there is nothing to probe and nothing to ask.
    fn control(&self, task: &Task, kind: &TaskType) -> Result<Selection, TaskError> {
        let mut candidates = Vec::new();
        if self.sources.model_server
            && jarvis_catalogue::where_probed(self.sources.wanted.mode, self.sources.wanted.deployment).control
            && let Some(id) = kind.control_model()
        {
            candidates.push(Candidate { id, host: Host::Local, effective_task: kind.name.into() });
        }
        candidates.extend(self.sources.native(kind.name).iter().map(|model| model.candidate(kind.name)));
        let mut candidates = candidates.into_iter();
        match candidates.next() {
            Some(chosen) => Ok(Selection {
                task: task.id,
                reason: match chosen.host {
                    Host::Local => "control models run on the model server".into(),
                    Host::Native | Host::Huggingface | Host::Llm | Host::Tool => "it runs inside jarvis".into(),
                },
                chosen,
                fallbacks: candidates.collect(),
                notes: Vec::new(),
            }),
            None => Err(TaskError::new(
                ErrorCode::NoModel,
                format!("`{}` runs on a model server only, and none is configured", kind.name),
            )
            .hint("set `local_inference_endpoint` to a server that speaks the HuggingGPT model-server protocol")),
        }
    }

    /// The models elsewhere that can be used now, in catalogue order, at most as many as are shown.
    async fn elsewhere(&self, task: &str) -> Vec<Available> {
        let mut available: Vec<Available> =
            self.sources.endpoints.iter().filter(|endpoint| endpoint.model.task == task).cloned().collect();
        if let Some(prober) = &self.sources.prober {
            let candidates = self.sources.catalogue.candidates(task, &self.sources.wanted);
            available.extend(prober.available(&candidates).await.available);
        }
        available.truncate(self.settings.num_candidates);
        available
    }

    async fn among(&self, task: &Task, kind: &TaskType, events: &Events) -> Result<Selection, TaskError> {
        let native = self.sources.native(kind.name);
        let mut available = self.elsewhere(kind.name).await;
        // Native models are measured, simple tools: where a real model answers they are the way out, not a choice.
        let (native_first, way_out) = if available.is_empty() { (true, Vec::new()) } else { (false, native.clone()) };
        if native_first {
            available = native;
        }
        if available.is_empty() {
            return Err(self.nobody(kind));
        }
        let ranked = rank(&available, &self.request.text, kind.name, native_first);
        let mut order: Vec<(Available, String)> =
            ranked.into_iter().map(|ranked| (ranked.candidate, ranked.reason)).collect();
        let mut notes = Vec::new();
        match &self.chat {
            Some(chat) if available.len() > 1 => {
                // Without a usable reply the first candidate in catalogue order is taken, those on the model server first.
                let choice = self.ask(chat.as_ref(), task, &available, events).await?;
                if let Some(note) = choice.note {
                    events.note(Level::Warning, format!("task {}: {note}", task.id));
                    notes.push(note);
                }
                order.sort_by_key(|(candidate, _)| candidate.model.id != choice.id);
                if let (Some((_, reason)), Some(given)) = (order.first_mut(), choice.reason) {
                    *reason = given;
                }
            }
            Some(_) => {
                if let Some((_, reason)) = order.first_mut() {
                    *reason = "Only one model available.".into();
                }
            }
            None => {}
        }
        let mut order = order.into_iter();
        let Some((chosen, reason)) = order.next() else { return Err(self.nobody(kind)) };
        let fallbacks =
            order.map(|(candidate, _)| candidate).chain(way_out).map(|model| model.candidate(kind.name)).collect();
        Ok(Selection { task: task.id, chosen: chosen.candidate(kind.name), fallbacks, reason, notes })
    }

    /// Why nobody can perform a task, and what to configure.
    fn nobody(&self, kind: &TaskType) -> TaskError {
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
        TaskError::new(ErrorCode::NoModel, format!("nothing is configured that can do `{}`", kind.name)).hint(
            if kind.is_chat_served() {
                "set a chat model, for example `--llm gpt-4o-mini` or `--llm qwen3:8b --base-url http://localhost:11434/v1`"
            } else {
                "set HF_TOKEN to use Hugging Face, or `local_inference_endpoint` to use a model server; `jarvis doctor` \
                 says what works"
            },
        )
    }

    /// Asks the chat model to choose. What goes wrong becomes the note of a fallback choice; only a recording that does
    /// not hold the call is an error, since a replay must not go other ways than the recorded run.
    async fn ask(
        &self,
        chat: &dyn ChatModel,
        task: &Task,
        available: &[Available],
        events: &Events,
    ) -> Result<Choice, TaskError> {
        let first = available.iter().find(|model| model.host == Host::Local).or(available.first());
        let first = first.map(|available| available.model.id.clone()).unwrap_or_default();
        let fallback = |note: String| Choice { id: first.clone(), reason: None, note: Some(note) };
        let metas = serde_json::to_value(metas(available, self.settings.max_description)).unwrap_or_default();
        let planned = serde_json::to_value(task).unwrap_or_default();
        let tasks = INPUT_SHOWN.map(|most| {
            let mut shown = planned.clone();
            shorten(&mut shown, most, |value| value.to_string().len());
            shown
        });
        let inputs = INPUT_SHOWN.map(|most| cut(&self.request.text, most));
        let turns = |level: usize| {
            let input = inputs.get(level).map_or("", |input| input.as_str());
            let task = tasks.get(level).unwrap_or(&Value::Null);
            self.prompts.choose_model(&ChooseModel { input, task, metas: &metas })
        };
        if let Err(error) = turns(0) {
            return Ok(fallback(format!("the prompt cannot be made ({error}); the first model was taken")));
        }
        let build = |level: usize| turns(level).unwrap_or_default().into_iter().map(Message::from).collect();
        let messages = match budget::fit(chat, STAGE, self.settings.reserve_tokens, INPUT_SHOWN.len() - 1, build) {
            Ok(messages) => messages,
            Err(error) => return Ok(fallback(format!("{error}; the first model was taken"))),
        };
        let mut call = ChatRequest::exact(STAGE, messages);
        if let Some(bias) = self.settings.choose_bias {
            let ids = chat.token_ids(STAGE, r#"{"id": "reason"}"#);
            call.logit_bias = ids.into_iter().map(|id| (id, bias)).collect();
        }
        if self.settings.structured {
            let ids: Vec<&str> = available.iter().map(|available| available.model.id.as_str()).collect();
            call.schema = Some(ReplySchema { name: "choice".into(), schema: choice_schema(&ids) });
        }
        let reply = match call_model(chat, events, Some(task.id), &call).await {
            Ok(reply) => reply.text,
            Err(error @ ChatError::ReplayMiss { .. }) => return Err(TaskError::from(error)),
            Err(error) => {
                return Ok(fallback(format!("the choosing call failed ({error}); the first model was taken")));
            }
        };
        let ids: Vec<&str> = available.iter().map(|available| available.model.id.as_str()).collect();
        Ok(read_choice(&reply, &ids).unwrap_or_else(|| {
            fallback("the choosing reply names none of the candidates; the first model was taken".into())
        }))
    }
}

/// A choice as read from a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) id: String,
    pub(crate) reason: Option<String>,
    pub(crate) note: Option<String>,
}

/// Reads a choice: the id exactly, then without regard to case, then by a unique suffix after `/`, then by the one
/// candidate that occurs in the text.
pub(crate) fn read_choice(reply: &str, ids: &[&str]) -> Option<Choice> {
    let read = read_json(reply, Want::Object).ok();
    let field = |name: &str| {
        read.as_ref().and_then(|read| read.value.get(name)).and_then(Value::as_str).map(|text| text.trim().to_owned())
    };
    let reason = field("reason").filter(|reason| !reason.is_empty());
    if let Some(said) = field("id").filter(|said| !said.is_empty()) {
        if ids.contains(&said.as_str()) {
            return Some(Choice { id: said, reason, note: None });
        }
        let folded = said.to_lowercase();
        let by_case = ids.iter().filter(|id| id.to_lowercase() == folded);
        let tail = folded.rsplit('/').next().unwrap_or(&folded);
        let by_tail = ids.iter().filter(|id| id.to_lowercase().rsplit('/').next() == Some(tail));
        if let Some(id) = only(by_case).or_else(|| only(by_tail)) {
            let note = Some(format!("the chosen id `{said}` was taken to mean `{id}`"));
            return Some(Choice { id: id.to_owned(), reason, note });
        }
    }
    // An id inside a longer one is not a mention of its own.
    let mentioned: Vec<&&str> = ids.iter().filter(|id| reply.contains(**id)).collect();
    let longest = mentioned.iter().copied().max_by_key(|id| id.len())?;
    let id = only(mentioned.into_iter().filter(|id| **id == *longest || !longest.contains(**id)))?;
    let note = Some(format!("the choosing reply was not the asked-for JSON; it mentions `{id}`"));
    Some(Choice { id: id.to_owned(), reason, note })
}

/// The element of an iterator that has exactly one.
fn only<'a>(mut ids: impl Iterator<Item = &'a &'a str>) -> Option<&'a str> {
    let first = ids.next()?;
    ids.next().is_none().then_some(*first)
}

fn choice_schema(ids: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": {"id": {"type": "string", "enum": ids}, "reason": {"type": "string"}},
        "required": ["id", "reason"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::read_choice;

    #[track_caller]
    fn check(reply: &str, want: Option<&str>) {
        let ids = ["facebook/detr-resnet-50", "facebook/detr-resnet-101", "google/owlvit", "google/owlvit-large"];
        assert_eq!(read_choice(reply, &ids).map(|choice| choice.id).as_deref(), want, "{reply}");
    }

    #[test]
    fn an_id_is_recognised_in_every_form() {
        check(r#"{"id": "facebook/detr-resnet-50", "reason": "it's popular"}"#, Some("facebook/detr-resnet-50"));
        check(
            r#"```json
{"id": "FACEBOOK/DETR-resnet-101", "reason": "x"}
```"#,
            Some("facebook/detr-resnet-101"),
        );
        check(r#"{"id": "detr-resnet-50"}"#, Some("facebook/detr-resnet-50"));
        check(r#"{'id': 'google/owlvit', 'reason': 'don't know'}"#, Some("google/owlvit"));
        check("I would take google/owlvit-large here.", Some("google/owlvit-large"));
        check("either google/owlvit-large or facebook/detr-resnet-50", None);
        check(r#"{"id": "somebody/else"}"#, None);
        check("no idea", None);
        check("", None);
    }
}
