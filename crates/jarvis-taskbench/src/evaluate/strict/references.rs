//! What an argument of a resource plan refers to: every `<node-j>` and `<output_of_X>` in it.

use crate::json::Json;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reference {
    /// `<node-j>`: a place in the list of nodes, or `None` where what is written is no such number.
    Node { at: Option<usize>, written: String },
    /// `<output_of_X>`.
    OutputOf { tool: String, written: String },
}

impl Reference {
    pub(super) fn written(&self) -> &str {
        match self {
            Reference::Node { written, .. } | Reference::OutputOf { written, .. } => written,
        }
    }
}

/// Adds every reference in the texts of a value, in the order they are written.
pub(super) fn references(value: &Json<'_>, found: &mut Vec<Reference>) {
    match value {
        Json::Str(text) => in_text(text, found),
        Json::Array(items) => items.iter().for_each(|item| references(item, found)),
        Json::Object(pairs) => pairs.iter().for_each(|(_, value)| references(value, found)),
        Json::Null | Json::Bool(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) => {}
    }
}

fn in_text(text: &str, found: &mut Vec<Reference>) {
    const NODE: &str = "<node-";
    const OUTPUT: &str = "<output_of_";
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let tag = rest.get(start..).expect("`find` gives the start of a letter");
        let (word, is_node) = match (tag.strip_prefix(NODE), tag.strip_prefix(OUTPUT)) {
            (Some(after), _) => (after, true),
            (None, Some(after)) => (after, false),
            (None, None) => {
                rest = tag.get(1..).expect("`<` is one byte");
                continue;
            }
        };
        // A tag that is never closed, or not before the next one opens, ends there.
        let end = word.find(['>', '<']).unwrap_or(word.len());
        let closed = word.get(end..).is_some_and(|after| after.starts_with('>'));
        let inside = word.get(..end).expect("`find` gives the start of a letter");
        let after = word.get(end + usize::from(closed)..).expect("`>` is one byte");
        let written = tag.get(..tag.len() - after.len()).expect("`after` ends `tag`").chars().take(80).collect();
        found.push(match (is_node, closed) {
            (true, closed) => Reference::Node { at: place(inside).filter(|_| closed), written },
            (false, true) => Reference::OutputOf { tool: inside.to_owned(), written },
            (false, false) => Reference::Node { at: None, written },
        });
        rest = after;
    }
}

/// A place as plain digits; `None` for signs and for numbers too large.
fn place(digits: &str) -> Option<usize> {
    let digits = digits.trim();
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

/// What is found in a value: places, and 1,000 and more for names.
#[cfg(test)]
fn places(value: &Json<'_>) -> Vec<Option<usize>> {
    let mut found = Vec::new();
    references(value, &mut found);
    let whole = crate::evaluate::strict::canonical::value_text(value);
    assert!(found.iter().all(|reference| whole.contains(reference.written())));
    found
        .iter()
        .map(|reference| match reference {
            Reference::Node { at, .. } => *at,
            Reference::OutputOf { tool, .. } => Some(1000 + tool.len()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::places;
    use crate::evaluate::cases;
    use crate::json::parse;

    #[test]
    fn every_reference_is_found() {
        for (json, expected) in cases::<(String, Vec<Option<usize>>)>("places") {
            assert_eq!(places(&parse(json.as_bytes()).unwrap()), expected, "{json}");
        }
    }
}
