//! The agent of `--llm offline`, which has no language model.
//!
//! It counts, calculates and draws what tables and lists of the document hold, and quotes sentences. It picks no answer out of
//! a sentence, and calculates nothing where the question has a word that it cannot relate to the data: it refuses. Each step
//! is a pure function of the question, the document and the results of tools, and its work is linear in the document.

mod bare;
mod lists;
mod messages;
mod quotes;
mod tables;
#[cfg(test)]
mod tests;

use jarvis_plan::Language;
use jarvis_tables::question::{self, Intent, Op, Question};
use jarvis_tools::Documents;
use jarvis_tools::local::PLOT;
use serde_json::Value;

use crate::parse::{Action, Parsed};
use crate::rounds::Round;
use crate::{AskError, Asked};
pub(crate) use bare::expression;
use messages::Messages;

#[derive(Debug, Clone, PartialEq)]
enum Move {
    Call {
        thought: String,
        tool: &'static str,
        input: Value,
    },
    Answer {
        thought: String,
        text: String,
        /// Whether the text answers the question; otherwise it is a refusal.
        is_found: bool,
    },
}

struct Step<'a> {
    question: &'a Question,
    intent: &'a Intent,
    rounds: &'a [Round],
    document: &'a str,
    messages: Messages,
}

/// The next step after some rounds, as a parsed reply. It runs on a thread of its own, because documents may be long.
///
/// # Errors
/// When it panics, which is a defect.
pub(crate) async fn think(asked: &Asked, rounds: &[Round]) -> Result<Parsed, AskError> {
    let language = asked.language.unwrap_or_else(|| Language::of(&asked.question));
    let (question, documents, rounds) = (asked.question.clone(), asked.documents.clone(), rounds.to_vec());
    let step = tokio::task::spawn_blocking(move || next(&question, &documents, &rounds, language)).await;
    Ok(match step.map_err(|error| AskError::Offline(error.to_string()))? {
        Move::Call { thought, tool, input } => {
            let action = Action { tool: tool.to_owned(), input: Some(input.to_string()), id: None };
            Parsed { thought, actions: vec![action], ..Parsed::default() }
        }
        Move::Answer { thought, text, is_found } => {
            Parsed { thought, answer: Some(text), nothing_found: !is_found, ..Parsed::default() }
        }
    })
}

/// The next step. No call is made twice, so there are only a few.
fn next(question: &str, documents: &Documents, rounds: &[Round], language: Language) -> Move {
    let Some(document) = documents.text() else { return bare::next(question, rounds, language) };
    let question = Question::new(question);
    let intent = Intent::read(&question);
    let step = Step { question: &question, intent: &intent, rounds, document, messages: Messages(language) };
    if document.trim().is_empty() {
        return step.refuse("empty_document", &[]);
    }
    let done = match intent.op {
        Op::Times => step.times(),
        _ => match question::query(&question, &intent, documents.tables()) {
            Ok(Some(made)) => step.table(&made),
            Err(doubt) => Err(step.doubted(&doubt)),
            Ok(None) => match lists::list_of(document).filter(|_| !question::hold_amounts(documents.tables())) {
                Some(list) => step.list(list),
                None => Ok(None),
            },
        },
    };
    match done {
        Ok(Some(text)) => step.answer(text, true),
        Ok(None) if intent.chart.is_some() => step.refuse("nothing_to_draw", &[]),
        Ok(None) => step.quote(),
        Err(step) => step,
    }
}

impl Step<'_> {
    fn round(&self, tool: &str) -> Option<&Round> {
        self.rounds.iter().rev().find(|round| round.action == tool)
    }

    /// The result of a tool as data; otherwise the move to make: to call it, or to report its failure.
    fn result(&self, tool: &'static str, thought: impl FnOnce() -> String, input: Value) -> Result<&Value, Move> {
        let Some(round) = self.round(tool) else { return Err(Move::Call { thought: thought(), tool, input }) };
        round.value.as_ref().ok_or_else(|| self.refuse("failed", &[&round.observation]))
    }

    fn text(&self, message: &str, parts: &[&str]) -> String {
        self.messages.text(message, parts)
    }

    fn answer(&self, text: String, is_found: bool) -> Move {
        Move::Answer { thought: self.text("done", &[]), text, is_found }
    }

    fn refuse(&self, message: &str, parts: &[&str]) -> Move {
        self.answer(self.text(message, parts), false)
    }

    /// Pairs of labels and values as a sentence: `a: 1; b: 2.`
    fn pairs<'p>(&self, pairs: impl ExactSizeIterator<Item = (&'p str, &'p str)>) -> String {
        let count = pairs.len();
        let colon = self.text("colon", &[]);
        let mut shown: Vec<String> = pairs.take(SHOWN).map(|(label, value)| format!("{label}{colon}{value}")).collect();
        if count > SHOWN {
            shown.push(self.text("more", &[&(count - SHOWN).to_string()]));
        }
        let text = shown.join(&self.text("semicolon", &[]));
        let stop = self.text("full_stop", &[]);
        if text.ends_with(&stop) { text } else { text + &stop }
    }

    fn names(&self, names: &[&str]) -> String {
        names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(&self.text("comma", &[]))
    }

    /// The sentence about a chart behind an answer, once `plot` has been called.
    fn chart(&self, input: Value) -> Result<String, Move> {
        let Some(round) = self.round(PLOT) else {
            return Err(Move::Call { thought: self.text("plot_next", &[]), tool: PLOT, input });
        };
        let is_drawn = round.observation.trim() == jarvis_tools::local::plot::DONE;
        Ok(match is_drawn {
            true if self.intent.is_pie => self.text("drawn", &[]) + &self.text("not_a_pie", &[]),
            true => self.text("drawn", &[]),
            false => self.text("not_drawn", &[&round.observation]),
        })
    }
}

/// Values or names that an answer lists before it says how many more there are.
const SHOWN: usize = 12;
