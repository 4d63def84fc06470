//! The words of `words.tsv` and the texts of `messages.tsv`.

use std::collections::HashMap;
use std::sync::LazyLock;

use jarvis_plan::Language;

/// The words of a row, as `words.tsv` describes them.
pub(super) type Row = Vec<&'static str>;

static WORDS: LazyLock<HashMap<&'static str, Row>> = LazyLock::new(|| {
    let mut rows: HashMap<&str, Row> = HashMap::new();
    for (name, words) in lines(include_str!("words.tsv")) {
        rows.entry(name).or_default().extend(words.split(' '));
    }
    rows
});

static MESSAGES: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    lines(include_str!("messages.tsv")).map(|(name, texts)| (name, texts.split('\t').collect())).collect()
});

/// The rows of a data file: a name and what follows its TAB.
fn lines(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).filter_map(|line| line.split_once('\t'))
}

pub(super) fn row(name: &str) -> &'static [&'static str] {
    WORDS.get(name).expect("a test holds the names in the code against words.tsv")
}

/// The rows whose words count wherever they stand in a question.
pub(super) fn general_rows() -> impl Iterator<Item = &'static Row> {
    let conditional =
        |name: &str| ["bound_", "kind_", "number_", "rank_", "only_"].iter().any(|it| name.starts_with(it));
    WORDS.iter().filter(move |(name, _)| !conditional(name)).map(|(_, row)| row)
}

pub(super) fn kinds() -> impl Iterator<Item = (&'static str, &'static Row)> {
    WORDS.iter().filter(|(name, _)| name.starts_with("kind_")).map(|(name, row)| (*name, row))
}

/// Whether a row has this word as a whole; blanks stand for `_`.
pub(super) fn is_in(name: &str, word: &str) -> bool {
    let word = word.replace(' ', "_");
    row(name).iter().any(|known| *known == word)
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Messages(pub(super) Language);

impl Messages {
    pub(super) fn text(self, name: &str, parts: &[&str]) -> String {
        let column = match self.0 {
            Language::English => 0,
            Language::Russian => 1,
            Language::Chinese => 2,
        };
        let template = MESSAGES.get(name).and_then(|texts| texts.get(column));
        let template = template.expect("a test holds the names in the code against messages.tsv");
        let mut pieces = template.split(['{', '}']);
        let mut text = pieces.next().expect("a split has a first part").to_owned();
        while let (Some(number), Some(rest)) = (pieces.next(), pieces.next()) {
            let part = number.parse::<usize>().ok().and_then(|number| parts.get(number));
            text.push_str(part.expect("a message is given all its parts"));
            text.push_str(rest);
        }
        text
    }

    /// A message about a number of things: `NAME_one` or `NAME_many`, the number being its first part.
    pub(super) fn counted(self, name: &str, count: usize, parts: &[&str]) -> String {
        let name = format!("{name}_{}", if count == 1 { "one" } else { "many" });
        self.text(&name, &[&[count.to_string().as_str()], parts].concat())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use regex::Regex;

    use super::*;

    #[test]
    fn words_are_well_formed_and_stand_once_in_a_row() {
        for (name, row) in WORDS.iter() {
            for (at, word) in row.iter().enumerate() {
                assert!(!word.is_empty() && *word == super::super::question::folded(word), "{name}: {word}");
                assert!(!row[..at].contains(word), "{name}: {word} stands twice");
                let covered = row.iter().find(|other| {
                    other.strip_suffix('*').is_some_and(|start| *other != word && word.starts_with(start))
                });
                assert_eq!(covered, None, "{name}: {word} is covered");
            }
        }
    }

    #[test]
    fn messages_have_the_same_parts_in_each_language() {
        let parts = Regex::new(r"\{(\d)\}").unwrap();
        for (name, texts) in MESSAGES.iter() {
            assert_eq!(texts.len(), 3, "{name}");
            let found: Vec<BTreeSet<&str>> =
                texts.iter().map(|text| parts.find_iter(text).map(|part| part.as_str()).collect()).collect();
            assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{name}: {found:?}");
        }
    }

    /// Neither file may lack a name that the code uses, nor hold one that it does not.
    #[test]
    fn names_in_the_code_and_in_the_files_are_the_same() {
        let code = [
            include_str!("../offline.rs"),
            include_str!("bare.rs"),
            include_str!("data.rs"),
            include_str!("figures.rs"),
            include_str!("intent.rs"),
            include_str!("lists.rs"),
            include_str!("question.rs"),
            include_str!("quotes.rs"),
            include_str!("tables.rs"),
            include_str!("tables/doubts.rs"),
        ]
        .concat();
        let quoted: BTreeSet<&str> = Regex::new(r#""([a-z_0-9]+)""#)
            .unwrap()
            .captures_iter(&code)
            .map(|found| found.get(1).unwrap().as_str())
            .collect();
        let is_used = |name: &str| {
            let stem = name.strip_suffix("_one").or(name.strip_suffix("_many")).unwrap_or(name);
            name.starts_with("kind_") || quoted.contains(stem) || quoted.contains(name)
        };
        for name in WORDS.keys().chain(MESSAGES.keys()) {
            assert!(is_used(name), "{name} is not used");
        }
        let calls = r#"(?:\btext|\bcounted|\brefuse|\bhas|\bfind|\bis_in|\brow)\(\s*"([a-z_0-9]+)""#;
        for found in Regex::new(calls).unwrap().captures_iter(&code) {
            let name = found.get(1).unwrap().as_str();
            let many = format!("{name}_many");
            assert!(
                WORDS.contains_key(name) || MESSAGES.contains_key(name) || MESSAGES.contains_key(many.as_str()),
                "{name} is in no file"
            );
        }
    }
}
