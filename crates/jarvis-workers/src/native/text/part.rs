//! "Only the first paragraph", "the last two sentences", "the third line": the part of a text that a request means.

use std::ops::Range;
use std::sync::LazyLock;

use jarvis_plan::{ErrorCode, TaskError};
use regex::Regex;

use super::requests::row;
use super::segment::sentences;
use super::summary::number_of;

// A test runs each.
static PART: LazyLock<Regex> = LazyLock::new(|| row("PART"));
static LAST: LazyLock<Regex> = LazyLock::new(|| row("PART_LAST"));
static OTHER: LazyLock<Regex> = LazyLock::new(|| row("PART_OTHER"));
static PARAGRAPH: LazyLock<Regex> = LazyLock::new(|| row("PART_PARAGRAPH"));
static TAKEN_OUT: LazyLock<Regex> = LazyLock::new(|| row("PART_TAKEN_OUT"));
static LINE: LazyLock<Regex> = LazyLock::new(|| row("PART_LINE"));

/// What is meant, in the words of the request, and that part of the text; `None` where the request means all of it.
///
/// # Errors
/// When it is taken out, or another part than the first or last ones or a counted one is meant, or one that the text does not have.
pub(in crate::native) fn of(text: &str, request: &str) -> Result<Option<(String, String)>, TaskError> {
    // What the text itself says is no wish.
    let request = request.replace(text.trim(), " ").to_lowercase();
    if let Some(found) = OTHER.find(&request) {
        let message = format!("paragraphs, sentences and lines of a text are taken here, not `{}`", found.as_str());
        return Err(TaskError::new(ErrorCode::CannotDo, message).hint("ask for the first, second or last of them"));
    }
    let Some(found) = PART.captures(&request) else { return Ok(None) };
    let whole = found.get(0).expect("group 0 is the whole match");
    if TAKEN_OUT.is_match(request.get(..whole.start()).unwrap_or_default()) {
        let message = format!("a part of a text is taken here, and not all but `{}`", whole.as_str().trim());
        return Err(TaskError::new(ErrorCode::CannotDo, message).hint("name the part that is meant"));
    }
    let what = whole.as_str().trim().to_owned();
    let count =
        ["count", "count2", "count3"].iter().find_map(|name| number_of(found.name(name)?.as_str())).unwrap_or(1);
    let pieces: Vec<Range<usize>> = if PARAGRAPH.is_match(&what) {
        parts(text, "\n\n")
    } else if LINE.is_match(&what) {
        parts(text, "\n")
    } else {
        sentences(text)
    };
    // A title is no paragraph, unless there is nothing else.
    let told: Vec<Range<usize>> = pieces.iter().filter(|piece| !is_title(text, piece)).cloned().collect();
    let pieces = if told.is_empty() || LINE.is_match(&what) { pieces } else { told };
    let nth = ["nth", "nth2", "nth3"].iter().find_map(|name| ordinal(found.name(name)?.as_str()));
    let skipped = match nth {
        Some(nth) => nth - 1,
        None if LAST.is_match(&what) => pieces.len().saturating_sub(count),
        None => 0,
    };
    if skipped >= pieces.len() {
        let message = format!("the text has no `{what}`");
        return Err(TaskError::new(ErrorCode::CannotDo, message).hint("name a part that it has"));
    }
    let wanted: Vec<&str> = pieces.into_iter().skip(skipped).take(count).filter_map(|piece| text.get(piece)).collect();
    Ok(Some((what, wanted.join("\n"))))
}

/// Whether a piece is a line that names the text: few words, without the mark that ends a sentence.
fn is_title(text: &str, piece: &Range<usize>) -> bool {
    let line = text.get(piece.clone()).unwrap_or_default().trim();
    let is_ended = line.ends_with(['.', '!', '?', ':', ';', ',', '。', '！', '？', '"', '”', '»']);
    !line.contains('\n') && !is_ended && line.split_whitespace().count() <= 12 && line.chars().count() <= 80
}

/// A place in words, from the second to the tenth.
fn ordinal(word: &str) -> Option<usize> {
    const WORDS: [&[&str]; 4] = [
        &["second", "2nd", "второ"],
        &["third", "3rd", "треть"],
        &["fourth", "4th", "четверт"],
        &["fifth", "5th", "пято"],
    ];
    WORDS.iter().position(|words| words.contains(&word)).map(|at| at + 2).or_else(|| number_of(word))
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
        check("read the second paragraph aloud", Some("Four stayed. Five slept."));
        check("прочитай третье предложение", Some("Three left."));
        check("朗读第二段", Some("Four stayed. Five slept."));
        check("朗读前两句", Some("One came.\nTwo saw."));
        check("read a.txt aloud", None);
        check("read the page a.txt aloud", None);
        for request in [
            "read the fifth paragraph aloud",
            "read the first chapter aloud",
            "read it aloud, but skip the first paragraph",
            "прочитай вслух без первого абзаца",
            "read the title of a.txt aloud",
            "read page 2 of a.pdf aloud",
            "прочитай вслух заголовок a.txt",
            "朗读标题",
        ] {
            assert!(of(TEXT, request).is_err(), "{request}");
        }
    }
}
