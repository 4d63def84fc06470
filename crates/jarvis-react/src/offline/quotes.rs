//! Sentences of the document that match a question.

use jarvis_workers::native::text::quote;
use serde_json::{Value, json};

use super::{Move, Step};

/// The share of the question's words, by weight, from which a sentence is quoted.
const MIN_SCORE: f64 = 0.5;

impl Step<'_> {
    /// The best sentence of the best passages, verbatim but for line breaks.
    pub(super) fn quote(&self) -> Move {
        let input = json!({"query": self.question.raw, "top": 3});
        let found = match self.result("search_document", || self.text("search_next", &[]), input) {
            Ok(found) => found.get("passages").and_then(Value::as_array),
            Err(step) => return step,
        };
        let texts = found.into_iter().flatten().filter_map(|passage| passage.get("text")?.as_str());
        let passages = texts.collect::<Vec<&str>>().join("\n\n");
        // Chinese words that ask are no words of an answer, and nothing parts them from those that are.
        let mut query = self.question.folded.clone();
        for range in self.question.find("asking") {
            let blanks = " ".repeat(range.len());
            query.replace_range(range, &blanks);
        }
        let quoted = quote(&query, &passages).filter(|quote| quote.score >= MIN_SCORE);
        match quoted.and_then(|quote| passages.get(quote.range)) {
            Some(sentence) => {
                let sentence = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
                self.answer(self.text("quote", &[&sentence]), true)
            }
            None => self.refuse("not_found", &[]),
        }
    }
}
