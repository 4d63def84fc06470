//! Values as models write them: JSON or the literals of a programming language, numbers exact.
//!
//! `5` and `5.0` stay apart, integers may be of any length, and constant arithmetic in place of a number is worked out.
//! Nothing is ever evaluated beyond that: no names, no calls, no attributes. [`read_literal`] takes a value out of a reply.

mod digits;
mod error;
mod find;
mod parse;
mod text;

use std::fmt;

use indexmap::IndexMap;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

pub use error::{LiteralError, LiteralFault};
pub use find::{ReadLiteralError, read_literal};

use crate::number::Number;

#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Null,
    Bool(bool),
    /// A whole number, written without a point or exponent.
    Int(BigInt),
    /// Any other number. Never NaN or infinite.
    Float(f64),
    Text(String),
    List(Vec<Literal>),
    /// Names with values, in order; of equal names the last counts.
    Map(IndexMap<String, Literal>),
}

impl Literal {
    /// Reads one value, the whole text: JSON, or a lenient literal.
    ///
    /// Beside JSON it takes either quote with the escapes of Python (and `\_` for `_`), `True`, `False`, `None`, trailing
    /// commas, tuples as lists, bare names of fields, comments (`#`, `//`, `/* */`), leading zeros, underscores between
    /// digits, and arithmetic (`+ - * / // % **`, signs, parentheses) on numbers, by the rules of [`crate::number`].
    /// Strict JSON is read as it is meant, integers exactly; of equal names the last counts. Time is linear in the text.
    ///
    /// # Errors
    /// Says what cannot be read and where: syntax; names, calls and `NaN`; arithmetic without a finite result; and what is
    /// beyond the limits, before it is worked out (128 levels, 2^20 values, 2^20 bits for a number).
    pub fn parse(text: &str) -> Result<Literal, LiteralError> {
        parse::Parser::new(text, 0).whole()
    }

    /// The value of a field of a map: that of this very name, else the first whose name differs in ASCII case only.
    pub fn field(&self, name: &str) -> Option<&Literal> {
        let fields = self.as_map()?;
        fields.get(name).or_else(|| {
            fields.iter().find(|(other, _)| other.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value)
        })
    }

    /// The value as JSON; whole numbers that JSON libraries would round become a text of digits.
    pub fn to_json(&self) -> Value {
        match self {
            Literal::Null => Value::Null,
            Literal::Bool(truth) => Value::Bool(*truth),
            Literal::Int(int) => match (int.to_i64(), int.to_u64()) {
                (Some(small), _) => small.into(),
                (None, Some(large)) => large.into(),
                (None, None) => int.to_string().into(),
            },
            Literal::Float(float) => Value::from(*float),
            Literal::Text(text) => Value::String(text.clone()),
            Literal::List(items) => Value::Array(items.iter().map(Literal::to_json).collect()),
            Literal::Map(fields) => Value::Object(Literal::fields_to_json(fields)),
        }
    }

    pub fn fields_to_json(fields: &IndexMap<String, Literal>) -> serde_json::Map<String, Value> {
        fields.iter().map(|(name, value)| (name.clone(), value.to_json())).collect()
    }

    /// The whole number, when it is one and fits. A float does not count, even without a fraction.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Literal::Int(int) => int.to_i64(),
            _ => None,
        }
    }

    /// The id that a model gave: a whole number, or a text of digits with or without a sign.
    pub fn id(&self) -> Option<i64> {
        match self {
            Literal::Text(text) => text.trim().parse().ok(),
            _ => self.as_int(),
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Literal::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Literal]> {
        match self {
            Literal::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_map(&self) -> Option<&IndexMap<String, Literal>> {
        match self {
            Literal::Map(fields) => Some(fields),
            _ => None,
        }
    }
}

impl From<Number> for Literal {
    fn from(number: Number) -> Literal {
        match number {
            Number::Int(int) => Literal::Int(int),
            Number::Float(float) => Literal::Float(float),
        }
    }
}

/// Whole numbers beyond 64 bits are floats in such a value; to keep them read the text with [`Literal::parse`].
impl From<&Value> for Literal {
    fn from(value: &Value) -> Literal {
        match value {
            Value::Null => Literal::Null,
            Value::Bool(truth) => Literal::Bool(*truth),
            Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(int), _, _) => Literal::Int(int.into()),
                (None, Some(int), _) => Literal::Int(int.into()),
                (None, None, Some(float)) => Literal::Float(float),
                (None, None, None) => Literal::Null,
            },
            Value::String(text) => Literal::Text(text.clone()),
            Value::Array(items) => Literal::List(items.iter().map(Literal::from).collect()),
            Value::Object(fields) => {
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
