//! `search_document`: the passages of the document that fit a query best, by words.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde_json::{Value, json};

use super::passages::{Found, PassageIndex};
use super::{NativeTool, Work, native, wrong};
use crate::{Observation, Scope};

/// The most passages that one call gives.
const MOST: usize = 10;
/// How many documents are kept searchable at once.
const KEPT: usize = 4;
/// The longest query that is read, in characters.
const LONGEST: usize = 2_000;

/// The tool `search_document`. It keeps the index of a document for as long as the document is in use.
pub(super) fn tool() -> NativeTool {
    let spec = native(
        "search_document",
        "Finds the passages of the document that share the rarest words with a query, and gives them with their \
         numbers and lines.",
        "the document is long or was cut, and you need the place that tells of something",
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "words that the passage should hold, in the document's language"},
                "top": {"type": "integer", "minimum": 1, "maximum": MOST, "default": 3},
            },
            "required": ["query"],
        }),
        json!({"query": "founding year of the company", "top": 3}),
    );
    let indexes = Arc::new(Indexes::default());
    let prepare = move |input: &Value, scope: &Scope| {
        let query = input.get("query").and_then(Value::as_str).map(str::trim).unwrap_or_default();
        if query.is_empty() {
            return Err(wrong("`query` must be a text of one word or more"));
        }
        let query: String = query.chars().take(LONGEST).collect();
        let top = match input.get("top") {
            None | Some(Value::Null) => 3,
            Some(top) => {
                let top = top.as_u64().filter(|top| *top > 0).and_then(|top| usize::try_from(top).ok());
                top.ok_or_else(|| wrong("`top` must be a whole number above 0"))?.min(MOST)
            }
        };
        let document = scope.documents.text().cloned().ok_or_else(|| wrong("there is no document to search"))?;
        let indexes = Arc::clone(&indexes);
        Ok(Box::new(move || Ok(tell(&document, &indexes.index_of(&document), &query, top))) as Work)
    };
    NativeTool { spec, prepare: Box::new(prepare) }
}

#[derive(Default)]
pub(super) struct Indexes(Mutex<Vec<(Weak<str>, Arc<PassageIndex>)>>);

impl Indexes {
    pub(super) fn index_of(&self, document: &Arc<str>) -> Arc<PassageIndex> {
        let same = |weak: &Weak<str>| weak.upgrade().is_some_and(|known| Arc::ptr_eq(&known, document));
        let known = self.kept().iter().find(|(weak, _)| same(weak)).map(|(_, index)| Arc::clone(index));
        if let Some(index) = known {
            return index;
        }
        let index = Arc::new(PassageIndex::build(document));
        let mut kept = self.kept();
        kept.retain(|(weak, _)| weak.strong_count() > 0);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((Arc::downgrade(document), Arc::clone(&index)));
        index
    }

    fn kept(&self) -> MutexGuard<'_, Vec<(Weak<str>, Arc<PassageIndex>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The passages in words and as data, best first: `{"passages": [{"number": 3, "line": 12, "text": "…"}], "total": 9}`, where
/// `number` counts from 1, `line` is where the passage begins, and `total` is how many passages the document has.
fn tell(document: &str, index: &PassageIndex, query: &str, top: usize) -> Observation {
    let total = index.passages().len();
    let found = index.search(document, query, top);
    if found.is_empty() {
        let none = Observation::text("No passage of the document shares a word with the query.");
        return none.with_value(json!({"passages": [], "total": total}));
    }
    let told: Vec<String> = found.iter().map(ToString::to_string).collect();
    let row = |found: &Found<'_>| json!({"number": found.number, "line": found.line, "text": found.text});
    let rows: Vec<Value> = found.iter().map(row).collect();
    Observation::text(told.join("\n\n")).with_value(json!({"passages": rows, "total": total}))
}
