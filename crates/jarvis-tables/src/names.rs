//! Names of tables and columns as identifiers.

use std::collections::{HashMap, HashSet};

/// Words of SQL that SQLite takes as names only in quotes.
const RESERVED: &str = "\
    add all alter always and as asc attach autoincrement between by case cast check collate column commit constraint create cross current \
    current_date current_time current_timestamp database default deferrable deferred delete desc detach distinct do drop each else end escape except \
    exclude exclusive exists explain filter following for foreign from full generated glob group groups having if ignore immediate in index \
    indexed initially inner insert instead intersect into is isnull join left like limit match materialized natural no not nothing notnull null nulls of \
    offset on or order others outer over partition pragma preceding primary raise range recursive references regexp reindex release rename replace restrict \
    returning right rollback rows savepoint select set table temp temporary then ties to transaction trigger unbounded union unique \
    update using vacuum values view virtual when where window with without";

/// The longest name, in characters.
const LONGEST: usize = 60;

/// The name of a file without folders and ending.
pub(crate) fn stem(name: &str) -> &str {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    base.rsplit_once('.').map_or(base, |(stem, _)| stem)
}

/// A name that SQL takes without quotes: letters and digits of any script in lower case, with `_` between words.
pub(crate) fn identifier(label: &str, otherwise: &str) -> String {
    let words = label.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let joined: String = words.collect::<Vec<_>>().join("_").to_lowercase().chars().take(LONGEST).collect();
    match joined.chars().next() {
        None => otherwise.to_owned(),
        Some(first) if first.is_numeric() => format!("_{joined}"),
        Some(_) if RESERVED.split_whitespace().any(|word| word == joined) => format!("{joined}_"),
        Some(_) => joined,
    }
}

/// Names that differ, each with the first number from 2 that makes it free where it is taken.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
    /// The number to try next, by what was wanted.
    next: HashMap<String, u32>,
}

impl Names {
    pub(crate) fn free(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        if self.taken.contains(wanted) {
            let next = self.next.entry(wanted.to_owned()).or_insert(2);
            loop {
                name = format!("{wanted}_{next}");
                *next += 1;
                if !self.taken.contains(&name) {
                    break;
                }
            }
        }
        self.taken.insert(name.clone());
        name
    }
}
