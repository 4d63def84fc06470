//! What prompts show of results.

use super::*;

#[test]
fn prompts_show_twelve_digits_and_whole_numbers_in_full() {
    for (result, shown) in [
        ("0.333333333333333314829616256247", "0.333333333333"),
        ("19964438.5", "19964438.5"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("0.00000000015", "0.00000000015"),
        ("1234567.891234567", "1234567.89123"),
        ("not a number", "not a number"),
    ] {
        assert_eq!(in_prompt(result), shown);
    }
}
