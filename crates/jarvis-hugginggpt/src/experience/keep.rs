//! What of a run that has ended is kept.

use jarvis_events::Events;
use jarvis_pipeline::Run;
use jarvis_plan::{Plan, Request};
use jarvis_store::Verdict;

use super::clean::{CUT, REDACTED};
use super::{Entry, PlanMemory};
use crate::pipeline::HuggingGpt;
use crate::settings::ExperienceUse;

impl Entry {
    /// Whether nothing was taken out of it.
    pub(super) fn is_whole(&self) -> bool {
        let plan = serde_json::to_string(self.plan.tasks()).unwrap_or_default();
        ![&self.request, &plan].iter().any(|text| text.contains(CUT) || text.contains(REDACTED))
    }
}

impl HuggingGpt {
    /// What is remembered, where this request may be planned by it.
    pub(super) fn memory_for(&self, request: &Request) -> Option<&PlanMemory> {
        let uses = matches!(self.settings.experience, ExperienceUse::Use | ExperienceUse::Reuse);
        self.memory.as_ref().filter(|_| uses && !request.without_experience)
    }

    /// Keeps the plan of a run that is about to end, before that is told, whoever carried it out. `given` says that a person gave the
    /// plan.
    pub fn keep_plan(&self, request: &Request, run: &Run, given: bool, events: &Events) {
        let off = self.settings.experience == ExperienceUse::Off || request.without_experience;
        let Some(memory) = self.memory.as_ref().filter(|_| !off) else { return };
        let says_nothing = request.text.trim().is_empty() || run.plan.tasks().is_empty();
        if run.cancelled || run.conversation || says_nothing || events.going().is_err() {
            return;
        }
        let is_ok = run.ok() && events.refused().is_none();
        let verdict = match (is_ok, is_as_planned(&run.plan, run)) {
            (false, _) => Verdict::Failed,
            (true, false) => Verdict::Mended,
            (true, true) if given => Verdict::Edited,
            (true, true) => Verdict::Succeeded,
        };
        let Some(entry) = Entry::new(request, &run.plan, &memory.secrets) else { return };
        let Ok(body) = serde_json::to_string(&entry) else { return };
        memory.journal.keep_experience(events.run_id(), verdict, body);
    }
}

/// Whether every task was planned at first and succeeded.
fn is_as_planned(plan: &Plan, run: &Run) -> bool {
    let is_sound = plan.tasks().iter().all(|task| task.faults.is_empty());
    let all_succeeded = run.outcomes.iter().all(jarvis_plan::Outcome::succeeded);
    run.rounds == 0 && is_sound && all_succeeded && run.outcomes.len() == plan.tasks().len()
}
