//! Which row of a log answers which question of the data.
//!
//! A row belongs to the question at its number (from 1) when the texts agree, else to the only question with its text.
//! Of several rows for one question the last counts: a log that was written twice has the newer answer below.

use std::collections::HashMap;

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key<'a> {
    pub number: Option<u64>,
    pub question: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unmatched {
    /// Which row of the log, from 1.
    pub row: usize,
    pub id: Option<u64>,
    pub question: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Matched {
    /// For each question of the data, in order, the place of its row in the log, from 0.
    pub rows: Vec<Option<usize>>,
    pub unmatched: Vec<Unmatched>,
    /// How many rows gave way to a later one for the same question.
    pub repeated: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// The questions of the data, or of the log where no data is given; every rate is of these.
    pub n: usize,
    /// The questions that the log has no row for: wrong. Numbers from 1.
    pub missing: Vec<usize>,
    pub unmatched: Vec<Unmatched>,
    pub repeated: usize,
}

impl From<Matched> for Coverage {
    fn from(Matched { rows, unmatched, repeated }: Matched) -> Coverage {
        let missing = rows.iter().zip(1..).filter(|(row, _)| row.is_none()).map(|(_, number)| number).collect();
        Coverage { n: rows.len(), missing, unmatched, repeated }
    }
}

pub fn match_rows<'a>(questions: &[&str], rows: impl IntoIterator<Item = Key<'a>>) -> Matched {
    let questions: Vec<String> = questions.iter().map(|text| plain(text)).collect();
    let mut by_text: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, question) in questions.iter().enumerate() {
        by_text.entry(question).or_default().push(at);
    }
    let mut matched = Matched { rows: vec![None; questions.len()], ..Matched::default() };
    for (row, key) in rows.into_iter().enumerate() {
        let text = plain(key.question);
        let at = key.number.and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
        let numbered = at.filter(|at| questions.get(*at).is_some_and(|question| text.is_empty() || *question == text));
        let only = || match by_text.get(text.as_str()).map(Vec::as_slice) {
            Some([only]) => Some(*only),
            Some(_) | None => None,
        };
        match numbered.or_else(only).and_then(|at| matched.rows.get_mut(at)) {
            Some(place) => matched.repeated += usize::from(place.replace(row).is_some()),
            None => {
                matched.unmatched.push(Unmatched { row: row + 1, id: key.number, question: key.question.to_owned() })
            }
        }
    }
    matched
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_to_their_questions() {
        let questions = ["a  b", "c", "d", "c"];
        for (rows, expected, unmatched, repeated) in [
            (vec![(Some(1), "a b "), (Some(4), "c")], vec![Some(0), None, None, Some(1)], vec![], 0),
            // The text decides where the number is of another file.
            (vec![(Some(9), "d"), (None, "a b")], vec![Some(1), None, Some(0), None], vec![], 0),
            // Two questions with one text, and a number that fits neither.
            (vec![(Some(1), "c")], vec![None; 4], vec![1], 0),
            (vec![(Some(2), "x"), (Some(3), "")], vec![None, None, Some(1), None], vec![1], 0),
            (vec![(Some(3), "d"), (Some(3), "d")], vec![None, None, Some(1), None], vec![], 1),
            (vec![(Some(0), "y")], vec![None; 4], vec![1], 0),
        ] {
            let keys = rows.iter().map(|(number, question)| Key { number: *number, question });
            let matched = match_rows(&questions, keys);
            let found: Vec<usize> = matched.unmatched.iter().map(|row| row.row).collect();
            assert_eq!((matched.rows, found, matched.repeated), (expected, unmatched, repeated), "{rows:?}");
        }
    }
}
