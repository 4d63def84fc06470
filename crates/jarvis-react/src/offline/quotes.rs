//! Sentences of the document that match a question.

use jarvis_workers::native::text::{Unanswered, quote};
use serde_json::{Value, json};

use super::{Move, Step};

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
        match quote(&self.question.raw, &passages).map(|quote| passages.get(quote.range)) {
            Ok(Some(sentence)) => {
                let sentence = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
                self.answer(self.text("quote", &[&sentence]), true)
            }
            // Only the best passages were read, so what is missing in them is named as theirs.
            Err(Unanswered::Untold(words)) => {
                let words = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>();
                self.refuse("untold", &[&words.join(", ")])
            }
            Ok(None) | Err(_) => self.refuse("not_found", &[]),
        }
    }
}
