//! A question, cut into words that are compared with the words of `words.tsv` and with names in the document.

use std::collections::HashSet;
use std::ops::Range;

use jarvis_plan::{is_cyrillic, is_han, narrow};

use super::words;

/// The part of a question that is read, in characters.
const MAX_CHARS: usize = 2_000;
/// The longest name that a question may speak of, in bytes.
const MAX_NAME: usize = 200;

#[derive(Debug, Clone)]
pub struct Question {
    /// As it was asked, cut to `MAX_CHARS`.
    pub raw: String,
    /// The same in lower case and plain forms.
    pub folded: String,
    /// Runs of letters and digits as ranges of `folded`; Chinese ones apart from others.
    tokens: Vec<Range<usize>>,
    stems: HashSet<String>,
    /// Single capitals, which name something: `a` is an article, `A` may be a row.
    capitals: HashSet<String>,
}

impl Question {
    pub fn new(question: &str) -> Question {
        let raw: String = question.chars().take(MAX_CHARS).collect();
        let folded = folded(&raw);
        let tokens = tokens(&folded);
        let stems = tokens.iter().filter_map(|range| folded.get(range.clone())).map(stem).collect();
        let is_capital = |word: &&str| word.chars().count() == 1 && word.chars().all(|c| c.is_uppercase());
        let capitals = raw.split(|c: char| !c.is_alphanumeric()).filter(is_capital).map(str::to_lowercase).collect();
        Question { raw, folded, tokens, stems, capitals }
    }

    fn token(&self, at: &Range<usize>) -> &str {
        self.folded.get(at.clone()).expect("a token lies within the question")
    }

    pub(super) fn find(&self, row: &str) -> Vec<Range<usize>> {
        self.find_all(words::row(row))
    }

    pub(super) fn has(&self, row: &str) -> bool {
        !self.find(row).is_empty()
    }

    pub(super) fn find_all(&self, row: &[&str]) -> Vec<Range<usize>> {
        row.iter().flat_map(|pattern| self.find_one(pattern)).collect()
    }

    fn find_one(&self, pattern: &str) -> Vec<Range<usize>> {
        if pattern.contains(is_han) {
            return self.folded.match_indices(pattern).map(|(at, found)| at..at + found.len()).collect();
        }
        let parts: Vec<&str> = pattern.split('_').collect();
        let fits = |(part, at): (&&str, &Range<usize>)| {
            let word = self.token(at);
            part.strip_suffix('*').map_or(word == *part, |start| word.starts_with(start))
        };
        let windows = self.tokens.windows(parts.len());
        let found = windows.filter(|window| parts.iter().zip(*window).all(fits));
        found.filter_map(|window| Some(window.first()?.start..window.last()?.end)).collect()
    }

    /// The share of a name's words that the question has, from 0 to 1.
    pub fn mentions(&self, name: &str) -> f64 {
        if name.len() > MAX_NAME {
            return 0.0;
        }
        let name = folded(name);
        let parts = tokens(&name);
        let words: Vec<&str> = parts.into_iter().filter_map(|range| name.get(range)).collect();
        let telling: Vec<&str> = match words.as_slice() {
            [_] => words,
            _ => words.into_iter().filter(|word| !words::is_in("stop", word)).collect(),
        };
        let count = telling.iter().filter(|word| self.holds(word)).count();
        count as f64 / telling.len().max(1) as f64
    }

    /// Whether a folded word, in whatever form, is a word of the question.
    fn holds(&self, word: &str) -> bool {
        match word.chars().count() {
            _ if word.contains(is_han) => self.folded.contains(word),
            1 if word.chars().all(char::is_alphabetic) => self.capitals.contains(word),
            _ => self.stems.contains(&stem(word)),
        }
    }

    pub(super) fn place(&self, name: &str) -> usize {
        let name = folded(name);
        let words: Vec<String> = tokens(&name).into_iter().filter_map(|range| name.get(range)).map(stem).collect();
        let at = self.tokens.iter().find(|at| words.contains(&stem(self.token(at)))).map(|at| at.start);
        at.or_else(|| self.folded.find(&name)).unwrap_or(usize::MAX)
    }

