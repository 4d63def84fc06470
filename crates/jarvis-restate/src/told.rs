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
    if let Some(event) = event.as_object_mut() {
        event.insert(KEPT.to_owned(), serde_json::to_value(Kept(plan.clone())).expect("its keys are texts"));
    }
    event
}

/// Takes the whole plan, as it is then, out of an event of a run that tells it: `plan` and `plan_grew`. What is left is the event for
/// readers.
///
/// # Errors
/// When there is none, or it is none.
pub fn take_plan(event: &mut Value) -> Result<Plan, serde_json::Error> {
    let kept = event.as_object_mut().and_then(|event| event.remove(KEPT)).unwrap_or_default();
    serde_json::from_value(kept).map(|Kept(plan)| plan)
}

#[cfg(test)]
mod tests {
    use jarvis_plan::{Note, Vocabulary};
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_has_the_whole_plan_until_it_is_taken() {
        let plan = Plan::builder().task("a", json!({"x": 1})).check(&Vocabulary::named(["a"])).expect("a valid plan");
        let mut whole = plan.clone();
        whole.note(Note::left_out("the rest"));
        let whole = Plan::restored(whole.tasks().to_vec(), whole.notes().to_vec(), true).expect("a valid plan");
        let mut event = with_plan(&EventKind::Plan { plan: whole.clone() }, &whole);
        assert_eq!(take_plan(&mut event).expect("it is there"), whole);
        assert_eq!(event, value_of(&EventKind::Plan { plan: whole }));
        assert!(take_plan(&mut event).is_err());
        assert!(take_plan(&mut json!({"kept": {"tasks": [{"id": 1, "task": "a"}]}})).is_err(), "its ids have a gap");
    }
}
