//! Why a reply could not be read, in words that can be quoted to the model that wrote it.

use std::fmt;

use super::Want;

/// A reply that could not be read, with the reply itself. `Display` gives the reason alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct ReadError {
    pub fault: ReadFault,
    pub reply: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadFault {
    #[error("the reply is empty")]
    Empty,
    /// There is nothing that looks like the wanted value.
    #[error("the reply holds no JSON; {want} is wanted")]
    NoJson { want: Want },
    #[error("the reply holds {found}, but {want} is wanted")]
    Shape { want: Want, found: Found },
    /// There is something like JSON that could not be mended. Line and column count from 1, the column in bytes.
    #[error("the JSON is broken at line {line} column {column}: {message} (near `{near}`)")]
    Syntax { line: usize, column: usize, message: String, near: String },
    /// The reply ends before anything in it is complete.
    #[error("the reply ends before its first element is complete")]
    Cut,
    /// Several plans that do different things.
    #[error("the reply holds several plans that differ; one plan is wanted, and nothing beside it")]
    Several,
    #[error("the JSON is nested more than {limit} levels deep")]
    TooDeep { limit: usize },
    #[error("the JSON is not what is wanted: {message}")]
    Type { message: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Found::Null => "null",
            Found::Bool => "a truth value",
            Found::Number => "a number",
            Found::String => "a string",
            Found::Array => "an array without objects",
            Found::Object => "an object",
        })
    }
}

impl ReadFault {
    pub(super) fn syntax(text: &str, error: &serde_json::Error) -> ReadFault {
        let whole = error.to_string();
        // The parser appends the position to its message; it is split off here.
        let message = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(message, _)| message).to_owned();
        if message.starts_with("recursion limit") {
            return ReadFault::TooDeep { limit: super::mend::MAX_DEPTH };
        }
        let line_text = text.split('\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
        let near = around(line_text, error.column().saturating_sub(1));
        ReadFault::Syntax { line: error.line(), column: error.column(), message, near }
    }
}

/// Up to 30 bytes on each side of a byte position, widened to whole characters.
fn around(line: &str, at: usize) -> String {
    let mut from = at.min(line.len()).saturating_sub(30);
    while !line.is_char_boundary(from) {
        from -= 1;
    }
    let mut to = (at + 30).min(line.len());
    while !line.is_char_boundary(to) {
        to += 1;
    }
    line.get(from..to).expect("both ends were moved to borders of characters").to_owned()
}
