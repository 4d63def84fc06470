//! The word lists in `data/*.tsv`, compiled into the binary and parsed at their first use.
//!
//! One format for all: UTF-8, `#` before a comment, and one row per line, `name<TAB>word word …`, in which `_` joins the
//! words of a phrase.
//!
//! Tables of words of our own are hashed with `rustc-hash`: a request looks up thousands, and nobody chooses what is in them.

use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use jarvis_plan::rows;
use rustc_hash::FxHashSet;

static WORDS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| rows(include_str!("../data/words.tsv")).collect());

/// A row of `data/words.tsv`, looked up by hash.
pub(crate) struct WordSet {
    /// In the order of the row.
    words: Vec<&'static str>,
    set: FxHashSet<&'static str>,
}

impl WordSet {
    fn named(name: &str) -> WordSet {
        let row =
            WORDS.get(name.to_lowercase().as_str()).expect("each set has a row, which `each_set_has_a_row` tests");
        WordSet { words: row.split(' ').collect(), set: row.split(' ').collect() }
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.set.contains(word)
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.words.iter().copied()
    }
}

/// A language by which short texts are known.
pub(crate) struct Known {
    pub(crate) code: &'static str,
    /// How words that name it begin.
    pub(crate) names: Vec<&'static str>,
    pub(crate) words: FxHashSet<&'static str>,
}

/// The rows of `data/common_words.tsv`.
pub(crate) static KNOWN_LANGUAGES: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let rows = rows(include_str!("../data/common_words.tsv"));
    rows.map(|(code, rest)| {
        let (names, words) = rest.split_once('\t').expect("a row has three fields, which a test of `is_in` reads");
        Known { code, names: names.split('|').collect(), words: words.split(' ').collect() }
    })
    .collect()
});

macro_rules! sets {
    ($($set:ident,)*) => {
        $(pub(crate) static $set: LazyLock<WordSet> = LazyLock::new(|| WordSet::named(stringify!($set)));)*

        #[cfg(test)]
        const SETS: &[&str] = &[$(stringify!($set)),*];
    };
}

sets! {
    DETERMINERS, LANGUAGES, QUESTION_WORDS, QUESTION_PHRASES_HAN, QUESTION_AUXILIARIES, SURE_AUXILIARIES,
    STOP_WORDS, KIND_STEMS, PALE_STEMS, RESOURCE_STEMS, EVERYDAY_STEMS, PALE_SENSES, NAME_TIES, IMAGE_STEMS,
    AUDIO_STEMS, TEXT_STEMS, VIDEO_STEMS, BEFORE_WANTED, BEFORE_WANTED_HAN, BEFORE_GIVEN, BEFORE_GIVEN_HAN,
    WORKING_VERBS, TURNING_VERBS, THEN_PHRASES, AND_PHRASES, THEN_OPENERS, LOOKING_BACK, ABBREVIATIONS,
    BEFORE_NEGATION, CONTRAST, CONTRAST_HAN, NO_NEGATION, NO_NEGATION_HAN, MENTAL_VERBS, ORDER_VERBS,
    FUNCTION_WORDS, POLITE, POINTING_VERBS, HANDLING_VERBS, BEFORE_ATTRIBUTE, MEANS_OPENERS, SUBJECTS, HANDING_OVER, PRONOUNS,
    RESULT_WORDS, EACH_WORDS, BOTH_WORDS, KEYWORD_WORDS, ORIGINAL_WORDS, ELSEWHERE_WORDS, TEXT_NOUNS, COUNTED_NOUNS, CUES,
    TOPIC_CUES, SUBORDINATE, NO_VALUE, NEVER_FIRST, NEVER_LAST, INFINITIVES, TALK_VERBS, HAN_VERBS, NEVER_FIRST_HAN,
    STOPS_HAN, WHOLE_HAN, PARAMETER_FILLER, EMPTY_VALUES, SORT_STEMS, NEVER_IN_NAMES, BEFORE_NAMES, TITLES,
    HOLDING_STEMS, JOINTS, CONTENTLESS, CONTENTLESS_HAN, GENERIC_STEMS, BEFORE_CONTENT, TYING, LETTERING,
    LETTERING_HAN, LETTERING_CUES, INSPIRED_BY, SAVING_VERBS, WRITING_VERBS, MADE_TEXTS, CALLING_VERBS, SAYING_VERBS, STYLE_WORDS, POINTING_FIRST, BEFORE_COMPLAINTS, BEFORE_RESULT_NAMES, TELLING_VERBS,
    BEFORE_ORDERS, CONDITIONS, CONDITIONS_HAN, BOUNDS, NEGATIONS, NEGATIONS_HAN, RETRACTIONS, FINITE, GOVERNORS,
    RESULT_VERBS, NO_SLIPS, READING_VERBS, INTO_WORDS, FILE_WORDS, NAMING_WORDS, FOLDER_STEMS, FOLDER_TIES, FOLDER_TIES_HAN, FOLDER_HAN,
    ALL_THE_SAME, COMPARED, DESCRIBING, MAKING_VERBS, PASTS, BESIDE_VERBS, WISHED, AFTER_REPORTS, WRITTEN_STEMS, PRONOUNS_OF_PEOPLE, PLACED_FIRST, PLACED_LAST, BEGINNING,
    LEADS, BETWEEN_ITEMS, SMALL_STEMS, REFUSALS, AGREEMENTS, ASKING, ONE_OF_TWO, AT_ONCE, JOINS_THINGS, WITH, COMPARES, BETWEEN, FROM, TO, CALENDAR_NAMES, FIRST_OF_TWO, SECOND_OF_TWO, REFERENCES, REFERENCE_FILLERS, CONTENTS, LOOK_UPS, ACTING_SENSES, LOOK_UP_VERBS,
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{SETS, rows};

    const LISTS: [(&str, &str); 3] = [
        ("words", include_str!("../data/words.tsv")),
        ("thesaurus", include_str!("../data/thesaurus.tsv")),
        ("lexicon", include_str!("../data/lexicon.tsv")),
    ];

    #[test]
    fn rows_are_well_formed() {
        for (list, text) in LISTS {
            let mut names = HashSet::new();
            for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                let (name, words) = line.split_once('\t').unwrap_or_else(|| panic!("{list}: no tab in {line:?}"));
                assert!(names.insert(name), "{list}: two rows named {name}");
                let mut seen = HashSet::new();
                for word in words.split(' ') {
                    assert!(!word.is_empty() && word == word.trim(), "{list}: stray blank in {name}");
                    assert!(seen.insert(word), "{list}: {word} stands twice in {name}");
                    assert_eq!(word.to_lowercase(), word, "{list}: {name}");
                }
            }
        }
    }

    #[test]
    fn each_set_has_a_row() {
        let named: HashSet<String> = rows(LISTS[0].1).map(|(name, _)| name.to_owned()).collect();
        assert_eq!(named, SETS.iter().map(|set| set.to_lowercase()).collect());
    }
}
