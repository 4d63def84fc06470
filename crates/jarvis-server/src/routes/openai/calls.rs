//! Calls that are handed back to a caller, and their ids: they name the run that handed them back, so that the run which brings the
//! results takes over what it did.

use jarvis_plan::{Answer, RunId};
use uuid::Uuid;

use super::links::Links;
use crate::wire::openai::{CallMade, FunctionCall};

/// The id of a call: `call_`, the run's id and the call's place in its answer.
pub(super) fn id(run_id: &str, at: usize) -> String {
    format!("call_{}_{at}", simple(run_id))
}

/// The run's id without its strokes.
pub(super) fn simple(run_id: &str) -> String {
    run_id.replace('-', "")
}

/// The run that all of these calls were handed back by; none where they were not handed back by one run of a jarvis.
pub(super) fn run_of(ids: &[String]) -> Option<RunId> {
    let of = |id: &String| Uuid::try_parse(id.strip_prefix("call_")?.rsplit_once('_')?.0).ok();
    let first = of(ids.first()?)?;
    ids.iter().all(|id| of(id) == Some(first)).then(|| RunId(first.to_string()))
}

/// The calls of an answer, with whole addresses in the place of paths of files.
pub(super) fn made(run_id: &str, answer: &Answer, links: &Links) -> Vec<CallMade> {
    let made = answer.calls.iter().enumerate().map(|(at, call)| CallMade {
        id: id(run_id, at),
        kind: "function".to_owned(),
        function: FunctionCall { name: call.name.clone(), arguments: links.in_text(&call.arguments) },
    });
    made.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_lead_back_to_their_run() {
        let (run, other) = (Uuid::now_v7().to_string(), Uuid::now_v7().to_string());
        let ids = |of: &[(&str, usize)]| of.iter().map(|(run, at)| id(run, *at)).collect::<Vec<_>>();
        assert_eq!(run_of(&ids(&[(&run, 0), (&run, 12)])), Some(RunId(run.clone())));
        for (of, why) in [
            (ids(&[]), "none"),
            (ids(&[(&run, 0), (&other, 0)]), "two runs"),
            (vec!["call_abc".to_owned()], "another server's"),
            (vec![format!("call_{run}")], "no place"),
        ] {
            assert_eq!(run_of(&of), None, "{why}");
        }
    }
}
