//! Any JSON value, as messages carry it: `google.protobuf.Value`, and an object of them, `Struct`. Numbers are those of JavaScript. Fields
//! are kept in order, so that the same value is the same bytes.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Number, Value as Json};

/// Nothing: `google.protobuf.Empty`.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message, Serialize, Deserialize)]
pub struct Empty {}

/// An object.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Struct {
    /// Its fields.
    #[prost(btree_map = "string, message", tag = "1")]
    pub fields: BTreeMap<String, Value>,
}

/// A list.
#[derive(Clone, PartialEq, prost::Message)]
pub struct List {
    /// Its elements.
    #[prost(message, repeated, tag = "1")]
    pub values: Vec<Value>,
}

/// Any value.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Value {
    /// What it is; none is as good as null.
    #[prost(oneof = "Kind", tags = "1, 2, 3, 4, 5, 6")]
    pub kind: Option<Kind>,
}

/// What a value is.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Kind {
    /// Null; the number says nothing.
    #[prost(int32, tag = "1")]
    Null(i32),
    /// A number.
    #[prost(double, tag = "2")]
    Number(f64),
    /// A text.
    #[prost(string, tag = "3")]
    Text(String),
    /// True or false.
    #[prost(bool, tag = "4")]
    Bool(bool),
    /// An object.
    #[prost(message, tag = "5")]
    Struct(Struct),
    /// A list.
    #[prost(message, tag = "6")]
    List(List),
}

/// Whole numbers up to here are the same as floats.
const WHOLE: f64 = 9_007_199_254_740_992.0;

impl From<Json> for Value {
    fn from(json: Json) -> Value {
        let kind = match json {
            Json::Null => Kind::Null(0),
            Json::Bool(bool) => Kind::Bool(bool),
            Json::Number(number) => Kind::Number(number.as_f64().unwrap_or_default()),
            Json::String(text) => Kind::Text(text),
            Json::Array(values) => Kind::List(List { values: values.into_iter().map(Value::from).collect() }),
            Json::Object(fields) => Kind::Struct(Struct::from(fields)),
        };
        Value { kind: Some(kind) }
    }
}

impl From<Map<String, Json>> for Struct {
    fn from(fields: Map<String, Json>) -> Struct {
        Struct { fields: fields.into_iter().map(|(name, value)| (name, Value::from(value))).collect() }
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Json {
        match value.kind {
            None | Some(Kind::Null(_)) => Json::Null,
            Some(Kind::Bool(bool)) => Json::Bool(bool),
            Some(Kind::Number(number)) if number.fract() == 0.0 && number.abs() < WHOLE => Json::from(number as i64),
            Some(Kind::Number(number)) => Number::from_f64(number).map_or(Json::Null, Json::Number),
            Some(Kind::Text(text)) => Json::String(text),
            Some(Kind::List(list)) => list.values.into_iter().map(Json::from).collect(),
            Some(Kind::Struct(fields)) => Json::Object(fields.into()),
        }
    }
}

impl From<Struct> for Map<String, Json> {
    fn from(object: Struct) -> Map<String, Json> {
        object.fields.into_iter().map(|(name, value)| (name, Json::from(value))).collect()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Json::from(self.clone()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        Json::deserialize(deserializer).map(Value::from)
    }
}

impl Serialize for Struct {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Map::from(self.clone()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Struct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Struct, D::Error> {
        Map::deserialize(deserializer).map(Struct::from)
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use serde_json::json;

    use super::{Struct, Value};

    #[test]
    fn values_come_back_over_both_wires_and_the_same_value_is_the_same_bytes() {
        let object = json!({"b": [1, 2.5, "x", null, true, {}], "a": {"z": -3, "y": 1e300}, "c": []});
        for json in [object.clone(), json!(null), json!(0), json!("text"), json!([[]])] {
            let value = Value::from(json.clone());
            assert_eq!(serde_json::to_value(&value).expect("JSON"), json);
            assert_eq!(serde_json::from_value::<Value>(json).expect("a value"), value);
            let bytes = value.encode_to_vec();
            assert_eq!(Value::decode(bytes.as_slice()).expect("a value"), value);
        }
        let read = |text: &str| serde_json::from_str::<Struct>(text).expect("an object").encode_to_vec();
        assert_eq!(read(r#"{"a": 1, "b": 2}"#), read(r#"{"b": 2, "a": 1}"#));
        assert!(serde_json::from_str::<Struct>("[]").is_err());
    }
}
