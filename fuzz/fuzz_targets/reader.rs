//! The reader on arbitrary text: it never panics, valid JSON survives, and what it gives has the wanted shape.
//! Run with `cargo +nightly fuzz run reader`, or on stable with `RUSTC_BOOTSTRAP=1 cargo fuzz run reader`.

#![no_main]

use jarvis_plan::{Limits, Vocabulary, check, dialect};
use jarvis_prompt::reader::{Want, read_json};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|text: &str| {
    if let Ok(read) = read_json(text, Want::Array) {
        assert!(read.value.is_array());
        // Whatever was read goes on to be checked as a plan.
        if let Ok(draft) = dialect::read(&read.value) {
            let plan = check(&draft, &Vocabulary::default(), Limits::default());
            assert!(plan.tasks().len() <= Limits::default().max_tasks);
        }
    }
    if let Ok(read) = read_json(text, Want::Object) {
        assert!(read.value.is_object());
    }
    let any = read_json(text, Want::Any);
    if let Ok(strict) = serde_json::from_str::<Value>(text) {
        assert_eq!(any.map(|read| read.value), Ok(strict));
    }
    if let Err(error) = read_json(text, Want::Array) {
        assert_eq!(error.reply, text);
        assert!(!error.to_string().is_empty());
    }
});
