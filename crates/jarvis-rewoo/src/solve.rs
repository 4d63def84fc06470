//! The solver: plan and evidence in, the answer out.

use jarvis_ask::{Ask, AskError, Trim, conversation_levels};
use jarvis_plan::{Outcome, Request};
use serde::Serialize;

use crate::blueprint::{Blueprint, Step};
use crate::evidence::words_of;
use crate::pipeline::described;
use crate::{Prompt, Prompts};

const STAGE: &str = "rewoo_solve";

/// Characters of each piece of evidence that the solver sees: as many as fit its context once the conversation is left out.
const EVIDENCE_SHOWN: [usize; 6] = [40_000, 10_000, 3_000, 1_000, 300, 100];

#[derive(Debug, Serialize)]
struct Told {
    plan: String,
    call: String,
    evidence: Option<String>,
    error: Option<String>,
}

pub(crate) async fn write(
    ask: &Ask,
    prompts: &Prompts,
    request: &Request,
    blueprint: &Blueprint,
    outcomes: &[Outcome],
) -> Result<String, AskError> {
    let [most, less @ ..] = EVIDENCE_SHOWN;
    let without_history = Trim { history: request.history.len(), demos: 0 };
    let turns = conversation_levels(request.history.len(), 0).into_iter().map(|left_out| (left_out, most));
    let levels: Vec<(Trim, usize)> = turns.chain(less.map(|shown| (without_history, shown))).collect();
    let prompt = |(left_out, shown): &(Trim, usize)| {
        let steps: Vec<Told> = told(blueprint, outcomes, *shown).collect();
        let question = described(request, *left_out);
        prompts.turns(Prompt::Solve, &serde_json::json!({"question": question, "steps": steps}))
    };
    ask.stage(STAGE).fitted(&levels, prompt)?.prose(true).await
}

/// The evidence without an answer, for a run that ended before its solver.
pub(crate) fn unsolved(blueprint: &Blueprint, outcomes: &[Outcome]) -> String {
    let lines = told(blueprint, outcomes, 1_000).map(|told| match (told.evidence, told.error) {
        (Some(evidence), _) => format!("{}: {evidence}", told.call),
        (None, error) => format!("{}: not done ({})", told.call, error.unwrap_or_else(|| "no outcome".to_owned())),
    });
    std::iter::once("There is no answer. This was found out:".to_owned()).chain(lines).collect::<Vec<_>>().join("\n")
}

fn told<'a>(blueprint: &'a Blueprint, outcomes: &'a [Outcome], shown: usize) -> impl Iterator<Item = Told> + 'a {
    let told = move |step: &Step| {
        let outcome = outcomes.iter().find(|outcome| outcome.id == step.task);
        let evidence = outcome.and_then(words_of).map(|words| cut(words, shown));
        let failed = || outcome.and_then(|outcome| outcome.error.as_ref()).map(|error| error.message.clone());
        let error =
            if evidence.is_some() { None } else { Some(failed().unwrap_or_else(|| "it was not run".to_owned())) };
        Told { plan: step.plan.clone(), call: step.call(), evidence, error: error.map(|error| cut(error, 500)) }
    };
    blueprint.steps.iter().map(told)
}

fn cut(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}
