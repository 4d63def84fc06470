//! Literals on arbitrary text: nothing panics or runs away, strict JSON is read, and what is shown can be read again.

#![no_main]

use jarvis_prompt::literal::{Literal, read_literal};
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
    if let Ok(value) = read_literal(text, Want::Object) {
        assert!(value.as_map().is_some());
    }
    if let Ok(value) = read_literal(text, Want::Array) {
        assert!(value.as_list().is_some());
    }
    if let Err(error) = read_literal(text, Want::Any) {
        assert!(!error.to_string().is_empty());
    }
});
