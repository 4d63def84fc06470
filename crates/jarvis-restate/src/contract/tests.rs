//! What was journalled before can be read, and is written as it was.

use serde::de::DeserializeOwned;

use super::*;
use crate::shared::Asked;
use crate::stages::{Begun, Concluded, Looked};

fn check<T: Serialize + DeserializeOwned>(name: &str, values: &Value) {
    for value in values.as_array().expect("a list of values") {
        let read: T = serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{name}: {error}: {value}"));
        let mut written = serde_json::to_value(&read).expect("its keys are texts");
        // What may be left out is null where it is not.
        if value.get("memory").is_some_and(Value::is_null) {
            written["memory"] = Value::Null;
        }
        assert_eq!(&written, value, "{name}");
    }
}

#[test]
fn what_is_in_journals_is_read_and_written_as_ever() {
    let journalled: IndexMap<String, Value> =
        serde_json::from_str(include_str!("journalled.json")).expect("an object of lists");
    for (name, values) in &journalled {
        match name.as_str() {
            "RunInput" => check::<RunInput>(name, values),
            "Begun" => check::<Begun>(name, values),
            "Looked" => check::<Looked>(name, values),
            "Concluded" => check::<Concluded>(name, values),
            "RunEnd" => check::<RunEnd>(name, values),
            "TaskCall" => check::<TaskCall>(name, values),
            "Report" => check::<Report>(name, values),
            "Decided" => check::<Decided>(name, values),
            "Asked" => check::<Asked>(name, values),
            other => panic!("no type is named {other}"),
        }
    }
}
