//! `count`: how often each thing occurs in a list, a text or the document.

use std::collections::HashMap;
use std::fmt;
use std::fmt::Write;

use jarvis_net::text::shorten;
use jarvis_plan::narrow;
use serde_json::{Value, json};

use super::{NativeTool, Work, native, wrong};
use crate::{Observation, Scope};

/// The most kinds that are listed by name.
const TOLD: usize = 150;
/// The longest name of a listed kind.
const LONGEST: usize = 40;
/// Items of more characters than this, on average, are no list but sentences.
const PROSE: usize = 32;

/// How often each kind of thing occurs, most frequent first; equals in the order of their first occurrence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// Each kind as it was first written, with its count.
    pub kinds: Vec<(String, usize)>,
}

impl Counts {
    /// Counts items; case, blanks and the width of letters do not tell them apart, and empty ones are left out.
    pub fn of<'a>(items: impl Iterator<Item = &'a str>) -> Counts {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut kinds: Vec<(String, usize)> = Vec::new();
        for item in items {
            let bare = bare(item);
            if bare.is_empty() {
                continue;
            }
            let place = *places.entry(folded(bare)).or_insert(kinds.len());
            match kinds.get_mut(place) {
                Some((_, count)) => *count += 1,
                None => kinds.push((bare.to_owned(), 1)),
            }
        }
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.1));
        Counts { kinds }
    }

    /// Counts the items of a text: parts between separators where it is a list, else its lines, else its words.
    pub fn of_text(text: &str, separator: Option<&str>) -> Counts {
        match separator {
            Some(separator) if !separator.is_empty() => Counts::of(text.split(separator)),
            Some(_) | None => {
                let text = unheaded(text);
                let between = |c: char| matches!(c, ',' | '，' | '、' | ';' | '；' | '|' | '\t' | '\n');
                let (mut parts, mut chars) = (0, 0);
                for part in text.split(between).map(str::trim).filter(|part| !part.is_empty()) {
                    parts += 1;
                    chars += part.chars().count();
                }
                if parts > 1 && chars <= PROSE * parts {
                    Counts::of(text.split(between))
                } else {
                    Counts::of(text.split(|c: char| c.is_whitespace() || between(c)))
                }
            }
        }
    }

    /// How many items there are in all.
    pub fn total(&self) -> usize {
        self.kinds.iter().map(|kind| kind.1).sum()
    }

    /// How often one kind occurs.
    pub fn get(&self, kind: &str) -> usize {
        let wanted = folded(bare(kind));
        self.kinds.iter().find(|(known, _)| folded(known) == wanted).map_or(0, |kind| kind.1)
    }
}

impl fmt::Display for Counts {
    /// `apple: 6, banana: 3; 2 kinds, 9 in all`, and below it the same as the input of `plot`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.kinds.get(..TOLD).unwrap_or(&self.kinds);
        let names: Vec<String> = shown.iter().map(|(kind, _)| shorten(kind, LONGEST)).collect();
        for (at, (name, (_, count))) in names.iter().zip(shown).enumerate() {
            write!(f, "{}{name}: {count}", if at == 0 { "" } else { ", " })?;
        }
        let more = self.kinds.len() - shown.len();
        if more > 0 {
            write!(f, ", and {more} kinds more")?;
        }
        let kinds = if self.kinds.len() == 1 { "kind" } else { "kinds" };
        let gap = if shown.is_empty() { "" } else { "; " };
        write!(f, "{gap}{} {kinds}, {} in all", self.kinds.len(), self.total())?;
        let counts: Vec<usize> = shown.iter().map(|kind| kind.1).collect();
        if shown.is_empty() { Ok(()) } else { write!(f, "\n{}", json!({"x": names, "y": counts})) }
    }
}

/// A list without the heading before its only colon.
fn unheaded(text: &str) -> &str {
    match text.split_once([':', '：']) {
        Some((head, rest))
            if !head.contains([',', '，', '、', ';', '；', '|', '\t']) && !rest.contains([':', '：']) =>
        {
            rest
        }
        Some(_) | None => text,
    }
}

/// An item without blanks, quotes and the marks that end sentences around it.
fn bare(item: &str) -> &str {
    item.trim_matches(|c: char| c.is_whitespace() || "\"'“”‘’«»「」.。!！?？:：()（）[]{}".contains(c))
}

fn folded(item: &str) -> String {
    let mut folded = String::with_capacity(item.len());
    for c in item.chars().map(narrow) {
        if !c.is_whitespace() {
            folded.extend(c.to_lowercase());
        } else if !folded.ends_with(' ') {
            folded.push(' ');
        }
    }
    folded
}

/// How often something stands in a text, case left aside: as whole words, or anywhere for scripts without blanks.
fn occurrences(text: &str, wanted: &str) -> usize {
    let (text, wanted) = (folded(text), folded(bare(wanted)));
    if wanted.is_empty() {
        return 0;
    }
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && u32::from(c) < 0x2e80);
    let starts = joins(wanted.chars().next());
    let ends = joins(wanted.chars().next_back());
    let whole = |at: usize| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + wanted.len()..).and_then(|after| after.chars().next());
        !(starts && joins(before) || ends && joins(after))
    };
    text.match_indices(&wanted).filter(|(at, _)| whole(*at)).count()
}

