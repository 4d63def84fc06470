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

static ALL: LazyLock<Regex> = LazyLock::new(|| pattern("ALL"));
static COMPARE: LazyLock<Regex> = LazyLock::new(|| pattern("COMPARE"));
static CARD: LazyLock<Regex> = LazyLock::new(|| pattern("CARD"));

fn plain(request: &str) -> String {
    let words: Vec<&str> = request.split_whitespace().filter(|word| !is_path(word)).collect();
    words.join(" ").to_lowercase().replace('ё', "е")
}

/// True when a card with words on it is what was asked for.
pub(super) fn card_wanted(request: &str) -> bool {
    CARD.is_match(&plain(request))
}

/// True when all of the writing is asked for, not something that it says.
pub(super) fn all_wanted(question: &str) -> bool {
    ALL.is_match(&plain(question))
}

/// True when pictures are to be compared, which describing each is not.
pub(super) fn compares(request: &str) -> bool {
    COMPARE.is_match(&plain(request))
}

/// True when a description of the picture would be no answer.
pub(super) fn wanted(request: &str) -> bool {
    let plain = plain(request);
    READ.is_match(&plain) && !DESCRIBE.is_match(&plain)
}

#[cfg(test)]
mod tests {
    use super::{all_wanted, card_wanted, compares, wanted};

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
    fn all_of_the_writing_is_asked_for_or_a_part() {
        assert!(all_wanted("what's written on the sign in sign.png") && all_wanted("what does sign.png say?"));
        assert!(!all_wanted("what does page.png say about lamps") && !all_wanted("who is the text from"));
    }

    #[test]
    fn comparing_is_no_describing() {
        assert!(
            compares("compare a.jpg and b.jpg") && compares("чем отличаются a.jpg и b.jpg") && compares("比较两张图")
        );
        assert!(!compares("describe a.jpg and b.jpg"));
    }

    #[test]
    fn writing_is_asked_for_or_not() {
        for request in [
            "read the text in b.jpg",
            "what does the sign in b.jpg say?",
            "read page.png",
            "turn page.png into text",
            "summarise page.png",
            "say what sign.png says",
            "what is written in photo.jpg",
            "extract the text from scan.png",
            "extract the dates from page.png",
            "which names are on card.jpg",
            "list the phone numbers in card.jpg",
            "какие даты на page.png",
            "提取 page.png 中的日期",
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
