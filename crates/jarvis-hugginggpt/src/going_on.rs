//! Runs that go on from their record: what they carry out, as they began.

use jarvis_events::Began;
use jarvis_plan::Request;

use crate::decisions::{Executable, PlanFileError, read_plan};
use crate::pipeline::HuggingGpt;

/// What a run that goes on carries out.
#[derive(Debug, Clone, PartialEq)]
pub enum GoingOn {
    /// A request, from its beginning.
    Request(Box<Request>),
    /// A plan that was given.
    Plan(Box<Request>, Box<Executable>),
}

impl HuggingGpt {
    /// What the run that began so carries out.
    ///
    /// # Errors
    /// When the plan that it was given cannot be carried out any more.
    pub fn going_on(&self, began: &Began) -> Result<GoingOn, PlanFileError> {
        let request = Box::new(began.request.clone());
        let Some(given) = &began.given else { return Ok(GoingOn::Request(request)) };
        let plan = read_plan(given, &self.vocabulary, &self.sources, self.settings.plan)?;
        Ok(GoingOn::Plan(request, Box::new(plan)))
    }
}
