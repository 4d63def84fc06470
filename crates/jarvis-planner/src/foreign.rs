//! Requests in a language that the rules do not read. A word of one may look like an order in English; nothing is made of it.

use std::collections::HashSet;
use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use crate::data;
use crate::resources;
use crate::words::grammar::strip_polite;
use crate::words::{self, Token};

static LANGUAGES: LazyLock<Vec<(&str, FxHashSet<&str>)>> = LazyLock::new(|| {
    let rows = data::rows(include_str!("../data/foreign.tsv"));
    rows.map(|(name, words)| (name, words.split(' ').collect())).collect()
});

/// The language of a request by its small words, where it is none of those that are read. What it quotes is not counted.
pub(crate) fn language(text: &str) -> Option<&'static str> {
    // Behind a colon or a new line stands what is worked on.
    let text = text.split([':', '\n', '：']).next().unwrap_or_default();
    let tokens = words::tokens(text);
    let opens = strip_polite(&tokens).first().or(tokens.first());
    let is_read = |token: &Token| data::ORDER_VERBS.has(&token.lower) || data::QUESTION_WORDS.has(&token.lower);
    if opens.is_some_and(is_read) {
        return None;
    }
    let spans = resources::spans(text);
    let said: HashSet<&str> = tokens
        .iter()
        .filter(|token| !spans.iter().any(|span| span.covers(token.start)))
        .map(|token| token.lower.as_str())
        .collect();
    let english =
        |word: &&&str| data::STOP_WORDS.has(word) || data::FUNCTION_WORDS.has(word) || data::ORDER_VERBS.has(word);
    let english = said.iter().filter(english).count();
    let hits = |words: &FxHashSet<&str>| said.iter().filter(|word| words.contains(*word)).count();
    let (name, most) = LANGUAGES.iter().map(|(name, words)| (*name, hits(words))).max_by_key(|(_, hits)| *hits)?;
    (most > 1 && most > english).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::language;

    #[test]
    fn small_words_tell_the_language() {
        for (text, want) in [
            ("lies brief.txt auf Deutsch vor, schön langsam, als wav Datei", "German"),
            ("Wie hoch ist der Rechnungsbetrag in brief.txt?", "German"),
            ("fais tourner rocket.jpg de 90 degrés vers la gauche puis enregistre-le dans le dossier", "French"),
            ("¿cuánto cuesta el alquiler mensual según scan_page.png?", "Spanish"),
        ] {
            assert_eq!(language(text), Some(want), "{text}");
        }
        for text in [
            "read a.txt aloud in German",
            "translate 'Guten Morgen, wie ist es mit dir und der Familie?' to English",
            "what does 'le chat est sur la table' mean?",
            "show photos of Rio de Janeiro and La Paz",
            "detect the language of Das ist ein Haus und kein Boot",
            "what language is this: Das Haus ist schön und nicht alt",
            "make a.jpg grey",
            "озвучь brief.txt",
            "",
        ] {
            assert_eq!(language(text), None, "{text}");
        }
    }
}
