//! Texts that others wrote about their tools: freed of what a reader does not see, and kept short.
//!
//! A description goes to a model as it is. Characters that no person sees can carry orders there that no person approved.

use jarvis_net::text;
use serde_json::{Map, Value};

/// The longest description of a tool, in characters.
pub(crate) const MAX_DESCRIPTION: usize = 4_000;

/// The longest text within a schema, in characters.
const MAX_SCHEMA_TEXT: usize = 1_000;

/// The largest schema of a tool, in bytes of JSON.
pub(crate) const MAX_SCHEMA: usize = 64 << 10;

const MAX_DEPTH: usize = 32;

/// What was done to texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Found {
    /// Characters that no reader sees were taken out.
    pub(crate) hidden: bool,
    /// Something was too long and was cut.
    pub(crate) cut: bool,
}

impl Found {
    /// What was done, in words; `None` when nothing was.
    pub(crate) fn words(self) -> Option<&'static str> {
        match (self.hidden, self.cut) {
            (true, true) => {
                Some("hidden characters were taken out of its description, which was also too long and is cut")
            }
            (true, false) => Some("hidden characters were taken out of its description"),
            (false, true) => Some("its description is too long and is cut"),
            (false, false) => None,
        }
    }
}

/// Hidden characters, and controls other than line feed and tab.
fn is_hidden(c: char) -> bool {
    text::is_hidden(c) || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// The text without what is hidden, at most `max` characters of it.
pub(crate) fn clean(text: &str, max: usize, found: &mut Found) -> String {
    let mut kept = String::with_capacity(text.len().min(max.saturating_mul(4)));
    let mut count = 0;
    // A carriage return is a control that many files have at the ends of lines: no secret.
    for c in text.trim().chars().filter(|c| *c != '\r') {
        if kept.is_empty() && c.is_whitespace() {
            // What stood before it was hidden.
        } else if is_hidden(c) {
            found.hidden = true;
        } else if count == max {
            kept.push('…');
            found.cut = true;
            break;
        } else {
            kept.push(c);
            count += 1;
        }
    }
    kept.truncate(kept.trim_end().len());
    kept
}

/// A schema whose texts are clean. `None` when it is no object, too large or too deep, or when the name of a field has hidden
/// characters: such a field could be neither shown nor filled in.
pub(crate) fn clean_schema(schema: &Value, found: &mut Found) -> Option<Value> {
    if !schema.is_object() || !within(schema, &mut { MAX_SCHEMA }, MAX_DEPTH) {
        return None;
    }
    clean_value(schema, found)
}

/// Whether a value is within what is left of a size, and not deeper than a depth.
fn within(value: &Value, left: &mut usize, depth: usize) -> bool {
    let own = match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => text.len() + 2,
        Value::Array(_) | Value::Object(_) => 2,
    };
    let Some(rest) = left.checked_sub(own) else { return false };
    *left = rest;
    match value {
        Value::Array(rows) => depth > 0 && rows.iter().all(|row| within(row, left, depth - 1)),
        Value::Object(fields) => {
            depth > 0
                && fields.iter().all(|(name, field)| {
                    let Some(rest) = left.checked_sub(name.len() + 4) else { return false };
                    *left = rest;
                    within(field, left, depth - 1)
                })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn clean_value(value: &Value, found: &mut Found) -> Option<Value> {
    Some(match value {
        Value::String(text) => Value::String(clean(text, MAX_SCHEMA_TEXT, found)),
        Value::Array(rows) => {
            Value::Array(rows.iter().map(|row| clean_value(row, found)).collect::<Option<Vec<Value>>>()?)
        }
        Value::Object(fields) => {
            let mut kept = Map::new();
            for (name, field) in fields {
                if name.chars().any(is_hidden) {
                    return None;
                }
                kept.insert(name.clone(), clean_value(field, found)?);
            }
            Value::Object(kept)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}

/// The first sentence of a description, on one line.
pub(crate) fn first_sentence(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim();
    let end = line.match_indices(['.', '。', '!', '?']).find_map(|(at, mark)| {
        let after = at + mark.len();
        let ends = line.get(after..).is_none_or(|rest| rest.is_empty() || rest.starts_with(' ') || mark == "。");
        ends.then_some(at)
    });
    text::shorten(line.get(..end.unwrap_or(line.len())).unwrap_or(line), 200)
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;
    use serde_json::json;

    use super::*;

    const CASES: &str = include_str!("untrusted.json");

    #[test]
    fn what_is_not_seen_is_taken_out() {
        for (text, kept, hidden) in rows::<(String, String, bool)>(CASES, "cleaned") {
            let mut found = Found::default();
            assert_eq!(clean(&text, 100, &mut found), kept);
            assert_eq!(found, Found { hidden, cut: false }, "{text:?}");
        }
        let mut found = Found::default();
        assert_eq!(clean("привет", 3, &mut found), "при…");
        assert!(found.cut && !found.hidden);
    }

    #[test]
    fn schemas_are_cleaned_and_bounded() {
        let mut found = Found::default();
        let schema = json!({"type": "object", "properties": {"a": {"description": "x\u{200b}y", "maximum": 3}}});
        let clean = clean_schema(&schema, &mut found).unwrap();
        assert_eq!(clean["properties"]["a"], json!({"description": "xy", "maximum": 3}));
        assert!(found.hidden);
        let mut deep = json!({});
        for _ in 0..=MAX_DEPTH {
            deep = json!({ "a": deep });
        }
        for bad in [json!([]), json!({"a\u{200b}": 1}), json!({"a": "x".repeat(MAX_SCHEMA)}), deep] {
            assert_eq!(clean_schema(&bad, &mut found), None);
        }
    }

    #[test]
    fn the_first_sentence_says_what_a_tool_does() {
        for (text, first) in rows::<(String, String)>(CASES, "first") {
            assert_eq!(first_sentence(&text), first);
        }
    }

    proptest::proptest! {
        #[test]
        fn cleaning_twice_changes_nothing(text in "(\\PC|[\u{200b}\u{202e}\u{e0041}\r\n\t\u{1b} ]){0,60}", max in 1..50_usize) {
            let mut found = Found::default();
            let once = clean(&text, max, &mut found);
            proptest::prop_assert!(once.chars().count() <= max + 1 && !once.chars().any(is_hidden));
            let mut again = Found::default();
            proptest::prop_assert_eq!(clean(&once, max + 1, &mut again), once);
            proptest::prop_assert!(!again.hidden);
        }
    }
}
