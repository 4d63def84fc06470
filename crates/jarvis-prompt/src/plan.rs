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

use jarvis_plan::{Draft, Meant, Request, Vocabulary};
use serde_json::Value;

use self::call::Call;
use crate::reader::{ReadError, ReadFault, without_reasoning};

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
    if text.len() < reply.trim().len() {
        draft.notes.insert(0, "the planner's reply was mended: the reasoning before the answer was left out".into());
    }
    let mends = found.mended.iter().map(|mend| format!("the planner's reply was mended: {mend}").into());
    draft.notes.splice(0..0, mends);
    Ok(draft)
}

/// A plan from the tools that a model called through its endpoint's own tool calling: each a name and its arguments, an
/// object or the JSON text of one.
pub fn read_tool_calls(called: &[(String, Value)], scope: Scope<'_>) -> Draft {
    let calls: Vec<Call> = (called.iter())
        .map(|(name, args)| {
            let mut call = Call { name: name.clone(), ..Call::default() };
            call.take(args);
            call
        })
        .collect();
    args::draft(&calls, scope)
}
