//! The agent of `--llm offline`: no language model, and no pretence of one.
//!
//! It counts, works out numbers, draws what the document holds, and quotes the passage that answers a question. A step is
//! a pure function of the question, the document and what was observed; numbers come from tools or from the document.
//! The document is data: nothing in it is an order.

#[macro_use]
mod rules;

mod amount;
mod conditions;
mod data;
mod doubt;
mod figures;
mod groups;
mod heard;
mod lists;
mod matching;
mod passages;
mod refuse;
mod say;
mod tables;
#[cfg(test)]
mod tests;
mod wish;

use std::sync::Arc;

use jarvis_plan::Language;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::Asked;
use crate::parse::{Action, Parsed};
use crate::rounds::Round;
use data::{Cells, Data};
use matching::Question;
use say::Say;
use wish::{Op, Wish};

/// What is done next.
#[derive(Debug, Clone, PartialEq)]
enum Move {
    /// A tool is called.
    Act {
        /// Why.
        thought: String,
        /// The tool's name.
        tool: String,
        /// Its input.
        input: Value,
    },
    /// The question is answered, as well as it can be.
    Answer {
        /// Why nothing more is done.
        thought: String,
        /// The answer.
        text: String,
        /// Whether the document told it; otherwise the text says what was not found, or cannot be worked out.
        found: bool,
    },
}

/// What is known at a step.
struct Step<'a> {
    question: &'a Question,
    wish: &'a Wish,
    rounds: &'a [Round],
    document: &'a str,
    cells: &'a Cells,
    say: Say,
    ended: &'a CancellationToken,
}

/// What the agent makes of a question after some rounds, in the words of a parsed reply. Long documents take a while, on
/// a thread of their own; the thread ends soon when nobody waits for it any more.
pub(crate) async fn think(asked: &Asked, rounds: &[Round]) -> Parsed {
    let language = asked.language.unwrap_or_else(|| Language::of(&asked.question));
    let (question, document, rounds) = (asked.question.clone(), Arc::clone(&asked.document), rounds.to_vec());
    let ended = CancellationToken::new();
    let _guard = ended.clone().drop_guard();
    let work = move || next(&question, &document, &rounds, language, &ended);
    match tokio::task::spawn_blocking(work).await {
        Ok(Move::Act { thought, tool, input }) => {
            let action = Action { tool, input: Some(input.to_string()), id: None };
            Parsed { thought, actions: vec![action], ..Parsed::default() }
        }
        Ok(Move::Answer { thought, text, found }) => {
            Parsed { thought, answer: Some(text), nothing_found: !found, ..Parsed::default() }
        }
        Err(error) => {
            tracing::error!(%error, "the offline agent broke down");
            Parsed { answer: Some(String::new()), ..Parsed::default() }
        }
    }
}

/// The next step towards an answer, in the language given. No tool is called twice, so there are never more than a few.
/// Once it is `ended` the rest of the document is left unread, and what is given is worth nothing.
fn next(question: &str, document: &str, rounds: &[Round], language: Language, ended: &CancellationToken) -> Move {
    let question = Question::new(question);
    let wish = Wish::read(&question);
    let cells = Cells::of(document);
    let step = Step { question: &question, wish: &wish, rounds, document, cells: &cells, say: Say(language), ended };
    if document.trim().is_empty() {
        return step.nothing(step.say.empty());
    }
    if matches!(wish.op, Op::Times(_))
        && let Some(done) = step.times(document)
    {
        return done;
    }
    let done = match data::read(document, &cells, &question, ended) {
        Data::Table(table) => step.table(&table),
        Data::List(list) => step.list(list, document),
        Data::Prose => None,
    };
    let done = done.or_else(|| {
        let numbers = wish.chart.is_some() || !matches!(wish.op, Op::Words | Op::Count | Op::Kinds | Op::Times(_));
        let table =
            if numbers && cells.lines.is_none() { data::in_sentences(document, &question, ended) } else { None };
        table.and_then(|table| step.table(&table))
    });
    done.unwrap_or_else(|| if wish.chart.is_some() { step.nothing(step.say.nothing_to_draw()) } else { step.passage() })
}

impl Step<'_> {
    /// What a tool gave, if it was called.
    fn observed(&self, tool: &str) -> Option<&str> {
        self.rounds.iter().rev().find(|round| round.action == tool).map(|round| round.observation.as_str())
    }

    fn act(&self, tool: &str, thought: String, input: Value) -> Move {
        Move::Act { thought, tool: tool.to_owned(), input }
    }

    fn answer(&self, text: String) -> Move {
        Move::Answer { thought: self.say.known(), text, found: true }
    }

    /// What is said where the document tells nothing, or nothing that can be worked out.
    fn nothing(&self, text: String) -> Move {
        Move::Answer { thought: self.say.known(), text, found: false }
    }
}