    /// The first part of the question that is neither in `known`, nor a word of a general row, nor a word of `names`.
    pub fn unknown(&self, known: &[Range<usize>], names: &[&str]) -> Option<Range<usize>> {
        let names: Vec<String> = names.iter().map(|name| folded(name)).collect();
        let mut is_known = vec![false; self.folded.len()];
        let general = words::general_rows().flat_map(|row| self.find_all(row));
        let mut stems: HashSet<String> = HashSet::new();
        let mut named = Vec::new();
        for name in &names {
            for word in tokens(name).into_iter().filter_map(|range| name.get(range)) {
                if word.contains(is_han) {
                    named.extend(self.find_one(word));
                } else {
                    stems.insert(stem(word));
                }
            }
        }
        for range in general.chain(named).chain(known.iter().cloned()) {
            if let Some(part) = is_known.get_mut(range) {
                part.fill(true);
            }
        }
        let is_known = |at: usize| is_known.get(at) == Some(&true);
        self.tokens.iter().find_map(|at| {
            let word = self.token(at);
            if word.contains(is_han) {
                let unknown = |offset: &usize| !is_known(at.start + offset);
                let mut offsets = word.char_indices().map(|(offset, _)| offset);
                let start = offsets.find(unknown)?;
                let end = offsets.find(|offset| !unknown(offset)).unwrap_or(word.len());
                return Some(at.start + start..at.start + end);
            }
            let is_letter = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
            let is_plain = is_letter && !(self.capitals.contains(word) && at.start > 0 && word != "i");
            (!is_plain && !at.clone().all(is_known) && !stems.contains(&stem(word))).then(|| at.clone())
        })
    }

    /// A part of the question, as it was asked where that can be told.
    pub fn part(&self, range: Range<usize>) -> &str {
        let part = self.folded.get(range.clone()).expect("a part lies within the question");
        self.raw.get(range).filter(|raw| folded(raw) == part).unwrap_or(part)
    }
}

/// Lower case, `ё` as `е`, full-width forms as plain ones.
pub fn folded(text: &str) -> String {
    let plain = |c: char| match narrow(c) {
        'ё' | 'Ё' => 'е',
        c => c,
    };
    text.chars().map(plain).flat_map(char::to_lowercase).collect()
}

/// The stem of a word. Russian surnames have endings behind endings: `Иванова`, `Иванов`.
fn stem(word: &str) -> String {
    let mut stem = jarvis_plan::stem(word);
    while stem.starts_with(is_cyrillic) {
        let shorter = jarvis_plan::stem(&stem);
        if shorter.len() >= stem.len() {
            break;
        }
        stem = shorter;
    }
    stem
}

fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut tokens: Vec<Range<usize>> = Vec::new();
    let mut before = None;
    for (at, c) in text.char_indices() {
        let kind = if is_han(c) { Some(true) } else { c.is_alphanumeric().then_some(false) };
        let end = at + c.len_utf8();
        match tokens.last_mut() {
            Some(last) if kind.is_some() && kind == before => last.end = end,
            _ if kind.is_some() => tokens.push(at..end),
            _ => {}
        }
        before = kind;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_whatever_form() {
        let question = Question::new("Какая выручка у Иванова, А не B? boxes of the Hague 张三的数学");
        for (name, expected) in [
            ("Выручку", 1.0),
            ("Иванов", 1.0),
            ("а", 1.0),
            ("B", 1.0),
            ("c", 0.0),
            ("Box", 1.0),
            ("张三", 1.0),
            ("语文", 0.0),
            ("выручка (тыс)", 0.5),
            ("The Hague", 1.0),
            ("The North", 0.0),
        ] {
            assert_eq!(question.mentions(name), expected, "{name}");
        }
        assert!(question.place("Иванов") < question.place("张三"));
    }

    #[test]
    fn unknown_words_are_found() {
        for (question, names, expected) in [
            ("What is the total revenue?", &["Revenue"][..], None),
            ("What is the total revenue of Kazan?", &["revenue"], Some("Kazan")),
            ("What is the total without Uma?", &["Uma"], Some("without")),
            ("Who earns second most?", &["earns"], Some("second")),
            ("多少苹果", &["苹果"], None),
            ("多少红苹果", &["苹果"], Some("红")),
            ("Сколько стоят чай и сок?", &["чай", "стоит"], Some("сок")),
        ] {
            let question = Question::new(question);
            let found = question.unknown(&[], names).map(|range| question.part(range).to_owned());
            assert_eq!(found.as_deref(), expected, "{}", question.raw);
        }
    }
}
