//! Clauses that ask for nothing: what an edit is for, what is wrong with the picture as it is, and that its file stays.

use regex::Captures;

use super::clause::clause_ops;
use super::{FILE_SIZE, FORMAT, LIES_WRONG, NOTHING_ELSE, PART, REGION, STAYS, TOO_BIG, WHY};

/// A text in lower case without such clauses.
pub(super) fn without(text: &str) -> String {
    let text = LIES_WRONG.replace_all(text, " upright ");
    let text = STAYS.replace_all(&text, " , ");
    let text = TOO_BIG.replace_all(&text, " ");
    let text = NOTHING_ELSE.replace_all(&text, " ");
    let text = WHY.replace_all(&text, |found: &Captures<'_>| {
        let said = &found[0];
        // A reason may hold what is to be done: "so that i have the left half".
        let asks = !clause_ops(said).is_empty()
            || [&FORMAT, &FILE_SIZE, &PART, &REGION].iter().any(|pattern| pattern.is_match(said));
        if asks { said.to_owned() } else { " ".to_owned() }
    });
    text.into_owned()
}
