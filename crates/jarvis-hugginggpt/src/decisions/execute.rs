//! Executes a plan with the models it names. The stages after planning are those of every run.

use std::sync::Arc;

use indexmap::IndexMap;
use jarvis_engine::Events;
use jarvis_pipeline::{Run, RunError, report_end};
use jarvis_plan::{EventKind, Level, Request, Selection};
use tokio_util::sync::CancellationToken;

use super::Executable;
use crate::choose::Pinned;
use crate::course::Course;
use crate::pipeline::HuggingGpt;
use crate::settings::{Look, Settings};
use crate::source::CHAT_MODEL_ID;

impl HuggingGpt {
    /// Executes a plan with the models it names, their alternatives as fallbacks, and answers, with the
    /// events of [`HuggingGpt::run`]. For tasks without a model one is chosen now.
    ///
    /// # Errors
    /// When the answer's prompt cannot be made. Failed tasks are no error.
    pub async fn run_plan(
        &self,
        request: Arc<Request>,
        plan: &Executable,
        events: &Events,
        cancel: CancellationToken,
    ) -> Result<Run, RunError> {
        events.emit(EventKind::RunStarted {
            request: (*request).clone(),
            planner: "plan".into(),
            model: self.model_name(),
            pipeline: crate::NAME.to_owned(),
            door: String::new(),
            user: String::new(),
            settings: IndexMap::new(),
            given: Some(Box::new(plan.document.clone())),
        });
        let began = events.began();
        events.emit(EventKind::Plan { plan: plan.plan.clone() });
        for note in &plan.notes {
            events.note(Level::Info, note.clone());
        }
        let selector = Pinned { pins: self.credited(&plan.pins), other: Arc::new(self.chooser(&request, events)) };
        // A plan that a person has read gets no other tasks, unless it says that it is a first part, or they were asked for.
        let replan = match self.settings.replan {
            Look::Failures if !plan.plan.may_grow() => Look::Never,
            look => look,
        };
        let as_given = HuggingGpt { settings: Settings { replan, ..self.settings.clone() }, ..self.clone() };
        let engine = self.engine(&request, Arc::new(selector), events, began);
        let course = Course::start(engine, &cancel, plan.plan.clone(), Vec::new());
        let ended = as_given.carry_out(&request, course, events, &cancel, began).await;
        if let Ok(run) = &ended {
            self.keep_plan(&request, run, true, events);
        }
        report_end(ended, events, began)
    }

    /// Choices of a plan with the chat model under its own name, where the plan has the name that stands for any.
    fn credited(&self, pins: &[Option<Selection>]) -> Vec<Option<Selection>> {
        let mut pins = pins.to_vec();
        let Some(name) = self.worker_name() else { return pins };
        for selection in pins.iter_mut().flatten() {
            let candidates = std::iter::once(&mut selection.chosen).chain(&mut selection.fallbacks);
            candidates.filter(|one| one.id == CHAT_MODEL_ID).for_each(|one| one.id.clone_from(&name));
        }
        pins
    }
}
