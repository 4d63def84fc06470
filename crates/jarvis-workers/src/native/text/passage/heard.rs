//! How much of a question a sentence takes up. A sentence that speaks of nearly what is asked is no answer to it.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use jarvis_plan::is_han;
use regex::Regex;

use super::super::pattern;
use super::super::segment::terms;
use super::Row;

/// What of a question's words a sentence takes up, without those that only ask.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heard {
    /// How many words there are.
    pub asked: usize,
    /// How many of them the sentence holds.
    pub held: usize,
    /// How many others stand in the two sentences before it, or in the one behind it.
    pub near: usize,
    /// Whether a number or an ordinal of the question is not in the sentence, or a name not even near it.
    pub astray: bool,
    /// Whether the sentence is a heading or the like that says nothing that the question does not.
    pub bare: bool,
}

impl Heard {
    /// Whether the sentence holds all words.
    pub fn is_whole(&self) -> bool {
        self.held == self.asked && !self.astray && !self.bare
    }

    /// Whether most words stand in the sentence or near it, and nothing in the question tells that another is meant.
    pub fn is_near(&self) -> bool {
        let most = self.asked == 0 || (self.held > 0 && (self.held + self.near) * 2 > self.asked);
        most && !self.astray && !self.bare
    }
}

/// Words that put things into an order.
static ORDINAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+(?:st|nd|rd|th))\b
        |\b(?:перв|второ[ейгм]|втор(?:ую|ая|ых|ые|ым)|трет(?:ь|ий)|четв[её]рт|пят[ыоа][йяегмх]|шест[оаы][йяегмх]|седьм|восьм[оаы][йяегмх])
        |第[一二三四五六七八九十\d]+",
    )
});

/// Chinese words that ask, whatever kind of thing they ask for.
static ASKING: LazyLock<Regex> = LazyLock::new(|| {
    pattern("什么时候|多少|几[个名位人本次岁座]|何时|什么|谁|哪位|哪里|哪儿|哪一?[年个些天家国种]|怎么|如何|是否")
});

/// The words of a question.
pub(super) struct Question {
    words: Vec<Word>,
    /// Its ordinals.
    ordinals: Vec<String>,
}

struct Word {
    stem: String,
    is_number: bool,
    is_name: bool,
}

impl Question {
    /// The words of a question, without those that name the kind of thing asked for.
    pub(super) fn new(question: &str, language: &str, kind: Option<&Regex>) -> Question {
        let measure = |text: &str| text.ends_with(['大', '高', '长', '远']) || text.starts_with(['H', 'h']);
        let spent: Vec<Range<usize>> = kind
            .into_iter()
            .flat_map(|rule| rule.find_iter(question))
            .filter(|found| !measure(found.as_str()) || found.as_str().ends_with("money"))
            .chain(ASKING.find_iter(question))
            .map(|found| found.range())
            .collect();
        let mut seen = HashSet::new();
        let mut words = Vec::new();
        let first = question.find(char::is_alphanumeric).unwrap_or_default();
        for term in terms(question, language).into_iter().filter(|term| !term.is_function) {
            let word = question.get(term.range.clone()).unwrap_or_default();
            let spent = spent.iter().any(|range| range.start < term.range.end && term.range.start < range.end);
            if spent || words.len() == 64 || !seen.insert(term.stem.clone()) {
                continue;
            }
            let is_number = word.starts_with(|c: char| c.is_numeric() && !is_han(c));
            let is_name = term.range.start > first && word.starts_with(char::is_uppercase);
            words.push(Word { stem: term.stem, is_number, is_name });
        }
        // Where all words are written so, capitals say nothing.
        if words.iter().filter(|word| word.is_name).count() * 2 > words.len() + 1 {
            words.iter_mut().for_each(|word| word.is_name = false);
        }
        let ordinals = ORDINAL.find_iter(&question.to_lowercase()).map(|found| found.as_str().to_owned()).collect();
        Question { words, ordinals }
    }

    /// What of them a sentence takes up.
    pub(super) fn heard(&self, rows: &[Row], at: usize, sentence: &str) -> Heard {
        let holds = |at: Option<usize>, word: &Word| {
            at.and_then(|at| rows.get(at)).is_some_and(|row| row.counts.contains_key(&word.stem))
        };
        let lower = sentence.to_lowercase();
        let ordinals: HashSet<&str> = ORDINAL.find_iter(&lower).map(|found| found.as_str()).collect();
        let mut heard = Heard { asked: self.words.len(), ..Heard::default() };
        heard.astray = self.ordinals.iter().any(|ordinal| !ordinals.contains(ordinal.as_str()));
        for word in &self.words {
            let near = || [at.checked_sub(1), at.checked_sub(2), Some(at + 1)].into_iter().any(|at| holds(at, word));
            if holds(Some(at), word) {
                heard.held += 1;
            } else if word.is_number {
                heard.astray = true;
            } else if near() {
                heard.near += 1;
            } else {
                heard.astray |= word.is_name;
            }
        }
        heard
    }
}
