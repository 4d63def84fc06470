//! The sentence of a passage that fits a question best, by BM25 over its words.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::language::language;
use super::segment::{sentences, terms};

/// The part of a question that is read, in characters, and the most words of it that are compared.
const MAX_QUESTION: usize = 2_000;
const MAX_WORDS: usize = 64;

/// Splits a text that holds both: a question on its first or last line, and the passage around it.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    let ranges = sentences(text);
    let (first, last) = (ranges.first()?, ranges.last()?);
    let (question, context) = if is_question(text, first) {
        (first.clone(), first.end..text.len())
    } else if is_question(text, last) {
        (last.clone(), 0..last.start)
    } else {
        return None;
    };
    let context = text.get(context)?.trim();
    (!context.is_empty()).then_some((text.get(question)?, context))
}

/// Whether a text is rows of short fields, the same number of them in each.
pub(super) fn is_table(text: &str) -> bool {
    let rows: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_short = |row: &&str, separator: char| row.chars().count() <= 60 * (row.matches(separator).count() + 1);
    rows.len() >= 3
        && ['\t', ';', ',', '|'].iter().any(|separator| {
            let fields = |row: &str| row.matches(*separator).count();
            let first = rows.first().map_or(0, |row| fields(row));
            first > 0 && rows.iter().all(|row| fields(row) == first && is_short(row, *separator) && !row.ends_with('.'))
        })
}

fn is_question(text: &str, range: &Range<usize>) -> bool {
    text.get(range.clone()).is_some_and(|sentence| sentence.ends_with(['?', '？']))
}

#[derive(Debug, Clone, PartialEq)]
pub struct Quote {
    /// Where it stands, in bytes. A question of the passage is followed by the sentence after it.
    pub range: Range<usize>,
    /// The weight of the question's words that it holds, as a share from 0 to 1.
    pub score: f64,
}

/// The sentence of a passage that fits a question best; `None` when none shares a word with it. It reads a passage of a page
/// or so; search a longer text first.
pub fn quote(question: &str, passage: &str) -> Option<Quote> {
    let language = language(passage);
    let end = question.char_indices().nth(MAX_QUESTION).map_or(question.len(), |(at, _)| at);
    let words = terms(question.get(..end)?, language).into_iter().filter(|term| !term.is_function);
    let asked: HashSet<String> = words.map(|term| term.stem).take(MAX_WORDS).collect();
    let ranges = sentences(passage);
    let rows: Vec<Row> = ranges.iter().map(|range| Row::new(passage, range, language, &asked)).collect();
    let mean = rows.iter().map(|row| row.length).sum::<usize>() as f64 / rows.len().max(1) as f64;
    let weight = |stem: &str| {
        let holding = rows.iter().filter(|row| row.counts.contains_key(stem)).count() as f64;
        // Smoothed, because in a short passage every sentence may hold the word.
        (1.0 + (rows.len() as f64 - holding + 0.5) / (holding + 0.5)).ln()
    };
    let weights: HashMap<&str, f64> = asked.iter().map(|stem| (stem.as_str(), weight(stem))).collect();
    let scores = rows.iter().map(|row| row.bm25(&weights, mean)).enumerate().filter(|(_, score)| *score > 0.0);
    // Of equals the first; a heading only where nothing else fits.
    let is_heading = |at: usize| rows.get(at).is_some_and(|row| row.is_heading);
    let (at, _) =
        scores.max_by(|a, b| is_heading(b.0).cmp(&is_heading(a.0)).then(a.1.total_cmp(&b.1)).then(b.0.cmp(&a.0)))?;
    let held =
        |(stem, weight): (&&str, &f64)| if rows.get(at)?.counts.contains_key(*stem) { Some(*weight) } else { None };
    let score = weights.iter().filter_map(held).sum::<f64>() / weights.values().sum::<f64>();
    let sentence = ranges.get(at)?.clone();
    // The answer to a question of the passage is the sentence after it.
    let end = ranges.get(at + 1).filter(|_| is_question(passage, &sentence)).map_or(sentence.end, |next| next.end);
    Some(Quote { range: sentence.start..end, score: score.clamp(0.0, 1.0) })
}

struct Row {
    counts: HashMap<String, usize>,
    length: usize,
    /// Whether it has no full stop and no word that the question has not.
    is_heading: bool,
}

impl Row {
    fn new(passage: &str, range: &Range<usize>, language: &str, asked: &HashSet<String>) -> Row {
        let sentence = passage.get(range.clone()).expect("sentences lie in the passage");
        let found = terms(sentence, language);
        let length = found.len();
        let mut counts = HashMap::new();
        let mut is_heading = !sentence.ends_with(['.', '!', '?', '。', '！', '？']);
        for term in found {
            if asked.contains(&term.stem) {
                *counts.entry(term.stem).or_default() += 1;
            } else {
                is_heading &= term.is_function;
            }
        }
        Row { counts, length, is_heading }
    }

    /// BM25 with the usual k1 = 1.2 and b = 0.75.
    fn bm25(&self, weights: &HashMap<&str, f64>, mean: f64) -> f64 {
        let length = 0.25 + 0.75 * self.length as f64 / mean.max(1.0);
        let term = |(stem, count): (&String, &usize)| {
            let count = *count as f64;
            weights.get(stem.as_str()).copied().unwrap_or(0.0) * count * 2.2 / (count + 1.2 * length)
        };
        self.counts.iter().map(term).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_of_the_question_is_quoted() {
        let harbour = "The harbour\n\nThe harbour was built in 1887 by Henry Martin. It lies in the north of Norway. \
                       A ticket costs 15 euros. Is the harbour open in winter? No.";
        let museum = "Музей открылся 3 июня 1998 года в Казани. Его основал Пётр Смирнов. Билет стоит 300 рублей.";
        let school = "这所学校成立于1952年。校长叫李明。学校有3000名学生。";
        for (passage, question, expected) in [
            (harbour, "When was the harbour built?", Some("The harbour was built in 1887 by Henry Martin.")),
            (harbour, "How much does a ticket cost?", Some("A ticket costs 15 euros.")),
            (harbour, "Is the harbour open?", Some("Is the harbour open in winter? No.")),
            (museum, "Сколько стоит билет?", Some("Билет стоит 300 рублей.")),
            (school, "学校是什么时候成立的？", Some("这所学校成立于1952年。")),
            (school, "Who discovered penicillin?", None),
        ] {
            let quote = quote(question, passage);
            assert_eq!(quote.as_ref().and_then(|quote| passage.get(quote.range.clone())), expected, "{question}");
            assert!(quote.is_none_or(|quote| (0.0..=1.0).contains(&quote.score)), "{question}");
        }
    }

    #[test]
    fn tables_are_told_from_texts() {
        let check = |text: &str, is: bool| assert_eq!(is_table(text), is, "{text}");
        check("product,region,units\nlamp,North,12\nlamp,South,5\n", true);
        check("a\tb\n1\t2\n3\t4\n", true);
        check("product,region\nlamp,North\n", false);
        check("One, two.\nThree, four.\nFive, six.", false);
        check("A line\nAnother line\nA third line", false);
    }

    #[test]
    fn question_and_passage_are_split() {
        assert_eq!(split("Who built it? Henry built it."), Some(("Who built it?", "Henry built it.")));
        assert_eq!(split("李明建的。谁建的？"), Some(("谁建的？", "李明建的。")));
        assert_eq!(split("Who built it?"), None);
        assert_eq!(split("Henry built it."), None);
    }
}
