//! The texts of `messages.tsv`.

use std::collections::HashMap;
use std::sync::LazyLock;

use jarvis_plan::{Language, rows};

static MESSAGES: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    rows(include_str!("messages.tsv")).map(|(name, texts)| (name, texts.split('\t').collect())).collect()
});

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

    use jarvis_tables::question::Figure;
    use jarvis_testing::source::{passed_to, quoted};

    use super::*;

    #[test]
    fn messages_have_the_same_parts_in_each_language() {
        let parts = jarvis_plan::pattern(r"\{(\d)\}");
        for (name, texts) in MESSAGES.iter() {
            assert_eq!(texts.len(), 3, "{name}");
            let found: Vec<BTreeSet<&str>> =
                texts.iter().map(|text| parts.find_iter(text).map(|part| part.as_str()).collect()).collect();
            assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{name}: {found:?}");
        }
    }

    /// The file may lack no name that the code uses, nor hold one that it does not.
    #[test]
    fn names_in_the_code_and_in_the_file_are_the_same() {
        let code = [
            include_str!("../offline.rs"),
            include_str!("bare.rs"),
            include_str!("lists.rs"),
            include_str!("quotes.rs"),
            include_str!("tables.rs"),
        ]
        .concat();
        let mut quoted = quoted(&code);
        quoted.extend(Figure::ALL.map(Figure::name));
        let is_used = |name: &str| {
            let stem = name.strip_suffix("_one").or(name.strip_suffix("_many")).unwrap_or(name);
            quoted.contains(stem) || quoted.contains(name)
        };
        for name in MESSAGES.keys() {
            assert!(is_used(name), "{name} is not used");
        }
        for name in passed_to(&["text", "counted", "refuse"], &code) {
            let many = format!("{name}_many");
            assert!(MESSAGES.contains_key(name) || MESSAGES.contains_key(many.as_str()), "{name} is not in the file");
        }
    }
}
