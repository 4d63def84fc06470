//! How a request is planned by experience.

use std::collections::HashSet;
use std::sync::Arc;

use jarvis_events::Events;
use jarvis_plan::{Level, Plan, Request, Tool, Vocabulary, check};
use jarvis_planner::Similar;

use super::reuse::Reused;
use super::{Demonstration, Known};
use crate::pipeline::HuggingGpt;
use crate::plan::missing;
use crate::settings::ExperienceUse;

/// What a plan from before was to a new request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Its plan, with other values.
    Reused,
    /// Shown to the chat model.
    Demonstration,
    /// Known to the offline planner.
    Evidence,
}

impl Use {
    pub fn as_str(self) -> &'static str {
        match self {
            Use::Reused => "reused",
            Use::Demonstration => "demonstration",
            Use::Evidence => "evidence",
        }
    }
}

/// A plan from before that counts for a new request.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// The run that it is of.
    pub id: String,
    /// 0 for nothing in common, 1 for the same words.
    pub likeness: f32,
    pub request: String,
    pub used: Use,
}

impl HuggingGpt {
    /// What is known of the runs of whoever asks; nothing where that is not used or cannot be read.
    pub(crate) async fn recall(&self, request: &Request, events: &Events) -> Arc<Known> {
        let Some(memory) = self.memory_for(request) else { return Arc::default() };
        memory.of_run(events).await.unwrap_or_else(|error| {
            events.note(Level::Warning, format!("experience cannot be read, and is not used: {error}"));
            Arc::default()
        })
    }

    /// Plans from before for the chat model, the most alike last.
    pub(crate) async fn demonstrations(
        &self,
        known: &Arc<Known>,
        request: &Request,
        tools: &[Tool],
        events: &Events,
    ) -> Vec<Demonstration> {
        let most = self.settings.experience_demos;
        let (shown, failure) = if known.evidence().reads_sentences() {
            let (known, text) = (Arc::clone(known), request.text.clone());
            let tools: Vec<Tool> = tools.to_vec();
            let found = tokio::task::spawn_blocking(move || known.demonstrations(&text, most, &names(&tools))).await;
            found.unwrap_or_else(|error| (Vec::new(), Some(error.to_string())))
        } else {
            known.demonstrations(&request.text, most, &names(tools))
        };
        if let Some(why) = failure {
            events.note(Level::Warning, format!("plans from before were looked for by words alone: {why}"));
        }
        shown
    }

    /// A plan from before that serves a request with other values, where that is wanted: one that has no fault and leaves nothing of the
    /// request undone.
    pub(crate) fn reuse(
        &self,
        known: &Known,
        request: &Request,
        tools: &[Tool],
        vocabulary: &Vocabulary,
        asked: Option<&Plan>,
    ) -> Option<Reused> {
        if self.settings.experience != ExperienceUse::Reuse {
            return None;
        }
        known.reusable(request, &names(tools)).into_iter().find(|reused| {
            let plan = check(&reused.draft, vocabulary, self.settings.plan);
            let is_sound = plan.tasks().iter().all(|task| task.faults.is_empty());
            let is_same = plan.notes().len() == reused.draft.notes.len();
            is_sound && is_same && !plan.tasks().is_empty() && missing(request, &plan, asked).is_empty()
        })
    }

    /// The plans from before that count when this request is planned, the most important first.
    pub async fn counted(&self, request: &Request, events: &Events) -> Vec<Counted> {
        let known = self.recall(request, events).await;
        let counted = |known: &Known, id: String, likeness: f32, request: String, used| {
            let request = known.place(&id).map_or(request, |one| one.entry.as_written());
            Counted { id, likeness, request, used }
        };
        if self.chat.is_none() {
            let (tools, planner) = (self.cache.plannable(&self.vocabulary, &self.sources), Arc::clone(&self.planner));
            let (asked, most) = (request.clone(), self.settings.experience_demos);
            let found = move || -> Vec<Counted> {
                let evidence = |Similar { likeness, past }: Similar<'_>| {
                    counted(&known, past.id.clone(), likeness, past.request.clone(), Use::Evidence)
                };
                planner.counted(&asked, &tools, known.evidence(), most).into_iter().map(evidence).collect()
            };
            return tokio::task::spawn_blocking(found).await.unwrap_or_default();
        }
        let offered = self.offered();
        if let Some(Reused { id, likeness, request, .. }) =
            self.reuse(&known, request, &offered, &self.vocabulary, None)
        {
            return vec![counted(&known, id, likeness, request, Use::Reused)];
        }
        let shown = self.demonstrations(&known, request, &offered, events).await.into_iter().rev();
        shown.map(|one| counted(&known, one.id, one.likeness, one.request, Use::Demonstration)).collect()
    }

    /// What the offline planner makes of each part of a request, for people to read.
    pub async fn explained_offline(&self, request: &Request, events: &Events) -> String {
        let known = self.recall(request, events).await;
        let (tools, planner) = (self.cache.plannable(&self.vocabulary, &self.sources), Arc::clone(&self.planner));
        let request = request.clone();
        let explained = move || planner.explained(&request, &tools, known.evidence()).unwrap_or_default();
        tokio::task::spawn_blocking(explained).await.unwrap_or_default()
    }
}

fn names(tools: &[Tool]) -> HashSet<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
}
