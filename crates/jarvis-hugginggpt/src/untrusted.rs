//! Text that services and models wrote, made safe to stand in prompts and plans: cut, on one line, nothing hidden.

use jarvis_net::text::is_hidden;

/// The longest id of a task or model, in characters.
const ID: usize = 128;

/// Text on one line, without what a person does not see, at most `max` characters and an ellipsis.
pub(crate) fn clean(text: &str, max: usize) -> String {
    let visible: String = text
        .chars()
        .filter(|char| !is_hidden(*char))
        .map(|char| if char.is_control() { ' ' } else { char })
        // Blanks are joined below; more of them than this are dropped unread.
        .take(max.saturating_mul(8))
        .collect();
    shown(&visible.split_whitespace().collect::<Vec<_>>().join(" "), max)
}

/// An id that can be copied exactly: short, on one line, without what would end the quotes it stands in.
pub(crate) fn clean_id(text: &str) -> Option<String> {
    let id = text.trim();
    let odd =
        |char: char| char.is_control() || is_hidden(char) || matches!(char, '"' | '\\' | '`' | '{' | '}' | '<' | '>');
    let fine = !id.is_empty() && id.chars().count() <= ID && !id.chars().any(odd);
    fine.then(|| id.to_owned())
}

/// An id as ids are compared: without regard to case, blanks and underscores.
pub(crate) fn folded(id: &str) -> String {
    let lower = id.trim().to_lowercase();
    lower
        .split(|char: char| char.is_whitespace() || matches!(char, '_' | '-'))
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

/// The beginning of a text, with an ellipsis when it was cut.
pub(crate) fn shown(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", text.get(..at).expect("a character starts here").trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{clean, clean_id, folded};

    #[test]
    fn texts_are_cut_and_cleaned() {
        let check = |text: &str, max, want: &str| assert_eq!(clean(text, max), want, "{text:?}");
        check("finds\n\nfaces\t in\u{0} pictures", 100, "finds faces in pictures");
        check("good\u{e0049}\u{e0067}\u{200b} model", 100, "good model");
        check("одна две три", 8, "одна две…");
        check(&" ".repeat(100_000), 10, "");
        check("xy", 1, "x…");
        check("", 0, "");
    }

    #[test]
    fn ids_are_plain() {
        let check = |text: &str, want: Option<&str>| assert_eq!(clean_id(text).as_deref(), want, "{text:?}");
        check(" face-detection ", Some("face-detection"));
        check("org/model_v1.2:latest", Some("org/model_v1.2:latest"));
        check("人脸检测", Some("人脸检测"));
        check("a\nb", None);
        check(r#"x", "y"#, None);
        check("<think>", None);
        check("{{input}}", None);
        check("a\u{202e}b", None);
        check("", None);
        check(&"x".repeat(129), None);
    }

    #[test]
    fn ids_are_compared_loosely() {
        let check = |text: &str, want: &str| assert_eq!(folded(text), want);
        check("Face_Detection", "face-detection");
        check(" face  detection", "face-detection");
        check("--", "");
    }
}
