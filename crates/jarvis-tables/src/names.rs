//! Names of tables and columns as identifiers.

/// Words of SQL that SQLite takes as names only in quotes.
const RESERVED: [&str; 52] = [
    "add",
    "all",
    "alter",
    "and",
    "as",
    "between",
    "case",
    "check",
    "collate",
    "commit",
    "constraint",
    "create",
    "default",
    "delete",
    "distinct",
    "drop",
    "else",
    "escape",
    "except",
    "exists",
    "foreign",
    "from",
    "group",
    "having",
    "in",
    "index",
    "insert",
    "intersect",
    "into",
    "is",
    "isnull",
    "join",
    "limit",
    "not",
    "notnull",
    "null",
    "on",
    "or",
    "order",
    "primary",
    "references",
    "select",
    "set",
    "table",
    "then",
    "to",
    "transaction",
    "union",
    "unique",
    "update",
    "values",
    "where",
];

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
        Some(_) if RESERVED.contains(&joined.as_str()) => format!("{joined}_"),
        Some(_) => joined,
    }
}

/// The name, or the same with the first number from 2 that makes it free.
pub(crate) fn free(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number: u32| format!("{name}_{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_else(|| name.to_owned())
}
