//! The body of a trial: every field, right and wrong.

use jarvis_testing::rows;

use super::*;

#[test]
fn a_body_is_read_or_refused() {
    type Fields = (Vec<usize>, usize, usize, usize);
    for (body, want) in rows::<(Value, Result<Fields, String>)>(include_str!("cases.yaml"), "bodies") {
        match (Trial::read(&body), want) {
            (Ok(got), Ok((categories, shots, category, example))) => {
                assert_eq!((got.few_shot_categories, got.num_few_shot_examples_per_category), (categories, shots));
                assert_eq!((got.test_category_index, got.test_example_index), (category, example));
            }
            (Err(error), Err(says)) => {
                assert!(error.to_string().contains(&says), "{error}");
                assert!(matches!(error, TrialError::Request(_)) && error.code() == "bad_request");
            }
            (got, want) => panic!("{body}: {got:?}, not {want:?}"),
        }
    }
}
