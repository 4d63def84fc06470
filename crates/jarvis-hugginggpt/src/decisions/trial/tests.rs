//! The body of a trial: every field, right and wrong.

use serde_json::json;

use super::*;

#[track_caller]
fn check(body: Value, want: Result<Trial, &str>) {
    match (Trial::read(&body), want) {
        (Ok(got), Ok(want)) => assert_eq!(got, want),
        (Err(error), Err(says)) => {
            assert!(error.to_string().contains(says), "{error}");
            assert!(matches!(error, TrialError::Request(_)) && error.code() == "bad_request");
        }
        (got, want) => panic!("{body}: {got:?}, not {want:?}"),
    }
}

#[test]
fn a_body_is_read_or_refused() {
    check(
        json!({"few_shot_categories": [0, 2], "num_few_shot_examples_per_category": 2, "test_category_index": 3, "test_example_index": 1, "more": 1}),
        Ok(Trial {
            few_shot_categories: vec![0, 2],
            num_few_shot_examples_per_category: 2,
            test_category_index: 3,
            test_example_index: 1,
        }),
    );
    check(
        json!({"test_category_index": 0, "few_shot_categories": null}),
        Ok(Trial { num_few_shot_examples_per_category: 1, ..Trial::default() }),
    );
    check(json!({}), Err("`test_category_index` is missing"));
    check(json!({"test_category_index": "0"}), Err("`test_category_index` must be a whole number"));
    check(json!({"test_category_index": -1}), Err("`test_category_index` must be a whole number"));
    check(json!({"test_category_index": 0, "test_example_index": 1.5}), Err("`test_example_index`"));
    check(json!({"test_category_index": 0, "few_shot_categories": "all"}), Err("must be a list"));
    check(json!({"test_category_index": 0, "few_shot_categories": {"0": 1}}), Err("must be a list"));
    check(json!({"test_category_index": 0, "few_shot_categories": ["a"]}), Err("whole numbers"));
    check(json!([]), Err("JSON object"));
}
