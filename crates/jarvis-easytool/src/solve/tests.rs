//! Results, joined and cut.

use super::*;

#[test]
fn long_results_are_cut_between_characters() {
    assert_eq!(cut("абв", 3), "абв");
    assert_eq!(cut("абвг", 2), "аб\n… (cut after 2 of 4 characters)");
}

#[test]
fn failed_calls_are_shown_and_not_joined() {
    let results = [
        Ok("8.56".to_owned()),
        Err(ToolError::new(ToolErrorKind::InvalidInput, "`x` is missing")),
        Ok("4.19".to_owned()),
    ];
    assert_eq!(joined(&results), "8.56\n\n4.19");
    assert_eq!(shown(&results, str::to_uppercase), "8.56\n\n(the call failed: `x` is missing)\n\n4.19");
}
