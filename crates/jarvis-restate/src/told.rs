//! Plans as a run tells them: for readers, and beside that as they are kept, for whoever goes on with them.

use jarvis_plan::{EventKind, Plan};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::step::value_of;

/// The field of an event that holds the whole plan as it is kept.
const KEPT: &str = "kept";

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Kept(#[serde(with = "jarvis_plan::kept::plan")] Plan);

/// An event that tells of a plan, with the whole of it.
pub(crate) fn with_plan(kind: &EventKind, plan: &Plan) -> Value {
    let mut event = value_of(kind);
    if let (Some(event), Ok(kept)) = (event.as_object_mut(), serde_json::to_value(Kept(plan.clone()))) {
        event.insert(KEPT.to_owned(), kept);
    }
    event
}

/// Takes the whole plan, as it is then, out of an event of a run that tells it: `plan` and `plan_grew`. What is left is the event for
/// readers.
pub fn take_plan(event: &mut Value) -> Option<Plan> {
    let kept = event.as_object_mut()?.remove(KEPT)?;
    match serde_json::from_value(kept) {
        Ok(Kept(plan)) => Some(plan),
        Err(error) => {
            tracing::warn!(%error, "the plan of a run cannot be read");
            None
        }
    }
}
