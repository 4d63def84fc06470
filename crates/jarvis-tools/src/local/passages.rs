//! A document cut into passages that can be quoted and searched.

use std::fmt;
use std::ops::Range;

use jarvis_catalogue::{Bm25Index, Hit};

/// The length that passages are near to, in characters.
pub const PASSAGE: usize = 600;

/// What a sentence at its end looks like.
fn ends(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '；')
}

/// The passages of a text, as ranges of bytes in order: paragraphs, long ones cut at the ends of sentences, and short ones
/// put together.
pub fn passages(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    for piece in pieces(text) {
        let length = text.get(piece.clone()).map_or(0, |piece| piece.chars().count());
        match found.last_mut() {
            Some((last, chars)) if *chars + length <= PASSAGE => {
                last.end = piece.end;
                *chars += length;
            }
            Some(_) | None => found.push((piece, length)),
        }
    }
    found.into_iter().map(|(range, _)| range).collect()
}

/// Lines and, of long lines, groups of sentences; without the blanks around them.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        cut(text, start..start + line.len(), &mut pieces);
        start += line.len();
    }
    pieces
}

/// Cuts a range into pieces of at most [`PASSAGE`] characters, where a sentence ends, else at a blank, else anywhere.
fn cut(text: &str, range: Range<usize>, pieces: &mut Vec<Range<usize>>) {
    let mut push = |from: usize, to: usize| {
        let Some(piece) = text.get(from..to) else { return };
        let blank = piece.len() - piece.trim_start().len();
        let piece = piece.trim();
        if !piece.is_empty() {
            pieces.push(from + blank..from + blank + piece.len());
        }
    };
    let mut start = range.start;
    let (mut count, mut sentence, mut blank, mut before) = (0, None, None, ' ');
    let Some(line) = text.get(range.clone()) else { return };
    for (at, c) in line.char_indices() {
        let at = range.start + at;
        if count >= PASSAGE {
            let end = sentence.or(blank).unwrap_or(at);
            push(start, end);
            start = end;
            count = text.get(start..at).map_or(0, |rest| rest.chars().count());
            (sentence, blank) = (None, None);
        }
        count += 1;
        let after = at + c.len_utf8();
        if c.is_whitespace() {
            blank = Some(after);
        }
        // Full stops of numbers and names of files have no blank behind them.
        if (ends(before) && c.is_whitespace()) || (ends(c) && !c.is_ascii()) {
            sentence = Some(after);
        }
        before = c;
    }
    push(start, range.end);
}

/// A passage that a search found, as it is shown: `[passage 3 of 9, line 12]` and its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found<'t> {
    /// Its number, from 1, among `of`.
    pub number: usize,
    /// How many passages the text has.
    pub of: usize,
    /// The line where it begins, from 1.
    pub line: usize,
    /// What stands there.
    pub text: &'t str,
}

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[passage {} of {}, line {}]\n{}", self.number, self.of, self.line, self.text)
    }
}

/// A document that can be searched by words.
#[derive(Debug)]
pub struct PassageIndex {
    passages: Vec<Range<usize>>,
    index: Bm25Index,
}

impl PassageIndex {
    /// Cuts and reads a text.
    pub fn build(text: &str) -> PassageIndex {
        let passages = passages(text);
        let texts: Vec<&str> = passages.iter().filter_map(|range| text.get(range.clone())).collect();
        PassageIndex { index: Bm25Index::build(&texts), passages }
    }

    /// The passages, in the order of the text.
    pub fn passages(&self) -> &[Range<usize>] {
        &self.passages
    }

    /// The passages of the `text` of this index that share the rarest words with a query, best first.
    pub fn search<'t>(&self, text: &'t str, query: &str, top: usize) -> Vec<Found<'t>> {
        let found = |hit: Hit| {
            let range = self.passages.get(hit.row)?;
            let line = text.get(..range.start)?.matches('\n').count() + 1;
            Some(Found { number: hit.row + 1, of: self.passages.len(), line, text: text.get(range.clone())? })
        };
        self.index.top_k(query, top).into_iter().filter_map(found).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_where_sentences_end() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<&str> = passages(text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, expected);
        };
        check("", &[]);
        check(" \n\n ", &[]);
        check("One.\n\nTwo.", &["One.\n\nTwo."]);
        let (first, second) = (format!("{}end.", "word ".repeat(60)), format!("{}end 3.5.", "next ".repeat(70)));
        check(&format!("{first} {second}"), &[&first, &second]);
        let (first, second) = (format!("{}。", "字".repeat(400)), format!("{}。", "词".repeat(400)));
        check(&format!("{first}{second}"), &[&first, &second]);
        check(&"x".repeat(1300), &[&"x".repeat(600), &"x".repeat(600), &"x".repeat(100)]);
        check(&format!("{first}\r\n\r\n{second}"), &[&first, &second]);
    }
}
