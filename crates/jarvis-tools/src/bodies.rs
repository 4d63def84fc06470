//! Bodies of answers: errors within a success, and bodies that are not text.

use crate::ToolErrorKind;
use jarvis_store::sniff;

/// How much of a body is searched for the words of an error, in bytes.
const HEAD: usize = 1_024;

/// The error that a body reports, in the words that ToolBench's tools are known to use; `None` if it reports none.
pub fn fault_of(body: &str) -> Option<ToolErrorKind> {
    let body = body.trim();
    let end = (0..=HEAD.min(body.len())).rev().find(|at| body.is_char_boundary(*at)).unwrap_or(0);
    let head = body.get(..end).expect("the end is at a character").to_ascii_lowercase();
    let whole = |text: &str| head == text || head.trim_matches(['"', '\'', '.']) == text;
    if whole("no respond due to error") {
        return Some(ToolErrorKind::Unavailable);
    }
    if whole("unauthorized") || whole("unauthorised") {
        return Some(ToolErrorKind::Unauthorized);
    }
    // Long texts may speak of anything; a failure is an object of few words.
    let is_object = head.starts_with('{') && body.len() <= HEAD;
    if !is_object {
        return None;
    }
    let has = |words: &[&str]| words.iter().any(|word| head.contains(word));
    let says = |word: &str| has(&[&format!("'{word}'"), &format!("\"{word}\"")]);
    if !(says("message") || says("error") || says("statuscode") || says("messages")) {
        return None;
    }
    match () {
        () if has(&["not subscribed to this api", "disabled for your subscription"]) => {
            Some(ToolErrorKind::Unsubscribed)
        }
        () if has(&["exceeded the rate limit per minute", "rate limit per minute"]) => Some(ToolErrorKind::RateLimited),
        () if has(&["you have exceeded the", "too many requests"]) => Some(ToolErrorKind::TooManyRequests),
        () if has(&["endpoint '", "endpoint \"", "endpoint \\\""]) && has(&["does not exist"]) => {
            Some(ToolErrorKind::UnknownTool)
        }
        () if has(&[
            "'statuscode': 401",
            "\"statuscode\": 401",
            "\"statuscode\":401",
            "unauthorized",
            "invalid api key",
        ]) =>
        {
            Some(ToolErrorKind::Unauthorized)
        }
        () if has(&["api is unreachable", "api not working"]) => Some(ToolErrorKind::Unavailable),
        () => None,
    }
}

/// Whether a failure lasts longer than any pause: a quota of the day or the month.
pub(super) fn is_lasting(body: &str) -> bool {
    let body = body.to_ascii_uppercase();
    ["MONTHLY QUOTA", "DAILY QUOTA", "QUOTA FOR THE MONTH"].iter().any(|words| body.contains(words))
}

/// Says in words what a body is that no model should read: an HTML page, or bytes that are no text. `None` for texts.
pub fn describe_media(text: &str) -> Option<String> {
    let size = format!("{} bytes", text.len());
    // Bytes written as a literal of another language, or one character a byte, or with marks for what is no character.
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    let kind = match sniff::sniff(text.as_bytes()) {
        Some(found) if found.extension == "html" => "an HTML page".to_owned(),
        Some(found) if found.mime.starts_with("text/") || found.mime.ends_with("json") => {
            let signatures =
                [("b'\\x89PNG", "a PNG image"), ("b'\\xff\\xd8\\xff", "a JPEG image"), ("b'GIF8", "a GIF image")];
            match signatures.iter().find(|(start, _)| text.starts_with(start)) {
                Some((_, kind)) => (*kind).to_owned(),
                None if text.starts_with("b'\\x") => "binary data".to_owned(),
                None if mostly_marks(text) => "binary data".to_owned(),
                None => return None,
            }
        }
        Some(_) | None => match bytes.as_deref().and_then(sniff::sniff) {
            Some(found) if !found.mime.starts_with("text/") => sniff::describe(bytes.as_deref().unwrap_or_default()),
            Some(_) | None if text.starts_with("\u{fffd}PNG") => "a PNG image".to_owned(),
            Some(_) | None if text.is_empty() => return None,
            Some(_) | None => "binary data".to_owned(),
        },
    };
    Some(format!("[The tool answered with {kind} of {size}, which is not shown.]"))
}

/// Whether many characters at the start stand for bytes that were none.
fn mostly_marks(text: &str) -> bool {
    let start = text.chars().take(200);
    let (mut all, mut marks) = (0, 0);
    for c in start {
        all += 1;
        marks += usize::from(c == '\u{fffd}');
    }
    marks > 2 && marks * 10 > all
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;

    use super::*;

    const CASES: &str = include_str!("bodies.json");

    #[test]
    fn failures_are_told_by_their_words() {
        for (body, fault) in rows::<(String, Option<String>)>(CASES, "faults") {
            assert_eq!(fault_of(&body).map(|kind| format!("{kind:?}")), fault, "{body}");
        }
        assert!(is_lasting("{'message': 'You have exceeded the MONTHLY quota'}") && !is_lasting("too many requests"));
    }

    #[test]
    fn what_is_no_text_is_described() {
        for (text, description) in rows::<(String, Option<String>)>(CASES, "media") {
            let shown = description.map(|what| format!("[The tool answered with {what}, which is not shown.]"));
            assert_eq!(describe_media(&text), shown, "{text:?}");
        }
    }
}
