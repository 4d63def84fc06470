//! A round of thinking without a model: what the offline agent makes of the question, in the words of a parsed reply.

use std::sync::Arc;

use jarvis_plan::Language;

use crate::Asked;
use crate::offline::{self, Move};
use crate::parse::{Action, Parsed};
use crate::rounds::Round;

/// What the offline agent makes of a question after some rounds. Long documents take a while, on a thread of their own.
pub(crate) async fn think(asked: &Asked, rounds: &[Round]) -> Parsed {
    let language = asked.language.unwrap_or_else(|| Language::of(&asked.question));
    let (question, document) = (asked.question.clone(), Arc::clone(&asked.document));
    let rounds: Vec<offline::Round> = rounds.iter().map(seen).collect();
    let work = move || offline::next(&question, &document, &rounds, language);
    match tokio::task::spawn_blocking(work).await {
        Ok(Move::Act { thought, tool, input }) => {
            let action = Action { tool, input: Some(input.to_string()), id: None };
            Parsed { thought, actions: vec![action], ..Parsed::default() }
        }
        Ok(Move::Answer { thought, text, .. }) => Parsed { thought, answer: Some(text), ..Parsed::default() },
        Err(error) => {
            tracing::error!(%error, "the offline agent broke down");
            Parsed { answer: Some(String::new()), ..Parsed::default() }
        }
    }
}

/// A round as the offline agent sees it.
fn seen(round: &Round) -> offline::Round {
    offline::Round {
        thought: round.thought.clone(),
        action: round.action.clone(),
        input: round.input_json().unwrap_or_default(),
        observation: round.observation.clone(),
    }
}
