//! How much of a long request a prompt shows.

use jarvis_tools::digest::shape;
use serde_json::Value;

/// Characters of the request in a prompt about its results, from the first try to the last.
pub(crate) const INPUT_SHOWN: [usize; 4] = [usize::MAX, 16_000, 4_000, 1_000];

/// The levels of a prompt that shows the request and a JSON value.
pub(crate) fn levels(request: &str, value: &Value) -> [(String, Value); 4] {
    INPUT_SHOWN.map(|most| {
        let (value, _) = shape(value, most, |value| value.to_string().len());
        (cut(request, most), value)
    })
}

/// The beginning of a text, with a mark where it was cut.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}… [cut]", text.get(..at).expect("a character starts here")),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut("привет", 3), "при… [cut]");
        assert_eq!(cut("привет", 6), "привет");
    }
}
