//! Questions that words of the document answer.

use jarvis_workers::native::text::answer_from;
use serde_json::json;

use super::{Move, Step};

/// The score from which a sentence is said to answer, and a name, date or figure that is asked for.
const SURE: [f64; 2] = [0.3, 0.12];
/// The longest passages that are read, in bytes.
const LONGEST: usize = 200 << 10;

impl Step<'_> {
    /// The passage that fits best, narrowed to what is asked for.
    pub(super) fn passage(&self) -> Move {
        let Some(observed) = self.observed("search_document") else {
            let input = json!({"query": self.question.raw, "top": 3});
            return self.act("search_document", self.say.will_search(), input);
        };
        let is_head = |line: &&str| line.starts_with("[passage ") && line.ends_with(']');
        if !observed.lines().next().is_some_and(|line| is_head(&line)) {
            return self.nothing(self.say.not_found());
        }
        let lines: Vec<&str> = observed.lines().filter(|line| !is_head(line)).collect();
        let mut passages = self.cells.lines.clone().unwrap_or_else(|| lines.join("\n"));
        let end = passages.char_indices().map(|(at, _)| at).take_while(|at| *at <= LONGEST).last().unwrap_or(0);
        if passages.len() > LONGEST {
            passages.truncate(end);
        }
        let Some(found) = answer_from(&self.question.raw, &passages) else {
            return self.nothing(self.say.not_found());
        };
        let words = |range: std::ops::Range<usize>| {
            passages.get(range).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let (answer, sentence) = (words(found.range), words(found.sentence));
        let [whole, narrowed] = SURE;
        let sure = if answer == sentence { whole } else { narrowed };
        if found.lacks || found.score < sure {
            self.nothing(self.say.nearest(&sentence))
        } else {
            self.answer(self.say.quoted(&answer, &sentence))
        }
    }
}
