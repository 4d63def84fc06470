//! What is to be translated, from which language and into which, out of the words of a task: `Translate into French: the shop
//! opens at nine`.

use std::sync::LazyLock;

use jarvis_plan::pattern;
use regex::Regex;

use crate::native::{language_after, language_of};

/// The parts of an order to translate. Languages are ISO 639-1 codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Translation {
    pub(super) text: String,
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
}

/// An order before its text: words about translating up to a colon.
static ORDER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?is)^\s*((?:[^:：\n]{0,200}?)(?:translat|перевед|перевод|翻译|译成|译为|how do you say)[^:：\n]{0,200})[:：]\s*(.+)$",
    )
});

const INTO: [&str; 9] = ["into", "to", "in", "на", "成", "为", "译成", "译为", "翻译成"];
const FROM: [&str; 4] = ["from", "с", "из", "从"];

/// Reads the argument `text` of a task; what it does not say is looked for in the request.
pub(super) fn read(text: &str, request: &str) -> Translation {
    let (order, text) =
        match ORDER.captures(text).and_then(|found| Some((found.get(1)?.as_str(), found.get(2)?.as_str()))) {
            Some((order, text)) => (order, text.trim()),
            None => ("", text.trim()),
        };
    let ask = |words: &[&str]| [order, request].iter().find_map(|clause| language_after(clause, words));
    let to = ask(&INTO);
    let from = ask(&FROM).filter(|from| Some(from) != to.as_ref()).or_else(|| {
        let found = language_of(text);
        (found != "und").then(|| found.to_owned())
    });
    Translation { text: text.to_owned(), from, to }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_taken_apart() {
        let check = |text: &str, request: &str, found: (&str, Option<&str>, Option<&str>)| {
            let read = read(text, request);
            assert_eq!((read.text.as_str(), read.from.as_deref(), read.to.as_deref()), found, "{text} | {request}");
        };
        check(
            "Translate into French: the shop opens at nine.",
            "",
            ("the shop opens at nine.", Some("en"), Some("fr")),
        );
        check("translate it into German: Hello: world", "", ("Hello: world", Some("en"), Some("de")));
        check("translate from German into English: Guten Morgen", "", ("Guten Morgen", Some("de"), Some("en")));
        check("Переведи на английский: доброе утро", "", ("доброе утро", Some("ru"), Some("en")));
        check("翻译成英文：早上好", "", ("早上好", Some("zh"), Some("en")));
        // The order stands in the request alone.
        check(
            "the shop opens at nine",
            "read talk.wav and translate it into Spanish",
            ("the shop opens at nine", Some("en"), Some("es")),
        );
        // A colon in the text alone is no order.
        check("note: the shop opens", "", ("note: the shop opens", Some("en"), None));
        check("12:30", "", ("12:30", None, None));
    }
}
