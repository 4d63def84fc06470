//! The thesaurus: words that people and tools use for one sense, in three languages, so that "reserve a table" finds a tool
//! that books restaurants. It knows senses and no tools; media tasks, which need whole phrases, are in
//! [`crate::lexicon`].

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::data;
use crate::words::{self, Token};

pub(crate) type SenseId = usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Something that is done: to book, to cancel.
    Action,
    /// Something it is done to or with: a flight, a note.
    Thing,
}

#[derive(Debug)]
pub(crate) struct Sense {
    pub(crate) name: &'static str,
    pub(crate) part: Part,
    /// It alone tells no tool from another.
    pub(crate) is_pale: bool,
}

struct Table {
    senses: Vec<Sense>,
    /// Senses by the word as it stands, where another word of the same stem means something else.
    by_form: FxHashMap<&'static str, Vec<SenseId>>,
    /// Senses by stem, or by a Chinese word.
    by_word: FxHashMap<String, Vec<SenseId>>,
    longest: usize,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table =
        Table { senses: Vec::new(), by_form: FxHashMap::default(), by_word: FxHashMap::default(), longest: 1 };
    for (id, (row, words)) in data::rows(include_str!("../data/thesaurus.tsv")).enumerate() {
        let (name, part) = row.split_once('.').unwrap_or((row, ""));
        let part = if part == "action" { Part::Action } else { Part::Thing };
        table.senses.push(Sense { name, part, is_pale: data::PALE_SENSES.has(&name.replace(' ', "_")) });
        for word in words.split(' ') {
            if let Some(form) = word.strip_prefix('=') {
                table.by_form.entry(form).or_default().push(id);
                continue;
            }
            let han = word.chars().next().is_some_and(jarvis_plan::is_han);
            let key = if han { word.to_owned() } else { words::stem(word) };
            if han {
                table.longest = table.longest.max(word.chars().count());
            }
            let senses = table.by_word.entry(key).or_default();
            if !senses.contains(&id) {
                senses.push(id);
            }
        }
    }
    table
});

pub(crate) fn sense(id: SenseId) -> &'static Sense {
    TABLE.senses.get(id).expect("an id is a place in the thesaurus")
}

/// The sense of a name.
pub(crate) fn named(name: &str) -> Option<SenseId> {
    TABLE.senses.iter().position(|sense| sense.name == name)
}

pub(crate) fn is_a(id: SenseId, part: Part) -> bool {
    sense(id).part == part
}

/// Whether the words begin with something that is done.
pub(crate) fn begins_with_action(tokens: &[Token]) -> bool {
    of_tokens(tokens).iter().any(|(id, from, _)| *from == 0 && is_a(*id, Part::Action))
}

pub(crate) fn count() -> usize {
    TABLE.senses.len()
}

/// The senses of one word: those of the word itself, or else those of its stem.
pub(crate) fn of_token(token: &Token) -> &'static [SenseId] {
    let own = TABLE.by_form.get(token.lower.as_str()).or_else(|| TABLE.by_word.get(&token.stem));
    own.map_or(&[], Vec::as_slice)
}

pub(crate) fn of_stem(stem: &str) -> &'static [SenseId] {
    TABLE.by_word.get(stem).map_or(&[], Vec::as_slice)
}

/// Every sense that the words name, with the places of its first word and the one after its last. Of Chinese words the
/// longest at each place counts.
pub(crate) fn of_tokens(tokens: &[Token]) -> Vec<(SenseId, usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let mut next = at + 1;
        if token.is_han() {
            let mut word = String::new();
            let mut best: Option<(&[SenseId], usize)> = None;
            for (end, token) in tokens.iter().enumerate().skip(at).take(TABLE.longest) {
                let apart = end > at && tokens.get(end - 1).is_some_and(|before| before.end != token.start);
                if !token.is_han() || apart {
                    break;
                }
                word.push_str(&token.lower);
                if let Some(senses) = TABLE.by_word.get(&word) {
                    best = Some((senses, end + 1));
                }
            }
            if let Some((senses, end)) = best {
                found.extend(senses.iter().map(|sense| (*sense, at, end)));
                next = end;
            }
        } else {
            found.extend(of_token(token).iter().map(|sense| (*sense, at, next)));
        }
        at = next;
    }
    found
}

/// True when the word, alone, names something that is done.
pub(crate) fn is_action(token: &Token) -> bool {
    of_token(token).iter().any(|id| is_a(*id, Part::Action))
}

/// True when the word, alone, names something that is done and nothing that it is done to.
pub(crate) fn is_verb(token: &Token) -> bool {
    let part = |part: Part| of_token(token).iter().any(|id| is_a(*id, part));
    part(Part::Action) && !part(Part::Thing)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{of_tokens, sense};
    use crate::data;
    use crate::words::tokens;

    fn check(text: &str, expected: &str) {
        let found: Vec<&str> = of_tokens(&tokens(text)).iter().map(|(id, _, _)| sense(*id).name).collect();
        for word in expected.split_whitespace() {
            assert!(found.contains(&word), "{text}: {word} not in {found:?}");
        }
        assert_eq!(expected.is_empty(), found.is_empty(), "{text}: {found:?}");
    }

    #[test]
    fn words_of_three_languages_share_senses() {
        check("Reserve a table", "book restaurant");
        check("забронируй столик", "book restaurant");
        check("预订餐厅", "book restaurant");
        check("cancelling the flights", "cancel flight");
        check("the weather forecast", "weather");
        check("an unrelated wombat", "");
    }

    #[test]
    fn each_row_is_an_action_or_a_thing_of_its_own_name() {
        let mut names = HashSet::new();
        for (row, _) in data::rows(include_str!("../data/thesaurus.tsv")) {
            let (name, part) = row.split_once('.').unwrap();
            assert!(matches!(part, "action" | "thing") && names.insert(name), "{row}");
        }
        for name in data::PALE_SENSES.words() {
            assert!(names.contains(name.replace('_', " ").as_str()), "{name} is no sense");
        }
    }
}
