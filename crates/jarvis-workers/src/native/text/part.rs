//! "Only the first paragraph", "the last two sentences": the part of a text that a request means.

use std::ops::Range;
use std::sync::LazyLock;

use jarvis_plan::{ErrorCode, TaskError};
use regex::Regex;

use super::segment::sentences;
use super::summary::number_of;

fn row(name: &str) -> Regex {
    let mut rows = include_str!("../../../data/text_requests.tsv").lines().filter_map(|line| line.split_once('\t'));
    let (_, pattern) = rows.find(|(known, _)| *known == name).expect("a pattern named in the code has a row");
    Regex::new(pattern).expect("a valid pattern")
}

// A test runs each.
static PART: LazyLock<Regex> = LazyLock::new(|| row("PART"));
static LAST: LazyLock<Regex> = LazyLock::new(|| row("PART_LAST"));
static OTHER: LazyLock<Regex> = LazyLock::new(|| row("PART_OTHER"));
static PARAGRAPH: LazyLock<Regex> = LazyLock::new(|| row("PART_PARAGRAPH"));
static LINE: LazyLock<Regex> = LazyLock::new(|| row("PART_LINE"));

/// What is meant, in the words of the request, and that part of the text; `None` where the request means all of it.
///
/// # Errors
/// When another part than the first or the last ones is meant.
pub(in crate::native) fn of(text: &str, request: &str) -> Result<Option<(String, String)>, TaskError> {
    // What the text itself says is no wish.
    let request = request.replace(text.trim(), " ").to_lowercase();
    if let Some(found) = OTHER.find(&request) {
        let message = format!("parts of a text are taken here from its beginning or its end, not `{}`", found.as_str());
        return Err(TaskError::new(ErrorCode::CannotDo, message).hint("ask for the first or the last sentences"));
    }
    let Some(found) = PART.captures(&request) else { return Ok(None) };
    let what = found.get(0).map_or("", |whole| whole.as_str()).trim().to_owned();
    let count =
        ["count", "count2", "count3"].iter().find_map(|name| number_of(found.name(name)?.as_str())).unwrap_or(1);
    let pieces: Vec<Range<usize>> = if PARAGRAPH.is_match(&what) {
        parts(text, "\n\n")
    } else if LINE.is_match(&what) {
        parts(text, "\n")
    } else {
        sentences(text)
    };
    let skipped = if LAST.is_match(&what) { pieces.len().saturating_sub(count) } else { 0 };
    let wanted: Vec<&str> = pieces.into_iter().skip(skipped).take(count).filter_map(|piece| text.get(piece)).collect();
    Ok(Some((what, wanted.join("\n"))))
}

/// What names a part.
pub(in crate::native) fn patterns() -> Vec<&'static Regex> {
    vec![&PART, &OTHER]
}

/// The pieces between separators that are not blank.
fn parts(text: &str, separator: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let pieces = text.split(separator).map(|piece| {
        let range = start..start + piece.len();
        start = range.end + separator.len();
        range
    });
    pieces.filter(|range| text.get(range.clone()).is_some_and(|piece| !piece.trim().is_empty())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_taken_as_asked() {
        const TEXT: &str = "One came. Two saw.\nThree left.\n\nFour stayed. Five slept.";
        let check = |request: &str, want: Option<&str>| {
            let found = of(TEXT, request).expect("a part");
            assert_eq!(found.map(|(_, text)| text).as_deref(), want, "{request}");
        };
        check("read only the first paragraph of a.txt aloud", Some("One came. Two saw.\nThree left."));
        check("read the last two sentences aloud", Some("Four stayed.\nFive slept."));
        check("read the first line of a.txt out loud", Some("One came. Two saw."));
        check("прочитай первые два предложения a.txt вслух", Some("One came.\nTwo saw."));
        check("прочитай последний абзац вслух", Some("Four stayed. Five slept."));
        check("朗读第一段", Some("One came. Two saw.\nThree left."));
        check("朗读前两句", Some("One came.\nTwo saw."));
        check("read a.txt aloud", None);
        check("read the page a.txt aloud", None);
        for request in [
            "read the second paragraph aloud",
            "read the first chapter aloud",
            "read the title of a.txt aloud",
            "read page 2 of a.pdf aloud",
            "прочитай третье предложение",
            "прочитай вслух заголовок a.txt",
            "朗读第二段",
            "朗读标题",
        ] {
            assert!(of(TEXT, request).is_err(), "{request}");
        }
    }
}
