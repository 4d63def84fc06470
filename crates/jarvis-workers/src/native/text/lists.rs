//! The word lists in `data/words.tsv`, compiled into the binary and parsed at their first use.

use std::collections::HashMap;
use std::sync::LazyLock;

use jarvis_plan::rows;

const DATA: &str = include_str!("../../../data/words.tsv");

static LISTS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| rows(DATA).collect());

/// The words of one list. Names of several words are joined by `_`.
pub(super) fn list(name: &str) -> impl Iterator<Item = &'static str> + use<> {
    LISTS.get(name).expect("a list named in the code has a row").split(' ')
}

/// Words that say how someone feels, in `ru` or `zh`, with values on VADER's scale (-4 to 4).
pub(super) fn feelings(language: &str) -> impl Iterator<Item = (&'static str, f64)> {
    let prefix = format!("feelings_{language}:");
    rows(DATA).filter_map(move |(name, words)| Some((name.strip_prefix(&prefix)?, words))).flat_map(|(value, words)| {
        let value: f64 = value.parse().expect("a number after the colon, which `no_row_has_a_word_twice` tests");
        words.split(' ').map(move |word| (word, value))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{DATA, feelings, rows};

    #[test]
    fn no_row_has_a_word_twice() {
        let mut names = HashSet::new();
        for (name, words) in rows(DATA) {
            assert!(names.insert(name), "two rows are named {name}");
            let mut seen = HashSet::new();
            for word in words.split(' ') {
                assert!(!word.is_empty() && seen.insert(word), "{name}: {word:?} is blank or stands there twice");
            }
        }
        for language in ["ru", "zh"] {
            let mut values = HashSet::new();
            assert!(feelings(language).all(|(word, value)| values.insert(word) && (-4.0..=4.0).contains(&value)));
            assert!(values.len() > 100, "{language}");
        }
    }
}
