//! Stage 2: who performs a task. At most one model call, and none where there is nothing to choose.

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_ask::{AskError, Events};
use jarvis_catalogue::Host;
use jarvis_catalogue::{Available, metas, rank};
use jarvis_chat::ChatError;
use jarvis_engine::{Selector, Tell};
use jarvis_plan::{ErrorCode, Level, Request, Selection, Task, TaskError};
use jarvis_prompt::reader::{Want, read_json};
use serde_json::{Value, json};

use crate::fit;
use crate::prompts::ChooseModel;
use crate::source::{Candidates, Found, ModelSource};
use crate::stages::Stages;

const STAGE: &str = "choose_model";

pub(crate) struct Chooser {
    /// Without them, the models are ranked.
    pub(crate) stages: Option<Stages>,
    pub(crate) source: Arc<dyn ModelSource>,
    pub(crate) request: Arc<Request>,
    /// Whether the chat model is asked for its reason even where there is one model only.
    pub(crate) explain_single: bool,
}

/// A choice, and among how many it was made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chosen {
    pub(crate) selection: Selection,
    pub(crate) among: usize,
}

#[async_trait]
impl Selector for Chooser {
    async fn select(&self, task: &Task, _: &Events, guess: Tell<'_>) -> Result<Selection, TaskError> {
        self.choose(task, guess).await.map(|chosen| chosen.selection)
    }
}

/// The type of task that is really run: control generation without text is something else.
pub(crate) fn effective(task: &Task) -> &str {
    let has_text = task.args.get("text").is_some_and(|text| {
        text.references().next().is_some() || text.as_literal().is_some_and(|text| !text.trim().is_empty())
    });
    effective_of(&task.task, has_text)
}

/// The same for a task type with or without text.
pub(crate) fn effective_of(task: &str, has_text: bool) -> &str {
    jarvis_catalogue::find(task).map_or(task, |kind| kind.effective(has_text))
}

impl Chooser {
    /// Chooses; `guess` is told who is ranked best before the chat model is asked.
    pub(crate) async fn choose(&self, task: &Task, guess: Tell<'_>) -> Result<Chosen, TaskError> {
        let effective = effective(task);
        match self.source.find(task, effective).await? {
            Found::Fixed { chosen, fallbacks, reason } => {
                let selection = Selection { task: task.id, chosen, fallbacks, reason, notes: Vec::new() };
                Ok(Chosen { selection, among: 1 })
            }
            Found::Among(candidates) => self.among(task, effective, candidates, guess).await,
        }
    }

    async fn among(
        &self,
        task: &Task,
        effective: &str,
        candidates: Candidates,
        guess: Tell<'_>,
    ) -> Result<Chosen, TaskError> {
        let Candidates { models, fallbacks, count, native_first, note } = candidates;
        let ranked = rank(&models, &self.request.text, effective, native_first);
        let mut order: Vec<(Available, String)> =
            ranked.into_iter().map(|ranked| (ranked.candidate, ranked.reason)).collect();
        if let (Some(note), Some((_, reason))) = (&note, order.first_mut()) {
            *reason = format!("the catalogue lists it, and {note}");
        }
        let unsure = note.is_some();
        let mut notes: Vec<String> = note.into_iter().collect();
        match &self.stages {
            Some(stages) if models.len() > 1 || self.explain_single => {
                if let Some((best, _)) = order.first() {
                    guess(best.candidate(effective));
                }
                // Without a usable reply the first candidate in catalogue order is taken, those on the model server first.
                let choice = self.ask(stages, task, &models).await?;
                if let Some(note) = choice.note {
                    stages.ask.events().note(Level::Warning, format!("task {}: {note}", task.id.number()));
                    notes.push(note);
                }
                order.sort_by_key(|(candidate, _)| candidate.model.id != choice.id);
                if let (Some((_, reason)), Some(given)) = (order.first_mut(), choice.reason) {
                    *reason = given;
                }
            }
            Some(_) => {
                if let Some((_, reason)) = order.first_mut().filter(|_| !unsure) {
                    *reason = "Only one model available.".into();
                }
            }
            None => {}
        }
        let mut order = order.into_iter();
        let Some((chosen, reason)) = order.next() else {
            return Err(TaskError::new(ErrorCode::NoModel, format!("no available models: {effective}")));
        };
        let fallbacks =
            order.map(|(candidate, _)| candidate).chain(fallbacks).map(|model| model.candidate(effective)).collect();
        let selection = Selection { task: task.id, chosen: chosen.candidate(effective), fallbacks, reason, notes };
        Ok(Chosen { selection, among: count })
    }

