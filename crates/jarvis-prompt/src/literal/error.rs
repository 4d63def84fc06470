//! Why a text is not a literal, in words that can be quoted to the model that wrote it.

use crate::number::ArithmeticError;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault}, at byte {at}")]
pub struct LiteralError {
    /// Where, in bytes from the start.
    pub at: usize,
    pub fault: LiteralFault,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LiteralFault {
    #[error("the text ends where {wanted} is wanted")]
    Ends { wanted: &'static str },
    #[error("found `{}` where {wanted} is wanted", found.escape_debug())]
    Unexpected { found: char, wanted: &'static str },
    #[error("`{name}` is a name, and only literal values are read: put texts in quotes, and give numbers as numbers")]
    Name {
        name: String,
        /// Whether something is called, or asked of the name: `open(`, `os.system`.
        used: bool,
    },
    #[error("the escape after the backslash is not complete")]
    Escape,
    #[error("only numbers can be worked out with `{operator}`")]
    NotNumbers { operator: &'static str },
    #[error("`{word}` is not a number that can be computed with")]
    NoNumber { word: &'static str },
    #[error("{0}")]
    Arithmetic(#[from] ArithmeticError),
    #[error("a number has more than {limit} digits")]
    TooManyDigits { limit: usize },
    #[error("there are more than {limit} values")]
    TooManyValues { limit: usize },
    #[error("the value is nested more than {limit} levels deep")]
    TooDeep { limit: usize },
    #[error("more text follows the value")]
    More,
}

impl LiteralFault {
    /// Whether the text was understood and must not be taken: mending its syntax would only hide what it asks for.
    pub(crate) fn is_refusal(&self) -> bool {
        match self {
            LiteralFault::Name { used, .. } => *used,
            LiteralFault::NoNumber { .. }
            | LiteralFault::NotNumbers { .. }
            | LiteralFault::Arithmetic(_)
            | LiteralFault::TooManyDigits { .. }
            | LiteralFault::TooManyValues { .. }
            | LiteralFault::TooDeep { .. } => true,
            LiteralFault::Ends { .. } | LiteralFault::Unexpected { .. } | LiteralFault::Escape | LiteralFault::More => {
                false
            }
        }
    }
}
