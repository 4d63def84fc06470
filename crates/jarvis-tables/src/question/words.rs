//! The words of `words.tsv`.

use std::collections::HashMap;
use std::sync::LazyLock;

use jarvis_plan::rows;

/// The words of a row, as `words.tsv` describes them.
pub(super) type Row = Vec<&'static str>;

static WORDS: LazyLock<HashMap<&'static str, Row>> = LazyLock::new(|| {
    let mut words: HashMap<&str, Row> = HashMap::new();
    for (name, row) in rows(include_str!("words.tsv")) {
        words.entry(name).or_default().extend(row.split(' '));
    }
    words
});

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
    use jarvis_testing::source::{passed_to, quoted};

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
        ]
        .concat();
        let quoted = quoted(&code);
        for name in WORDS.keys() {
            assert!(name.starts_with("kind_") || quoted.contains(name), "{name} is not used");
        }
        for name in passed_to(&["has", "find", "is_in", "row"], &code) {
            assert!(WORDS.contains_key(name), "{name} is in no row");
        }
    }
}
