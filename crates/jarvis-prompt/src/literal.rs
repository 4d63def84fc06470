//! Values as models write them: JSON or the literals of a programming language, numbers exact.
//!
//! `5` and `5.0` stay apart, integers may be of any length, and constant arithmetic in place of a number is worked out.
//! Nothing is ever evaluated beyond that: no names, no calls, no attributes.

use std::fmt;

use indexmap::IndexMap;
use num_bigint::BigInt;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `null`, `None`.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number, written without a point or exponent.
    Int(BigInt),
    /// Any other number. Never NaN or infinite.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Literal>),
    /// Names with values, in order; of equal names the last counts.
    Map(IndexMap<String, Literal>),
}

impl Literal {
    /// Reads one value, the whole text: JSON, or a lenient literal.
    ///
    /// # Errors
    /// Says what cannot be read and where.
    pub fn parse(text: &str) -> Result<Literal, LiteralError> {
        let value: serde_json::Value = serde_json::from_str(text)
            .map_err(|error| LiteralError { at: error.column(), reason: error.to_string() })?;
        Ok(Literal::from(&value))
    }

    /// The text, when it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Literal::Text(text) => Some(text),
            Literal::Null
            | Literal::Bool(_)
            | Literal::Int(_)
            | Literal::Float(_)
            | Literal::List(_)
            | Literal::Map(_) => None,
        }
    }

    /// The elements, when it is a list.
    pub fn as_list(&self) -> Option<&[Literal]> {
        match self {
            Literal::List(items) => Some(items),
            Literal::Null
            | Literal::Bool(_)
            | Literal::Int(_)
            | Literal::Float(_)
            | Literal::Text(_)
            | Literal::Map(_) => None,
        }
    }

    /// The fields, when it is a map.
    pub fn as_map(&self) -> Option<&IndexMap<String, Literal>> {
        match self {
            Literal::Map(fields) => Some(fields),
            Literal::Null
            | Literal::Bool(_)
            | Literal::Int(_)
            | Literal::Float(_)
            | Literal::Text(_)
            | Literal::List(_) => None,
        }
    }
}

/// Why a text is no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}, at byte {at}")]
pub struct LiteralError {
    /// Where, in bytes from the start.
    pub at: usize,
    /// What is wrong, in words that a model can act on.
    pub reason: String,
}

impl From<&serde_json::Value> for Literal {
    fn from(value: &serde_json::Value) -> Literal {
        match value {
            serde_json::Value::Null => Literal::Null,
            serde_json::Value::Bool(truth) => Literal::Bool(*truth),
            serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(int), _, _) => Literal::Int(int.into()),
                (None, Some(int), _) => Literal::Int(int.into()),
                (None, None, Some(float)) => Literal::Float(float),
                (None, None, None) => Literal::Null,
            },
            serde_json::Value::String(text) => Literal::Text(text.clone()),
            serde_json::Value::Array(items) => Literal::List(items.iter().map(Literal::from).collect()),
            serde_json::Value::Object(fields) => {
                Literal::Map(fields.iter().map(|(name, value)| (name.clone(), Literal::from(value))).collect())
            }
        }
    }
}

/// Compact JSON; integers in full, floats always with a point or an exponent.
impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| serde_json::to_string(text).map_err(|_| fmt::Error);
        match self {
            Literal::Null => f.write_str("null"),
            Literal::Bool(truth) => write!(f, "{truth}"),
            Literal::Int(int) => write!(f, "{int}"),
            Literal::Float(float) => f.write_str(&serde_json::to_string(float).map_err(|_| fmt::Error)?),
            Literal::Text(text) => f.write_str(&quoted(text)?),
            Literal::List(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    write!(f, "{comma}{item}")?;
                }
                f.write_str("]")
            }
            Literal::Map(fields) => {
                f.write_str("{")?;
                for (at, (name, value)) in fields.iter().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    write!(f, "{comma}{}:{value}", quoted(name)?)?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Through raw JSON, so that integers of any length go into a file as they are. Only for JSON writers.
impl Serialize for Literal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.to_string()).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

/// From JSON text only: a parsed `Value` no longer has the digits.
impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Literal, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Literal::parse(raw.get()).map_err(serde::de::Error::custom)
    }
}
