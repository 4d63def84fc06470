//! Ids of samples, compared with their JSON type: `1` is not `"1"`.

use std::fmt;

use jiter::JsonValue;
use serde::{Serialize, Serializer};

use crate::json::{Json, printed};

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SampleId {
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

    pub fn to_value(&self) -> serde_json::Value {
        match self {
            SampleId::Text(text) => text.as_ref().into(),
            SampleId::Number(text) => self.number(text).unwrap_or_else(|| text.as_ref().into()),
        }
    }

    /// The number or null that reads as this id again: what is written of a request must be found when a run goes on.
    fn number(&self, text: &str) -> Option<serde_json::Value> {
        if text == "None" {
            return Some(serde_json::Value::Null);
        }
        let whole = text.parse::<i64>().map(Into::into).or_else(|_| text.parse::<u64>().map(Into::into));
        whole.ok().or_else(|| {
            let float: f64 = text.parse().ok()?;
            (SampleId::of(&JsonValue::Float(float)).as_ref() == Some(self)).then(|| float.into())
        })
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

#[cfg(test)]
mod tests {
    use super::SampleId;
    use crate::json::parse;

    #[test]
    fn an_id_that_is_written_is_the_same_when_read() {
        for json in ["7", "-7", "18446744073709551615", "1.5", "1e20", "null", "true", "\"7\"", "\"None\"", "\"\""] {
            let id = SampleId::of(&parse(json.as_bytes()).unwrap()).unwrap();
            let written = id.to_value().to_string();
            assert_eq!(SampleId::of(&parse(written.as_bytes()).unwrap()), Some(id), "{json} is written {written}");
        }
    }
}