    /// Asks the chat model to choose. What goes wrong becomes the note of a fallback choice; only a recording that does
    /// not hold the call is an error, since a replay must not go other ways than the recorded run.
    async fn ask(&self, stages: &Stages, task: &Task, available: &[Available]) -> Result<Choice, TaskError> {
        let Stages { ask, prompts, settings } = stages;
        let ids: Vec<&str> = available.iter().map(|available| available.model.id.as_str()).collect();
        let metas = serde_json::to_value(metas(available, settings.max_description)).expect("its keys are texts");
        let levels = fit::levels(&self.request.text, &serde_json::to_value(task).expect("its keys are texts"));
        let chosen = async {
            let question = ask
                .stage(STAGE)
                .task(i64::from(task.id.0))
                .fitted(&levels, |(input, task)| prompts.choose_model(&ChooseModel { input, task, metas: &metas }))?;
            let question = question.favour(r#"{"id": "reason"}"#, settings.choose_bias);
            let question = question.schema("choice", || choice_schema(&ids));
            question.read(|reply| read_choice(&reply.text, &ids).ok_or("its reply names none of the candidates")).await
        };
        match chosen.await {
            Ok(choice) => Ok(choice),
            Err(error) if error.is_replay_miss() => Err(ChatError::from(error).into()),
            Err(error) => {
                let first = available.iter().find(|model| model.host == Host::Local).or(available.first());
                let id = first.map(|available| available.model.id.clone()).unwrap_or_default();
                let note = format!("{}; the first model was taken", no_choice(&error, "candidates"));
                Ok(Choice { id, reason: Some(note.clone()), note: Some(note) })
            }
        }
    }
}

/// Why there is no choice among `those`.
pub(crate) fn no_choice(error: &AskError, those: &str) -> String {
    match error {
        AskError::Prompt { source, .. } => format!("the prompt cannot be made ({source})"),
        AskError::TooLong { source, .. } => source.to_string(),
        AskError::Model { source, .. } => format!("the choosing call failed ({source})"),
        AskError::Unreadable { .. } => format!("the choosing reply names none of the {those}"),
    }
}

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
    if let Some(given) = field("id").filter(|given| !given.is_empty()) {
        if ids.contains(&given.as_str()) {
            return Some(Choice { id: given, reason, note: None });
        }
        let folded = given.to_lowercase();
        let by_case = ids.iter().filter(|id| id.to_lowercase() == folded);
        let tail = folded.rsplit('/').next().unwrap_or(&folded);
        let by_tail = ids.iter().filter(|id| id.to_lowercase().rsplit('/').next() == Some(tail));
        if let Some(id) = only(by_case).or_else(|| only(by_tail)) {
            let note = Some(format!("the chosen id `{given}` was taken to mean `{id}`"));
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

/// Chooses what was chosen before, in a plan or by a run that goes on, and leaves the rest to another.
pub(crate) struct Pinned {
    /// By the ids of tasks.
    pub(crate) pins: Vec<Option<Selection>>,
    pub(crate) other: Arc<dyn Selector>,
}

#[async_trait]
impl Selector for Pinned {
    async fn select(&self, task: &Task, events: &Events, guess: Tell<'_>) -> Result<Selection, TaskError> {
        let pinned = usize::try_from(task.id.0).ok().and_then(|id| self.pins.get(id)?.clone());
        match pinned {
            Some(selection) => Ok(selection),
            None => self.other.select(task, events, guess).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;

    use super::read_choice;

    #[test]
    fn an_id_is_recognised_in_every_form() {
        let ids = ["facebook/detr-resnet-50", "facebook/detr-resnet-101", "google/owlvit", "google/owlvit-large"];
        for (reply, want) in rows::<(String, Option<String>)>(include_str!("cases.yaml"), "choices") {
            assert_eq!(read_choice(&reply, &ids).map(|choice| choice.id), want, "{reply}");
        }
    }
}
