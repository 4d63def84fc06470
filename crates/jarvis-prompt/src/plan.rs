//! The plan in a planner's reply: whatever a model wrote, as a [`Draft`] in the one plan format, each mend a note, and what
//! cannot be mended without a guess a [`Fault`](jarvis_plan::Fault) of its task.
//!
//! It takes the wrappers, call styles, argument names, file names and references that models use for what they were asked
//! for. It knows no pipeline: the tools and the request are all that it looks at. [`jarvis_plan::check()`] does the rest:
//! values against schemas, missing arguments, cycles. Nothing is evaluated, and at most 256 calls are read.

mod again;
mod args;
mod call;
mod each;
mod find;
mod given;
mod labels;
mod markup;
mod media;
mod params;
mod python;
mod reference;
mod written;

use jarvis_plan::{Draft, Meant, Note, Plan, Request, Task, Vocabulary};
use serde_json::Value;

use self::call::Call;
pub use self::written::Written;
use crate::reader::{ReadError, ReadFault, Want, read_json, without_reasoning};

/// What a reply is read against.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The tools that the plan may name.
    pub tools: &'a Vocabulary,
    /// The request that it is for: its files may be named, and what stands in its text is data.
    pub request: &'a Request,
    /// Whether a path leads to a file that the run can open although the request does not name it.
    pub exists: &'a (dyn Fn(&str) -> bool + Sync),
}

/// Reads the plan in a reply. An empty list is a plan without tasks.
///
/// # Errors
/// When nothing in the reply is a list of tasks, or the reply ends before its end; in words that a model can act on.
pub fn read_plan(reply: &str, scope: Scope<'_>) -> Result<Draft, ReadError> {
    let fail = |fault| ReadError { fault, reply: reply.to_owned() };
    let text = without_reasoning(reply.trim_start_matches('\u{feff}'));
    if text.is_empty() {
        return Err(fail(ReadFault::Empty));
    }
    let knows = |name: &str| !matches!(scope.tools.meant(name), Meant::Nothing);
    let found = find::find(text, &knows).map_err(fail)?;
    let mut draft = args::draft(&found.calls, scope);
    draft.raw = reply.to_owned();
    draft.more = says_more(text);
    if text.len() < reply.trim().len() {
        draft.notes.insert(0, "the planner's reply was mended: the reasoning before the answer was left out".into());
    }
    let mends = found.mended.iter().map(|mend| format!("the planner's reply was mended: {mend}").into());
    draft.notes.splice(0..0, mends);
    Ok(draft)
}

/// Whether a reply says that its plan is a first part: `{"tasks": […], "more": true}`.
fn says_more(text: &str) -> bool {
    let read = || read_json(text, Want::Object).ok();
    text.contains("\"more\"") && read().is_some_and(|read| read.value.get("more").is_some_and(|more| more == true))
}

/// Reads tasks that go on from a plan: their ids go on from its ids, and they may refer to its tasks. The draft holds the new
/// ones alone, for [`Plan::grow`]. What is asked for again is left out, with what refers to it referring to the first.
///
/// # Errors
/// As [`read_plan`].
pub fn read_more(reply: &str, plan: &Plan, scope: Scope<'_>) -> Result<Draft, ReadError> {
    let fail = |fault| ReadError { fault, reply: reply.to_owned() };
    let text = without_reasoning(reply.trim_start_matches('\u{feff}'));
    let knows = |name: &str| !matches!(scope.tools.meant(name), Meant::Nothing);
    let found = find::find(text, &knows).map_err(fail)?;
    let mut draft = further(found.calls, plan, scope);
    draft.raw = reply.to_owned();
    draft.more = says_more(text);
    Ok(draft)
}

/// The same for the tools that a model called through its endpoint's own tool calling.
pub fn read_more_calls(called: &[(String, Value)], plan: &Plan, scope: Scope<'_>) -> Draft {
    further(called.iter().map(called_as).collect(), plan, scope)
}

/// Calls that go on from a plan, as a draft of the new tasks alone.
fn further(new: Vec<Call>, plan: &Plan, scope: Scope<'_>) -> Draft {
    let before = plan.tasks().len();
    let mut in_order: Vec<&Task> = plan.tasks().iter().collect();
    in_order.sort_by_key(|task| task.id);
    let mut calls: Vec<Call> = in_order.into_iter().map(Call::of_task).collect();
    // A task without an id has the next one.
    calls.extend(new.into_iter().zip(before..).map(|(mut call, id)| {
        call.id.get_or_insert_with(|| id.into());
        call
    }));
    let mut draft = args::draft(&calls, scope);
    let of_before = |note: &Note| {
        let number = note.text.strip_prefix("task ").and_then(|rest| rest.split([':', ' ']).next()?.parse().ok());
        number.is_some_and(|number: usize| number <= before)
    };
    draft.notes.retain(|note| !of_before(note));
    let is_new = |id: i64| usize::try_from(id).is_ok_and(|id| id >= before);
    draft.tasks.retain(|task| is_new(task.id));
    draft
}

/// A plan from the tools that a model called through its endpoint's own tool calling: each a name and its arguments, an
/// object or the JSON text of one.
pub fn read_tool_calls(called: &[(String, Value)], scope: Scope<'_>) -> Draft {
    let calls: Vec<Call> = called.iter().map(called_as).collect();
    args::draft(&calls, scope)
}

fn called_as((name, args): &(String, Value)) -> Call {
    let mut call = Call { name: name.clone(), ..Call::default() };
    call.take(args);
    call
}