enum Counted {
    Items(Vec<String>),
    Text(std::sync::Arc<str>),
}

/// The tool `count`.
pub(super) fn tool() -> NativeTool {
    let spec = native(
        "count",
        "Counts exactly how often each kind of item occurs, most frequent first, and how many kinds and items there \
         are. Without `items` and `text` it counts the items of the document. The second line of what it gives is an \
         input for `plot`.",
        "you need to know how many of something there are, how many kinds, or which is most frequent; never count \
         yourself",
        json!({
            "type": "object",
            "properties": {
                "items": {"type": "array", "items": {"type": ["string", "number"]}, "description": "the items to count"},
                "text": {"type": "string", "description": "a text with the items in it"},
                "separator": {"type": "string", "description": "what stands between items; guessed if it is left out"},
                "of": {"type": "string", "description": "the one thing to count; all if it is left out"},
            },
        }),
        json!({"text": "pear,pear,fig", "separator": ","}),
    );
    let prepare = |input: &Value, scope: &Scope| {
        let text = |key: &str| match input.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => Err(wrong(format!("`{key}` must be a text"))),
        };
        let (separator, of) = (text("separator")?, text("of")?);
        let counted = match (input.get("items"), text("text")?) {
            (Some(Value::Array(items)), _) => {
                let item = |item: &Value| match item {
                    Value::String(text) => Ok(text.clone()),
                    Value::Number(_) | Value::Bool(_) => Ok(item.to_string()),
                    Value::Null | Value::Array(_) | Value::Object(_) => {
                        Err(wrong("`items` must be a list of texts or numbers".to_owned()))
                    }
                };
                Counted::Items(items.iter().map(item).collect::<Result<_, _>>()?)
            }
            (None | Some(Value::Null), Some(text)) => Counted::Text(text.into()),
            (None | Some(Value::Null), None) => Counted::Text(
                scope
                    .documents
                    .text()
                    .cloned()
                    .ok_or_else(|| wrong("give `items` or `text`; there is no document".to_owned()))?,
            ),
            (Some(_), _) => return Err(wrong("`items` must be a list of texts or numbers".to_owned())),
        };
        Ok(Box::new(move || Ok(tell(&counted, separator.as_deref(), of.as_deref()))) as Work)
    };
    NativeTool { spec, prepare: Box::new(prepare) }
}

/// The counts in words, and as data: `{"counts": [{"item": "apple", "count": 6}], "total": 10}`, most frequent first and
/// complete, or for one thing `{"item": "apple", "count": 6, "total": 10, "in_text": 7}`.
fn tell(counted: &Counted, separator: Option<&str>, of: Option<&str>) -> Observation {
    let counts = match counted {
        Counted::Items(items) => Counts::of(items.iter().map(String::as_str)),
        Counted::Text(text) => Counts::of_text(text, separator),
    };
    let total = counts.total();
    let Some(of) = of else {
        let text = counts.to_string();
        let rows: Vec<Value> = counts.kinds.iter().map(|(item, count)| json!({"item": item, "count": count})).collect();
        return Observation::text(text).with_value(json!({"counts": rows, "total": total}));
    };
    let name = shorten(of, LONGEST);
    let mut told = String::new();
    let items = counts.get(of);
    let in_text = match counted {
        Counted::Items(_) => items,
        Counted::Text(text) => occurrences(text, of),
    };
    let _ = match items {
        0 if in_text > 0 => write!(told, "{name}: {in_text} in the text"),
        items if in_text > items => write!(told, "{name}: {items} of {total} items; {in_text} in the text"),
        items => write!(told, "{name}: {items} of {total} items"),
    };
    Observation::text(told).with_value(json!({"item": of, "count": items, "total": total, "in_text": in_text}))
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;

    use super::*;

    const CASES: &str = include_str!("count.json");

    #[test]
    fn items_are_counted() {
        for (text, separator, expected) in rows::<(String, Option<String>, String)>(CASES, "items") {
            let shown = Counts::of_text(&text, separator.as_deref()).to_string();
            assert_eq!(shown.lines().next().unwrap_or_default(), expected, "{text}");
        }
        let fruit = "apple,apple,apple,banana,apple,banana,orange,apple,apple,banana";
        let prose = "The cat sat on the mat with a cat, and then it slept there for the whole day long.";
        assert_eq!(Counts::of_text(prose, None).get("cat"), 2);
        let shown = Counts::of_text(fruit, None).to_string();
        assert_eq!(shown.lines().nth(1), Some(r#"{"x":["apple","banana","orange"],"y":[6,3,1]}"#));
        let many: Vec<String> = (0..300).map(|at| format!("k{at}")).collect();
        let shown = Counts::of(many.iter().map(String::as_str)).to_string();
        assert!(shown.contains(", k149: 1, and 150 kinds more; 300 kinds, 300 in all"), "{shown}");
    }

    #[test]
    fn one_thing_is_counted_in_a_text() {
        for (text, of, expected) in rows::<(String, String, usize)>(CASES, "occurrences") {
            assert_eq!(occurrences(&text, &of), expected, "{of}");
        }
    }
}
