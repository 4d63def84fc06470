//! Ids of samples, compared with their JSON type: `1` is not `"1"`.

use std::fmt;

use jiter::JsonValue;
use serde::{Serialize, Serializer};

use crate::json::{Json, printed};

/// The id of a request, a gold plan or a prediction.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SampleId {
    /// Text, such as `"27826108"`.
    Text(Box<str>),
    /// Anything else that can be an id: a number, a boolean (equal to 0 or 1), null.
    Number(Box<str>),
}

impl SampleId {
    /// The id that this value is; lists and objects are none.
    pub fn of(value: &Json<'_>) -> Option<SampleId> {
        match value {
            JsonValue::Str(text) => Some(SampleId::Text(text.as_ref().into())),
            JsonValue::Bool(flag) => Some(SampleId::Number(if *flag { "1" } else { "0" }.into())),
            JsonValue::Float(number) if number.fract() == 0.0 => {
                Some(SampleId::Number(format!("{:.0}", number + 0.0).into()))
            }
            JsonValue::Null | JsonValue::Int(_) | JsonValue::BigInt(_) | JsonValue::Float(_) => {
                Some(SampleId::Number(printed(value).into()))
            }
            JsonValue::Array(_) | JsonValue::Object(_) => None,
        }
    }

    /// The id as one would type it; text and number look alike.
    pub fn as_str(&self) -> &str {
        match self {
            SampleId::Text(text) | SampleId::Number(text) => text,
        }
    }

    /// The id as JSON.
    pub fn to_value(&self) -> serde_json::Value {
        match self {
            SampleId::Text(text) => text.as_ref().into(),
            SampleId::Number(text) => text.parse::<i64>().map_or_else(|_| text.as_ref().into(), Into::into),
        }
    }
}

impl fmt::Display for SampleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for SampleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}
