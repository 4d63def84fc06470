//! How a result is read: the text and the files a dependant gets.

use jarvis_catalogue::{Output, TaskOutput};
use jarvis_plan::{ErrorCode, Kind, TaskError};
use serde_json::{Value, json};

#[track_caller]
fn check(value: Value, text: Option<&str>) {
    assert_eq!(TaskOutput(value).as_text().as_deref(), text);
}

#[test]
fn the_text_of_a_result_is_the_first_that_exists() {
    check(json!({"generated text": "a", "response": "b"}), Some("a"));
    check(json!({"response": "b", "text": "c"}), Some("b"));
    check(json!({"text": "c"}), Some("c"));
    check(json!([{"answer": "no", "score": 0.1}, {"answer": "yes", "score": 0.9}]), Some("yes"));
    check(json!({"answer": "Paris", "score": 0.5, "start": 0, "end": 5}), Some("Paris"));
    check(json!([{"generated_text": "x"}]), Some("x"));
    check(json!([{"summary_text": "x"}]), Some("x"));
    check(json!({"translation_text": "x"}), Some("x"));
    check(json!([{"label": "cat", "score": 0.2}, {"label": "dog", "score": 0.7}]), Some("dog, cat"));
    check(json!([[{"label": "NEG", "score": 0.2}, {"label": "POS", "score": 0.7}]]), Some("POS, NEG"));
    check(json!({"generated image": "/images/a.jpg", "predicted": [{"label": "cat", "score": 1}]}), Some("cat"));
    check(json!([0.25, 0.5]), None);
    check(json!({"generated image": "/images/a.jpg"}), None);
    check(json!({"error": {"message": "no"}}), None);
    check(Value::Null, None);
}

#[test]
fn outputs_are_media_then_text_then_data() {
    let predicted = json!([{"label": "cat", "score": 1.0}]);
    let result = TaskOutput::image("/images/a.png").with("predicted", predicted.clone());
    assert_eq!(
        result.outputs(),
        [
            Output::Image { url: "/images/a.png".into() },
            Output::Text { text: "cat".into() },
            Output::Json { value: result.0.clone() },
        ]
    );
    assert_eq!(TaskOutput::text("hi").outputs(), [Output::Text { text: "hi".into() }]);
    assert_eq!(TaskOutput(json!([0.5])).outputs(), [Output::Json { value: json!([0.5]) }]);
    assert_eq!(result.media(Kind::Image), Some("/images/a.png"));
    assert_eq!(result.media(Kind::Audio), None);
}

#[test]
fn errors_take_the_object_form() {
    let error = TaskError::new(ErrorCode::NotFound, "there is no file");
    assert_eq!(TaskOutput::error(&error).0, json!({"error": {"code": "not_found", "message": "there is no file"}}));
}
