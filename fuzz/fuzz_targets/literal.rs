//! Literals on arbitrary text: nothing panics or runs away, strict JSON is read, and what is shown can be read again.

#![no_main]

use jarvis_prompt::literal::{Literal, Pick, read_literal_pick};
use jarvis_prompt::reader::Want;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|text: &str| {
    let read = Literal::parse(text);
    if let Ok(value) = &read {
        assert_eq!(Literal::parse(&value.to_string()).as_ref(), Ok(value));
    }
    if serde_json::from_str::<Value>(text).is_ok() {
        assert!(read.is_ok());
    }
    for pick in [Pick::First, Pick::Last] {
        if let Ok(value) = read_literal_pick(text, Want::Object, pick) {
            assert!(value.as_map().is_some());
        }
        if let Ok(value) = read_literal_pick(text, Want::Array, pick) {
            assert!(value.as_list().is_some());
        }
        if let Err(error) = read_literal_pick(text, Want::Any, pick) {
            assert!(!error.to_string().is_empty());
        }
    }
});
