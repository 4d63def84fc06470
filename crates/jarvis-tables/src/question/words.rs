//! The words of `words.tsv`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The words of a row, as `words.tsv` describes them.
pub(super) type Row = Vec<&'static str>;

static WORDS: LazyLock<HashMap<&'static str, Row>> = LazyLock::new(|| {
    let mut rows: HashMap<&str, Row> = HashMap::new();
    for (name, words) in lines(include_str!("words.tsv")) {
        rows.entry(name).or_default().extend(words.split(' '));
    }
    rows
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
    let conditional = |name: &str| {
        ["bound_", "kind_", "number_", "rank_", "only_", "missing", "total_row", "year_column"]
            .iter()
            .any(|it| name.starts_with(it))
    };
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use regex::Regex;

    use super::*;

    #[test]
    fn words_are_well_formed_and_stand_once_in_a_row() {
        for (name, row) in WORDS.iter() {
            for (at, word) in row.iter().enumerate() {
                assert!(!word.is_empty() && *word == super::super::folded(word), "{name}: {word}");
                assert!(!row[..at].contains(word), "{name}: {word} stands twice");
                let covered = row.iter().find(|other| {
                    other.strip_suffix('*').is_some_and(|start| *other != word && word.starts_with(start))
                });
                assert_eq!(covered, None, "{name}: {word} is covered");
            }
        }
    }

    /// Rows that the wording of answers asks for, in `jarvis-react`.
    const ASKED: &str = r#"has("pie")"#;

    /// The file may lack no name that the code uses, nor hold one that it does not.
    #[test]
    fn names_in_the_code_and_in_the_files_are_the_same() {
        let code = [
            include_str!("doubts.rs"),
            include_str!("intent.rs"),
            include_str!("select.rs"),
            include_str!("shape.rs"),
            include_str!("sql.rs"),
            include_str!("statement.rs"),
            include_str!("text.rs"),
            ASKED,
        ]
        .concat();
        let quoted: BTreeSet<&str> = Regex::new(r#""([a-z_0-9]+)""#)
            .unwrap()
            .captures_iter(&code)
            .map(|found| found.get(1).unwrap().as_str())
            .collect();
        for name in WORDS.keys() {
            assert!(name.starts_with("kind_") || quoted.contains(name), "{name} is not used");
        }
        let calls = r#"(?:\bhas|\bfind|\bis_in|\brow)\(\s*"([a-z_0-9]+)""#;
        for found in Regex::new(calls).unwrap().captures_iter(&code) {
            let name = found.get(1).unwrap().as_str();
            assert!(WORDS.contains_key(name), "{name} is in no row");
        }
    }
}
