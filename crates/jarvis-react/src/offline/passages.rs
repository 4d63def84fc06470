//! Questions that words of the document answer.

use jarvis_workers::native::text::answer_from;
use serde_json::json;

use super::conditions::{negates, unknown};
use super::doubt::is_doubtful;
use super::matching::{Question, folded};
use super::wish::{Op, Wish};
use super::{Move, Step};

/// The score from which a sentence is said to answer, and a name, date or figure that is asked for.
const SURE: [f64; 2] = [0.3, 0.12];
/// The score from which a name, date or figure is picked out of its sentence.
const PLAIN: f64 = 0.6;
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
        let [whole, narrowed] = SURE;
        let (answer, sentence) = (words(found.range), words(found.sentence.clone()));
        if sentence.ends_with(['?', '？']) {
            // A list of questions with their answers: the answer is the line behind.
            let reply = words(found.sentence.end..line_end(&passages, found.sentence.end));
            let both = format!("{sentence} {reply}");
            let known = unknown(self.question, self.document).is_none();
            let answered = !reply.is_empty() && found.score >= whole && known && found.heard.is_near();
            return if answered { self.answer(self.say.passage(&both)) } else { self.nothing(self.say.nearest(&both)) };
        }
        let sure = if answer == sentence { whole } else { narrowed };
        // Which of several is meant, what a sentence denies, and whether it speaks of whom the question does, is not for words
        // alone to tell: the reader sees the sentence.
        let same = negates(&folded(&sentence)) == negates(&self.question.lower);
        // Words that ask weigh too, and more of them in Chinese; where two and more others are all there, they may.
        let full = found.heard.is_whole() && found.heard.asked > 1;
        let plain = !found.rivalled && same && found.heard.is_whole() && (full || found.score >= PLAIN);
        // Nor does a sentence tell what would have to be worked out, unless it says so itself.
        let plainly = matches!(self.wish.op, Op::Words | Op::Count | Op::Times(_) | Op::Kinds);
        let told = plainly || Wish::read(&Question::new(&sentence)).op == self.wish.op;
        let far = found.lacks || (found.score < sure && !full) || !found.heard.is_near() || !told;
        if found.heard.bare || heads(self.document, &sentence) {
            self.nothing(self.say.not_found())
        } else if far || unknown(self.question, self.document).is_some() {
            self.nothing(self.say.nearest(&sentence))
        } else if plain && !is_doubtful(self.question, &sentence, &answer) {
            self.answer(self.say.quoted(&answer, &sentence))
        } else {
            self.answer(self.say.passage(&sentence))
        }
    }
}

/// Whether a sentence is the line above a table that names its columns.
fn heads(document: &str, sentence: &str) -> bool {
    let mut lines = document.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next() == Some(sentence);
    let below = lines.find(|line| *line == sentence).and(lines.next());
    let below = below.unwrap_or_default();
    let rule = below.starts_with(['|', '-', ':']) && below.chars().all(|c| "|-: \t".contains(c));
    let alike = |mark: char| sentence.contains(mark) && sentence.matches(mark).count() == below.matches(mark).count();
    rule || (first && !sentence.ends_with(['.', '!', '?', '。']) && [',', ';', '\t', '|'].into_iter().any(alike))
}

/// Where the first line that is not blank ends, from a byte on.
fn line_end(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let blank = rest.len() - rest.trim_start().len();
    let line = rest.get(blank..).and_then(|rest| rest.find('\n')).map_or(rest.len(), |end| blank + end);
    from + line
}
