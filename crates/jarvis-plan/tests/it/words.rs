//! The words that programs know from every door: none changes by itself, and Rust and JSON have the same.

use jarvis_plan::{ErrorCode, EventKind, Kind, Status};
use serde::Serialize;
use strum::{VariantArray, VariantNames};

/// The words of an enum, in order.
fn words<T: Copy + Serialize>(all: &[T], word: fn(T) -> &'static str) -> String {
    let same = |value: &T| {
        assert_eq!(serde_json::to_value(value).unwrap(), word(*value));
        word(*value)
    };
    all.iter().map(same).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_words_stay() {
    assert_eq!(
        words(ErrorCode::VARIANTS, ErrorCode::as_str),
        "unsupported_task no_model missing_argument no_output bad_plan invalid_input not_found forbidden too_large cannot_do \
         not_configured unauthorized rate_limited unavailable upstream bad_reply not_approved handed_back budget timeout \
         cancelled panic internal"
    );
    assert_eq!(words(Status::VARIANTS, Status::as_str), "succeeded failed skipped cancelled");
    assert_eq!(words(&Kind::ALL, Kind::as_str), "text image audio video json");
    assert_eq!(
        EventKind::VARIANTS.join(" "),
        "queued run_started resumed model_call plan plan_grew budget mapped model_chosen execution_config approval_needed approval_given task_started task_attempt task_finished \
         thought action observation token answer note done error"
    );
}
