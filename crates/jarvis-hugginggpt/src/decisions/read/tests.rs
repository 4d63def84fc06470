//! The words that are meant when one is misspelt. What is read and refused is tested in `tests/it/plans.rs`.

use super::{distance, nearest};

#[test]
fn the_nearest_word_is_near() {
    let names = ["image-to-text", "text-to-image", "canny-control", "summarization"];
    for (word, want) in [
        ("image-to-txt", Some("image-to-text")),
        ("Image To Text", Some("image-to-text")),
        ("summarisation", Some("summarization")),
        ("cany_control", Some("canny-control")),
        ("time-travel", None),
        ("", None),
    ] {
        assert_eq!(nearest(word, names.into_iter()), want, "{word}");
    }
    assert_eq!((distance("", "abc"), distance("abc", ""), distance("kitten", "sitting")), (3, 3, 3));
}
