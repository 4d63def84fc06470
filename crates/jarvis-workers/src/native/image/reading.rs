//! Whether a request is about the writing in a picture: to be read, or to be made.

use std::sync::LazyLock;

use jarvis_plan::is_path;
use regex::Regex;

fn pattern(name: &str) -> Regex {
    let mut rows = include_str!("../../../data/image_reading.tsv").lines().filter_map(|line| line.split_once('\t'));
    let (_, pattern) = rows.find(|(known, _)| *known == name).expect("a pattern named in the code has a row");
    Regex::new(pattern).expect("a valid pattern")
}

// A test runs both.
static READ: LazyLock<Regex> = LazyLock::new(|| pattern("READ"));
static DESCRIBE: LazyLock<Regex> = LazyLock::new(|| pattern("DESCRIBE"));

static CARD: LazyLock<Regex> = LazyLock::new(|| pattern("CARD"));

fn plain(request: &str) -> String {
    let words: Vec<&str> = request.split_whitespace().filter(|word| !is_path(word)).collect();
    words.join(" ").to_lowercase().replace('ё', "е")
}

/// True when a card with words on it is what was asked for.
pub(super) fn card_wanted(request: &str) -> bool {
    CARD.is_match(&plain(request))
}

/// True when a description of the picture would be no answer.
pub(super) fn wanted(request: &str) -> bool {
    let plain = plain(request);
    READ.is_match(&plain) && !DESCRIBE.is_match(&plain)
}

#[cfg(test)]
mod tests {
    use super::{card_wanted, wanted};

    #[test]
    fn cards_are_asked_for_or_not() {
        for request in
            ["make a title card saying \"Welcome\"", "a poster about tea", "сделай плакат «Мир»", "做一张海报"]
        {
            assert!(card_wanted(request), "{request}");
        }
        for request in ["draw a cat", "a picture of a lighthouse", "нарисуй кота", "画一只猫", "sketch a house"]
        {
            assert!(!card_wanted(request), "{request}");
        }
    }

    #[test]
    fn writing_is_asked_for_or_not() {
        for request in [
            "read the text in b.jpg",
            "what does the sign in b.jpg say?",
            "read page.png",
            "what is written in photo.jpg",
            "extract the text from scan.png",
            "что написано на b.jpg?",
            "прочитай текст на картинке",
            "b.jpg 上写着什么？",
            "识别图中的文字",
        ] {
            assert!(wanted(request), "{request}");
        }
        for request in [
            "describe b.jpg",
            "describe b.jpg and read it aloud",
            "what is in photo.jpg? read it to me",
            "caption reading.jpg",
            "what is in b.jpg?",
            "опиши картинку и прочитай вслух",
            "描述 b.jpg 并朗读",
        ] {
            assert!(!wanted(request), "{request}");
        }
    }
}
